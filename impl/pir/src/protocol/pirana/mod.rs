//! PIRANA (Liu, Li, Wu, Ren; ePrint 2022/1401), for one record or a batch: constant-weight codewords in slots select a column and a row at once,
//! over BFV or GBFV. docs/pirana.md has the symbols, byte formulas and noise theorem.

mod answer;
mod column;
mod describe;
mod engine;
mod keys;
mod layout;
mod selector;
mod set;
#[cfg(test)]
mod tests;
mod update;

pub use layout::Layout;
pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};
use crate::parts::selection;

/// The protocol.
#[derive(Debug)]
pub struct Pirana;

impl Protocol for Pirana {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str =
        "PIRANA: ciphertexts of a constant-weight codeword select row and column in slots; keys uploaded once";
    const ONE_KEY: bool = true;
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = selection::Server<engine::Engine>;
    type Client = selection::Client<engine::Engine>;

    fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(set, workload)
    }
}
