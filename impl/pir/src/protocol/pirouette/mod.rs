//! Pirouette and Pirouette^H: a query is a seed and one LWE body, or one for each bit of the index; the server decomposes it
//! homomorphically into bits, converts them to RGSW encryptions, and selects the record with these.
//!
//! docs/pirouette.md has the symbols, the phases, the byte formulas and the deviations from the paper.

mod bodies;
mod carrier;
mod cipher;
mod client;
mod convert;
mod describe;
mod digits;
mod encrypted;
mod form;
mod keys;
mod overlap;
mod query;
mod selector;
mod server;
mod set;
mod switching;
#[cfg(test)]
mod tests;
mod trace;

use std::marker::PhantomData;

pub use cipher::Cipher;
pub use query::{Bits, Index, QueryForm, SeedUse};
pub use set::Set;

use crate::core::{Protocol, Result, Sizes, Workload};
use form::Selecting;

/// The protocol whose queries have that form.
#[derive(Debug)]
pub struct PirouetteProtocol<F>(PhantomData<F>);

/// One LWE encryption of the index.
pub type Pirouette = PirouetteProtocol<Index>;
/// One LWE encryption of every bit of the index.
pub type PirouetteH = PirouetteProtocol<Bits>;
/// The index under AES-128.
pub type TRespire = PirouetteProtocol<Cipher>;

impl<F: Selecting> Protocol for PirouetteProtocol<F> {
    const NAME: &'static str = F::NAME;
    const SUMMARY: &'static str = F::SUMMARY;
    const STREAMS: bool = true;
    const ONE_KEY: bool = true;
    type Set = Set<F>;
    type Numbers = describe::Numbers;
    type Server = server::Server<F>;
    type Client = client::Client<F>;

    fn describe(params: &Set<F>, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }
}
