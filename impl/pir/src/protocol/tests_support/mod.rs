//! What every protocol's tests do: fill a server, ask, compare, update, corrupt.

mod bad_messages;
pub mod bfv;
mod conformance;
#[path = "../../../../lattice/tests/looking/mod.rs"]
mod looking;
mod secrets;
mod toy;
mod watchdog;
mod wire;

pub use bad_messages::withstands;
pub(crate) use conformance::conformance;
pub use conformance::{
    check_everywhere, conforms_at_others, conforms_at_two, finds_every_record, grows_up_to_the_bounds, retrieves_all,
    retrieves_long_records, updates_keep, updates_like_fresh,
};
pub use looking::{left_by, left_of};
pub use secrets::{masks_of, never_repeat, noise_is, noise_variance};
use toy::parties;
pub use toy::{ALL_SHAPES, committed, context, in_full, parties_of, read, refuses, set_text, small_set, up_to};
pub use wire::{refuses_hints_of_other_seeds, refuses_impossible_changes};
