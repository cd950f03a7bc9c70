//! InsPIRe (Mahdavi, Patel, Seo, Yeo; 2025, section 6): one query row selects interpolated polynomials, InspiRING packs their
//! coefficients, and an encrypted point evaluates them to the item asked for.
//!
//! docs/inspire.md has the symbols, the byte formulas and the noise theorem.

mod client;
mod code;
mod describe;
mod encoded;
mod interpolation;
mod layout;
mod public;
mod server;
mod set;
#[cfg(test)]
mod tests;
mod whitening;

pub use code::Code;
pub use interpolation::{Interpolate, Interpolation};
pub use set::{Body, Set};

use crate::core::{Protocol, Result, Sizes, Workload};
use crate::parts::ring_matrix::RingClient;

/// The protocol.
#[derive(Debug)]
pub struct Inspire;

impl Protocol for Inspire {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str =
        "InsPIRe: interpolated polynomials, packed by InspiRING, evaluated at an encrypted point";
    const STREAMS: bool = true;
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = server::Server;
    type Client = RingClient<Self>;

    fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }
}
