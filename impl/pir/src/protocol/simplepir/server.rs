//! The server.

use lattice::lwe::PublicMatrix;

use super::Set;
use super::hint::Hint;
use crate::core::seed::{SEED_BYTES, fresh_seed};
use crate::core::{
    Change, Context, Database, Frame, FrameBuilder, Group, Messages, Request, Result, TableBytes, check_queries, only,
    protocol,
};
use crate::parts::lwe_matrix::{EntryChange, LinearDatabase};

/// The packed database and its hint.
pub struct Server {
    protocol: &'static str,
    pub(super) database: LinearDatabase,
    public: PublicMatrix,
    hint: Hint,
    /// Updates so far, modulo 2^16.
    epoch: u16,
}

impl Server {
    /// The hint message for a new client, with all updates in it.
    fn hint(&self) -> Frame {
        if self.epoch == self.hint.message().epoch() {
            return self.hint.message().clone();
        }
        let payload = self.hint.message().payload();
        let mut builder = FrameBuilder::new(payload.len());
        builder.payload_mut().copy_from_slice(payload);
        for (row, words) in self.hint.changed() {
            builder.put_words(SEED_BYTES + 4 * row * self.public.dimension(), words);
        }
        builder.finish(self.protocol, "hint").at_epoch(self.epoch)
    }

    /// What was added to each entry of these records.
    fn delta_message(&self, changes: &[EntryChange]) -> Frame {
        let entries = changes.first().map_or(0, |change| change.deltas.len() as u64);
        let mut builder = FrameBuilder::new(delta_bytes(changes.len() as u64, entries) as usize);
        let mut out = builder.payload_mut();
        let mut put = |bytes: &[u8]| {
            let (now, later) = std::mem::take(&mut out).split_at_mut(bytes.len());
            now.copy_from_slice(bytes);
            out = later;
        };
        for change in changes {
            put(&change.index.to_le_bytes());
            change.deltas.iter().for_each(|delta| put(&delta.to_le_bytes()));
        }
        builder.finish(self.protocol, "hint_delta").at_epoch(self.epoch)
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database and computes H = D' A (phases `encode` and `hint`).
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let layout = params.layout(database.shape())?;
        let dimension = params.lwe.dimension;
        let seed = fresh_seed(&mut context.rng);
        let public = PublicMatrix::new(seed, dimension);
        let clock = &context.clock;
        let encoded = clock.time("encode", Group::Offline, || LinearDatabase::encode(layout, database, context))?;
        let words = layout.rows * dimension;
        let mut builder = FrameBuilder::new(SEED_BYTES + 4 * words);
        builder.payload_mut()[..SEED_BYTES].copy_from_slice(&seed.0);
        clock.time("hint", Group::Offline, || {
            encoded.accumulate_hint(&public, builder.words_mut(SEED_BYTES, words), context)
        })?;
        builder.words_to_wire(SEED_BYTES, words);
        let protocol = params.protocol();
        let message = builder.finish(protocol, "hint");
        Ok(Self { protocol, database: encoded, public, hint: Hint::new(message, dimension), epoch: 0 })
    }

    fn tables(&self) -> Vec<TableBytes> {
        let changed = self.hint.changed().values().map(|row| size_of_val::<[u32]>(row));
        vec![
            TableBytes::new("database", self.database.stored_bytes()),
            TableBytes::of("hint", std::iter::once(self.hint.message().payload().len()).chain(changed)),
        ]
    }

    fn publish(&self) -> Messages {
        vec![("hint", self.hint())]
    }

    /// Answers every query of every request in one pass over the database.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let (rows, columns) = (self.database.layout().rows, self.database.layout().columns);
        let mut queries = Vec::new();
        for request in requests {
            let message = only("query", &request.messages)?;
            check_queries(request)?;
            message.clone().check(self.protocol, "query", 4 * request.queries * columns as u64)?;
            queries.extend((0..request.queries as usize).map(|k| message.native_words(4 * k * columns, columns)));
        }
        let products = self.database.product(&queries, context.kernel, context.threads)?;
        let mut products = products.into_iter();
        let respond = |request: &Request| {
            let mut builder = FrameBuilder::new(4 * request.queries as usize * rows);
            for (k, product) in products.by_ref().take(request.queries as usize).enumerate() {
                builder.put_words(4 * k * rows, &product);
            }
            let answer = builder.finish(self.protocol, "answer");
            vec![("answer", answer)]
        };
        Ok(requests.iter().map(respond).collect())
    }

    /// Changes records. The message has the change of each entry or, if that is shorter, the whole hint.
    fn update(&mut self, changes: &[Change], _: &mut Context) -> Result<Messages> {
        let layout = *self.database.layout();
        let done = self.database.change(changes)?;
        done.iter().for_each(|change| self.hint.apply(change, &layout, &self.public));
        self.epoch = self.epoch.wrapping_add(1);
        if delta_bytes(done.len() as u64, layout.code.entries_per_record())
            >= self.hint.message().payload().len() as u64
        {
            return Ok(vec![("hint", self.hint())]);
        }
        Ok(vec![("hint_delta", self.delta_message(&done))])
    }
}

/// Payload bytes of a `hint_delta` for `records` records: for each an index of 8 bytes and 2 bytes an entry.
pub(super) fn delta_bytes(updates: u64, entries_per_record: u64) -> u64 {
    updates * (8 + 2 * entries_per_record)
}
