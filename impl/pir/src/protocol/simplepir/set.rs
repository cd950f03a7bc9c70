//! SimplePIR's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{ParameterSet, Result, Shape};
use crate::parts::lwe_matrix::{Layout, Lwe, PlainModuli, Tiling};

/// Name of the protocol.
pub(super) const NAME: &str = "simplepir";

/// The tables of params/simplepir/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// LWE parameters of the query.
    pub lwe: Lwe,
    /// Plaintext modulus by number of LWE samples (columns).
    pub plain_moduli: PlainModuli,
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        self.lwe.check()?;
        self.plain_moduli.check()
    }
}

impl Set {
    /// The database's layout; refuses one with more columns than the table of moduli covers.
    pub fn layout(&self, shape: Shape) -> Result<Layout> {
        Layout::choose(shape, &self.plain_moduli, Tiling::Square)
    }
}
