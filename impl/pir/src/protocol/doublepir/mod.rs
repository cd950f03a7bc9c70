//! DoublePIR (Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan; USENIX Security 2023, section 5).
//!
//! SimplePIR's hint H is itself a database: a second layer of the same kind retrieves the row of H that a record needs, and the
//! first layer's answer. docs/doublepir.md has the symbols, byte formulas and noise theorem.

mod client;
mod describe;
mod second;
mod server;
mod set;
#[cfg(test)]
mod tests;

pub use set::{HintCopies, Set};

use crate::core::{Protocol, Result, Sizes, Workload};

/// The protocol.
#[derive(Debug)]
pub struct DoublePir;

impl Protocol for DoublePir {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str = "DoublePIR: SimplePIR whose hint is fetched by PIR, a small hint for short records";
    type Set = Set;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }
}
