//! HintlessPIR (Li, Micciancio, Raykova, Schultz; CRYPTO 2024): SimplePIR whose client does not fetch the hint H = D' A. With every query it
//! sends its LWE secret s encrypted, and the server multiplies H with it in slots. docs/hintlesspir.md has the symbols, byte formulas and
//! noise theorem.

mod blocks;
mod client;
mod describe;
mod layout;
mod public;
mod server;
mod set;
#[cfg(test)]
mod tests;

pub use layout::Layout;
pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};

/// The protocol.
#[derive(Debug)]
pub struct HintlessPir;

impl Protocol for HintlessPir {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str = "HintlessPIR: SimplePIR whose hint the server multiplies with the encrypted secret";
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(set, workload)
    }
}
