//! Respire's client: secrets that serve all queries.

use rand::RngCore;
use ring::DiscreteGaussian;

use super::engine::Engine;
use super::keys::{Secrets, write_keys};
use super::query::{Asked, query_bytes, write_query};
use super::server::Server;
use super::set::{NAME, Set};
use crate::core::{Context, Database, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, only, protocol};
use crate::parts::buckets::{Buckets, Places};
use crate::parts::folding::{Encoder, Layout, Place};

/// Secrets that serve all queries.
pub struct Client {
    pub(super) engine: Engine,
    pub(super) buckets: Buckets,
    /// Where records stand in buckets, once the server has said so.
    places: Option<Places>,
    /// The layout of a bucket.
    pub(super) layout: Layout,
    pub(super) secrets: Secrets,
    /// Identifies this client's keys in the noise log.
    pub(super) key_id: u64,
    error: DiscreteGaussian,
}

/// The position that each of `queries` queries asks for. A bucket without a requested record is asked for its first one.
fn places(layout: &Layout, asked: &[Asked], queries: u64) -> Vec<Place> {
    let mut places = vec![layout.place(0); queries as usize];
    asked.iter().for_each(|asked| places[asked.query] = asked.place);
    places
}

impl Client {
    /// The coefficients of one of the slots that a body carries.
    fn slot<T: Copy>(&self, coefficients: &[T], slot: usize) -> Vec<T> {
        coefficients[slot..].iter().step_by(self.engine.params.slots_per_body()).copied().collect()
    }

    /// Calls `each`, in order, with each body of a response and its mask, the number of its key, and the slots that it carries.
    fn for_each_body(
        &self,
        records: usize,
        answer: &Messages,
        mut call: impl FnMut(&[u8], usize, usize) -> Result<()>,
    ) -> Result<()> {
        let message = only("answer", answer)?;
        let params = &self.engine.params;
        let mut left = self.buckets.queries(records as u64)? as usize * self.layout.slots;
        let message = message.clone().check(NAME, "answer", params.response_bytes(left) as u64)?;
        let mut rest = message.payload();
        while left > 0 {
            let (mask, mut others) = rest.split_at(params.mask_bytes());
            for key in 0..params.vector.length.min(left.div_ceil(params.slots_per_body())) {
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
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Asked;

    fn new(params: &Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(params, context.kernel)?;
        let buckets = params.buckets(shape)?;
        Ok(Self {
            layout: params.layout(buckets.each)?,
            places: Places::unpublished(buckets),
            buckets,
            secrets: Secrets::sample(&engine, &mut context.rng)?,
            key_id: context.rng.next_u64(),
            error: params.rlwe.error.sampler()?,
            engine,
        })
    }

    fn receive(&mut self, messages: Messages, _: &mut Context) -> Result<()> {
        self.places = Some(Places::received(self.buckets, NAME, &messages)?);
        Ok(())
    }

    fn upload(&mut self, _: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let keys = write_keys(&self.engine, &self.secrets, &mut context.rng)?;
        Ok(vec![("keys", Frame::of(NAME, "keys", &keys))])
    }

    fn queries(&self, indices: u64) -> Result<u64> {
        self.buckets.queries(indices)
    }

    /// Queries to every bucket, for each batch that the indices fill.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Asked>, Messages)> {
        let Self { engine, buckets, places: known, layout, secrets, error, .. } = self;
        let assigned = Places::known(known)?.assign(indices)?;
        let queries = buckets.queries(indices.len() as u64)?;
        let asked: Vec<_> =
            assigned.into_iter().map(|(query, position)| Asked { query, place: layout.place(position) }).collect();
        let places = places(layout, &asked, queries);
        let bytes = query_bytes(layout, engine.ring.primes(), engine.gadgets.selector.length());
        let mut builder = FrameBuilder::new(bytes * places.len());
        for (place, out) in places.iter().zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            out.copy_from_slice(&write_query(engine, layout, place, (secrets, error), &mut context.rng));
        }
        let query = builder.finish(NAME, "query");
        Ok((asked, vec![("query", query)]))
    }

    fn extract(&mut self, asked: &[Asked], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let p = self.engine.params.plain_modulus();
        let mut slots = Vec::new();
        self.for_each_body(asked.len(), answer, |body, key, count| {
            let digits = self.engine.responder.open(&self.secrets.response[key], body, p)?;
            slots.extend((0..count).map(|slot| self.slot(&digits, slot)));
            Ok(())
        })?;
        let of_query = |query: usize| &slots[query * self.layout.slots..(query + 1) * self.layout.slots];
        let record = |asked: &Asked| Encoder::record(&self.layout, &asked.place, of_query(asked.query));
        Ok(asked.iter().map(record).collect())
    }

    /// Logs the errors of every slot of a response, also of slots for buckets without a requested record.
    fn log_errors(
        &self,
        asked: &[Asked],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let params = &self.engine.params;
        let (p, degree) = (params.plain_modulus(), params.response.degree);
        let places = places(&self.layout, asked, self.buckets.queries(asked.len() as u64)?);
        let mut known = Vec::with_capacity(places.len() * self.layout.slots);
        for (query, place) in places.iter().enumerate() {
            known.extend(server.matrices[query % self.buckets.count()].slots(place)?);
        }
        let mut known = known.into_iter();
        self.for_each_body(asked.len(), answer, |body, key, count| {
            let mut messages = vec![0; degree];
            for (slot, known) in known.by_ref().take(count).enumerate() {
                messages[slot..].iter_mut().step_by(params.slots_per_body()).zip(known).for_each(|(to, m)| *to = m);
            }
            let (threshold, errors) = self.engine.responder.errors(&self.secrets.response[key], body, p, messages)?;
            for slot in 0..count {
                context.noise.add_under(Some(self.key_id), "answer", threshold, self.slot(&errors, slot));
            }
            Ok(())
        })
    }

    fn diagnose(&self, asked: &[Asked], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        self.open_answer(asked, server, request, context)
    }
}
