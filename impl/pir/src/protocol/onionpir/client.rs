//! OnionPIR's client: a secret that serves all queries.

use rand::RngCore;

use super::engine::Engine;
use super::keys::write_keys;
use super::query::phase;
use super::server::Server;
use super::set::{NAME, Set};
use crate::core::{Context, Database, Frame, FrameBuilder, Messages, Record, Request, Result, Shape, protocol};
use crate::parts::bfv::{AnswerKey, AnswerOpener, BfvSecret, answer_bytes, for_each_answer, query_bytes, write_query};
use crate::parts::folding::{Encoder, Place};

/// A secret that serves all queries.
pub struct Client {
    pub(super) engine: Engine,
    pub(super) secret: BfvSecret,
    answers: AnswerKey,
    /// Identifies this client's keys in the noise log.
    pub(super) key_id: u64,
}

impl Client {
    /// Calls `each` with the number of every query and the ciphertexts of its answer.
    fn for_each_answer(
        &self,
        queries: usize,
        answer: &Messages,
        each: impl FnMut(usize, Vec<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        let Engine { params, layout, .. } = &self.engine;
        for_each_answer(NAME, answer, (queries, layout.parts, answer_bytes(&params.ring, params.switch)), each)
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Place;

    fn new(params: &Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(params, shape, context.kernel)?;
        let (ring, rng) = (&params.ring, &mut context.rng);
        let secret = BfvSecret::sample(&engine.switch, ring.secret, ring.error, rng)?;
        let answers = AnswerOpener::new(ring.degree, params.switch)?.key(&secret.key)?;
        Ok(Self { answers, key_id: rng.next_u64(), secret, engine })
    }

    fn upload(&mut self, _: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let keys = write_keys(&self.engine, &self.secret, &mut context.rng)?;
        Ok(vec![("keys", Frame::of(NAME, "keys", &keys))])
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Place>, Messages)> {
        let layout = &self.engine.layout;
        indices.iter().try_for_each(|index| layout.shape.check_index(*index))?;
        let places: Vec<_> = indices.iter().map(|&index| layout.place(index)).collect();
        let bytes = query_bytes(&self.engine.params.ring, 1);
        let mut builder = FrameBuilder::new(bytes * places.len());
        for (place, out) in places.iter().zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            out.copy_from_slice(&write_query(&self.secret, [Ok(phase(&self.engine, place))], &mut context.rng)?);
        }
        Ok((places, vec![("query", builder.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[Place], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let Engine { ring, layout, params, .. } = &self.engine;
        let mut records = Vec::with_capacity(asked.len());
        self.for_each_answer(asked.len(), answer, |number, ciphertexts| {
            let open = |bytes| Ok(self.engine.digits(self.answers.messages(ring, bytes, params.message_bits())?));
            let slots = ciphertexts.into_iter().map(open).collect::<Result<Vec<_>>>()?.concat();
            records.push(Encoder::record(layout, &asked[number], &slots));
            Ok(())
        })?;
        Ok(records)
    }

    fn log_errors(
        &self,
        asked: &[Place],
        server: &Server,
        (_, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let Engine { ring, params, .. } = &self.engine;
        self.for_each_answer(asked.len(), answer, |number, ciphertexts| {
            let cell = server.matrix.cell(&asked[number])?;
            for (bytes, digits) in ciphertexts.into_iter().zip(cell.chunks(params.plain_digits)) {
                let messages = (&*self.engine.messages(digits), params.message_bits());
                let errors = self.answers.errors(ring, bytes, messages, || self.engine.phase(digits))?;
                context.noise.add_under(Some(self.key_id), "answer", 0.5, errors);
            }
            Ok(())
        })
    }

    fn diagnose(&self, asked: &[Place], server: &Server, request: &Request, context: &mut Context) -> Result<()> {
        self.open_answer(asked, server, request, context)
    }
}
