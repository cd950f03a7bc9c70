//! SimplePIR (Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan; USENIX Security 2023, section 4).
//!
//! The client downloads the hint H = D' A once; a query is an LWE encryption of a unit vector, the answer is D' times it.
//! docs/simplepir.md has the symbols, the byte formulas and the noise theorem.

mod client;
mod describe;
mod hint;
mod server;
mod set;
#[cfg(test)]
mod tests;

pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};
use crate::parts::lwe_matrix::LinearNumbers;

/// The protocol.
#[derive(Debug)]
pub struct SimplePir;

impl Protocol for SimplePir {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str = "SimplePIR: LWE, a large hint, one multiply-add an entry";
    type Set = Set;
    type Numbers = LinearNumbers;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }
}
