//! What Pirouette and Pirouette^H differ in: the form of a query.

use lattice::lwe::{Lwe, LweKey};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::convert::{Selectors, convert};
use super::keys::{Secrets, ServerKeys};
use super::query::{Bits, BitsLiteral, Encryption, Index, IndexLiteral};
use super::switching::KeySwitching;
use super::trace::Trace;
use crate::core::clock::Group;
use crate::core::error::Result;
use crate::core::scheme::Context;
use crate::parts::ring_matrix::Rlwe;

/// A form of queries, which is a protocol.
pub trait QueryForm: Clone + std::fmt::Debug + Send + Sync + Sized + 'static {
    /// Name of the protocol.
    const NAME: &'static str;
    /// One line about it.
    const SUMMARY: &'static str;
    /// The `[query]` table as written.
    type Literal: DeserializeOwned + JsonSchema;

    /// Checks a literal.
    ///
    /// # Errors
    /// A value out of its range.
    fn try_new(literal: Self::Literal, rlwe: &Rlwe) -> Result<Self>;

    /// The encryption of what is sent.
    fn encryption(&self) -> &Encryption;

    /// The switch to the small key, where there is one.
    fn switching(&self) -> Option<&KeySwitching>;

    /// Bits of a digit of the index, where it is decomposed; else 0.
    fn digit_bits(&self) -> u32;

    /// What is encrypted of an index of so many bits.
    ///
    /// # Errors
    /// The index does not fit.
    fn messages(&self, index: u64, index_bits: u32) -> Result<Vec<u64>>;
}

/// The forms as the rest of the protocol uses them.
pub trait Selecting: QueryForm {
    /// The key of the encryptions.
    fn key(secrets: &Secrets) -> &LweKey;

    /// Dimension of the encryptions.
    fn dimension(degree: usize, small: usize) -> usize;

    /// For each query (with its client's keys) selectors of the index's bits, the most significant first (phases `answer_digits`,
    /// `answer_bits`, `answer_rgsw`, or `answer_conversion` where they overlap).
    ///
    /// # Errors
    /// Those of ciphertexts that do not fit the keys.
    fn selectors(
        &self,
        queries: Vec<(&ServerKeys, Vec<Lwe>)>,
        index_bits: u32,
        trace: Option<&mut Trace<Self>>,
        context: &Context,
    ) -> Result<Vec<Selectors>>;
}

impl QueryForm for Bits {
    const NAME: &'static str = "pirouette_h";
    const SUMMARY: &'static str = "Pirouette^H: a query is a seed and an LWE body for every bit of the index; circuit bootstrapping, then folding";
    type Literal = BitsLiteral;

    fn try_new(literal: BitsLiteral, rlwe: &Rlwe) -> Result<Self> {
        Self::try_new(literal, rlwe)
    }

    fn encryption(&self) -> &Encryption {
        &self.encryption
    }

    fn switching(&self) -> Option<&KeySwitching> {
        None
    }

    fn digit_bits(&self) -> u32 {
        0
    }

    fn messages(&self, index: u64, index_bits: u32) -> Result<Vec<u64>> {
        let half = 1u64 << (self.encryption.modulus_log2 - 1);
        Ok((0..index_bits).rev().map(|bit| (index >> bit & 1) * half).collect())
    }
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
        // What is sent is what is converted.
        if let (Some(trace), [(keys, bits), ..]) = (trace, &queries[..]) {
            trace.bits(bits, keys)?;
        }
        context.clock.time("answer_rgsw", Group::Online, || {
            queries.iter().map(|(keys, bits)| convert(keys, bits, context.threads)).collect()
        })
    }
}

impl QueryForm for Index {
    const NAME: &'static str = "pirouette";
    const SUMMARY: &'static str = "Pirouette: a query is a seed and one LWE body; homomorphic digit and bit decomposition, circuit bootstrapping, folding";
    type Literal = IndexLiteral;

    fn try_new(literal: IndexLiteral, rlwe: &Rlwe) -> Result<Self> {
        Self::try_new(literal, rlwe)
    }

    fn encryption(&self) -> &Encryption {
        &self.encryption
    }

    fn switching(&self) -> Option<&KeySwitching> {
        Some(&self.switching)
    }

    fn digit_bits(&self) -> u32 {
        self.digit_bits
    }

    fn messages(&self, index: u64, index_bits: u32) -> Result<Vec<u64>> {
        let scale = self.scale_log2(index_bits)?;
        // Without bits the scale is the modulus itself, and the index 0.
        Ok(vec![index.checked_shl(scale).unwrap_or(0)])
    }
}
