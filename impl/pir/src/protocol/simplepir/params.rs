//! SimplePIR's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};
use crate::core::params::{Lwe32, LweLiteral, ParameterSet, PlainModuli, PlainModulus, SourceNote};
use crate::core::workload::Shape;
use crate::parts::lwe_matrix::{Layout, Tiling};

/// Name of the protocol.
pub(super) const NAME: &str = "simplepir";

/// Bytes of the seed of A, at the start of the hint message.
pub(super) const SEED_BYTES: usize = 16;

/// A SimplePIR set as written in params/simplepir/*.toml.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// Always `simplepir`.
    pub protocol: String,
    /// One line for tables.
    pub title: String,
    /// Where the set comes from.
    pub source: SourceNote,
    /// LWE parameters of the query.
    pub lwe: LweLiteral,
    /// Plaintext modulus by number of LWE samples (columns).
    pub plain_moduli: Vec<PlainModulus>,
}

/// A checked SimplePIR set.
#[derive(Clone, Debug)]
pub struct Params {
    source: SourceNote,
    /// LWE parameters of the query.
    pub lwe: Lwe32,
    moduli: PlainModuli,
}

impl ParameterSet for Params {
    type Literal = Literal;

    fn try_new(literal: Literal) -> Result<Self> {
        let Literal { protocol, title: _, source, lwe, plain_moduli } = literal;
        if protocol != "simplepir" {
            return Err(Error::value("protocol", format!("`{protocol}` in a SimplePIR set; write \"simplepir\".")));
        }
        Ok(Self { source, lwe: (&lwe).try_into()?, moduli: plain_moduli[..].try_into()? })
    }

    fn source(&self) -> &SourceNote {
        &self.source
    }
}

impl Params {
    /// The database's layout under this set.
    ///
    /// # Errors
    /// A database with more columns than the table of moduli serves.
    pub fn layout(&self, shape: Shape) -> Result<Layout> {
        Layout::choose(shape, &self.moduli, Tiling::Square)
    }
}
