//! The result of `describe` for a parameter set at a workload: layout, messages, memory, operations, LWE instances.
//! Everything here is computed from the parameters alone; no database is touched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::params::SecretKind;
use crate::core::set_file::ParametersId;
use crate::core::wire::HEADER_BYTES;
use crate::core::workload::Workload;

/// The name of the format of [`Description`], which every document contains.
pub const DESCRIPTION_SCHEMA: &str = "pirlab/description/1";

/// The allocator requests larger blocks from the system each time and returns them when they are freed; it keeps smaller ones.
pub const MAPPED_BYTES: u64 = 1 << 20;

/// A parameter set at a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Always [`DESCRIPTION_SCHEMA`].
    pub schema: String,
    /// The caller's identifier, in batches.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// Protocol name.
    pub protocol: String,
    /// Which parameter set.
    pub parameters: ParametersId,
    /// The database's shape.
    pub shape: ShapeId,
    /// Queries answered together.
    pub queries: u64,
    /// Records changed by one update.
    pub updates: u64,
    /// Whether the preprocessed database, or its packing tables, are built block by block outside the clock.
    #[serde(default)]
    pub streamed: bool,
    /// How the database is tiled; the protocol defines the keys, and the values are plain numbers.
    pub layout: serde_json::Map<String, serde_json::Value>,
    /// Every message with its exact length.
    pub messages: Vec<MessageSize>,
    /// Memory by table.
    pub memory: MemoryMap,
    /// Operation counts by phase and kind. A phase may list its steps in order, each with its own counts.
    pub operations: serde_json::Map<String, serde_json::Value>,
    /// Every LWE or RLWE instance that an observer of the messages sees.
    pub instances: Vec<LweInstance>,
}

/// Number and length of a database's records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeId {
    /// Number of records.
    pub records: u64,
    /// Bits of one record.
    pub record_bits: u64,
    /// records * record_bits.
    pub database_bits: u128,
}

impl From<&Workload> for ShapeId {
    fn from(workload: &Workload) -> Self {
        let shape = workload.shape;
        Self { records: shape.records, record_bits: shape.record_bits, database_bits: shape.database_bits() }
    }
}

/// Which way a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Client to server.
    Upload,
    /// Server to client.
    Download,
}

/// The exact length of one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageSize {
    /// Name of the message.
    pub name: String,
    /// Which way it travels.
    pub direction: Direction,
    /// The phase in which it is sent: offline, query, answer, update.
    pub phase: String,
    /// Bytes the paper's formula counts.
    pub payload_bytes: u64,
    /// Bytes with the frame's header.
    pub frame_bytes: u64,
    /// The formula, in the letters of the protocol's page in docs/.
    pub formula: String,
    /// How many queries the message serves; null: any number.
    pub queries_served: Option<u64>,
}

/// Memory by table, bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryMap {
    /// What the server keeps between queries.
    pub server: Vec<TableBytes>,
    /// What a client keeps between queries.
    pub client: Vec<TableBytes>,
    /// Predicted peak of a whole run in one process.
    pub peak_bytes: u64,
}

/// One table in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableBytes {
    /// What it holds.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

impl TableBytes {
    /// A table.
    pub fn new(name: &str, bytes: u64) -> Self {
        Self { name: name.into(), bytes }
    }

    /// A table that is built, whose parts have these lengths.
    pub(crate) fn of(name: &str, parts: impl IntoIterator<Item = usize>) -> Self {
        Self::new(name, parts.into_iter().map(|bytes| bytes as u64).sum())
    }
}

/// One LWE or RLWE instance that an observer of the messages sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LweInstance {
    /// Name of the instance.
    pub name: String,
    /// `lwe` or `rlwe`.
    pub kind: String,
    /// LWE dimension or ring degree.
    pub dimension: u64,
    /// Modulus as its prime powers.
    pub modulus: String,
    /// Its size in bits.
    pub log2_modulus: f64,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Standard deviation of the error.
    pub error_stddev: f64,
    /// LWE samples under one secret that an observer can collect; a ring ciphertext counts as `dimension` samples. null: a secret serves any number of queries.
    pub samples: Option<u64>,
    /// What an attacker learns by solving it.
    pub protects: String,
}

/// A [`Description`] without the identity of its parameter set.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// See [`Description::layout`].
    pub layout: serde_json::Map<String, serde_json::Value>,
    /// See [`Description::messages`].
    pub messages: Vec<MessageSize>,
    /// See [`Description::memory`].
    pub memory: MemoryMap,
    /// See [`Description::operations`].
    pub operations: serde_json::Map<String, serde_json::Value>,
    /// See [`Description::instances`].
    pub instances: Vec<LweInstance>,
}

impl Sizes {
    /// Of a layout, without anything else yet.
    pub fn of(layout: &impl Serialize) -> Self {
        let layout = serde_json::to_value(layout).ok().and_then(|value| value.as_object().cloned());
        Self { layout: layout.unwrap_or_default(), ..Self::default() }
    }

    /// Adds a message.
    pub fn message(
        &mut self,
        name: &str,
        direction: Direction,
        phase: &str,
        payload_bytes: u64,
        formula: &str,
        queries_served: Option<u64>,
    ) {
        self.messages.push(MessageSize {
            name: name.into(),
            direction,
            phase: phase.into(),
            payload_bytes,
            frame_bytes: payload_bytes.saturating_add(HEADER_BYTES),
            formula: formula.into(),
            queries_served,
        });
    }

    /// Adds the database that each client reads before a window of queries: `parts` messages of `payload_bytes` bytes in all.
    pub fn message_in_parts(
        &mut self,
        name: &str,
        formula: &str,
        (payload_bytes, parts): (u64, u64),
        queries_served: u64,
    ) {
        self.message(name, Direction::Download, "offline", payload_bytes, formula, Some(queries_served));
        if let Some(message) = self.messages.last_mut() {
            message.frame_bytes = payload_bytes.saturating_add(parts.saturating_mul(HEADER_BYTES));
        }
    }

    /// Adds the parameter set's identity: this is what `pirlab describe` prints.
    pub fn describe(self, protocol: &str, parameters: ParametersId, workload: &Workload) -> Description {
        let Sizes { layout, messages, memory, operations, instances } = self;
        Description {
            schema: DESCRIPTION_SCHEMA.into(),
            id: None,
            protocol: protocol.into(),
            parameters,
            shape: workload.into(),
            queries: workload.queries,
            updates: workload.updates,
            streamed: workload.streamed,
            layout,
            messages,
            memory,
            operations,
            instances,
        }
    }
}
