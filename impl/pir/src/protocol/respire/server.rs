//! Respire's server.

use lattice::{Rgsw, Rlwe, Workspace};
use ring::Coefficient;

use super::engine::Engine;
use super::keys::{ServerKeys, key_bytes};
use super::query::{Query, query_bytes};
use super::set::{NAME, Set};
use crate::core::{
    Change, Context, Database, Error, Frame, Group, Messages, Request, Result, TableBytes, Turns, check_queries,
    client_of, only, protocol,
};
use crate::parts::buckets::Places;
use crate::parts::folding::{BATCH, Encoder, Layout, Matrix, Selection, Selects, select};
use crate::parts::ring_matrix::workspace;

/// The database and the keys of all clients.
pub struct Server {
    pub engine: Engine,
    pub places: Places,
    /// The layout of a bucket.
    layout: Layout,
    pub selection: Selection,
    /// The matrices, by bucket.
    pub matrices: Vec<Matrix>,
    /// The keys, by session from 1 on.
    pub clients: Vec<ServerKeys>,
}

/// A query of some request.
struct Asked<'a> {
    /// Number of the request.
    request: usize,
    /// Its number within the request.
    number: usize,
    keys: &'a ServerKeys,
    query: Query,
}

/// The slots of an item, projected.
type Slots = Vec<Rlwe<u32, Coefficient>>;

impl Server {
    /// The queries of a request.
    pub(super) fn parse(&self, request: &Request) -> Result<Vec<Query>> {
        let query = only("query", &request.messages)?;
        check_queries(request)?;
        let buckets = self.places.buckets.count() as u64;
        if !request.queries.is_multiple_of(buckets) {
            let problem = format!("{} queries do not ask {buckets} buckets equally often.", request.queries);
            return Err(Error::message("query", problem));
        }
        let bytes = query_bytes(&self.layout, self.engine.ring.primes(), self.engine.gadgets.selector.length());
        let query = query.clone().check(NAME, "query", request.queries * bytes as u64)?;
        query.payload().chunks_exact(bytes).map(|query| Query::read(&self.engine, &self.layout, query)).collect()
    }

    /// The slots of the requested item: its position is selected, and each slot is projected to its coefficients.
    fn slots(
        &self,
        steps: &mut Turns,
        (keys, position_bits): (&ServerKeys, &[Rgsw<u32>]),
        parts: Vec<Rlwe<u32, Coefficient>>,
        workspace: &mut Workspace<u32>,
    ) -> Result<Slots> {
        let turned: Vec<_> = steps.time("answer_rotation", || {
            let position =
                |part| self.selection.position(&self.engine.gadgets.selector, position_bits, part, workspace);
            parts.into_iter().map(position).collect::<Result<_>>()
        })?;
        steps.time("answer_projection", || {
            self.selection.slots(&turned).iter().map(|slot| self.project(keys, slot, workspace)).collect()
        })
    }

    /// Clears all coefficients but those of slot 0.
    pub(super) fn project(
        &self,
        keys: &ServerKeys,
        slot: &Rlwe<u32, Coefficient>,
        workspace: &mut Workspace<u32>,
    ) -> Result<Rlwe<u32, Coefficient>> {
        let kept = self.engine.params.response.slot_degree;
        self.engine
            .gadgets
            .selector_expansion
            .trace(slot, kept, &keys.selector_expansion, workspace)
            .map_err(Error::from)
    }

