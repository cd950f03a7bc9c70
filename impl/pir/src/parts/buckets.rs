//! Batches by cuckoo hashing: a batch of indices is served by one query to each of some buckets, each a smaller database.
//!
//! Every record is stored in `copies` different buckets, and the client looks for an assignment of a batch's records to buckets that
//! gives no bucket two of them. The buckets are cut into as many groups as there are copies, which differ by one bucket at most. A block has
//! as many records as the smallest group has buckets; copy j of its records stands in the buckets of group j in the order of a public
//! permutation that belongs to block and copy. So all buckets are equally full, a record's place takes one look at a permutation in either
//! direction, and the copies of a record, and the records of different blocks, are placed independently, whatever a batch asks for.
//!
//! The server draws the seed of the permutations when it is set up, and publishes it: a batch that finds no buckets at one server finds
//! them at another.

use std::collections::{HashMap, HashSet};

use rand::RngCore;
use ring::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::protocol::none_expected;
use crate::core::seed::{SEED_BYTES, fresh_seed, publish, received};
use crate::core::{Database, Direction, Error, MAX_QUERIES, Messages, Result, Shape, Sizes, in_range};
use crate::parts::permutation::Permutations;

/// Most copies of a record.
const MAX_COPIES: u32 = 8;

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
    /// Refuses more than `most` buckets, and more copies or records than buckets.
    pub fn check(&self, most: usize) -> Result<()> {
        in_range("batch.buckets", self.buckets as usize, 1..=most)?;
        in_range("batch.queries", self.queries, 1..=self.buckets)?;
        in_range("batch.copies", self.copies, 1..=self.buckets.min(MAX_COPIES))
    }

    /// Records of a block: the buckets of the smallest group.
    fn block(&self) -> u64 {
        u64::from(self.buckets / self.copies)
    }

    /// The first bucket of a group, and how many the group has.
    fn group(&self, number: u32) -> (u64, u64) {
        let (least, longer) = (self.buckets / self.copies, self.buckets % self.copies);
        (u64::from(number * least + number.min(longer)), u64::from(least + u32::from(number < longer)))
    }
}

impl Default for Batch {
    /// Without batches the database is the only bucket, and each record takes a query.
    fn default() -> Self {
        Self { queries: 1, buckets: 1, copies: 1 }
    }
}

/// How many records the buckets of a database have.
#[derive(Clone, Copy, Debug)]
pub struct Buckets {
    /// The whole database.
    pub shape: Shape,
    /// Number of records of a batch, of buckets and of copies.
    pub batch: Batch,
    /// The shape of one bucket, which may have empty places: one for every block.
    pub each: Shape,
}

impl Buckets {
    /// The buckets of a database of that shape.
    pub fn new(shape: Shape, batch: Batch) -> Result<Self> {
        let each = Shape { records: shape.records.div_ceil(batch.block()), ..shape };
        Ok(Self { shape, batch, each })
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

    /// The position of a record in each of its buckets.
    pub fn position(&self, index: u64) -> u64 {
        index / self.batch.block()
    }

    /// Whether the server publishes the seed of the places: where there is one bucket, there is nothing to say.
    fn published(&self) -> bool {
        self.batch != Batch::default()
    }

    /// Adds the message with the seed to a description.
    pub fn describe(&self, sizes: &mut Sizes) {
        if self.published() {
            sizes.message("seed", Direction::Download, "offline", SEED_BYTES as u64, "16", None);
        }
    }
}

/// The assignment of a database's records to buckets.
#[derive(Clone)]
pub struct Places {
    /// The buckets.
    pub buckets: Buckets,
    seed: Seed,
    /// The permutations of the blocks' records in each group.
    groups: Vec<Permutations>,
}

impl Places {
    /// Those of a server that is set up.
    pub fn draw(buckets: Buckets, rng: &mut impl RngCore) -> Self {
        let seed = if buckets.published() { fresh_seed(rng) } else { Seed([0; SEED_BYTES]) };
        Self::new(buckets, seed)
    }

    /// Those of a client before it received anything, if nothing is published.
    pub fn unpublished(buckets: Buckets) -> Option<Self> {
        (!buckets.published()).then(|| Self::new(buckets, Seed([0; SEED_BYTES])))
    }

