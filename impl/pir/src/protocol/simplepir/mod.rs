//! SimplePIR (Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan; USENIX Security 2023, section 4) and FrodoPIR (Davidson,
//! Pestana, Celi; PETS 2023, section 4).
//!
//! The client downloads the hint H = D' A once; a query is an LWE encryption of a unit vector, the answer is D' times it. SimplePIR's
//! matrix is square. FrodoPIR's has a column for every record of a shard; its client makes queries and their decryption ahead,
//! so that it adds one number when it learns the index. docs/simplepir.md and docs/frodopir.md have the symbols, the byte formulas and
//! the noise theorem.

mod ahead;
mod client;
mod describe;
mod hint;
mod server;
mod set;
#[cfg(test)]
mod tests;

pub use set::Set;

use std::marker::PhantomData;

use crate::core::{Error, Protocol, Result, Sizes, Workload};
use crate::parts::lwe_matrix::LinearNumbers;

/// Which of the two protocols it is.
pub trait Face: 'static {
    /// Name of the protocol.
    const NAME: &'static str;
    /// One line about it.
    const SUMMARY: &'static str;
    /// Whether queries are made ahead.
    const AHEAD: bool;
    /// What a set of the other protocol lacks or has.
    const SHARDS: &'static str;
}

/// A square matrix, queries made when they are asked.
#[derive(Debug)]
pub struct Square;

impl Face for Square {
    const NAME: &'static str = set::SIMPLEPIR;
    const SUMMARY: &'static str = "SimplePIR: LWE, a large hint, one multiply-add an entry";
    const AHEAD: bool = false;
    const SHARDS: &'static str = "this protocol has a square matrix; leave it out, or take protocol = \"frodopir\".";
}

/// A column for every record of a shard, queries made ahead.
#[derive(Debug)]
pub struct Sharded;

impl Face for Sharded {
    const NAME: &'static str = set::FRODOPIR;
    const SUMMARY: &'static str = "FrodoPIR: LWE, a word of query for every record, made before the index is known";
    const AHEAD: bool = true;
    const SHARDS: &'static str =
        "it is missing; write shards = 1, or more to shorten queries and lengthen hints and answers.";
}

/// The protocol of one LWE product with that face.
#[derive(Debug)]
pub struct OneProduct<F>(PhantomData<F>);

/// SimplePIR.
pub type SimplePir = OneProduct<Square>;
/// FrodoPIR.
pub type FrodoPir = OneProduct<Sharded>;

impl<F: Face> Protocol for OneProduct<F> {
    const NAME: &'static str = F::NAME;
    const SUMMARY: &'static str = F::SUMMARY;
    const AHEAD: bool = F::AHEAD;
    type Set = Set;
    type Numbers = LinearNumbers;
    type Server = server::Server;
    type Client = client::Client;

    fn check(set: &Set) -> Result<()> {
        if set.protocol() == F::NAME { Ok(()) } else { Err(Error::value("shards", F::SHARDS)) }
    }

    fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }
}
