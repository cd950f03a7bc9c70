//! Records that share an item: the unit in which a protocol stores and answers, where records are shorter than it.

use std::collections::BTreeSet;

use crate::core::{Database, Result, Shape, copy_bits, put_bits};

/// Consecutive records, that many an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items {
    /// The records.
    pub shape: Shape,
    /// Records of an item; 1 where a record fills one or more.
    pub records: u64,
}

impl Items {
    /// Items of at most `bits` bits, or of one record.
    pub fn of_bits(shape: Shape, bits: u64) -> Self {
        Self { shape, records: (bits / shape.record_bits).max(1) }
    }

    /// Number of items.
    pub fn count(self) -> u64 {
        self.shape.records.div_ceil(self.records)
    }

    /// The items of these records, ascending, each once.
    pub fn of_records(self, indices: &[u64]) -> BTreeSet<usize> {
        indices.iter().map(|index| (index / self.records) as usize).collect()
    }

    /// Bits of the records of an item, of which the last may have fewer.
    pub fn bits_of(self, item: u64) -> u64 {
        let left = self.shape.records.saturating_sub(item * self.records);
        left.min(self.records) * self.shape.record_bits
    }

    /// Bits of an item.
    pub fn bits(self) -> u64 {
        self.records * self.shape.record_bits
    }

    /// The bits of an item, with its changes.
    pub fn item(self, database: &Database, item: u64) -> Result<Vec<u8>> {
        let mut out = vec![0; self.bits().div_ceil(8) as usize];
        let (first, bits) = (item * self.records, self.shape.record_bits);
        for (place, index) in (first..self.shape.records.min(first + self.records)).enumerate() {
            put_bits(&database.record(index)?, 0, bits, &mut out, place as u64 * bits);
        }
        Ok(out)
    }

    /// The record of that number in the bits of its item.
    pub fn record(self, item: &[u8], number: u64) -> Vec<u8> {
        let bits = self.shape.record_bits;
        let first = number % self.records * bits;
        let mut record = vec![0; self.shape.record_bytes()];
        copy_bits(&item[(first / 8) as usize..], (first % 8) as u32, bits as usize, &mut record);
        record
    }
}
