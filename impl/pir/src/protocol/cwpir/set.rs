//! CwPIR's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Layout, Selection, words_of};
use crate::core::{Error, ParameterSet, Result, Shape, in_range, power_of_two};
use crate::parts::bfv::{FamilyRing, Plaintext, Switch};

/// Name of the protocol.
pub(super) const NAME: &str = "cwpir";

/// The tables of params/cwpir/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Words and products.
    pub selection: Selection,
    /// Records are asked for by keys of that many bits, which are their words; absent: by their numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword_bits: Option<u32>,
    /// Ciphertexts and keys; the plaintext modulus is an integer.
    pub ring: FamilyRing,
    /// Moduli of the ciphertexts of an answer; absent: they stay modulo q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
}

/// Most ones of a word: at 32 the words of 67 bits are as many as numbers of 64 bits, and more would only cost products.
const MOST_ONES: usize = 32;

/// Most bits of the word of a key: each is a ciphertext of the expansion.
const MOST_WORD_BITS: usize = 1 << 14;

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        self.ring.check()?;
        let Plaintext::Integer { modulus } = self.ring.plaintext else {
            let problem =
                "coefficients carry records, so the plaintext modulus is an integer: write { kind = \"integer\", .. }.";
            return Err(Error::value("ring.plaintext", problem));
        };
        match self.selection {
            Selection::Plain { weight } => in_range("selection.weight", weight, 1..=MOST_ONES)?,
            // k! has an inverse; in a tree of another number of factors two that share an error would meet late.
            Selection::Arithmetic { weight } => {
                power_of_two("selection.weight", weight, 1..=MOST_ONES.min(modulus as usize - 1), "")?;
            }
            Selection::Folklore {} => {}
        }
        if let Some(bits) = self.keyword_bits {
            in_range("keyword_bits", bits, 1..=u64::BITS)?;
            let length = self.selection.word_bits(words_of(bits));
            if length > MOST_WORD_BITS {
                let problem = format!(
                    "keys of {bits} bits take words of {length} bits: at most {MOST_WORD_BITS}. Give more ones."
                );
                return Err(Error::value("selection.weight", problem));
            }
        }
        self.ring.check_switch(self.switch)
    }
}

impl Set {
    /// The database's layout.
    pub fn layout(&self, shape: Shape) -> Result<Layout> {
        Ok(Layout::new(shape, (self.selection, self.keyword_bits), self.ring.degree, self.ring.slot_bits()?))
    }
}
