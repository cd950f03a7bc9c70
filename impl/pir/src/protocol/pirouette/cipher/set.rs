//! The `[query]` table of T-Respire, and a query.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::query::{Encryption, QueryForm};
use super::super::selector::Selector;
use super::super::switching::KeySwitching;
use super::aes;
use crate::core::{Error, Result};
use crate::parts::ring_matrix::Rlwe;

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

    fn encryption(&self, _: usize) -> Option<Encryption> {
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
    pub number: u32,
    /// The index under that block's keystream, the lowest byte first.
    pub bytes: Vec<u8>,
}

impl Masked {
    /// Bit `bit` of the index, masked.
    pub fn bit(&self, bit: usize) -> bool {
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }
}
