//! SimpleYPIR, also YPIR+SP (Menon, Wu; USENIX Security 2024, section 4.6): one layer over the ring. A query selects a row of
//! long items, and the answer of every 2048 columns is packed into a ring ciphertext. docs/simpleypir.md has the symbols, byte
//! formulas and noise theorem.

mod client;
mod describe;
mod layout;
mod server;
mod set;
#[cfg(test)]
mod tests;

pub use set::{Rows, Set};

use crate::core::{Protocol, Result, Sizes, Workload};
use crate::parts::ring_matrix::RingClient;

/// The protocol.
#[derive(Debug)]
pub struct SimpleYpir;

impl Protocol for SimpleYpir {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str = "SimpleYPIR: SimplePIR over a ring without a hint to download, for long records";
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = server::Server;
    type Client = RingClient<Self>;

    fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }
}
