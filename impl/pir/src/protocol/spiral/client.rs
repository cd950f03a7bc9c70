//! Spiral's client: secrets that serve all queries.

use lattice::SplitRlwe;
use rand::RngCore;
use ring::DiscreteGaussian;

use super::engine::Engine;
use super::keys::{Secrets, write_keys};
use super::query::{query_bytes, write_query};
use super::server::Server;
use super::set::{NAME, Set};
use crate::core::{Context, Database, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, only, protocol};
use crate::parts::folding::{Encoder, Place};

/// Secrets that serve all queries.
pub struct Client {
    pub(super) engine: Engine,
    pub(super) secrets: Secrets,
    /// Identifies this client's keys in the noise log.
    pub(super) key_id: u64,
    error: DiscreteGaussian,
}

impl Client {
    /// Calls `each` with each body of the answers to some queries, in order: the number of its key, and the mask and body.
    fn for_each_body(
        &self,
        queries: usize,
        answer: &Messages,
        mut call: impl FnMut(usize, &SplitRlwe) -> Result<()>,
    ) -> Result<()> {
        let params = &self.engine.params;
        let (degree, bytes) = (self.engine.ring.n(), queries * params.answer_bytes(&self.engine.layout));
        let message = only("answer", answer)?.clone().check(NAME, "answer", bytes as u64)?;
        let (mask_bytes, body_bytes) = (params.mask_bytes(), params.body_bytes());
        for vector in message.payload().chunks_exact(mask_bytes + params.vector_length * body_bytes) {
            let (mask, bodies) = vector.split_at(mask_bytes);
            for (key, body) in bodies.chunks_exact(body_bytes).enumerate() {
                call(key, &params.switch.read(degree, degree, &[mask, body].concat())?)?;
            }
        }
        Ok(())
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Place;

    fn new(params: &Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(params, shape, context.kernel)?;
        Ok(Self {
            secrets: Secrets::sample(&engine, &mut context.rng)?,
            key_id: context.rng.next_u64(),
            error: params.rlwe.error.sampler()?,
            engine,
        })
    }

    fn upload(&mut self, _: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let keys = write_keys(&self.engine, &self.secrets, &mut context.rng)?;
        Ok(vec![("keys", Frame::of(NAME, "keys", &keys))])
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Place>, Messages)> {
        let Self { engine, secrets, error, .. } = self;
        let layout = &engine.layout;
        indices.iter().try_for_each(|index| layout.shape.check_index(*index))?;
        let places: Vec<_> = indices.iter().map(|&index| layout.place(index)).collect();
        let bytes = query_bytes(engine);
        let mut builder = FrameBuilder::new(bytes * places.len());
        for (place, out) in places.iter().zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            out.copy_from_slice(&write_query(engine, place, (secrets, error), &mut context.rng));
        }
        Ok((places, vec![("query", builder.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[Place], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let (layout, p) = (&self.engine.layout, self.engine.params.plain_modulus());
        let mut slots = Vec::with_capacity(asked.len() * layout.slots);
        self.for_each_body(asked.len(), answer, |key, body| {
            slots.push(self.secrets.openers[key].decode(body, p)?);
            Ok(())
        })?;
        let items = asked.iter().zip(slots.chunks(layout.slots));
        Ok(items.map(|(place, slots)| Encoder::record(layout, place, slots)).collect())
    }

    fn log_errors(
        &self,
        asked: &[Place],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let params = &self.engine.params;
        let known: Vec<_> = asked.iter().map(|place| server.matrix.slots(place)).collect::<Result<_>>()?;
        let mut known = known.into_iter().flatten();
        self.for_each_body(asked.len(), answer, |key, body| {
            let messages = known.next().unwrap_or_default();
            let opener = &self.secrets.openers[key];
            let (threshold, errors) = params.switch.errors(opener, body, params.plain_modulus(), messages)?;
            context.noise.add_under(Some(self.key_id), "answer", threshold, errors);
            Ok(())
        })
    }

    fn diagnose(&self, asked: &[Place], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        self.open_answer(asked, server, request, context)
    }
}
