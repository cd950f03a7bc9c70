//! The run record: everything that a run measured, in one JSON document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::clock::Phase;
use crate::core::description::{Description, TableBytes};
use crate::core::noise::StageNoise;
use crate::core::set_file::ParametersId;
use crate::core::transcript::Entry;

/// The name of the format of [`RunRecord`], which every document contains.
pub const RUN_SCHEMA: &str = "pirlab/run/1";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every retrieved record was right.
    Ok,
    /// At least one record was wrong.
    Wrong,
    /// The run ended with an error.
    Failed,
    /// It would not have fitted in memory.
    SkippedMemory,
    /// It would have taken longer than its limit.
    SkippedTime,
    /// It took longer than its limit.
    Timeout,
}

/// What a run measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Always [`RUN_SCHEMA`].
    pub schema: String,
    /// `protocol`: a whole protocol; primitives and failures have records of their own.
    pub kind: RecordKind,
    /// Random identifier of this record.
    pub id: String,
    /// How the run ended.
    pub status: Status,
    /// Why, where the status is not `ok`.
    pub reason: Option<String>,
    /// Experiment, e.g. `pirouette/figure4`.
    pub experiment: Option<String>,
    /// Group of rows measured interleaved.
    pub group: Option<String>,
    /// Row within the group.
    pub row: Option<String>,
    /// Columns of the paper's tables that the row reproduces, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Protocol name.
    pub protocol: String,
    /// Parameter set.
    pub parameters: ParametersId,
    /// The database.
    pub database: DatabaseId,
    /// Queries answered together.
    pub queries: u64,
    /// Records changed by one update.
    pub updates: u64,
    /// The predicted layout, bytes and memory.
    pub description: Description,
    /// The program that measured.
    pub build: Build,
    /// The machine that it ran on.
    pub machine: Machine,
    /// Threads of the server.
    pub threads: u64,
    /// Repetitions of the online phases.
    pub repetitions: u64,
    /// Seed of all randomness, if one was given; keys from a seed are not secret.
    pub seed: Option<String>,
    /// Seconds of every phase and repetition.
    pub phases: Vec<Phase>,
    /// Every message of the offline phase, of one repetition and of one update.
    pub transcript: Vec<Entry>,
    /// SHA-256 of all payloads of the transcript in order, if the run has a seed: it is the same for every kernel path, number of threads and
    /// machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_sha256: Option<String>,
    /// Memory that the process took.
    pub memory: MemoryUse,
    /// Errors at each decryption.
    pub noise: Vec<StageNoise>,
    /// Retrieved records against the database.
    pub correct: Correct,
    /// Whether the preprocessed database, or its packing tables, were built block by block outside the clock.
    pub streamed: bool,
    /// Hash of parameter set, row and sources; a row whose record has this key is not measured again.
    pub staleness_key: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// RFC 3339, UTC.
    pub finished: String,
}

/// Kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// A whole protocol.
    Protocol,
    /// A kernel, a decomposition, a packing.
    Primitive,
    /// Observed failure rates beside the predicted ones.
    Failure,
}

/// The database of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabaseId {
    /// Number of records.
    pub records: u64,
    /// Bits of one record.
    pub record_bits: u64,
    /// `seeded:<hex>`, `file:<path>` or `mmap:<path>`.
    pub source: String,
    /// SHA-256 of the records in a file, back to back, hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256: Option<String>,
}

/// The program that measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Commit the program was built from, or `unknown`.
    pub commit: String,
    /// Why the commit or the changes since it are unknown; absent if both are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_remark: Option<String>,
    /// Whether the work tree differed from that commit.
    pub dirty: bool,
    /// Version of the program.
    pub version: String,
    /// Compiler.
    pub rustc: String,
    /// Build profile.
    pub profile: String,
    /// Kernel path taken.
    pub kernel: String,
    /// Hash of the sources this protocol's numbers depend on.
    pub source_hash: String,
}

/// The machine of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Processor model.
    pub cpu: String,
    /// Logical processors.
    pub cores: u64,
    /// Installed memory.
    pub memory_bytes: u64,
    /// Free memory at the start.
    pub free_memory_bytes: u64,
    /// Load average over one minute at the start.
    pub load_at_start: f64,
    /// Operating system and kernel release.
    pub os: String,
    /// Transparent huge pages setting.
    pub huge_pages: String,
    /// Single-core read bandwidth, bytes per second: of a row in a group before each of its repetitions, else before and after the run.
    pub read_bandwidth: Vec<f64>,
}

/// Memory that a process took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryUse {
    /// Peak resident memory.
    pub peak_bytes: u64,
    /// Largest anonymous part seen at a phase's end.
    pub peak_anonymous_bytes: u64,
    /// Largest part backed by files seen at a phase's end.
    pub peak_file_bytes: u64,
    /// What `describe` predicted.
    pub described_peak_bytes: u64,
    /// Peak resident memory during the repetitions of the online phases: the server's tables, the memory of an answer, and the client.
    /// Absent if the system cannot separate it from the earlier peak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online_peak_bytes: Option<u64>,
    /// The server's tables after the offline exchange. Absent if it streams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server: Vec<TableBytes>,
}

/// Records compared with the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Correct {
    /// Number of records that were retrieved and compared.
    pub compared: u64,
    /// Number of these records that were right.
    pub right: u64,
}
