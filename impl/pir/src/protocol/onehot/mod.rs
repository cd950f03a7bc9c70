//! One-hot PIR in slots, the variant that PIRANA is compared with: one ciphertext selects a row, others a column, by diagonals of matrices
//! of entries. docs/onehot.md has the symbols, byte formulas and noise theorem.

mod answer;
mod describe;
mod encode;
mod engine;
mod layout;
mod selector;
mod set;
#[cfg(test)]
mod tests;

pub use layout::Layout;
pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};
use crate::parts::selection;

/// The protocol.
#[derive(Debug)]
pub struct OneHot;

impl Protocol for OneHot {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str =
        "One-hot PIR: a ciphertext selects the row, others the column, by diagonals in slots; keys uploaded once";
    const ONE_KEY: bool = true;
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = selection::Server<engine::Engine>;
    type Client = selection::Client<engine::Engine>;

    fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(set, workload)
    }
}
