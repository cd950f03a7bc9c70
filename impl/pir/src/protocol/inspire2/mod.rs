//! InsPIRe^(2) (InsPIRe, section 5): two layers over one ring. Partial InspiRING packs the first layer's answers into small
//! ciphertexts; the second layer selects from their digits and packs again (for long records it selects whole polynomials of digits).
//! docs/inspire2.md has the symbols, byte formulas and noise theorem.

mod client;
mod describe;
mod first;
mod layout;
mod public;
mod second;
mod server;
mod set;
#[cfg(test)]
mod tests;
mod whole;

pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};
use crate::parts::ring_matrix::RingClient;

/// The protocol.
#[derive(Debug)]
pub struct Inspire2;

impl Protocol for Inspire2 {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str = "InsPIRe^(2): two ring layers packed by partial InspiRING, the smallest queries";
    const STREAMS: bool = true;
    type Set = Set;
    type Server = server::Server;
    type Client = RingClient<Self>;

    fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }
}
