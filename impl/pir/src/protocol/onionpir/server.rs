//! OnionPIR's server.

use super::answer;
use super::engine::Engine;
use super::keys::{ServerKeys, key_bytes};
use super::query::{Query, query_bytes};
use super::set::{NAME, Set};
use crate::core::{
    Change, Context, Database, Group, Messages, Request, Result, TableBytes, Turns, answers, client_of, for_each_query,
    only, protocol,
};
use crate::parts::folding::{Encoder, Matrix, OneOf, Selection, Selects, select};
use crate::parts::ring_matrix::workspace;

/// Queries that share one pass over the database; more take more passes.
pub const BATCH: usize = 8;

/// The database and the keys of all clients.
pub struct Server {
    pub engine: Engine,
    pub selection: Selection,
    pub matrix: Matrix,
    /// The keys, by session from 1 on.
    pub clients: Vec<ServerKeys>,
}

/// A query with the keys of the client that sent it.
type Asked<'a> = (&'a ServerKeys, Query);

impl Server {
    /// The queries of a request.
    pub(super) fn parse(&self, request: &Request) -> Result<Vec<Query>> {
        let (bytes, mut queries) = (query_bytes(&self.engine), Vec::new());
        for_each_query(NAME, std::slice::from_ref(request), &[("query", bytes)], |parts| {
            queries.push(Query::read(&self.engine, parts[0])?);
            Ok(())
        })?;
        Ok(queries)
    }

    /// The ciphertexts that answer some queries, with one pass over the database.
    fn group(&self, steps: &mut Turns, group: &[Asked], context: &Context) -> Result<Vec<Vec<OneOf>>> {
        let Self { engine, selection, matrix, .. } = self;
        let mut workspace = workspace();
        let mut selects = |(keys, query): &Asked| {
            let mut vector = || selection.leaves(query.leaves(engine, keys, &mut workspace)?);
            let vectors = vec![steps.time("answer_leaves", &mut vector)?];
            let selectors = steps.time("answer_selectors", || query.selectors(engine, keys, &mut workspace))?;
            Ok(Selects { vectors, selectors })
        };
        let queries = group.iter().map(&mut selects).collect::<Result<Vec<_>>>()?;
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
        let encoder = Encoder::new(engine.layout, selection.matrix_ring(), true);
        let matrix = if context.streamed {
            Matrix::streamed(encoder, database.clone())
        } else {
            context.clock.time("encode", Group::Offline, || Matrix::whole(encoder, database, context))?
        };
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
        let asked: Vec<Asked> = steps.time("answer_parse", || {
            let mut asked = Vec::new();
            for request in requests {
                let keys = client_of(&self.clients, request.session)?;
                asked.extend(self.parse(request)?.into_iter().map(|query| (keys, query)));
            }
            Ok::<_, crate::core::Error>(asked)
        })?;
        let mut items = Vec::with_capacity(asked.len());
        for group in asked.chunks(BATCH) {
            items.extend(self.group(&mut steps, group, context)?);
        }
        let params = &self.engine.params;
        let responses = steps.time("answer_response", || {
            answers(NAME, requests, params.answer_bytes(&self.engine.layout), |number, out| {
                let parts = out.chunks_exact_mut(params.ciphertext_bytes());
                for (out, OneOf(ciphertext)) in parts.zip(&items[number]) {
                    out.copy_from_slice(&answer::write(&self.engine, ciphertext)?);
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
