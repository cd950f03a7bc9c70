//! Respire (Burton, Menon, Wu: ePrint 2024/1165): small records from rings of dimension 2048, with queries of a few coefficients and
//! responses from a smaller ring. docs/respire.md has the symbols, byte formulas and noise.

mod client;
mod describe;
mod diagnosis;
mod engine;
mod keys;
mod query;
mod server;
mod set;
#[cfg(test)]
mod tests;

pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};

/// The protocol.
#[derive(Debug)]
pub struct Respire;

impl Protocol for Respire {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str =
        "Respire: few packed coefficients up, one small-ring ciphertext down, keys uploaded once";
    const STREAMS: bool = true;
    const ONE_KEY: bool = true;
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }
}
