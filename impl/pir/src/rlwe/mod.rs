//! What protocols over rings share: RLWE parameters, the gadget of packing keys, the switch of answers, and queries whose
//! masks are public.

mod params;
mod query;

pub(crate) use params::check_secret;
pub use params::{Digits, Packed, PackingLiteral, Rlwe, RlweLiteral, Switch, SwitchLiteral};
pub(crate) use query::inversion;
pub use query::{RingQueries, coefficient_bytes, read_coefficients};
