//! CwPIR (Mahdavi, Kerschbaum; USENIX Security 2022): an encrypted codeword of constant weight, expanded into its bits, selects a record
//! by one product of bits a record. docs/cwpir.md has the symbols, byte formulas and noise theorem.

mod answer;
mod describe;
mod engine;
mod layout;
mod set;
#[cfg(test)]
mod tests;

pub use layout::{Layout, Selection};
pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};
use crate::parts::selection;

/// The protocol.
#[derive(Debug)]
pub struct Cwpir;

impl Protocol for Cwpir {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str = "CwPIR: one ciphertext of a constant-weight codeword, expanded obliviously; a product a record; keys uploaded once";
    const ONE_KEY: bool = true;
    const KEYS: bool = true;
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = selection::Server<engine::Engine>;
    type Client = selection::Client<engine::Engine>;

    fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(set, workload)
    }
}
