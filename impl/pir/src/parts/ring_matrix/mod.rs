//! The part that protocols over rings share: RLWE parameters, the gadget of packing keys, the switch of answers, and queries with
//! public masks.

mod cells;
mod client;
mod describe;
mod entries;
mod gadget;
mod hint;
mod query;
mod rlwe;
mod selector;
mod switch;

pub use cells::Cells;
pub use client::{Asks, Query, RingClient};
pub(crate) use describe::{ring_numbers, seed_memory, seed_messages};
pub(crate) use entries::{Difference, digit_columns, fill_rows};
pub use gadget::{Digits, Gadget, Packing};
pub(crate) use hint::{
    add_to_masks, add_to_masks_work, bodies, body_poly, column_masks, is_incremental, masks_update_work, pack,
    pack_all, packing_table, read_keys, update_masks, workspace,
};
pub use query::{RingQueries, read_coefficients, read_packed, read_residues, residue_vector};
pub(crate) use rlwe::check_secret;
pub use rlwe::{MAX_STDDEV, PrimeProduct, Rlwe, product_text};
pub use selector::Selector;
pub use switch::Switch;
