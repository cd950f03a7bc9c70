//! Rows of primitives in group files.

use std::path::PathBuf;

use bench::settings::Settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::measure::row::{Asked, asked, staleness_key};
use crate::measure::run::{MOST_REPETITIONS, Run, kernel, repetitions};

/// One primitive with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrimitiveRow {
    /// Name of the row, unique in its group.
    pub id: String,
    /// The primitive.
    pub primitive: String,
    /// Its settings; `pirlab primitive describe` completes them.
    pub settings: Map<String, Value>,
    /// Repetitions; every one gives a sample.
    #[serde(default = "repetitions")]
    #[schemars(range(min = 1, max = MOST_REPETITIONS))]
    pub repetitions: u64,
    /// Kernel path: `auto`, `scalar`, `avx2` or `avx512`.
    #[serde(default = "kernel")]
    pub kernel: String,
    /// Seed of all randomness, hexadecimal; without it, randomness is the operating system's.
    #[serde(default)]
    pub seed: Option<String>,
    /// The row is stopped when its own work has taken this many seconds.
    #[serde(default)]
    pub time_limit_seconds: Option<f64>,
    /// Predicted seconds of the row's own work, above zero; if they exceed `time_limit_seconds`, the row is not run.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub predicted_seconds: Option<f64>,
    /// File of the record.
    pub out: PathBuf,
}

asked!(PrimitiveRow, "primitive-group");

impl PrimitiveRow {
    /// Hash of all that decides what a record of this row says: the settings, the row and the sources. Where the record goes
    /// and how often and how long the row is measured is not part of it.
    pub fn key(&self, source_hash: &str) -> String {
        let Self {
            id,
            primitive,
            settings,
            repetitions: _,
            kernel,
            seed,
            time_limit_seconds: _,
            predicted_seconds: _,
            out: _,
        } = self;
        let parts = [
            source_hash.to_string(),
            id.clone(),
            primitive.clone(),
            canonical(&Value::Object(settings.clone())),
            kernel.clone(),
            seed.clone().unwrap_or_default(),
        ];
        staleness_key("pirlab primitive staleness 2", parts)
    }

    /// The settings in the form that the primitive reads.
    pub fn settings(&self) -> Settings {
        Settings::new(self.settings.clone())
    }
}

/// JSON with sorted keys.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().map(|(key, value)| format!("{key:?}:{}", canonical(value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
