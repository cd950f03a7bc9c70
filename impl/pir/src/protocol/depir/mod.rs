//! DEPIR (Okada, Player, Pohmann, Weinert; ePrint 2023/1510): records are values of a polynomial, which the server evaluates at ciphertexts
//! by reading tables. docs/depir.md has the symbols, byte formulas and noise theorem.

mod client;
mod describe;
mod engine;
mod evaluate;
mod files;
mod interpolate;
mod monomials;
mod plan;
mod points;
mod server;
mod set;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod wire;

pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};

/// The protocol.
#[derive(Debug)]
pub struct Depir;

impl Protocol for Depir {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str =
        "DEPIR: records are values of a polynomial, evaluated at ciphertexts by reading tables; an index for each slot";
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(set, workload)
    }
}
