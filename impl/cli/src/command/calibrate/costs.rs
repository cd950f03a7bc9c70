//! What is calibrated, and how much of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seconds of one of each, by the name that operations of descriptions have; `pirlab_estimator.cost` says what each is.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct UnitCosts(pub(super) BTreeMap<String, UnitCost>);

/// The seconds of one, or what they are for tables of different sizes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum UnitCost {
    /// Whatever the size.
    One(f64),
    /// By the size of the table, ascending; in between by interpolation over the logarithm of the size.
    BySize(Vec<AtSize>),
}

/// A unit cost where a table has that many bytes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtSize {
    /// Bytes of the table.
    pub bytes: u64,
    /// Seconds of one.
    pub seconds: f64,
}

impl UnitCosts {
    /// Sets a cost.
    pub(super) fn one(&mut self, name: &str, seconds: f64) {
        self.0.insert(name.to_owned(), UnitCost::One(seconds));
    }

    /// A cost that was set; zero where none was.
    pub(super) fn of(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(UnitCost::One(seconds)) => *seconds,
            _ => 0.0,
        }
    }

    /// Adds a size to a cost; larger than those before.
    pub(super) fn at(&mut self, name: &str, bytes: u64, seconds: f64) {
        match self.0.entry(name.to_owned()).or_insert_with(|| UnitCost::BySize(Vec::new())) {
            UnitCost::BySize(sizes) => sizes.push(AtSize { bytes, seconds }),
            one => *one = UnitCost::BySize(vec![AtSize { bytes, seconds }]),
        }
    }
}

/// How much is measured.
pub(super) struct Scale {
    pub(super) quick: bool,
}

impl Scale {
    /// The first, or the second where seconds must do.
    pub(super) fn pick(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}
