//! The record of a primitive.

use bench::primitive::{Described, Measured};
use pir::core::record::{Build, Machine, RecordKind, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name of the format of [`PrimitiveRecord`]. Every record of a primitive contains it; a protocol's record has another name.
pub const PRIMITIVE_SCHEMA: &str = "pirlab/primitive/1";

/// The measurement of a primitive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrimitiveRecord {
    /// Always [`PRIMITIVE_SCHEMA`].
    pub schema: String,
    /// `failure` if failures were counted, else `primitive`.
    pub kind: RecordKind,
    /// Random identifier of this record.
    pub id: String,
    /// How the measurement ended.
    pub status: Status,
    /// Why, where the status is not `ok`.
    pub reason: Option<String>,
    /// Experiment, e.g. `gadget/table6`.
    pub experiment: Option<String>,
    /// Group of rows measured interleaved.
    pub group: Option<String>,
    /// Row within the group.
    pub row: Option<String>,
    /// The primitive.
    pub primitive: String,
    /// Its settings as the experiment gave them.
    pub settings: Map<String, Value>,
    /// The description of the settings, with every default filled in.
    pub described: Described,
    /// The program that measured.
    pub build: Build,
    /// The machine that it ran on.
    pub machine: Machine,
    /// Threads: one.
    pub threads: u64,
    /// Repetitions.
    pub repetitions: u64,
    /// Seed of all randomness, if one was given.
    pub seed: Option<String>,
    /// Times, values, counts, noise and comparisons.
    pub measured: Measured,
    /// Hash of settings, row and sources; a row whose record has this key is not measured again.
    pub staleness_key: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// RFC 3339, UTC.
    pub finished: String,
}
