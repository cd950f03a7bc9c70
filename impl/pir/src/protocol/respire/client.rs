//! Respire's client: secrets that serve all queries.

use rand::RngCore;
use ring::DiscreteGaussian;

use super::engine::Engine;
use super::keys::{Secrets, gaussian, write_keys};
use super::query::{query_bytes, write_query};
use super::{Params, Respire};
use crate::database::Record;
use crate::error::{Error, Result};
use crate::folded::{Encoder, Layout, Place};
use crate::hintless::OpenRequests;
use crate::noise::NoiseLog;
use crate::numbers::RequestNumbers;
use crate::scheme::{Context, Request, Response, Scheme};
use crate::wire::{Frame, FrameBuilder};
use crate::workload::Shape;

/// Secrets, the session they are known by, and the requests under way.
pub struct Client {
    pub(super) engine: Engine,
    pub(super) layout: Layout,
    pub(super) secrets: Secrets,
    /// Number that the server gave with the keys.
    pub(super) session: u64,
    /// Tells the noise log one client's keys from another's.
    pub(super) key_id: u64,
    error: DiscreteGaussian,
    pub(super) requests: OpenRequests<Place>,
    pub(super) numbers: RequestNumbers,
}

impl Client {
    pub(super) fn new(params: &Params, shape: Shape, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(params, context.kernel)?;
        Ok(Self {
            layout: params.layout(shape)?,
            secrets: Secrets::sample(&engine, &mut context.rng)?,
            session: 0,
            key_id: context.rng.next_u64(),
            error: gaussian(params.rlwe.error)?,
            requests: OpenRequests::default(),
            numbers: RequestNumbers::default(),
            engine,
        })
    }

    /// The keys' message.
    pub(super) fn keys(&self, context: &mut Context) -> Result<Frame> {
        let keys = write_keys(&self.engine, &self.secrets, &mut context.rng)?;
        let mut builder = FrameBuilder::new(keys.len());
        builder.payload_mut().copy_from_slice(&keys);
        Ok(builder.finish(Respire::NAME, "keys"))
    }

    /// One query for each index.
    pub(super) fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<Request> {
        let Self { engine, layout, secrets, error, .. } = self;
        indices.iter().try_for_each(|&index| layout.shape.check_index(index))?;
        if self.session == 0 {
            return Err(Error::message("keys", "they must be sent before a query."));
        }
        let places: Vec<_> = indices.iter().map(|&index| layout.place(index)).collect();
        let bytes = query_bytes(layout, engine.ring.primes(), engine.selector.length());
        let mut builder = FrameBuilder::new(bytes * places.len());
        for (place, out) in places.iter().zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            out.copy_from_slice(&write_query(engine, layout, place, (secrets, error), &mut context.rng));
        }
        self.requests.push(places);
        let query = builder.finish(Respire::NAME, "query");
        Ok(Request { messages: vec![("query", query)], queries: indices.len() as u64, session: self.session })
    }

    pub(super) fn extract(&mut self, response: &Response) -> Result<Vec<Record>> {
        let places = self.requests.oldest()?;
        let p = self.engine.params.plain_modulus();
        let mut slots = Vec::with_capacity(places.len() * self.layout.slots);
        self.for_each_body(places.len(), response, |body, key, count| {
            let digits = self.engine.responder.open(&self.secrets.response[key], body, p)?;
            slots.extend((0..count).map(|slot| self.slot(&digits, slot)));
            Ok(())
        })?;
        let records = places.iter().zip(slots.chunks_exact(self.layout.slots));
        let records = records.map(|(place, slots)| Encoder::record(&self.layout, place, slots)).collect();
        self.requests.close();
        Ok(records)
    }

    /// The coefficients of one of the slots that a body carries.
    fn slot<T: Copy>(&self, coefficients: &[T], slot: usize) -> Vec<T> {
        coefficients[slot..].iter().step_by(self.engine.params.slots_per_body()).copied().collect()
    }

    /// Calls, in order, with each body of a response behind its mask, the number of its key and of the slots that it carries.
    fn for_each_body(
        &self,
        queries: usize,
        response: &Response,
        mut call: impl FnMut(&[u8], usize, usize) -> Result<()>,
    ) -> Result<()> {
        let [("answer", message)] = &response.messages[..] else {
            return Err(Error::message("answer", "a response is one message `answer`."));
        };
        let params = &self.engine.params;
        let mut left = queries * self.layout.slots;
        let message = message.clone().check(Respire::NAME, "answer", params.response_bytes(left) as u64)?;
        let mut rest = message.payload();
        while left > 0 {
            let (mask, mut others) = rest.split_at(params.mask_bytes());
            for key in 0..params.vector_length.min(left.div_ceil(params.slots_per_body())) {
                let (body, behind) = others.split_at(params.body_bytes());
                others = behind;
                let count = left.min(params.slots_per_body());
                call(&[mask, body].concat(), key, count)?;
                left -= count;
            }
            rest = others;
        }
        Ok(())
    }

    pub(super) fn measure_noise(&self, response: &Response, noise: &mut NoiseLog) -> Result<()> {
        let p = self.engine.params.plain_modulus();
        self.for_each_body(self.requests.extracted().len(), response, |body, key, count| {
            let (threshold, errors) = self.engine.responder.errors(&self.secrets.response[key], body, p)?;
            for slot in 0..count {
                noise.add_under(Some(self.key_id), "answer", threshold, self.slot(&errors, slot));
            }
            Ok(())
        })
    }
}
