//! SimplePIR's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{ParameterSet, Result, Shape, in_range};
use crate::parts::lwe_matrix::{Layout, Lwe, PlainModuli, Tiling};

/// Name of the protocol whose matrix is square.
pub(super) const SIMPLEPIR: &str = "simplepir";
/// Name of the protocol whose queries are made ahead.
pub(super) const FRODOPIR: &str = "frodopir";

/// The tables of params/simplepir/*.toml and params/frodopir/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// LWE parameters of the query.
    pub lwe: Lwe,
    /// Plaintext modulus by number of LWE samples (columns).
    pub plain_moduli: PlainModuli,
    /// FrodoPIR: the database is cut into this many shards of consecutive records, and one query asks all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<u64>,
}

/// Most shards of a database.
const MAX_SHARDS: u64 = 1 << 20;

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        self.lwe.check()?;
        self.shards.map_or(Ok(()), |shards| in_range("shards", shards, 1..=MAX_SHARDS))?;
        self.plain_moduli.check()
    }
}

impl Set {
    /// The database's layout; refuses one with more columns than the table of moduli covers.
    pub fn layout(&self, shape: Shape) -> Result<Layout> {
        Layout::choose(shape, &self.plain_moduli, self.shards.map_or(Tiling::Square, Tiling::Shards))
    }

    /// Name of the protocol that the set is of.
    pub fn protocol(&self) -> &'static str {
        if self.shards.is_some() { FRODOPIR } else { SIMPLEPIR }
    }
}
