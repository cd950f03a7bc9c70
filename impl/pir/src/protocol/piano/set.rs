//! Piano's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ParameterSet, Result, in_range};

/// Name of the protocol.
pub(super) const NAME: &str = "piano";

/// The keys of params/piano/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// A query finds no hint with probability at most 2^-this in a window.
    pub hint_failure_bits: f64,
    /// Spare hints of a chunk.
    pub backups: Backups,
    /// Entries of a chunk by the square root of all entries, rounded up to a power of two: 2 in the paper. Longer chunks make queries shorter
    /// and answers faster, and the client keeps more hints.
    #[serde(default = "published_chunk_factor")]
    pub chunk_factor: u64,
    /// What an answer is.
    pub answer: Answer,
    /// How a query writes the entries of its set.
    pub offsets: Offsets,
}

/// The paper's.
fn published_chunk_factor() -> u64 {
    2
}

/// How many spare hints, and replacements, a chunk has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Backups {
    /// That many times the queries of a window by the number of chunks, rounded down.
    Times(u64),
    /// Enough that those of some chunk run out with probability at most 2^-this in a window.
    FailureBits(f64),
}

/// What the server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The sum of the set, in which a random entry stands in for the one asked for.
    Sum,
    /// A sum for each chunk that the set may lack: the entry asked for is left out, and nothing stands in for it (the conference version).
    SumOfEachChunk,
}

/// How an entry of a set is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Offsets {
    /// Eight bytes each, as in the reference implementation.
    Words,
    /// As many bits as a place in a chunk takes.
    Packed,
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        in_range("hint_failure_bits", self.hint_failure_bits, 1.0..=128.0)?;
        in_range("chunk_factor", self.chunk_factor, 1..=64)?;
        match self.backups {
            Backups::Times(times) => in_range("backups.times", times, 1..=64),
            Backups::FailureBits(bits) => in_range("backups.failure_bits", bits, 1.0..=128.0),
        }
    }
}

impl Answer {
    /// The number of sums in an answer to a query over that number of chunks.
    pub fn sums(self, chunks: usize) -> usize {
        match self {
            Answer::Sum => 1,
            Answer::SumOfEachChunk => chunks,
        }
    }

    /// Entries that the server reads for each that a query names: where a sum may lack any chunk, of two chunks.
    pub fn reads(self) -> u64 {
        match self {
            Answer::Sum => 1,
            Answer::SumOfEachChunk => 2,
        }
    }

    /// Entries that a query names.
    pub fn named(self, chunks: usize) -> usize {
        match self {
            Answer::Sum => chunks,
            Answer::SumOfEachChunk => chunks - 1,
        }
    }
}

/// Refuses databases of more entries than a client numbers.
pub(super) fn too_many(positions: u128) -> Error {
    Error::Workload(format!(
        "{positions} places of entries: a client numbers at most 2^32 - 1 of them. Split the database, or take longer records."
    ))
}
