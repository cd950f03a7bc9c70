//! OnionPIR (Mughees, Chen, Ren: ACM CCS 2021, ePrint 2021/1081): one packed BFV ciphertext up, the first dimension by products with
//! plaintexts, further ones by products with RGSW ciphertexts that the server makes, one ciphertext down. docs/onionpir.md has the
//! symbols, byte formulas and noise.

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
pub struct OnionPir;

impl Protocol for OnionPir {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str =
        "OnionPIR: one packed ciphertext up, one ciphertext down for each plaintext, keys uploaded once";
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