    /// Packs projected slots, at most those of a vector, into ring elements, and these into a vector that shares a mask; returns its bodies,
    /// one ciphertext each, under the keys of the vector.
    pub(super) fn vector(
        &self,
        keys: &ServerKeys,
        slots: &[Rlwe<u32, Coefficient>],
        workspace: &mut Workspace<u32>,
    ) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        let (engine, params) = (&self.engine, &self.engine.params);
        let (ring, step) = (&engine.ring, engine.ring.n() / params.response.degree);
        let packed = |slots: &[Rlwe<u32, Coefficient>]| {
            let mut sum = Rlwe::zero(ring);
            for (i, slot) in slots.iter().enumerate() {
                sum.add_assign(ring, &slot.mul_monomial(ring, i * step));
            }
            sum
        };
        let mut product = Rlwe::zero(ring);
        let elements: Vec<_> = slots.chunks(params.slots_per_body()).map(packed).collect();
        let mut bodies = Vec::with_capacity(elements.len());
        for (j, element) in elements.iter().enumerate() {
            let mut body = Rlwe { a: ring.zero(), b: element.b.clone() };
            for (element, keys) in elements.iter().zip(&keys.vector) {
                engine.gadgets.vector.gadget_product(&element.a, &keys[j], workspace, &mut product)?;
                body.add_assign(ring, &product);
            }
            bodies.push(body);
        }
        Ok(bodies)
    }

    /// The response to the slots of a request.
    fn respond(
        &self,
        keys: &ServerKeys,
        slots: &[Rlwe<u32, Coefficient>],
        workspace: &mut Workspace<u32>,
    ) -> Result<Vec<u8>> {
        let mask_bytes = self.engine.params.mask_bytes();
        let mut out = Vec::with_capacity(self.engine.params.response_bytes(slots.len()));
        for slots in slots.chunks(self.engine.params.slots_per_vector()) {
            for (j, body) in self.vector(keys, slots, workspace)?.iter().enumerate() {
                let bytes = self.engine.responder.compress(body, &keys.response[j], workspace)?.to_bytes();
                // All bodies of a vector have one mask.
                out.extend_from_slice(if j == 0 { &bytes } else { &bytes[mask_bytes..] });
            }
        }
        Ok(out)
    }

    /// The slots requested by queries to one bucket, with one pass over it.
    fn group(&self, steps: &mut Turns, (bucket, group): (usize, &[Asked]), context: &Context) -> Result<Vec<Slots>> {
        let (engine, layout, selection) = (&self.engine, &self.layout, &self.selection);
        let mut workspace = workspace();
        let (mut selects, mut positions) = (Vec::with_capacity(group.len()), Vec::with_capacity(group.len()));
        for Asked { keys, query, .. } in group {
            let vector = steps
                .time("answer_leaves", || selection.leaves(query.leaves(engine, layout, keys, &mut workspace)?))?;
            let mut selectors =
                steps.time("answer_selectors", || query.selectors(engine, layout, keys, &mut workspace))?;
            positions.push(selectors.split_off(layout.column_bits as usize));
            selects.push(Selects { vectors: vec![vector], selectors });
        }
        let matrix = (selection, &self.matrices[bucket]);
        let folded = select(steps, matrix, &engine.gadgets.selector, &selects, |mut pair| pair.remove(0), context)?;
        drop(selects);
        let mut found = Vec::with_capacity(group.len());
        for ((asked, position_bits), parts) in group.iter().zip(&positions).zip(folded) {
            found.push(self.slots(steps, (asked.keys, position_bits), parts, &mut workspace)?);
        }
        Ok(found)
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database (phase `encode`), unless it is streamed.
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(params, context.kernel)?;
        let buckets = params.buckets(database.shape())?;
        let layout = params.layout(buckets.each)?;
        let selection = Selection::new(layout, &engine.ring, params.matrix_primes, context.threads)?;
        let encoder = Encoder::new(layout, selection.matrix_ring());
        let places = Places::draw(buckets, &mut context.rng);
        let parts = (0..buckets.count()).map(|bucket| (encoder.clone(), places.database(database, bucket)));
        let matrices = if context.streamed {
            parts.map(|(encoder, database)| Matrix::streamed(encoder, database)).collect()
        } else {
            let encode =
                || parts.map(|(encoder, database)| Matrix::whole(encoder, &database, context)).collect::<Result<_>>();
            context.clock.time("encode", Group::Offline, encode)?
        };
        Ok(Self { engine, places, layout, selection, matrices, clients: Vec::new() })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.matrices.iter().map(Matrix::held_bytes).sum()),
            TableBytes::of("keys", self.clients.iter().map(ServerKeys::bytes)),
        ]
    }

    fn publish(&self) -> Messages {
        self.places.publish(NAME)
    }

    fn receive(&mut self, messages: &Messages, _: &mut Context) -> Result<u64> {
        let keys = only("keys", messages)?.clone().check(NAME, "keys", key_bytes(&self.engine) as u64)?;
        self.clients.push(ServerKeys::read(&self.engine, keys.payload())?);
        Ok(self.clients.len() as u64)
    }

    fn forget(&mut self) {
        self.clients.clear();
    }

    /// Answers every query of every request; eight queries to a bucket share one pass over it.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let clock = &context.clock;
        let mut steps = Turns::new(clock);
        // Sorts queries by bucket; those of a request go to one bucket after the other.
        let buckets = self.places.buckets.count();
        let mut asked: Vec<Vec<Asked>> = (0..buckets).map(|_| Vec::new()).collect();
        steps.time("answer_parse", || -> Result<()> {
            for (request, sent) in requests.iter().enumerate() {
                let keys = client_of(&self.clients, sent.session)?;
                for (number, query) in self.parse(sent)?.into_iter().enumerate() {
                    asked[number % buckets].push(Asked { request, number, keys, query });
                }
            }
            Ok(())
        })?;
        let mut workspace = workspace();
        let empty = |request: &Request| vec![Vec::new(); request.queries as usize];
        let mut slots: Vec<Vec<Slots>> = requests.iter().map(empty).collect();
        for (bucket, asked) in asked.iter().enumerate() {
            for group in asked.chunks(BATCH) {
                for (asked, found) in group.iter().zip(self.group(&mut steps, (bucket, group), context)?) {
                    slots[asked.request][asked.number] = found;
                }
            }
        }
        let mut responses = Vec::with_capacity(requests.len());
        for (request, slots) in requests.iter().zip(slots) {
            let (keys, slots) = (client_of(&self.clients, request.session)?, slots.concat());
            let bytes = steps.time("answer_response", || self.respond(keys, &slots, &mut workspace))?;
            responses.push(vec![("answer", Frame::of(NAME, "answer", &bytes))]);
        }
        steps.finish(Group::Online);
        Ok(responses)
    }

    fn update(&mut self, changes: &[Change], _: &mut Context) -> Result<Messages> {
        for (index, record) in changes {
            for (bucket, position) in self.places.of(*index) {
                self.matrices[bucket].update(&[(position, record.clone())])?;
            }
        }
        Ok(Messages::new())
    }
}
