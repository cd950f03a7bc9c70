//! T-Respire: the index travels under AES-128 in counter mode, and the server deciphers it homomorphically.
//!
//! docs/trespire.md has the symbols, the steps and what the paper measured instead.

pub mod aes;
mod carrier;
mod evaluate;
mod observed;
#[cfg(test)]
mod tests;

pub use carrier::{COUNTER, COUNTER_BYTES, Ciphered, OF_FIRST, OF_OTHERS, round_key_rows, wire_bytes};
pub use evaluate::{converted_bytes, keystream_work, round_bytes};

use lattice::lwe::Lwe;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::convert::{Selectors, convert};
use super::form::{Asked, Selecting};
use super::query::QueryForm;
use super::selector::Selector;
use super::switching::KeySwitching;
use super::trace::Trace;
use crate::core::{Context, Error, Group, Result};
use crate::parts::ring_matrix::Rlwe;
use evaluate::{Evaluation, Substituted, to_small};

/// Most bits of an index: four bytes of a block's keystream come from one column of the last state but one.
const MOST_BITS: u32 = 32;

/// The `[query]` table of T-Respire.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cipher {
    /// The switch of bits from s to z.
    pub key_switching: KeySwitching,
    /// The RGSW encryptions of bits between rounds, which meet the eight products of an S-box alone.
    pub rounds: Selector,
    /// Whether a whole block masks an index: a query of 16 bytes more than its counter, and all bytes of all rounds to evaluate, which tells
    /// what a block costs.
    #[serde(default)]
    pub whole_block: bool,
}

impl QueryForm for Cipher {
    const NAME: &'static str = "trespire";
    const SUMMARY: &'static str = "T-Respire: a query is the index under AES-128 in counter mode; homomorphic AES with circuit bootstrapping, folding";

    fn check(&self, rlwe: &Rlwe) -> Result<()> {
        if rlwe.degree < 256 {
            let problem = format!("{} coefficients: an S-box has 256 entries, write 256 or more.", rlwe.degree);
            return Err(Error::value("rlwe.degree", problem));
        }
        self.key_switching.check(rlwe)?;
        self.rounds.check("query.rounds", rlwe)
    }

    fn encryption(&self, _: usize) -> Option<super::query::Encryption> {
        None
    }

    fn switching(&self) -> Option<&KeySwitching> {
        Some(&self.key_switching)
    }

    fn rounds(&self) -> Option<&Selector> {
        Some(&self.rounds)
    }

    fn keystream_bytes(&self, index_bits: u32) -> usize {
        if self.whole_block && index_bits > 0 { aes::BLOCK } else { index_bits.div_ceil(8) as usize }
    }

    fn check_bits(&self, index_bits: u32) -> Result<()> {
        if index_bits <= MOST_BITS {
            return Ok(());
        }
        Err(Error::Workload(format!(
            "an index of {index_bits} bits: four bytes of a keystream mask {MOST_BITS} at most. Take fewer or longer records."
        )))
    }
}

/// A query as it travels.
pub struct Masked {
    /// Number of the block.
    number: u32,
    /// The index under that block's keystream, the lowest byte first.
    bytes: Vec<u8>,
}

impl Masked {
    /// Bit `bit` of the index, masked.
    fn bit(&self, bit: usize) -> bool {
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }
}

impl Selecting for Cipher {
    type Carrier = Ciphered;

    fn selectors(
        &self,
        queries: Vec<Asked<Self>>,
        index_bits: u32,
        mut trace: Option<&mut Trace<Self>>,
        context: &Context,
    ) -> Result<Vec<Selectors>> {
        if index_bits == 0 {
            return Ok(vec![Vec::new(); queries.len()]);
        }
        let mut all = Vec::with_capacity(queries.len());
        for (session, masked) in &queries {
            let (keys, cipher) = (&session.keys, &session.reader);
            let evaluation = Evaluation { keys, cipher, bootstrapper: keys.bootstrapper()?, threads: context.threads };
            // What is observed is that of the first query.
            let mut observed = trace.take();
            let bits = context.clock.time("answer_cipher", Group::Online, || {
                let mut seen = |round: usize, bytes: &[Substituted]| match &mut observed {
                    Some(trace) => observed::round(trace, &evaluation, masked.number, round, bytes),
                    None => Ok(()),
                };
                let keystream = evaluation.keystream(masked.number, masked.bytes.len(), &mut seen)?;
                Ok::<_, Error>(unmasked(&evaluation, keystream, masked, index_bits))
            })?;
            let small = to_small(evaluation.bootstrapper, &bits, context.threads)?;
            if let Some(trace) = observed {
                trace.bits(&small, keys)?;
            }
            all.push(context.clock.time("answer_rgsw", Group::Online, || convert(keys, &small, context.threads))?);
        }
        Ok(all)
    }
}

/// The bits of the index, the most significant first, modulo Q.
fn unmasked(evaluation: &Evaluation, keystream: Vec<Lwe>, masked: &Masked, index_bits: u32) -> Vec<Lwe> {
    let (half, modulus) = (evaluation.half(), evaluation.bootstrapper.modulus());
    let bits = keystream.into_iter().enumerate().take(index_bits as usize).map(|(bit, mut mask)| {
        mask.b = modulus.add(mask.b, if masked.bit(bit) { half } else { 0 });
        mask
    });
    let mut bits: Vec<Lwe> = bits.collect();
    bits.reverse();
    bits
}
