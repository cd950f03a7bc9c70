//! What protocols over rings share: RLWE parameters, the gadget of packing keys, the switch of answers, and queries whose
//! masks are public.

mod hint;
mod noise;
mod params;
mod query;

pub(crate) use hint::{
    bodies, body_poly, internal, inverted, no_update_messages, pack_all, products, replace_bits, workspace,
};
pub(crate) use noise::switched_errors;
pub(crate) use params::check_secret;
pub use params::{Digits, Packed, PackingLiteral, Rlwe, RlweLiteral, Switch, SwitchLiteral};
pub use query::{RingQueries, coefficient_bytes, read_coefficients};
