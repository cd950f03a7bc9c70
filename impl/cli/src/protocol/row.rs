//! Rows of protocols in group files.

use std::path::PathBuf;

use pir::core::set_file::With;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measure::row::{Asked, asked, staleness_key};
use crate::measure::run::{MOST_REPETITIONS, Run, kernel, repetitions};

/// The default database.
pub const DATABASE: &str = "seeded:0";
/// Separates a database from the file of its keys.
pub const KEYS: &str = ",keys=";

/// One parameter set at one database shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name of the row, unique in its group.
    pub id: String,
    /// Parameter file.
    pub parameters: PathBuf,
    /// Values that replace the file's, by dotted key: `{"folding.rows": 8192}`.
    #[serde(default, skip_serializing_if = "With::is_empty")]
    pub with: With,
    /// Number of records.
    pub records: u64,
    /// Bits of one record.
    pub record_bits: u64,
    /// Queries answered together.
    #[serde(default = "one")]
    pub queries: u64,
    /// Records changed by one update; 0: no update is measured.
    #[serde(default)]
    pub updates: u64,
    /// Repetitions of the online phases.
    #[serde(default = "repetitions")]
    #[schemars(range(min = 1, max = MOST_REPETITIONS))]
    pub repetitions: u64,
    /// Threads of the server.
    #[serde(default = "one")]
    pub threads: u64,
    /// Whether the preprocessed database is built block by block outside the clock, as is necessary if it exceeds memory.
    #[serde(default)]
    pub streamed: bool,
    /// `seeded:HEX`, `constant:HEX`, `file:PATH` or `mmap:PATH`.
    #[serde(default = "database")]
    pub database: String,
    /// Kernel path: `auto`, `scalar`, `avx2` or `avx512`.
    #[serde(default = "kernel")]
    pub kernel: String,
    /// Seed of all randomness, hexadecimal; without it, randomness is the operating system's.
    #[serde(default)]
    pub seed: Option<String>,
    /// Seconds for which stages with few values are diagnosed after the repetitions; by default 20, or the time of the repetitions if that is longer.
    #[serde(default)]
    #[schemars(extend("minimum" = 0))]
    pub noise_seconds: Option<f64>,
    /// The row is stopped when its own work has taken this many seconds.
    #[serde(default)]
    pub time_limit_seconds: Option<f64>,
    /// Predicted seconds of the row's own work, above zero; if they exceed `time_limit_seconds`, the row is not run.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub predicted_seconds: Option<f64>,
    /// Columns of the paper's tables that the row reproduces, in any words; the record repeats them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// File of the record.
    pub out: PathBuf,
}

/// The default number of queries and threads.
pub fn one() -> u64 {
    1
}

fn database() -> String {
    DATABASE.into()
}

asked!(Row, "group", threads);

impl Row {
    /// Hash of all that decides what a record of this row says: the resolved set, whose hash has what `with` sets, the row and the
    /// sources. Where the record goes, what it stands for, how often and how long the row is measured is not part of it: a record of more
    /// repetitions says the same, only better.
    pub fn key(&self, parameters_sha256: &str, source_hash: &str) -> String {
        let Row {
            id,
            parameters,
            with: _,
            records,
            record_bits,
            queries,
            updates,
            repetitions: _,
            threads,
            streamed,
            database,
            kernel,
            seed,
            noise_seconds: _,
            time_limit_seconds: _,
            predicted_seconds: _,
            columns: _,
            out: _,
        } = self;
        let parts = [
            parameters_sha256.to_string(),
            source_hash.to_string(),
            id.clone(),
            parameters.display().to_string(),
            [records, record_bits, queries, updates, threads].map(u64::to_string).join(" "),
            database.clone(),
            kernel.clone(),
            seed.clone().unwrap_or_default(),
        ];
        let streamed = streamed.then(|| "streamed".to_string());
        staleness_key("pirlab staleness 2", parts.into_iter().chain(streamed))
    }
}

#[cfg(test)]
mod tests;