    /// Those that a server's message decides.
    pub fn received(buckets: Buckets, protocol: &'static str, messages: &Messages) -> Result<Self> {
        if buckets.published() {
            return Ok(Self::new(buckets, received(protocol, messages)?));
        }
        none_expected(messages).map(|()| Self::new(buckets, Seed([0; SEED_BYTES])))
    }

    fn new(buckets: Buckets, seed: Seed) -> Self {
        let sizes = (0..buckets.batch.copies).map(|group| buckets.batch.group(group).1);
        let permutations = |(j, size): (usize, u64)| Permutations::new(&seed.derive(&format!("group {j}")), size);
        Self { groups: sizes.enumerate().map(permutations).collect(), buckets, seed }
    }

    /// The places of a client that has received them.
    pub fn known(places: &Option<Self>) -> Result<&Self> {
        places.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))
    }

    /// The message from which clients know the same places.
    pub fn publish(&self, protocol: &'static str) -> Messages {
        if self.buckets.published() { publish(protocol, &self.seed) } else { Messages::new() }
    }

    /// The buckets that store a record, and its position in each.
    pub fn of(&self, index: u64) -> impl Iterator<Item = (usize, u64)> {
        let (block, record) = (self.buckets.position(index), index % self.buckets.batch.block());
        let starts = (0..self.buckets.batch.copies).map(|group| self.buckets.batch.group(group).0);
        starts.zip(&self.groups).map(move |(start, group)| ((start + group.apply(block, record)) as usize, block))
    }

    /// The record at a position of a bucket, if there is one.
    pub fn record_at(&self, bucket: usize, position: u64) -> Option<u64> {
        let batch = &self.buckets.batch;
        let holds = |&group: &u32| (bucket as u64) < batch.group(group).0 + batch.group(group).1;
        let group = (0..batch.copies).find(holds)?;
        let record = self.groups[group as usize].invert(position, bucket as u64 - batch.group(group).0);
        let index = position.checked_mul(batch.block())?.checked_add(record)?;
        (record < batch.block() && index < self.buckets.shape.records).then_some(index)
    }

    /// The database of one bucket.
    pub fn database(&self, whole: &Database, bucket: usize) -> Database {
        if self.buckets.batch == Batch::default() {
            return whole.clone();
        }
        let places = self.clone();
        whole.selected(self.buckets.each, move |position| places.record_at(bucket, position))
    }

    /// For each index, batch after batch, the number of its query and the position that the query asks for; in a batch query b goes to
    /// bucket b. Equal indices of a batch share a query. A batch is refused if its records cannot each have a bucket of their own.
    pub fn assign(&self, indices: &[u64]) -> Result<Vec<(usize, u64)>> {
        let Buckets { shape, batch: Batch { queries, buckets, copies }, .. } = self.buckets;
        indices.iter().try_for_each(|&index| shape.check_index(index))?;
        let mut assigned = Vec::with_capacity(indices.len());
        for (number, batch) in indices.chunks(queries as usize).enumerate() {
            let (mut owners, mut asked) = (HashMap::new(), HashSet::new());
            for &index in batch {
                if asked.insert(index) && !self.place(index, &mut owners, &mut Vec::new()) {
                    return Err(Error::Workload(format!(
                        "record {index} finds no bucket of its own beside the others of its batch: each has {copies} of {buckets} \
                         buckets. Leave it out; asking for it at once would show the server that this batch failed."
                    )));
                }
            }
            let bucket_of: HashMap<u64, usize> = owners.into_iter().map(|(bucket, index)| (index, bucket)).collect();
            assigned.extend(batch.iter().filter_map(|index| {
                let (bucket, position) = self.of(*index).find(|place| place.0 == bucket_of[index])?;
                Some((number * self.buckets.count() + bucket, position))
            }));
        }
        Ok(assigned)
    }

    /// Gives a record a bucket of its own: a free one, or that of another which moves along an augmenting path. Fails only if no assignment
    /// exists.
    fn place(&self, index: u64, owners: &mut HashMap<usize, u64>, tried: &mut Vec<usize>) -> bool {
        if let Some((free, _)) = self.of(index).find(|(bucket, _)| !owners.contains_key(bucket)) {
            owners.insert(free, index);
            return true;
        }
        for (bucket, _) in self.of(index) {
            if tried.contains(&bucket) {
                continue;
            }
            tried.push(bucket);
            let owner = owners.get(&bucket).copied();
            let moved = owner.is_some_and(|other| self.place(other, owners, tried));
            if moved {
                owners.insert(bucket, index);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
