//! Spiral's parameter set.

use std::sync::Arc;

use gadget::Family;
use lattice::{RingGadget, SplitRlwe};
use ring::{Kernel, Ring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ParameterSet, Result, Shape, in_range};
use crate::parts::folding::{Dimensions, Layout, positions};
use crate::parts::ring_matrix::{Rlwe, Switch};

/// Name of the protocol.
pub(super) const NAME: &str = "spiral";

/// The keys and tables of params/spiral/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// What a query is, and where ciphertexts become vectors.
    pub variant: Variant,
    /// Bits of a coefficient of the database: the plaintext modulus is p = 2^plain_bits.
    pub plain_bits: u32,
    /// Most bits of a row's number (nu_1); a larger database has more columns.
    pub row_bits: u32,
    /// Primes modulo which the database is stored: 2, or 1 for half the memory.
    pub matrix_primes: usize,
    /// Polynomials n that share a mask in an answer; an item has a multiple of n^2.
    pub vector_length: usize,
    /// Ring, secrets and errors of queries and keys.
    pub rlwe: Rlwe,
    /// Bases of the symmetric digits of products.
    pub bases: Bases,
    /// Bases of the symmetric digits of the automorphism keys that expand a packed query.
    pub expansion: Option<Expansion>,
    /// Moduli of answers.
    pub switch: Switch,
}

/// A variant of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Spiral: a query is one ciphertext, which the server expands; ciphertexts are vectors from the first dimension on.
    Base,
    /// SpiralPack: a query is one ciphertext; selected polynomials are packed into vectors.
    Pack,
    /// SpiralStream: a query has a ciphertext for each row and each row of a selector; ciphertexts are vectors from the first dimension on.
    Stream,
    /// SpiralStreamPack: a query has a ciphertext for each row and whole selectors; selected polynomials are packed into vectors.
    StreamPack,
}

impl Variant {
    /// Whether a query is one ciphertext that the server expands.
    pub fn expands(self) -> bool {
        matches!(self, Self::Base | Self::Pack)
    }

    /// Whether selected polynomials are packed into vectors.
    pub fn packs(self) -> bool {
        matches!(self, Self::Pack | Self::StreamPack)
    }

    /// Whether the server makes selectors of their rows.
    pub fn converts(self) -> bool {
        self != Self::StreamPack
    }
}

/// The `[bases]` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bases {
    /// Selectors, which are RGSW ciphertexts (z_GSW).
    pub selector: u64,
    /// The keys that convert rows to RGSW and pack polynomials (z_conv).
    pub conversion: u64,
}

/// The `[expansion]` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// Keys that expand leaves (z_exp, left).
    pub leaf: u64,
    /// Keys that expand selectors' rows (z_exp, right).
    pub selector: u64,
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        let Self { variant, plain_bits, row_bits, matrix_primes, vector_length, rlwe, bases, expansion, switch } = self;
        in_range("plain_bits", *plain_bits, 1..=20)?;
        in_range("matrix_primes", *matrix_primes, 1..=2)?;
        in_range("vector_length", *vector_length, 1..=16)?;
        rlwe.check(2..=2)?;
        // A packed query has a coefficient for each row, at most every second one.
        let most = if variant.expands() { rlwe.degree.ilog2() - 1 } else { 14 };
        in_range("row_bits", *row_bits, 0..=most)?;
        let ring = rlwe.ring(Kernel::Scalar)?;
        let check = |key: &str, base: u64| gadget(&ring, base).map(drop).map_err(|e| Error::value(key, e.to_string()));
        check("bases.selector", bases.selector)?;
        check("bases.conversion", bases.conversion)?;
        match expansion {
            Some(Expansion { leaf, selector }) if variant.expands() => {
                check("expansion.leaf", *leaf)?;
                check("expansion.selector", *selector)?;
            }
            Some(_) => {
                return Err(Error::value("expansion", "queries of this variant are not expanded: leave it out."));
            }
            None if variant.expands() => {
                return Err(Error::value("expansion", "a packed query is expanded: give the bases of its keys."));
            }
            None => (),
        }
        switch.check(self.plain_modulus())
    }
}

