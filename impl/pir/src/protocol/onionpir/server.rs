//! OnionPIR's server.

use super::engine::Engine;
use super::keys::{ServerKeys, key_bytes};
use super::query::Query;
use super::set::{NAME, Set};
use crate::core::{
    Change, Context, Database, Group, Messages, Request, Result, TableBytes, Turns, answers, only, protocol,
};
use crate::parts::bfv::{answer_bytes, query_bytes, read_queries, write_coefficients};
use crate::parts::folding::{BATCH, Encoder, Matrix, OneOf, Selection, Selects, select};

/// The database and the keys of all clients.
pub struct Server {
    pub engine: Engine,
    pub selection: Selection,
    pub matrix: Matrix,
    /// The keys, by session from 1 on.
    pub clients: Vec<ServerKeys>,
}

impl Server {
    /// The queries of some requests.
    pub(super) fn parse(&self, requests: &[Request]) -> Result<Vec<Query<'_>>> {
        let engine = &self.engine;
        let lengths = (&*engine.ring, query_bytes(&engine.params.ring, 1), 1);
        let asked = read_queries(NAME, requests, &self.clients, lengths)?;
        Ok(asked.into_iter().map(|asked| Query::new(engine, asked)).collect())
    }

    /// The ciphertexts that answer some queries, with one pass over the database.
    fn group(&self, steps: &mut Turns, group: &[Query], context: &Context) -> Result<Vec<Vec<OneOf>>> {
        let (Self { engine, selection, matrix, .. }, threads) = (self, context.threads);
        let selects = |query: &Query| {
            let vectors = vec![steps.time("answer_leaves", || query.vector(engine, selection, threads))?];
            let selectors = steps.time("answer_selectors", || query.selectors(engine, threads))?;
            Ok(Selects { vectors, selectors })
        };
        let queries = group.iter().map(selects).collect::<Result<Vec<_>>>()?;
        let join = |mut pairs: Vec<_>| OneOf(pairs.swap_remove(0));
        select(steps, (selection, matrix), &engine.selector, &queries, join, context)
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database (phase `encode`), unless it is streamed.
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(params, database.shape(), context.kernel)?;
        let primes = engine.ring.primes().len();
        let selection = Selection::new(engine.layout, &engine.ring, primes, context.threads)?;
        let matrix = Matrix::of(Encoder::new(engine.layout, selection.matrix_ring()), database, context)?;
        Ok(Self { engine, selection, matrix, clients: Vec::new() })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.matrix.held_bytes()),
            TableBytes::of("keys", self.clients.iter().map(ServerKeys::bytes)),
        ]
    }

    fn receive(&mut self, messages: &Messages, _: &mut Context) -> Result<u64> {
        let keys = only("keys", messages)?.clone().check(NAME, "keys", key_bytes(&self.engine) as u64)?;
        self.clients.push(ServerKeys::read(&self.engine, keys.payload())?);
        Ok(self.clients.len() as u64)
    }

    fn forget(&mut self) {
        self.clients.clear();
    }

    /// Answers every query of every request; eight queries share one pass over the database.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let clock = &context.clock;
        let mut steps = Turns::new(clock);
        let asked = steps.time("answer_parse", || self.parse(requests))?;
        let mut items = Vec::with_capacity(asked.len());
        for group in asked.chunks(BATCH) {
            items.extend(self.group(&mut steps, group, context)?);
        }
        let Engine { params, layout, ring, .. } = &self.engine;
        let each = answer_bytes(&params.ring, params.switch);
        let responses = steps.time("answer_response", || {
            answers(NAME, requests, layout.parts * each, |number, out| {
                for (out, OneOf(ciphertext)) in out.chunks_exact_mut(each).zip(&items[number]) {
                    out.copy_from_slice(&write_coefficients(ring, ciphertext, params.switch));
                }
                Ok(())
            })
        })?;
        steps.finish(Group::Online);
        Ok(responses)
    }

    fn update(&mut self, changes: &[Change], _: &mut Context) -> Result<Messages> {
        self.matrix.update(changes)?;
        Ok(Messages::new())
    }
}
