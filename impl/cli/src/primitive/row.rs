//! Rows and groups of primitives as experiments ask for them, and the key that says whether a row was measured already.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::settings::Settings;
use crate::failure::Outcome;
use crate::measure::plan::MOST_REPETITIONS;
use crate::measure::row::{KERNEL, REPETITIONS, read_group};

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
    /// The row is stopped when its own work has taken so long.
    #[serde(default)]
    pub time_limit_seconds: Option<f64>,
    /// What the row's own work is predicted to take, above zero; where that exceeds `time_limit_seconds`, the row is not run.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub predicted_seconds: Option<f64>,
    /// Where the record goes.
    pub out: PathBuf,
}

fn repetitions() -> u64 {
    REPETITIONS
}

fn kernel() -> String {
    KERNEL.into()
}

/// Rows measured together, interleaved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrimitiveGroupFile {
    /// The experiment, e.g. `gadget/table6`.
    pub experiment: String,
    /// The group, e.g. `base-2`.
    pub group: String,
    /// Its rows.
    pub rows: Vec<PrimitiveRow>,
}

impl PrimitiveGroupFile {
    /// Reads a group file; errors as [`read_group`].
    pub fn read(path: &Path) -> Outcome<Self> {
        read_group(path, "primitive-group", |group: &Self| {
            group.rows.iter().map(|row| (row.id.as_str(), row.out.as_path())).collect()
        })
    }
}

impl PrimitiveRow {
    /// Hash of all that decides what a record of this row says: the settings, the row and the sources. Where the record goes
    /// and how long the row may or will take is not part of it.
    pub fn staleness_key(&self, source_hash: &str) -> String {
        let Self {
            id,
            primitive,
            settings,
            repetitions,
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
            repetitions.to_string(),
            kernel.clone(),
            seed.clone().unwrap_or_default(),
        ];
        let mut hash = Sha256::new();
        hash.update(b"pirlab primitive staleness 1");
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        pir::core::params::hex(&hash.finalize())
    }

    /// The settings as the primitive reads them.
    pub fn settings(&self) -> Settings {
        Settings(self.settings.clone())
    }
}

/// JSON in which the order of keys does not show.
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
mod tests {
    use super::*;

    fn row(text: &str) -> PrimitiveRow {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_key_follows_content_and_not_spelling_or_output() {
        let first = row(r#"{"id":"a","primitive":"p","settings":{"x":1,"y":[2,{"b":1,"a":2}]},"out":"r"}"#);
        let key = first.staleness_key("s");
        let turned = row(
            r#"{"id":"a","primitive":"p","settings":{"y":[2,{"a":2,"b":1}],"x":1},"out":"t","predicted_seconds":3}"#,
        );
        assert_eq!(turned.staleness_key("s"), key);
        let others = [
            first.staleness_key("t"),
            row(r#"{"id":"a","primitive":"p","settings":{"x":2,"y":[2,{"b":1,"a":2}]},"out":"r"}"#).staleness_key("s"),
            PrimitiveRow { repetitions: 6, ..first.clone() }.staleness_key("s"),
            PrimitiveRow { kernel: "scalar".into(), ..first.clone() }.staleness_key("s"),
            PrimitiveRow { primitive: "q".into(), ..first }.staleness_key("s"),
        ];
        assert!(others.iter().all(|other| *other != key));
    }
}
