//! PIRANA's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{ParameterSet, Result, Shape, in_range};
use crate::parts::bfv::{FamilyRing, Switch};
use crate::parts::buckets::{Batch, Buckets};

/// Name of the protocol.
pub(super) const NAME: &str = "pirana";

/// The tables of params/pirana/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Most columns that have a ciphertext each in a query; more have a codeword of weight two.
    pub direct_columns: u64,
    /// Ciphertexts, keys and slots.
    pub ring: FamilyRing,
    /// Batches of records in buckets, which share the ciphertexts of a query; absent: each record takes a query of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
    /// Moduli of the ciphertexts of an answer; absent: they stay modulo q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
}

/// Most columns without codewords of weight two: a query has a ciphertext for each of them.
const MOST_DIRECT: u64 = 1 << 10;

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        in_range("direct_columns", self.direct_columns, 1..=MOST_DIRECT)?;
        self.ring.check()?;
        if let Some(batch) = self.batch {
            batch.check(self.slots())?;
        }
        self.ring.check_switch(self.switch)
    }
}

impl Set {
    /// Slots of a plaintext.
    pub fn slots(&self) -> usize {
        self.ring.plaintext.family().slots(self.ring.degree)
    }

    /// The buckets of a database, where records are asked for in batches.
    pub fn buckets(&self, shape: Shape) -> Result<Option<Buckets>> {
        self.batch.map(|batch| Buckets::new(shape, batch)).transpose()
    }

    /// The database's layout.
    pub fn layout(&self, shape: Shape) -> Result<super::Layout> {
        let rows = self.ring.plaintext.family().rows(self.ring.degree);
        let (slots, bits) = ((rows, self.slots() / rows), self.ring.slot_bits()?);
        match self.buckets(shape)? {
            None => Ok(super::Layout::new(shape, slots, bits, self.direct_columns)),
            Some(buckets) => super::Layout::of_buckets(&buckets, slots, bits, self.direct_columns),
        }
    }

    /// The number of queries for some records: one each, or one for every batch.
    pub fn queries(&self, records: u64) -> u64 {
        self.batch.map_or(records, |batch| records.div_ceil(u64::from(batch.queries)))
    }
}
