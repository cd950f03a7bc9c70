//! Where records lie, and the words of items.
//!
//! An item is a record, or the records that share a plaintext. Its bits are cut into entries of w bits, one a coefficient; entry v is
//! the coefficient v modulo 2^w of the least size, so that plaintexts are as short as they can be. Where records have keys each is an item, and coefficients
//! from 0 on are one more: an item that was selected has none that is zero, and zeros alone say that no record has the key. Every item has a word, which the client encrypts bit by bit.

use std::ops::Range;

use lattice::wire::{Reader, Writer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::Shape;
use crate::parts::constant_weight::ConstantWeight;
use crate::parts::items::Items;
use crate::parts::selection::Segments;

/// The words of items, and what is made of the encrypted word so that it is not zero at the item with that word alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "operator", rename_all = "snake_case", deny_unknown_fields)]
pub enum Selection {
    /// Words of constant weight: the product of the bits where an item's word has its ones.
    Plain {
        /// k, ones of a word.
        weight: usize,
    },
    /// Words of constant weight: x (x - 1) ... (x - k + 1) of the number x of ones that a word shares with an item's; that is k! or 0.
    Arithmetic {
        /// k, ones of a word.
        weight: usize,
    },
    /// Binary words: the product of all bits, or of their complements where an item's word is zero.
    Folklore {},
}

impl Selection {
    /// The shortest code of that many words: bits and ones of a word, those of a binary word count as bits that are one or whose complements are.
    fn code(self, words: u64) -> ConstantWeight {
        match self {
            Self::Plain { weight } | Self::Arithmetic { weight } => ConstantWeight::shortest(weight, words),
            Self::Folklore {} => {
                let bits = (u64::BITS - (words - 1).leading_zeros()).max(1) as usize;
                ConstantWeight { bits, weight: bits }
            }
        }
    }

    /// Bits of a word where there are that many.
    pub fn word_bits(self, words: u64) -> usize {
        self.code(words).bits
    }
}

/// The number of keys of that many bits, at most the largest number.
pub fn words_of(bits: u32) -> u64 {
    1u64.checked_shl(bits).unwrap_or(u64::MAX)
}

/// Items that are selected before their products are taken: a matrix of plaintexts each.
const SEGMENT: usize = 64;

/// A database in plaintexts.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The records of an item.
    pub items: Items,
    selection: Selection,
    /// Whether words are those of records' keys.
    pub is_keyed: bool,
    /// N.
    degree: usize,
    /// w: bits of an entry.
    pub entry_bits: u32,
    /// Entries of an item.
    pub entries: usize,
    /// Plaintexts of an item, and ciphertexts of an answer.
    pub polynomials: usize,
    /// m and k: bits and ones of a word.
    pub code: ConstantWeight,
    /// Levels of the expansion.
    pub depth: u32,
}

impl Layout {
    /// Lays out a database of this shape in plaintexts of `degree` coefficients. Where records have keys, of that many bits, each is an item.
    pub fn new(
        shape: Shape,
        (selection, keyword_bits): (Selection, Option<u32>),
        degree: usize,
        entry_bits: u32,
    ) -> Self {
        let most_bits = if keyword_bits.is_some() { 0 } else { degree as u64 * u64::from(entry_bits) };
        let items = Items::of_bits(shape, most_bits);
        let code = selection.code(keyword_bits.map_or(items.count(), words_of));
        let entries = items.bits().div_ceil(u64::from(entry_bits)) as usize;
        Self {
            items,
            selection,
            is_keyed: keyword_bits.is_some(),
            degree,
            entry_bits,
            entries,
            polynomials: entries.div_ceil(degree),
            code,
            depth: (code.bits as u64).next_power_of_two().ilog2().min(degree.ilog2()),
        }
    }

    /// Number of items.
    pub fn count(&self) -> usize {
        self.items.count() as usize
    }

    /// The item of a record.
    pub fn item_of(&self, index: u64) -> usize {
        (index / self.items.records) as usize
    }

    /// Ciphertexts of a query.
    pub fn ciphertexts(&self) -> usize {
        self.code.bits.div_ceil(1 << self.depth)
    }

    /// The bits of a word that a ciphertext of a query carries.
    pub fn bits_of(&self, ciphertext: usize) -> Range<usize> {
        let first = ciphertext << self.depth;
        first..self.code.bits.min(first + (1 << self.depth))
    }

    /// The places of the ones of the word of that number.
    pub fn ones(&self, word: u64) -> Vec<usize> {
        match self.selection {
            Selection::Folklore {} => (0..self.code.bits).filter(|bit| word >> bit & 1 == 1).collect(),
            _ => self.code.ones(word),
        }
    }

    /// The numbers of the operands that belong to the word of that number. A bit is an operand; a bit of a binary word is two, itself and its complement.
    pub fn operands_of(&self, word: u64) -> Vec<usize> {
        match self.selection {
            Selection::Folklore {} => {
                (0..self.code.bits).map(|bit| 2 * bit + usize::from(word >> bit & 1 == 0)).collect()
            }
            _ => self.code.ones(word),
        }
    }

    /// Number of the operands.
    pub fn operands(&self) -> usize {
        if self.selection == (Selection::Folklore {}) { 2 * self.code.bits } else { self.code.bits }
    }

    /// Products of ciphertexts that select an item.
    pub fn products(&self) -> usize {
        self.code.weight - 1
    }

    /// The items, which are rows of matrices of plaintexts.
    pub fn segments(&self) -> Segments {
        Segments { rows: self.count(), each: SEGMENT.min(self.count()) }
    }

    fn half(&self) -> i64 {
        1 << (self.entry_bits - 1)
    }

    /// The coefficients of the plaintexts of an item with these bits; zeros where it has no entries.
    pub fn plaintexts(&self, item: usize, bits: &[u8]) -> Vec<Vec<i64>> {
        let (mut input, mut left) = (Reader::of(bits), self.items.bits_of(item as u64));
        let entries = left.div_ceil(u64::from(self.entry_bits)) as usize;
        let mut plaintexts = vec![vec![0; self.degree]; self.polynomials];
        for coefficient in plaintexts.iter_mut().flatten().take(entries) {
            let bits = left.min(u64::from(self.entry_bits));
            // Modulo 2^w, so that runs of zeros and of ones are 0 and -1: other runs have their energy at two roots of X^N + 1.
            let entry = (input.bits(bits as u32) as i64 ^ self.half()) - self.half();
            // Where an item may be missing no entry is zero.
            *coefficient = entry + i64::from(self.is_keyed && entry >= 0);
            left -= bits;
        }
        plaintexts
    }

    /// The bits of an item from the coefficients of its plaintexts.
    pub fn bits(&self, coefficients: impl Iterator<Item = i64>) -> Vec<u8> {
        let mut out = Writer::default();
        for coefficient in coefficients.take(self.entries) {
            // What was decrypted wrongly may be out of range.
            let entry = coefficient - i64::from(self.is_keyed && coefficient > 0);
            out.write(entry as u64 & ((1 << self.entry_bits) - 1), self.entry_bits);
        }
        out.finish()
    }
}
