//! SimpleYPIR's client: no state between queries but the public seed, a fresh secret for every index.

use lattice::{RlweKey, SplitRing, SplitRlwe};
use ring::{DiscreteGaussian, Kernel, Seed};

use super::layout::Layout;
use super::server::{Public, Server};
use super::{Params, SimpleYpir};
use crate::core::database::Record;
use crate::core::error::{Error, Result};
use crate::core::hintless::{HintlessClient, OpenRequests};
use crate::core::noise::NoiseLog;
use crate::core::scheme::{Context, Request, Response, Scheme};
use crate::core::wire::{Frame, FrameBuilder};
use crate::core::workload::Shape;
use crate::parts::ring_matrix::{read_record, switched_errors};

/// One index asked for, with the secret of its query.
struct Pending {
    index: u64,
    key: RlweKey<u32>,
}

/// The public seed's expansions and the queries under way.
pub struct Client {
    params: Params,
    layout: Layout,
    error: DiscreteGaussian,
    public: Option<Public>,
    /// Where answers are decrypted.
    opener: SplitRing,
    requests: OpenRequests<Pending>,
}

impl Client {
    pub(super) fn new(params: &Params, shape: Shape) -> Result<Self> {
        let error = DiscreteGaussian::new(params.rlwe.error).map_err(|e| Error::value("rlwe.error", e.to_string()))?;
        Ok(Self {
            params: params.clone(),
            layout: Layout::choose(params, shape)?,
            error,
            public: None,
            opener: SplitRing::new(params.rlwe.degree)?,
            requests: OpenRequests::default(),
        })
    }
}

impl HintlessClient for Client {
    fn receive_seed(&mut self, seed: Seed, kernel: Kernel) -> Result<()> {
        self.public = Some(Public::new(&self.params, &self.layout, seed, kernel)?);
        Ok(())
    }

    /// For each index: the item's row under the public masks, packing keys.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<Request> {
        let Self { params, layout, .. } = self;
        indices.iter().try_for_each(|&index| layout.shape.check_index(index))?;
        let public =
            self.public.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))?;
        let (packing, rng) = (&public.packing, &mut context.rng);
        let (key_bytes, bytes) = (packing.key_bytes(), params.query_bytes * layout.rows);
        let mut keys = FrameBuilder::new(key_bytes * indices.len());
        let mut query = FrameBuilder::new(bytes * indices.len());
        let parts = keys.payload_mut().chunks_exact_mut(key_bytes);
        let parts = parts.zip(query.payload_mut().chunks_exact_mut(bytes));
        let mut pending = Vec::with_capacity(indices.len());
        for (&index, (keys, query)) in indices.iter().zip(parts) {
            let key = RlweKey::sample(&public.ring, &params.rlwe.secret.distribution(), rng)?;
            let message = (layout.place(index).0, params.scale());
            public.queries.body(&key, message, &self.error, params.query_bytes, rng, query);
            let packing_keys = packing.keys(&key, &public.masks, &self.error, rng)?;
            keys.copy_from_slice(&packing_keys.to_bytes(packing));
            pending.push(Pending { index, key });
        }
        self.requests.push(pending);
        let messages =
            vec![("keys", keys.finish(SimpleYpir::NAME, "keys")), ("query", query.finish(SimpleYpir::NAME, "query"))];
        Ok(Request { messages, queries: indices.len() as u64, session: 0 })
    }

    fn extract(&mut self, response: &Response) -> Result<Vec<Record>> {
        let pending = self.requests.oldest()?;
        let records = self.decrypt(pending, response)?;
        self.requests.close();
        Ok(records)
    }
}

impl Client {
    /// Logs the errors of all entries of the items asked for.
    ///
    /// # Errors
    /// As [`HintlessClient::extract`].
    pub(super) fn measure_noise(&self, server: &Server, response: &Response, context: &mut Context) -> Result<()> {
        let (layout, switch) = (&self.layout, self.params.switch);
        let extracted = self.requests.extracted();
        let message = self.message(response, extracted.len())?;
        for (query, answer) in extracted.iter().zip(message.payload().chunks_exact(self.answer_bytes())) {
            let opener = self.opener.key(&query.key)?;
            let (row, _) = layout.place(query.index);
            let mut of_query = NoiseLog::default();
            for (element, ciphertext) in self.ciphertexts(answer).enumerate() {
                let columns = element * layout.degree..(element + 1) * layout.degree;
                let entries = columns.map(|column| server.entry(row, column).into());
                let (threshold, errors) =
                    switched_errors(&opener, &ciphertext?, switch, 1 << layout.entry_bits, entries)?;
                of_query.add("answer", threshold, errors);
            }
            context.noise.add_of_one_key(of_query);
        }
        Ok(())
    }

    /// Bytes of the answer to a query.
    fn answer_bytes(&self) -> usize {
        let degree = self.layout.degree;
        self.params.switch.bytes(degree, degree) as usize * self.layout.elements
    }

    /// The message of a response to as many queries.
    fn message(&self, response: &Response, queries: usize) -> Result<Frame> {
        let [("answer", message)] = &response.messages[..] else {
            return Err(Error::message("answer", "a response is one message `answer`."));
        };
        message.clone().check(SimpleYpir::NAME, "answer", (self.answer_bytes() * queries) as u64)
    }

    /// The ciphertexts of a query's answer.
    fn ciphertexts<'a>(&self, answer: &'a [u8]) -> impl Iterator<Item = Result<SplitRlwe>> + use<'a> {
        let (degree, switch) = (self.layout.degree, self.params.switch);
        answer.chunks_exact(switch.bytes(degree, degree) as usize).map(move |bytes| {
            SplitRlwe::from_bytes((degree, degree), (switch.mask, switch.body), bytes)
                .map_err(|e| Error::message("answer", e.to_string()))
        })
    }

    fn decrypt(&self, pending: &[Pending], response: &Response) -> Result<Vec<Record>> {
        let (layout, degree) = (&self.layout, self.layout.degree);
        let message = self.message(response, pending.len())?;
        let mut records = Vec::with_capacity(pending.len());
        for (query, answer) in pending.iter().zip(message.payload().chunks_exact(self.answer_bytes())) {
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