/// The gadget of symmetric digits in that base.
pub(super) fn gadget(ring: &Arc<Ring<u32>>, base: u64) -> Result<RingGadget<u32>> {
    RingGadget::new(ring, Family::Symmetric, base, 0).map_err(Error::from)
}

/// The coefficients of a packed query and the depths of the trees that take them apart: rows of the database at even ones, rows of
/// selectors at odd ones, or rows of the database alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Coefficient of each row of the database.
    pub leaves: Vec<usize>,
    /// log2 of the number of outputs of which they are the first.
    pub leaf_depth: u32,
    /// Coefficient of each row of a selector, by bit and digit.
    pub rows: Vec<usize>,
    /// The same for these.
    pub row_depth: u32,
}

impl Places {
    /// Of `leaves` rows of the database and `rows` rows of selectors.
    fn new(leaves: usize, rows: usize) -> Self {
        let depth = |count: usize| count.next_power_of_two().ilog2();
        let (step, shared) = if rows > 0 { (2, 1) } else { (1, 0) };
        Self {
            leaves: positions(depth(leaves), leaves).into_iter().map(|place| step * place).collect(),
            leaf_depth: depth(leaves) + shared,
            rows: positions(depth(rows), rows).into_iter().map(|place| 2 * place + 1).collect(),
            row_depth: if rows > 0 { depth(rows) + shared } else { 0 },
        }
    }
}

impl Set {
    /// The layout of a database of that shape; refuses records and databases that do not fit, and more selectors than a packed query has
    /// coefficients for.
    pub fn layout(&self, shape: Shape) -> Result<Layout> {
        let degree = self.rlwe.degree;
        let item_slots = self.vector_length * self.vector_length;
        let stacked = if self.variant.packs() { 1 } else { self.vector_length };
        let plain_bits = self.plain_bits;
        let dimensions = Dimensions { degree, response_degree: degree, item_slots, stacked, plain_bits };
        let layout = Layout::new(shape, dimensions, self.row_bits)?;
        let rows = layout.column_bits as usize * self.selector_digits();
        if self.variant.expands() && 2 * rows > degree {
            return Err(Error::Workload(format!(
                "{} columns take {rows} coefficients of a query, which has {} beside those of the rows. Give fewer records, or a \
                 set with more row_bits.",
                layout.columns,
                degree / 2
            )));
        }
        Ok(layout)
    }

    /// The coefficients of a packed query.
    pub fn places(&self, layout: &Layout) -> Places {
        Places::new(layout.rows, layout.column_bits as usize * self.selector_digits())
    }

    /// Digits of a selector.
    fn selector_digits(&self) -> usize {
        self.digits(self.bases.selector)
    }

    /// Digits in that base of residues modulo q; 0 if a check would refuse the base.
    pub fn digits(&self, base: u64) -> usize {
        gadget::new_gadget(Family::Symmetric, self.rlwe.modulus(), base, 0, Kernel::Scalar)
            .map_or(0, |gadget| gadget.length())
    }

    /// p.
    pub fn plain_modulus(&self) -> u64 {
        1 << self.plain_bits
    }

    /// Vectors of an answer to one query.
    pub fn vectors(&self, layout: &Layout) -> usize {
        layout.slots / self.vector_length
    }

    /// Bytes of the mask of a vector of an answer.
    pub fn mask_bytes(&self) -> usize {
        SplitRlwe::wire_bytes(self.rlwe.degree, 0, self.switch.mask_modulus, self.switch.body_modulus)
    }

    /// Bytes of one body of a vector of an answer.
    pub fn body_bytes(&self) -> usize {
        SplitRlwe::wire_bytes(0, self.rlwe.degree, self.switch.mask_modulus, self.switch.body_modulus)
    }

    /// Bytes of the answer to one query.
    pub fn answer_bytes(&self, layout: &Layout) -> usize {
        self.vectors(layout) * (self.mask_bytes() + self.vector_length * self.body_bytes())
    }
}
