//! Batches by cuckoo hashing: a batch of indices is served by one query to each of some buckets, each a smaller database.
//!
//! Every record is stored in `copies` different buckets, and the client looks for an assignment of a batch's records to buckets that
//! gives no bucket two of them. A block has as many records as there are buckets: block m has public random offsets
//! d_0 < B, and different d_j; its record r stands in the buckets r + d_j modulo B, at position m c + j of each. So a block puts c
//! records into every bucket, all buckets are equally full, and both directions of the map take one look at the generator.

use std::collections::HashMap;

use ring::{Prg, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Database, Error, MAX_QUERIES, Result, Shape, in_range};

/// Most copies of a record.
const MAX_COPIES: usize = 8;

/// The `[batch]` table of a parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Most records that a batch asks for.
    pub queries: u32,
    /// Number of buckets; each gets one query a batch.
    pub buckets: u32,
    /// Number of buckets that store a record, which is the number of hash functions.
    pub copies: u32,
}

impl Batch {
    /// Refuses more copies or records than buckets.
    pub fn check(&self) -> Result<()> {
        in_range("batch.buckets", self.buckets, 1..=MAX_QUERIES as u32)?;
        in_range("batch.queries", self.queries, 1..=self.buckets)?;
        in_range("batch.copies", self.copies, 1..=self.buckets.min(MAX_COPIES as u32))
    }
}

impl Default for Batch {
    /// Without batches the database is the only bucket, and each record takes a query.
    fn default() -> Self {
        Self { queries: 1, buckets: 1, copies: 1 }
    }
}

/// The assignment of a database's records to buckets.
#[derive(Clone)]
pub struct Buckets {
    /// The whole database.
    pub shape: Shape,
    /// Number of records of a batch, of buckets and of copies.
    pub batch: Batch,
    /// The shape of one bucket, which may have empty places.
    pub each: Shape,
    offsets: Prg,
}

impl Buckets {
    /// The buckets of a database of that shape.
    pub fn new(shape: Shape, batch: Batch) -> Result<Self> {
        let places = shape.records.div_ceil(u64::from(batch.buckets)) * u64::from(batch.copies);
        let each = Shape::new(places, shape.record_bits)?;
        // The seed is public and fixed, so that client and server assign alike.
        let offsets = Seed(*b"pirlab buckets 1").prg();
        Ok(Self { shape, batch, each, offsets })
    }

    /// B.
    pub fn count(&self) -> usize {
        self.batch.buckets as usize
    }

    /// The number of queries for `records` records: one a bucket for every batch.
    pub fn queries(&self, records: u64) -> Result<u64> {
        let queries = records.div_ceil(u64::from(self.batch.queries)).saturating_mul(u64::from(self.batch.buckets));
        if queries <= MAX_QUERIES {
            return Ok(queries);
        }
        Err(Error::Workload(format!(
            "{records} records take {queries} queries to {} buckets: at most {MAX_QUERIES} in a request. Ask for fewer at once.",
            self.batch.buckets
        )))
    }

    /// The offsets of a block.
    fn offsets(&self, block: u64) -> impl Iterator<Item = u64> + use<> {
        let (buckets, copies) = (u64::from(self.batch.buckets), self.batch.copies as usize);
        let mut bytes = [0; 8 * MAX_COPIES];
        if buckets > 1 {
            self.offsets.fill_stream_at(block, 0, &mut bytes);
        }
        let mut words = bytes.chunks_exact(8).map(|word| word.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)));
        let mut offsets = [0; MAX_COPIES];
        for j in 0..copies {
            // Skips the offsets that are taken, in ascending order, to find the drawn one among those left.
            let mut offset = words.next().unwrap_or_default() % (buckets - j as u64);
            let mut taken = offsets;
            taken[..j].sort_unstable();
            taken[..j].iter().for_each(|&other| offset += u64::from(offset >= other));
            offsets[j] = offset;
        }
        offsets.into_iter().take(copies)
    }

    /// The buckets that store a record, and its position in each.
    pub fn places(&self, index: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (buckets, copies) = (u64::from(self.batch.buckets), u64::from(self.batch.copies));
        let (block, record) = (index / buckets, index % buckets);
        let place =
            move |(j, offset): (usize, u64)| (((record + offset) % buckets) as usize, block * copies + j as u64);
        self.offsets(block).enumerate().map(place)
    }

    /// The record at a position of a bucket, if there is one.
    pub fn record_at(&self, bucket: usize, position: u64) -> Option<u64> {
        let (buckets, copies) = (u64::from(self.batch.buckets), u64::from(self.batch.copies));
        let block = position / copies;
        let offset = self.offsets(block).nth((position % copies) as usize)?;
        let index = block * buckets + (bucket as u64 + buckets - offset) % buckets;
        (index < self.shape.records).then_some(index)
    }

    /// The database of one bucket.
    pub fn database(&self, whole: &Database, bucket: usize) -> Database {
        if self.batch == Batch::default() {
            return whole.clone();
        }
        let buckets = self.clone();
        whole.selected(self.each, move |position| buckets.record_at(bucket, position))
    }

    /// For each index, batch after batch, the number of its query and the position that the query asks for; in a batch query b goes to
    /// bucket b. Equal indices of a batch share a query. A batch is refused if its records cannot each have a bucket of their own.
    pub fn assign(&self, indices: &[u64]) -> Result<Vec<(usize, u64)>> {
        indices.iter().try_for_each(|&index| self.shape.check_index(index))?;
        self.queries(indices.len() as u64)?;
        let mut assigned = Vec::with_capacity(indices.len());
        for (number, batch) in indices.chunks(self.batch.queries as usize).enumerate() {
            let mut owners = HashMap::new();
            for &index in batch {
                if !owners.values().any(|&owner| owner == index) && !self.place(index, &mut owners, &mut Vec::new()) {
                    return Err(Error::Workload(format!(
                        "record {index} finds no bucket of its own beside the others of its batch: each has {} of {} buckets. Ask \
                         for it in another request.",
                        self.batch.copies, self.batch.buckets
                    )));
                }
            }
            let bucket_of: HashMap<u64, usize> = owners.into_iter().map(|(bucket, index)| (index, bucket)).collect();
            assigned.extend(batch.iter().filter_map(|index| {
                let (bucket, position) = self.places(*index).find(|place| place.0 == bucket_of[index])?;
                Some((number * self.count() + bucket, position))
            }));
        }
        Ok(assigned)
    }

    /// Gives a record a bucket of its own, moving others along an augmenting path; fails only if no assignment exists.
    fn place(&self, index: u64, owners: &mut HashMap<usize, u64>, tried: &mut Vec<usize>) -> bool {
        for (bucket, _) in self.places(index) {
            if tried.contains(&bucket) {
                continue;
            }
            tried.push(bucket);
            let free = match owners.get(&bucket) {
                None => true,
                Some(&other) => self.place(other, owners, tried),
            };
            if free {
                owners.insert(bucket, index);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
