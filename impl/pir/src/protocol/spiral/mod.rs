//! Spiral (Menon, Wu: IEEE S&P 2022, ePrint 2022/368): rows selected by ring ciphertexts, columns folded by their products with RGSW
//! ciphertexts, answers of several polynomials that share a mask. A set chooses the variant. docs/spiral.md has the symbols, byte formulas
//! and noise.

mod client;
mod convert;
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
pub struct Spiral;

impl Protocol for Spiral {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str =
        "Spiral: one packed ciphertext up, polynomials that share a mask down, keys uploaded once";
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
