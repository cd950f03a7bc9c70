//! YPIR (Menon, Wu; USENIX Security 2024): DoublePIR whose hint is packed into ring ciphertexts by CDKS, so that clients download
//! nothing beforehand; and InsPIRe_0 (InsPIRe, section 4): YPIR with InspiRING instead of CDKS, hence two packing keys instead of
//! eleven. docs/ypir.md and docs/inspire0.md have the symbols, byte formulas and noise theorems.
//!
//! An LWE product modulo 2^32 selects a row, and the digits of this layer's hint and answer are the database of a second layer over a
//! ring, which selects a column. Packing turns the second layer's answers into ring ciphertexts, so that no hint is sent. For long
//! records, whose packing tables would fill the memory, the second layer selects whole polynomials ([`layout::Layers`]).
//!
//! Letters: N1 rows and G columns of records, ne entries a record, n the LWE dimension, d the ring degree, q the ring's modulus,
//! p = 2^b the plaintext modulus of digits, q1 the modulus to which values of the first layer are switched.

mod client;
mod describe;
mod layout;
mod public;
mod second;
mod server;
mod set;
#[cfg(test)]
mod tests;
mod whole;

use std::marker::PhantomData;

pub use set::{Body, Exchange, Set};

use crate::core::{Error, Protocol, Result, Sizes, Workload};

/// The difference between the two protocols.
pub trait Face: 'static {
    /// Name of the protocol.
    const NAME: &'static str;
    /// One line about it.
    const SUMMARY: &'static str;
    /// The forms in which the digits of the first layer's answer may be sent.
    const BODIES: &'static [Body];
    /// These forms in words.
    const BODIES_TEXT: &'static str;
}

/// Packed by CDKS.
#[derive(Debug)]
pub struct Cdks;

impl Face for Cdks {
    const NAME: &'static str = set::YPIR;
    const SUMMARY: &'static str = "YPIR: DoublePIR without a hint to download, one ring ciphertext a byte retrieved";
    const BODIES: &'static [Body] = &[Body::Traced];
    const BODIES_TEXT: &'static str = "leave it out, or take protocol = \"inspire0\"";
}

/// Packed by InspiRING.
#[derive(Debug)]
pub struct Inspiring;

impl Face for Inspiring {
    const NAME: &'static str = set::INSPIRE0;
    const SUMMARY: &'static str = "InsPIRe_0: YPIR packed by InspiRING, two packing keys instead of eleven";
    const BODIES: &'static [Body] = &[Body::Unpacked, Body::Packed, Body::Merged];
    const BODIES_TEXT: &'static str = "write unpacked, packed or merged";
}

/// The two-layer protocol with that face.
#[derive(Debug)]
pub struct TwoLayers<F>(PhantomData<F>);

/// YPIR.
pub type Ypir = TwoLayers<Cdks>;
/// InsPIRe_0.
pub type Inspire0 = TwoLayers<Inspiring>;

impl<F: Face> Protocol for TwoLayers<F> {
    const NAME: &'static str = F::NAME;
    const SUMMARY: &'static str = F::SUMMARY;
    type Set = Set;
    type Server = server::Server;
    type Client = client::Client;

    fn check(set: &Set) -> Result<()> {
        if F::BODIES.contains(&set.body) {
            return Ok(());
        }
        Err(Error::value("body", format!("not one of {}'s: {}.", F::NAME, F::BODIES_TEXT)))
    }

    fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(set, workload)
    }
}
