//! What protocols over rings share: RLWE parameters, the gadget of packing keys, the switch of answers, and queries whose
//! masks are public.

mod entries;
mod hint;
mod noise;
mod params;
mod query;
mod selector;

pub(crate) use entries::{fill_rows, read_record, replace_bits};
pub(crate) use hint::{
    add_to_masks, add_to_masks_work, bodies, body_poly, column_masks, is_incremental, masks_update_work, pack_all,
    workspace,
};
pub(crate) use noise::switched_errors;
pub use params::{Digits, Packed, PackingLiteral, Rlwe, RlweLiteral, Switch, SwitchLiteral};
pub(crate) use params::{check_error, check_secret};
pub use query::{RingQueries, coefficient_bytes, read_coefficients, read_packed, read_residues};
pub use selector::Selector;
