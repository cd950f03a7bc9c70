//! SimpleYPIR's client: no state between queries but the public seed, a fresh secret for every index.

use lattice::{RlweKey, SplitRing, SplitRlwe};
use ring::DiscreteGaussian;

use super::Set;
use super::layout::Layout;
use super::server::{Public, Server};
use super::set::NAME;
use crate::core::database::Record;
use crate::core::error::{Error, Result};
use crate::core::noise::NoiseLog;
use crate::core::scheme::{self, Context, Messages, Request, only};
use crate::core::seed;
use crate::core::wire::{Frame, FrameBuilder};
use crate::core::workload::Shape;
use crate::parts::ring_matrix::read_record;

/// One index asked for, with the secret of its query.
pub struct Query {
    index: u64,
    key: RlweKey<u32>,
}

/// The public seed's expansions.
pub struct Client {
    params: Set,
    layout: Layout,
    error: DiscreteGaussian,
    public: Option<Public>,
    /// Where answers are decrypted.
    opener: SplitRing,
}

impl Client {
    pub(super) fn new(params: &Set, shape: Shape) -> Result<Self> {
        Ok(Self {
            params: params.clone(),
            layout: Layout::choose(params, shape)?,
            error: params.rlwe.error.sampler()?,
            public: None,
            opener: SplitRing::new(params.rlwe.degree)?,
        })
    }
}

impl scheme::Client for Client {
    type Server = Server;
    type Query = Query;

    fn receive(&mut self, messages: Messages, context: &mut Context) -> Result<()> {
        let seed = seed::received(NAME, &messages)?;
        self.public = Some(Public::new(&self.params, &self.layout, seed, context.kernel)?);
        Ok(())
    }

    /// For each index: the item's row under the public masks, packing keys.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Query>, Messages)> {
        let Self { params, layout, .. } = self;
        indices.iter().try_for_each(|&index| layout.shape.check_index(index))?;
        let public =
            self.public.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))?;
        let (packing, rng) = (&public.packing, &mut context.rng);
        let (key_bytes, bytes) = (packing.key_bytes(), params.query_coefficient_bytes * layout.rows);
        let mut keys = FrameBuilder::new(key_bytes * indices.len());
        let mut query = FrameBuilder::new(bytes * indices.len());
        let parts = keys.payload_mut().chunks_exact_mut(key_bytes);
        let parts = parts.zip(query.payload_mut().chunks_exact_mut(bytes));
        let mut asked = Vec::with_capacity(indices.len());
        for (&index, (keys, query)) in indices.iter().zip(parts) {
            let key = RlweKey::sample(&public.ring, &params.rlwe.secret.distribution(), rng)?;
            let message = (layout.place(index).0, params.scale());
            public.queries.body(&key, message, &self.error, params.query_coefficient_bytes, rng, query);
            let packing_keys = packing.keys(&key, &public.masks, &self.error, rng)?;
            keys.copy_from_slice(&packing_keys.to_bytes(packing));
            asked.push(Query { index, key });
        }
        let messages = vec![("keys", keys.finish(NAME, "keys")), ("query", query.finish(NAME, "query"))];
        Ok((asked, messages))
    }

    fn extract(&self, asked: &[Query], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let records = self.decrypt(asked, answer)?;
        Ok(records)
    }

    /// Logs the errors of all entries of the items asked for.
    fn log_errors(
        &self,
        asked: &[Query],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let (layout, switch) = (&self.layout, self.params.switch);
        let message = self.message(answer, asked.len())?;
        for (query, answer) in asked.iter().zip(message.payload().chunks_exact(self.answer_bytes())) {
            let opener = self.opener.key(&query.key)?;
            let (row, _) = layout.place(query.index);
            let mut of_query = NoiseLog::default();
            for (element, ciphertext) in self.ciphertexts(answer).enumerate() {
                let columns = element * layout.degree..(element + 1) * layout.degree;
                let entries = columns.map(|column| server.entry(row, column).into());
                let (threshold, errors) = switch.errors(&opener, &ciphertext?, 1 << layout.entry_bits, entries)?;
                of_query.add("answer", threshold, errors);
            }
            context.noise.add_of_one_key(of_query);
        }
        Ok(())
    }
}

impl Client {
    /// Bytes of the answer to a query.
    fn answer_bytes(&self) -> usize {
        let degree = self.layout.degree;
        self.params.switch.bytes(degree, degree) as usize * self.layout.elements
    }

    /// The message of a response to as many queries.
    fn message(&self, answer: &Messages, queries: usize) -> Result<Frame> {
        only("answer", answer)?.clone().check(NAME, "answer", (self.answer_bytes() * queries) as u64)
    }

    /// The ciphertexts of a query's answer.
    fn ciphertexts<'a>(&self, answer: &'a [u8]) -> impl Iterator<Item = Result<SplitRlwe>> + use<'a> {
        let (degree, switch) = (self.layout.degree, self.params.switch);
        answer
            .chunks_exact(switch.bytes(degree, degree) as usize)
            .map(move |bytes| switch.read(degree, degree, bytes).map_err(|e| Error::message("answer", e.to_string())))
    }

    fn decrypt(&self, asked: &[Query], answer: &Messages) -> Result<Vec<Record>> {
        let (layout, degree) = (&self.layout, self.layout.degree);
        let message = self.message(answer, asked.len())?;
        let mut records = Vec::with_capacity(asked.len());
        for (query, answer) in asked.iter().zip(message.payload().chunks_exact(self.answer_bytes())) {
            let opener = self.opener.key(&query.key)?;
            let (_, bit) = layout.place(query.index);
            let wanted = layout.entries_of(bit);
            let mut entries = Vec::with_capacity(layout.columns());
            for (element, ciphertext) in self.ciphertexts(answer).enumerate() {
                // Only the elements with the record are decrypted.
                let columns = element * degree..(element + 1) * degree;
                if columns.start < wanted.end && wanted.start < columns.end {
                    entries.extend(opener.decode(&ciphertext?, 1 << layout.entry_bits)?);
                } else {
                    entries.resize(columns.end, 0);
                }
            }
            let (width, offset) = (layout.entry_bits, self.params.offset());
            let first = bit - wanted.start as u64 * u64::from(width);
            records.push(read_record(
                &entries[wanted.clone()],
                width,
                offset,
                first,
                layout.shape.record_bits as usize,
            ));
        }
        Ok(records)
    }
}
