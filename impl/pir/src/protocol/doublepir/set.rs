//! DoublePIR's parameter set, and the shape of its second layer.

use gadget::Balanced32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ParameterSet, Result, Shape, in_range};
use crate::parts::lwe_matrix::{Layout, Lwe, PlainModuli, Tiling};

/// Name of the protocol.
pub(super) const NAME: &str = "doublepir";

/// Bytes of the seeds of A1 and A2, at the start of the hint message.
pub(super) const SEED_BYTES: usize = 32;

/// The keys and tables of params/doublepir/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Least number of columns of the first layer; 64 n as published.
    pub min_columns: u64,
    /// Number X of copies of the second layer, which share the entries of a wide record.
    pub hint_copies: HintCopies,
    /// LWE parameters of both layers.
    pub lwe: Lwe,
    /// Plaintext modulus by number of LWE samples (the larger of rows and columns).
    pub plain_moduli: PlainModuli,
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        in_range("min_columns", self.min_columns, 1..=1 << 24)?;
        if self.hint_copies == HintCopies::Count(0) {
            return Err(Error::value("hint_copies", "0: write at least 1, or \"all\"."));
        }
        self.lwe.check()?;
        self.plain_moduli.check()
    }
}

/// The number X of copies: more copies mean a larger hint and fewer second queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HintCopies {
    /// A copy for each entry of a record, as published.
    Word(AllCopies),
    /// This number, or the next smaller divisor of the number of entries of a record.
    Count(u64),
}

/// The word `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllCopies {
    /// One copy for each entry of a record.
    All,
}

/// Both layers of a database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layers {
    /// The first layer.
    pub first: Layout,
    /// LWE dimension n.
    pub dimension: usize,
    /// X, a divisor of the entries of a record.
    pub copies: usize,
    /// G = rows / X: row g X + x of the first layer is entry g of copy x.
    pub groups: usize,
    /// J = entries of a record / X.
    pub second_queries: usize,
    /// Balanced digits of the hint's and the answer's words.
    pub gadget: Balanced32,
}

impl Set {
    /// The layout of both layers; refuses a database with more samples than the table of moduli covers.
    pub(super) fn layers(&self, shape: Shape) -> Result<Layers> {
        let first = Layout::choose(shape, &self.plain_moduli, Tiling::Wide { min_columns: self.min_columns })?;
        let wide = first.code.entries_per_record();
        let copies = match self.hint_copies {
            HintCopies::Word(AllCopies::All) => wide,
            HintCopies::Count(count) => (1..=count.min(wide)).rev().find(|x| wide % x == 0).unwrap_or(1),
        };
        let gadget = Balanced32::new(first.code.plain_modulus())
            .ok_or_else(|| Error::value("plain_moduli", "a modulus is too small for balanced digits."))?;
        Ok(Layers {
            first,
            dimension: self.lwe.dimension,
            copies: copies as usize,
            groups: first.rows / copies as usize,
            second_queries: (wide / copies) as usize,
            gadget,
        })
    }
}

impl Layers {
    /// Rows of H1 and of the hint: n digits X.
    pub fn second_rows(&self) -> usize {
        self.dimension * self.gadget.length() * self.copies
    }

    /// Rows of h1 and of one h2: digits X.
    pub fn digit_rows(&self) -> usize {
        self.gadget.length() * self.copies
    }

    /// 32-bit words of one query: q1 and J times q2.
    pub fn query_words(&self) -> usize {
        self.first.columns + self.second_queries * self.groups
    }

    /// 32-bit words of one answer: h1 and J times a2, h2.
    pub fn answer_words(&self) -> usize {
        self.digit_rows() * self.dimension + self.second_queries * (self.second_rows() + self.digit_rows())
    }

    /// Bytes of the hint message.
    pub fn hint_bytes(&self) -> usize {
        SEED_BYTES + 4 * self.second_rows() * self.dimension
    }

    /// Copy and group of entry `entry` of the record whose first row is `first_row`.
    pub fn locate(&self, first_row: usize, entry: usize) -> (usize, usize) {
        (entry % self.copies, first_row / self.copies + entry / self.copies)
    }

    /// Storage bits of an entry of H1.
    pub fn second_width(&self) -> u32 {
        let bits = u32::BITS - (self.gadget.base() - 1).leading_zeros();
        ring::PackedMatrix::storage_width(bits).unwrap_or(16)
    }

    /// Bytes of H1.
    pub fn second_stored_bytes(&self) -> u64 {
        ring::PackedMatrix::stored_bytes_for(self.second_rows(), self.groups, self.second_width())
    }

    /// Memory of the second matrix.
    pub fn second_memory_bytes(&self) -> u64 {
        ring::PackedMatrix::memory_bytes_for(self.second_rows(), self.groups, self.second_width())
    }

    /// Bits of the change of one balanced digit on the wire.
    pub fn change_bits(&self) -> u32 {
        u32::BITS - (2 * self.gadget.base() - 2).leading_zeros()
    }

    /// Payload bytes of one changed record in a `hint_delta`.
    pub fn change_bytes(&self) -> u64 {
        let digits = self.first.code.entries_per_record() * (self.dimension * self.gadget.length()) as u64;
        8 + (digits * u64::from(self.change_bits())).div_ceil(8)
    }
}
