//! What a run asks of a protocol: the database's shape, the queries of a request, the records of an update.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};

/// Number and length of records, both at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shape {
    /// Number of records.
    pub records: u64,
    /// Bits of one record.
    pub record_bits: u64,
}

/// Largest database that can be described: 2^48 bits, 32 TiB: 2^30 records of 32 KB. With the bounds below, sizes and counts stay below 2^64.
const MAX_DATABASE_BITS: u128 = 1 << 48;
/// Largest record: 2^27 bits, 16 MiB.
const MAX_RECORD_BITS: u64 = 1 << 27;

impl Shape {
    /// A checked shape.
    pub fn new(records: u64, record_bits: u64) -> Result<Self> {
        let refuse = |problem: String| Err(Error::Workload(problem));
        if records == 0 {
            return refuse("records = 0: a database has at least one record. Give --records 1 or more.".into());
        }
        if record_bits == 0 {
            return refuse("record bits = 0: a record has at least one bit. Give --record-bits 1 or more.".into());
        }
        if record_bits > MAX_RECORD_BITS {
            return refuse(format!(
                "record bits = {record_bits}: at most {MAX_RECORD_BITS} (2^27). Split longer records and fetch their parts."
            ));
        }
        if u128::from(records) * u128::from(record_bits) > MAX_DATABASE_BITS {
            return refuse(format!(
                "records x record bits = {records} x {record_bits}: at most 2^48 bits. Split the database."
            ));
        }
        Ok(Self { records, record_bits })
    }

    /// records * record_bits.
    pub fn database_bits(&self) -> u128 {
        u128::from(self.records) * u128::from(self.record_bits)
    }

    /// Bytes of the records stored back to back.
    pub fn database_bytes(&self) -> u64 {
        self.database_bits().div_ceil(8) as u64
    }

    /// Bytes of one record, its last byte padded with zero bits.
    pub fn record_bytes(&self) -> usize {
        self.record_bits.div_ceil(8) as usize
    }

    /// Checks that `index` names a record.
    pub fn check_index(&self, index: u64) -> Result<()> {
        if index < self.records {
            return Ok(());
        }
        Err(Error::Workload(format!(
            "index {index} is out of range: the database has {} records, 0 to {}.",
            self.records,
            self.records - 1
        )))
    }
}

/// A shape with the number of queries answered together and of records changed by one update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The database.
    pub shape: Shape,
    /// Queries answered together, at least one.
    pub queries: u64,
    /// Records changed by one update; zero: no update is measured.
    pub updates: u64,
    /// Whether the server holds no preprocessed database, or no packing tables of it: answers build these block by block, outside the
    /// clock.
    pub streamed: bool,
}

/// Most queries in one request.
pub const MAX_QUERIES: u64 = 1 << 16;
/// Most records in one update.
pub const MAX_UPDATES: u64 = 1 << 16;

/// Tables of records that [`Workload::touched`] looks at: describing takes milliseconds, whatever the update.
const MOST_COUNTED: usize = 1 << 18;

impl Workload {
    /// A checked workload.
    pub fn new(shape: Shape, queries: u64, updates: u64) -> Result<Self> {
        if !(1..=MAX_QUERIES).contains(&queries) {
            return Err(Error::Workload(format!("queries = {queries}: from 1 to {MAX_QUERIES} in one request.")));
        }
        let most = shape.records.min(MAX_UPDATES);
        if updates > most {
            return Err(Error::Workload(format!(
                "updates = {updates}: the database has {} records, and one update changes at most {MAX_UPDATES}. Give --updates \
                 {most} or fewer.",
                shape.records
            )));
        }
        Ok(Self { shape, queries, updates, streamed: false })
    }

    /// This workload with another choice of streaming.
    pub fn streamed(self, streamed: bool) -> Result<Self> {
        if streamed && self.updates > 0 {
            return Err(Error::Workload(format!(
                "updates = {}: a streamed database is never whole on the server. Give --updates 0, or do not stream.",
                self.updates
            )));
        }
        Ok(Self { streamed, ..self })
    }

    /// The records that an update of a run changes: spread evenly, the first one first.
    pub fn changed(&self) -> impl Iterator<Item = u64> {
        let step = (self.shape.records / self.updates.max(1)).max(1);
        (0..self.updates).map(move |i| i * step)
    }

    /// The number of `tables` that an update touches, where `of` lists the tables of a record; all of them if counting takes too long.
    pub(crate) fn touched<I: IntoIterator<Item = usize>>(&self, tables: u64, of: impl Fn(u64) -> I) -> u64 {
        let mut touched = std::collections::BTreeSet::new();
        for (counted, table) in self.changed().flat_map(of).enumerate() {
            touched.insert(table);
            if touched.len() as u64 >= tables || counted >= MOST_COUNTED {
                return tables;
            }
        }
        touched.len() as u64
    }
}
