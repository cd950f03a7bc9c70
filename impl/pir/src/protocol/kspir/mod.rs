//! KSPIR (Luo, Liu, Wang; CCS 2024): a column of a matrix in slots is selected by rotations and plaintext products, a part of each
//! block's column by an external product, and the parts are packed. docs/kspir.md has the symbols, byte formulas and noise theorem.

mod blocks;
mod client;
mod describe;
mod engine;
mod keys;
mod layout;
mod server;
mod set;
#[cfg(test)]
mod tests;

pub use layout::Layout;
pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};

/// The protocol.
#[derive(Debug)]
pub struct Kspir;

impl Protocol for Kspir {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str =
        "KSPIR: one ciphertext selects a column in slots, another a part of it; keys uploaded once";
    const ONE_KEY: bool = true;
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(set, workload)
    }
}
