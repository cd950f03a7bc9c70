//! Spiral's server.

use lattice::wire::{Writer, residue_bits};
use lattice::{Rlwe, VectorRlwe, Workspace};
use ring::Coefficient;

use super::convert;
use super::engine::Engine;
use super::keys::{ServerKeys, key_bytes};
use super::query::{Query, query_bytes};
use super::set::{NAME, Set};
use crate::core::{
    Change, Context, Database, Group, Messages, Request, Result, TableBytes, Turns, answers, client_of, for_each_query,
    only, protocol,
};
use crate::parts::folding::{BATCH, Encoder, Matrix, Selection, Selects, select};
use crate::parts::ring_matrix::workspace;

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

/// The vectors of an answer.
type Vectors = Vec<VectorRlwe<u32, Coefficient>>;

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

    /// The vectors that answer some queries, with one pass over the database.
    fn group(&self, steps: &mut Turns, group: Vec<Asked>, context: &Context) -> Result<Vec<Vectors>> {
        let Self { engine, selection, matrix, .. } = self;
        let (over, gadget, length) = ((selection, matrix), &engine.selector, engine.params.vector_length);
        if !engine.params.variant.packs() {
            let queries = self.selects(steps, group, convert::vectors)?;
            return select(steps, over, gadget, &queries, |pairs| vector_of(pairs, length), context);
        }
        let keys: Vec<&ServerKeys> = group.iter().map(|(keys, _)| *keys).collect();
        let queries = self.selects(steps, group, convert::pairs)?;
        let items = select(steps, over, gadget, &queries, |mut pairs| pairs.swap_remove(0), context)?;
        let mut workspace = workspace();
        steps.time("answer_packing", || {
            let mut pack = |(keys, parts): (&&ServerKeys, Vec<_>)| {
                parts.chunks(length).map(|parts| self.pack(keys, parts, &mut workspace)).collect()
            };
            keys.iter().zip(items).map(&mut pack).collect()
        })
    }

    /// What selects the row and the column of each query; `convert` makes its selectors.
    fn selects<S>(
        &self,
        steps: &mut Turns,
        group: Vec<Asked>,
        convert: impl Fn(Query, &Engine, &ServerKeys, &mut Workspace<u32>) -> Result<Vec<S>>,
    ) -> Result<Vec<Selects<S>>> {
        let (engine, mut workspace) = (&self.engine, workspace());
        let select = |(keys, query): Asked| {
            let leaves = || query.vectors(engine, &self.selection, keys, &mut workspace);
            let vectors = steps.time("answer_leaves", leaves)?;
            let selectors = steps.time("answer_selectors", || convert(query, engine, keys, &mut workspace))?;
            Ok(Selects { vectors, selectors })
        };
        group.into_iter().map(select).collect()
    }

    /// Packs some polynomials into a vector.
    pub(super) fn pack(
        &self,
        keys: &ServerKeys,
        parts: &[Rlwe<u32, Coefficient>],
        workspace: &mut Workspace<u32>,
    ) -> Result<VectorRlwe<u32, Coefficient>> {
        let mut vector = VectorRlwe::zero(&self.engine.ring, self.engine.params.vector_length);
        self.engine.conversion.pack_vector(parts, &keys.packing, workspace, &mut vector)?;
        Ok(vector)
    }

    /// Appends a vector with its mask modulo q2 and its bodies modulo 4 p.
    fn write(&self, vector: &VectorRlwe<u32, Coefficient>, writer: &mut Writer) {
        let (ring, switch) = (&self.engine.ring, self.engine.params.switch);
        writer.write_all(&ring.switch_to(&vector.a, switch.mask_modulus), residue_bits(switch.mask_modulus));
        for body in &vector.bodies {
            writer.write_all(&ring.switch_to(body, switch.body_modulus), residue_bits(switch.body_modulus));
        }
    }
}

/// The vector of that many bodies whose polynomials are those of pairs, one after the other.
pub(super) fn vector_of(pairs: Vec<Rlwe<u32, Coefficient>>, bodies: usize) -> VectorRlwe<u32, Coefficient> {
    let mut polys: Vec<_> = pairs.into_iter().flat_map(|Rlwe { a, b }| [a, b]).take(1 + bodies).collect();
    let bodies = polys.split_off(1);
    VectorRlwe { a: polys.swap_remove(0), bodies }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database (phase `encode`), unless it is streamed.
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(params, database.shape(), context.kernel)?;
        let selection = Selection::new(engine.layout, &engine.ring, params.matrix_primes, context.threads)?;
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
        let asked: Vec<Asked> = steps.time("answer_parse", || {
            let mut asked = Vec::new();
            for request in requests {
                let keys = client_of(&self.clients, request.session)?;
                asked.extend(self.parse(request)?.into_iter().map(|query| (keys, query)));
            }
            Ok::<_, crate::core::Error>(asked)
        })?;
        let (mut items, mut asked) = (Vec::with_capacity(asked.len()), asked.into_iter());
        while asked.len() > 0 {
            items.extend(self.group(&mut steps, asked.by_ref().take(BATCH).collect(), context)?);
        }
        let bytes = self.engine.params.answer_bytes(&self.engine.layout);
        let responses = steps.time("answer_response", || {
            answers(NAME, requests, bytes, |number, out| {
                let mut writer = Writer::with_capacity(bytes);
                items[number].iter().for_each(|vector| self.write(vector, &mut writer));
                out.copy_from_slice(&writer.finish());
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
