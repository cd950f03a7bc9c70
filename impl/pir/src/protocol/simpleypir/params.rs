//! SimpleYPIR's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};
use crate::core::params::{ParameterSet, SourceNote};
use crate::parts::ring_matrix::{Packed, PackingLiteral, Rlwe, RlweLiteral, Switch, SwitchLiteral, coefficient_bytes};

/// Name of the protocol.
pub(super) const NAME: &str = "simpleypir";

/// A SimpleYPIR set as written in params/simpleypir/*.toml.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// Always `simpleypir`.
    pub protocol: String,
    /// One line for tables.
    pub title: String,
    /// Where the set comes from.
    pub source: SourceNote,
    /// Bits of an entry: the plaintext modulus is p = 2^entry_bits.
    pub entry_bits: u32,
    /// An item, which one query retrieves, is a multiple of so many entries, about the square root of the database's number.
    pub item_step: u64,
    /// How the number of rows is rounded up.
    pub rows: Rows,
    /// Bytes of a coefficient of the query on the wire.
    pub query_coefficient_bytes: u32,
    /// The ring.
    pub rlwe: RlweLiteral,
    /// Gadget of packing keys.
    pub packing: PackingLiteral,
    /// Moduli of an answer.
    pub switch: SwitchLiteral,
}

/// How the number of rows is rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rows {
    /// To a power of two of at least 2048, as published.
    PowerOfTwo,
    /// To a multiple of 32.
    Exact,
}

/// A checked SimpleYPIR set.
#[derive(Clone, Debug)]
pub struct Params {
    source: SourceNote,
    /// Bits of an entry.
    pub entry_bits: u32,
    /// Entries of which an item is a multiple.
    pub item_step: u64,
    /// How the number of rows is rounded up.
    pub rows: Rows,
    /// Bytes of a coefficient of the query.
    pub query_bytes: usize,
    /// The ring.
    pub rlwe: Rlwe,
    /// Gadget of packing keys.
    pub packed: Packed,
    /// Moduli of an answer.
    pub switch: Switch,
}

impl ParameterSet for Params {
    type Literal = Literal;

    fn try_new(literal: Literal) -> Result<Self> {
        let Literal {
            protocol,
            title: _,
            source,
            entry_bits,
            item_step,
            rows,
            query_coefficient_bytes,
            rlwe,
            packing,
            switch,
        } = literal;
        if protocol != "simpleypir" {
            return Err(Error::value("protocol", format!("`{protocol}` in a SimpleYPIR set; write \"simpleypir\".")));
        }
        if !(1..=16).contains(&entry_bits) {
            return Err(Error::value("entry_bits", format!("{entry_bits} is not between 1 and 16.")));
        }
        if !(1..=1 << 24).contains(&item_step) {
            return Err(Error::value("item_step", format!("{item_step} is not between 1 and 2^24.")));
        }
        let rlwe: Rlwe = (&rlwe).try_into()?;
        Ok(Self {
            source,
            entry_bits,
            item_step,
            rows,
            query_bytes: coefficient_bytes("query_coefficient_bytes", query_coefficient_bytes, rlwe.modulus())?,
            packed: Packed::try_new(packing, &rlwe)?,
            switch: Switch::try_new(switch, 1 << entry_bits)?,
            rlwe,
        })
    }

    fn source(&self) -> &SourceNote {
        &self.source
    }
}

impl Params {
    /// floor(q / p).
    pub fn scale(&self) -> u64 {
        self.rlwe.modulus() >> self.entry_bits
    }

    /// What is subtracted from a stored entry to centre it.
    pub fn offset(&self) -> i32 {
        1 << (self.entry_bits - 1)
    }
}
