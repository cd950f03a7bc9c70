//! OnionPIR's client: a secret that serves all queries.

use rand::RngCore;

use super::answer::Opener;
use super::engine::Engine;
use super::keys::{sample, write_keys};
use super::query::{query_bytes, write_query};
use super::server::Server;
use super::set::{NAME, Set};
use crate::core::{Context, Database, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, only, protocol};
use crate::parts::bfv::BfvSecret;
use crate::parts::folding::{Encoder, Place};

/// A secret that serves all queries.
pub struct Client {
    pub(super) engine: Engine,
    pub(super) secret: BfvSecret,
    opener: Opener,
    /// Identifies this client's keys in the noise log.
    pub(super) key_id: u64,
}

impl Client {
    /// What `open` makes of each ciphertext of the answers to some queries, in order.
    fn open<T>(&self, queries: usize, answer: &Messages, mut open: impl FnMut(&[u8]) -> Result<T>) -> Result<Vec<T>> {
        let params = &self.engine.params;
        let bytes = queries * params.answer_bytes(&self.engine.layout);
        let message = only("answer", answer)?.clone().check(NAME, "answer", bytes as u64)?;
        message.payload().chunks_exact(params.ciphertext_bytes()).map(&mut open).collect()
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Place;

    fn new(params: &Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(params, shape, context.kernel)?;
        let secret = sample(&engine, &mut context.rng)?;
        Ok(Self { opener: Opener::new(&secret.key)?, key_id: context.rng.next_u64(), secret, engine })
    }

    fn upload(&mut self, _: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let keys = write_keys(&self.engine, &self.secret, &mut context.rng)?;
        Ok(vec![("keys", Frame::of(NAME, "keys", &keys))])
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Place>, Messages)> {
        let layout = &self.engine.layout;
        indices.iter().try_for_each(|index| layout.shape.check_index(*index))?;
        let places: Vec<_> = indices.iter().map(|&index| layout.place(index)).collect();
        let bytes = query_bytes(&self.engine);
        let mut builder = FrameBuilder::new(bytes * places.len());
        for (place, out) in places.iter().zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            out.copy_from_slice(&write_query(&self.engine, place, &self.secret, &mut context.rng));
        }
        Ok((places, vec![("query", builder.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[Place], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let layout = &self.engine.layout;
        let digits = self.open(asked.len(), answer, |bytes| self.opener.digits(&self.engine, bytes))?.concat();
        let items = asked.iter().zip(digits.chunks(layout.slots));
        Ok(items.map(|(place, slots)| Encoder::record(layout, place, slots)).collect())
    }

    fn log_errors(
        &self,
        asked: &[Place],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let known: Vec<_> = asked.iter().map(|place| server.matrix.cell(place)).collect::<Result<_>>()?;
        let known = known.concat();
        let mut digits = known.chunks(self.engine.params.plain_digits);
        let errors = self.open(asked.len(), answer, |bytes| {
            self.opener.errors(&self.engine, bytes, digits.next().unwrap_or_default())
        })?;
        context.noise.add_under(Some(self.key_id), "answer", 0.5, errors.concat());
        Ok(())
    }

    fn diagnose(&self, asked: &[Place], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        self.open_answer(asked, server, request, context)
    }
}
