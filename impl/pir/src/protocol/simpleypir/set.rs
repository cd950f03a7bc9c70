//! SimpleYPIR's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{ParameterSet, Result, in_range};
use crate::parts::ring_matrix::{Gadget, Rlwe, Switch};

/// Name of the protocol.
pub(super) const NAME: &str = "simpleypir";

/// The keys and tables of params/simpleypir/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Bits of an entry: the plaintext modulus is p = 2^entry_bits.
    pub entry_bits: u32,
    /// One query retrieves an item, whose length is a multiple of `item_step` entries near the square root of the database's number of entries.
    pub item_step: u64,
    /// The rounding of the number of rows.
    pub rows: Rows,
    /// Bytes of a coefficient of the query on the wire.
    pub query_coefficient_bytes: usize,
    /// The ring.
    pub rlwe: Rlwe,
    /// Gadget of packing keys.
    pub packing: Gadget,
    /// Moduli of an answer.
    pub switch: Switch,
}

/// The rounding of the number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rows {
    /// To a power of two of at least 2048, as published.
    PowerOfTwo,
    /// To a multiple of 32.
    Exact,
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        in_range("entry_bits", self.entry_bits, 1..=16)?;
        in_range("item_step", self.item_step, 1..=1 << 24)?;
        self.rlwe.check(2..=2)?;
        self.rlwe.check_coefficient_bytes("query_coefficient_bytes", self.query_coefficient_bytes)?;
        self.packing.check("packing", &self.rlwe, false)?;
        self.switch.check(1 << self.entry_bits)
    }
}

impl Set {
    /// floor(q / p).
    pub fn scale(&self) -> u64 {
        self.rlwe.modulus() >> self.entry_bits
    }
}
