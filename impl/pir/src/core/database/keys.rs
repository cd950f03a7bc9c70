//! The keys of a database whose records are asked for by key.

use std::collections::HashMap;
use std::path::Path;

use crate::core::error::{Error, Result};

/// A key of 64 bits for each record; all of them are different.
#[derive(Clone, Debug)]
pub struct Keys {
    list: Vec<u64>,
    places: HashMap<u64, u64>,
}

impl Keys {
    /// These keys, that of the first record first.
    pub fn new(list: Vec<u64>) -> Result<Self> {
        let mut places = HashMap::with_capacity(list.len());
        for (place, key) in (0u64..).zip(&list) {
            if let Some(other) = places.insert(*key, place) {
                let problem =
                    format!("records {other} and {place} have the same key, {key}. Give every record its own.");
                return Err(Error::Workload(problem));
            }
        }
        Ok(Self { list, places })
    }

    /// Reads the first `records` lines of a file, a decimal number or a hexadecimal one after 0x each.
    pub fn read(path: &Path, records: u64) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, "reading the keys", e))?;
        let refuse = |problem: String| Error::Workload(format!("file of keys {}: {problem}", path.display()));
        let key = |(number, line): (usize, &str)| {
            let line = line.trim();
            let key = line.strip_prefix("0x").map_or_else(|| line.parse(), |digits| u64::from_str_radix(digits, 16));
            let remedy = "Write a number below 2^64 on each line, decimal or hexadecimal after 0x.";
            key.map_err(|_| refuse(format!("line {} is `{line}`. {remedy}", number + 1)))
        };
        let list = text.lines().take(records as usize).enumerate().map(key).collect::<Result<Vec<_>>>()?;
        if (list.len() as u64) < records {
            return Err(refuse(format!("{} keys for {records} records. Give a line for each record.", list.len())));
        }
        Self::new(list).map_err(|error| refuse(error.to_string()))
    }

    /// The key of a record.
    pub fn of(&self, index: u64) -> Option<u64> {
        self.list.get(index as usize).copied()
    }

    /// The record of a key, if there is one.
    pub fn find(&self, key: u64) -> Option<u64> {
        self.places.get(&key).copied()
    }

    /// Leading bits that are zero in all keys.
    pub fn spare_bits(&self) -> u32 {
        self.list.iter().map(|key| key.leading_zeros()).min().unwrap_or(0).min(u64::BITS - 1)
    }

    /// All keys, in the order of the records.
    pub fn list(&self) -> &[u64] {
        &self.list
    }
}
