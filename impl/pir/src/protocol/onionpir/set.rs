//! OnionPIR's parameter set.

use ring::Kernel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ParameterSet, Result, Shape, in_range};
use crate::parts::bfv::{KeyedRing, RingTable, Switch};
use crate::parts::folding::{Dimensions, Layout};
use crate::parts::ring_matrix::{Digits, Gadget};

/// Name of the protocol.
pub(super) const NAME: &str = "onionpir";

/// The keys and tables of params/onionpir/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Bits of a digit of a coefficient of the database.
    pub plain_bits: u32,
    /// Digits D of a coefficient, each a polynomial of its own: the plaintext modulus is t = 2^(plain_bits D).
    pub plain_digits: usize,
    /// Most bits of a number in the first dimension; a larger database has more columns.
    pub row_bits: u32,
    /// How further dimensions are selected.
    pub further: Further,
    /// Ring, secret and errors, and the digits of automorphisms.
    pub ring: KeyedRing,
    /// The gadgets of products with RGSW ciphertexts.
    pub gadgets: Gadgets,
    /// Moduli of answers; without it they stay modulo q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
}

/// How further dimensions are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Further {
    /// Dimensions of four, by a unit vector each; an odd bit is a dimension of two.
    OneHot,
    /// Dimensions of two, by a bit each.
    Binary,
}

/// The `[gadgets]` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gadgets {
    /// Of selectors.
    pub selector: Gadget,
    /// Of RGSW(-s), which makes selectors of their rows.
    pub conversion: Gadget,
}

/// Largest modulus of an answer.
const MAX_SWITCHED: u64 = 1 << 61;

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        let Self { plain_bits, plain_digits, row_bits, further: _, ring, gadgets, switch } = self;
        ring.check()?;
        in_range("plain_bits", *plain_bits, 1..=30)?;
        in_range("plain_digits", *plain_digits, 1..=60 / *plain_bits as usize)?;
        let log_q = ring.primes().iter().map(|prime| (*prime as f64).log2()).sum::<f64>();
        let most = log_q as u32 - 1;
        if self.message_bits() >= most {
            let problem = format!("{plain_digits} digits of {plain_bits} bits leave no room for errors modulo q.");
            return Err(Error::value("plain_digits", problem));
        }
        in_range("row_bits", *row_bits, 0..=ring.degree.ilog2())?;
        let of_ring = ring.ring(Kernel::Scalar)?;
        for (key, gadget) in [("gadgets.selector", gadgets.selector), ("gadgets.conversion", gadgets.conversion)] {
            if gadget.digits != Digits::Symmetric {
                return Err(Error::value(&format!("{key}.digits"), "leave it out: digits are symmetric."));
            }
            in_range(&format!("{key}.base_log2"), gadget.base_log2, 1..=27)?;
            gadget.of(&of_ring).map_err(|e| Error::value(key, e.to_string()))?;
        }
        switch.map_or(Ok(()), |switch| switch.check_range(2 << self.message_bits()..=MAX_SWITCHED))
    }
}

impl Set {
    /// log2 t.
    pub fn message_bits(&self) -> u32 {
        self.plain_bits * self.plain_digits as u32
    }

    /// The layout of a database of that shape; refuses records and databases that do not fit.
    pub fn layout(&self, shape: Shape) -> Result<Layout> {
        let (degree, digits) = (self.ring.degree, self.plain_digits);
        let plain_bits = self.plain_bits;
        let dimensions =
            Dimensions { degree, response_degree: degree, item_slots: digits, stacked: digits, plain_bits };
        Layout::new(shape, dimensions, self.row_bits)
    }

    /// Bits of a column's number in each further dimension, most significant first.
    pub fn widths(&self, column_bits: u32) -> Vec<u32> {
        let each = match self.further {
            Further::OneHot => 2,
            Further::Binary => 1,
        };
        let (odd, whole) = (column_bits % each, column_bits / each);
        std::iter::repeat_n(odd, usize::from(odd > 0)).chain(std::iter::repeat_n(each, whole as usize)).collect()
    }

    /// Selectors of a further dimension of that many bits.
    pub fn selectors_of(&self, width: u32) -> usize {
        match self.further {
            Further::OneHot => 1 << width,
            Further::Binary => 1,
        }
    }
}
