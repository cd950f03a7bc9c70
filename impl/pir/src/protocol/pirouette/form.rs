//! From a query to selectors of the bits of its index: here Pirouette and Pirouette^H differ.

use lattice::lwe::{Lwe, LweKey};

use super::convert::{Selectors, convert};
use super::keys::{Secrets, ServerKeys};
use super::query::{Bits, QueryForm};
use super::trace::Trace;
use crate::core::{Context, Group, Result};

/// The operations of a query form that the rest of the protocol uses.
pub trait Selecting: QueryForm {
    /// The key of the encryptions.
    fn key(secrets: &Secrets) -> &LweKey;

    /// Dimension of the encryptions.
    fn dimension(degree: usize, small: usize) -> usize;

    /// For each query (with its client's keys) the selectors of the index's bits, the most significant first (phases `answer_digits`,
    /// `answer_bits`, `answer_rgsw`, or `answer_conversion` if they overlap).
    fn selectors(
        &self,
        queries: Vec<(&ServerKeys, Vec<Lwe>)>,
        index_bits: u32,
        trace: Option<&mut Trace<Self>>,
        context: &Context,
    ) -> Result<Vec<Selectors>>;
}

impl Selecting for Bits {
    fn key(secrets: &Secrets) -> &LweKey {
        &secrets.small
    }

    fn dimension(_: usize, small: usize) -> usize {
        small
    }

    fn selectors(
        &self,
        queries: Vec<(&ServerKeys, Vec<Lwe>)>,
        _: u32,
        trace: Option<&mut Trace<Self>>,
        context: &Context,
    ) -> Result<Vec<Selectors>> {
        // The query's ciphertexts are converted as they are.
        if let (Some(trace), [(keys, bits), ..]) = (trace, &queries[..]) {
            trace.bits(bits, keys)?;
        }
        context.clock.time("answer_rgsw", Group::Online, || {
            queries.iter().map(|(keys, bits)| convert(keys, bits, context.threads)).collect()
        })
    }
}
