//! Respire's server.

use std::time::Instant;

use lattice::{Rgsw, Rlwe, Workspace};
use ring::{Coefficient, PolyMatrix, PolyPairs};

use super::engine::Engine;
use super::keys::{ServerKeys, key_bytes};
use super::query::{Query, query_bytes};
use super::{Params, Respire};
use crate::clock::{Clock, Group};
use crate::database::{Database, check_change};
use crate::error::{Error, Result};
use crate::folded::{Encoder, Layout, Selection};
use crate::rlwe::{internal, workspace};
use crate::scheme::{Change, Context, Request, Response, Scheme, check_queries};
use crate::wire::{Frame, FrameBuilder};

/// Queries that share one pass over the database; more take more passes.
pub const BATCH: usize = 8;

/// Bytes of a block of a streamed database: larger than last-level caches.
pub const BLOCK_BYTES: u64 = 256 << 20;

/// The preprocessed database, or what it is streamed from.
enum Source {
    Whole(PolyMatrix),
    Streamed(Box<Database>),
}

/// The database and the keys of all clients.
pub struct Server {
    pub engine: Engine,
    pub layout: Layout,
    encoder: Encoder,
    source: Source,
    /// By session, from 1 on.
    clients: Vec<ServerKeys>,
}

/// Seconds of the steps of one answer, summed over its queries.
struct Steps<'a> {
    clock: &'a Clock,
    seconds: Vec<(&'static str, f64)>,
}

impl Steps<'_> {
    fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let seconds = start.elapsed().as_secs_f64();
        match self.seconds.iter_mut().find(|step| step.0 == name) {
            Some(step) => step.1 += seconds,
            None => self.seconds.push((name, seconds)),
        }
        result
    }

    fn finish(self) {
        self.seconds.iter().for_each(|(name, seconds)| self.clock.add(name, Group::Online, *seconds));
    }
}

impl Server {
    /// Encodes the database (phase `encode`), unless it is to be streamed.
    pub(super) fn preprocess(params: &Params, database: &Database, context: &mut Context) -> Result<Self> {
        let layout = params.layout(database.shape())?;
        let engine = Engine::new(params, context.kernel)?;
        let selection = Selection::new(layout, &engine.ring, params.matrix_primes, context.threads)?;
        let encoder = Encoder::new(layout, selection.matrix_ring(), true);
        let clock = context.clock.clone();
        let source = if context.streamed {
            Source::Streamed(Box::new(database.clone()))
        } else {
            let columns = 0..layout.matrix_columns();
            let whole = clock.time("encode", Group::Offline, || encoder.block(database, columns, context))?;
            Source::Whole(whole)
        };
        Ok(Self { engine, layout, encoder, source, clients: Vec::new() })
    }

    /// Takes a client's keys; returns the number of its session.
    pub(super) fn register(&mut self, keys: &Frame) -> Result<u64> {
        let keys = keys.clone().check(Respire::NAME, "keys", key_bytes(&self.engine) as u64)?;
        self.clients.push(ServerKeys::read(&self.engine, keys.payload())?);
        Ok(self.clients.len() as u64)
    }

    /// The keys of a session.
    pub(super) fn keys(&self, session: u64) -> Result<&ServerKeys> {
        let index = usize::try_from(session).ok().and_then(|session| session.checked_sub(1));
        index.and_then(|index| self.clients.get(index)).ok_or_else(|| {
            Error::message("query", format!("session {session} has sent no keys; send the message `keys` first."))
        })
    }

    /// The queries of a request.
    pub(super) fn parse(&self, request: &Request) -> Result<Vec<Query>> {
        let [("query", query)] = &request.messages[..] else {
            return Err(Error::message("query", "a request is one message `query`."));
        };
        check_queries(request)?;
        let bytes = query_bytes(&self.layout, self.engine.ring.primes(), self.engine.selector.length());
        let query = query.clone().check(Respire::NAME, "query", request.queries * bytes as u64)?;
        query.payload().chunks_exact(bytes).map(|query| Query::read(&self.engine, &self.layout, query)).collect()
    }

    pub(super) fn selection(&self, threads: usize) -> Result<Selection> {
        Selection::new(self.layout, &self.engine.ring, self.engine.params.matrix_primes, threads)
    }

    /// For each vector the ciphertexts of all columns; `multiply` is called for each block of the database, which a streamed one builds
    /// outside the clock.
    pub(super) fn rows(
        &self,
        selection: &Selection,
        vectors: &[PolyPairs],
        context: &Context,
        mut multiply: impl FnMut(&dyn Fn() -> Result<Columns>) -> Result<Columns>,
    ) -> Result<Columns> {
        let vectors: Vec<&PolyPairs> = vectors.iter().collect();
        let database = match &self.source {
            Source::Whole(whole) => return multiply(&|| selection.rows(whole, &vectors)),
            Source::Streamed(database) => database,
        };
        let mut all: Columns = vectors.iter().map(|_| Vec::new()).collect();
        let columns = self.layout.matrix_columns();
        let column_bytes = self.layout.stored_bytes(self.engine.params.matrix_primes) / columns as u64;
        let each = usize::try_from((BLOCK_BYTES / column_bytes.max(1)).max(1)).unwrap_or(columns);
        for first in (0..columns).step_by(each) {
            let range = first..columns.min(first.saturating_add(each));
            let block = context.clock.outside(|| self.encoder.block(database, range, context))?;
            let part = multiply(&|| selection.rows(&block, &vectors))?;
            all.iter_mut().zip(part).for_each(|(all, part)| all.extend(part));
        }
        Ok(all)
    }

    /// The slots of the item asked for: columns and position selected, each slot projected to its coefficients.
    fn slots(
        &self,
        steps: &mut Steps,
        selection: &Selection,
        (keys, selectors): (&ServerKeys, &[Rgsw<u32>]),
        columns: Vec<Rlwe<u32, Coefficient>>,
        workspace: &mut Workspace<u32>,
    ) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        let (column_bits, position_bits) = selectors.split_at(self.layout.column_bits as usize);
        let gadget = &self.engine.selector;
        let mut columns = columns.into_iter();
        let parts: Vec<_> = steps.time("answer_folding", || {
            (0..self.layout.parts)
                .map(|_| {
                    let part = columns.by_ref().take(self.layout.columns).collect();
                    selection.column(gadget, column_bits, part)
                })
                .collect::<Result<_>>()
        })?;
        let turned: Vec<_> = steps.time("answer_rotation", || {
            parts
                .into_iter()
                .map(|part| selection.position(gadget, position_bits, part, workspace))
                .collect::<Result<_>>()
        })?;
        steps.time("answer_projection", || {
            selection.slots(&turned).iter().map(|slot| self.project(keys, slot, workspace)).collect()
        })
    }

    /// Clears all coefficients but those of slot 0.
    pub(super) fn project(
        &self,
        keys: &ServerKeys,
        slot: &Rlwe<u32, Coefficient>,
        workspace: &mut Workspace<u32>,
    ) -> Result<Rlwe<u32, Coefficient>> {
        let kept = self.engine.params.dimensions.response_degree;
        self.engine.selector_expansion.trace(slot, kept, &keys.selector_expansion, workspace).map_err(internal)
    }

    /// Packs projected slots into ring elements, those into vectors that share a mask: for each vector its mask and its bodies, one
    /// ciphertext each, under the keys of the vector.
    pub(super) fn vectors(
        &self,
        keys: &ServerKeys,
        slots: &[Rlwe<u32, Coefficient>],
        workspace: &mut Workspace<u32>,
    ) -> Result<Vec<Vec<Rlwe<u32, Coefficient>>>> {
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
        slots
            .chunks(params.slots_per_vector())
            .map(|slots| {
                let elements: Vec<_> = slots.chunks(params.slots_per_body()).map(packed).collect();
                let mut bodies = Vec::with_capacity(elements.len());
                for (j, element) in elements.iter().enumerate() {
                    let mut body = Rlwe { a: ring.zero(), b: element.b.clone() };
                    for (element, keys) in elements.iter().zip(&keys.vector) {
                        engine
                            .vector
                            .gadget_product(&element.a, &keys[j], workspace, &mut product)
                            .map_err(internal)?;
                        body.add_assign(ring, &product);
                    }
                    bodies.push(body);
                }
                Ok(bodies)
            })
            .collect()
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
        for vector in self.vectors(keys, slots, workspace)? {
            for (j, body) in vector.iter().enumerate() {
                let bytes = self.engine.responder.compress(body, &keys.response[j], workspace)?.to_bytes();
                // All bodies of a vector have one mask.
                out.extend_from_slice(if j == 0 { &bytes } else { &bytes[mask_bytes..] });
            }
        }
        Ok(out)
    }

    /// Answers every query of every request; eight queries share one pass over the database.
    pub(super) fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Response>> {
        let clock = context.clock.clone();
        let mut steps = Steps { clock: &clock, seconds: Vec::new() };
        let mut queries = Vec::new();
        steps.time("answer_parse", || -> Result<()> {
            for request in requests {
                let keys = self.keys(request.session)?;
                queries.extend(self.parse(request)?.into_iter().map(|query| (keys, query)));
            }
            Ok(())
        })?;
        let (selection, mut workspace) = (self.selection(context.threads)?, workspace());
        let mut slots = Vec::with_capacity(queries.len() * self.layout.slots);
        for queries in queries.chunks(BATCH) {
            let (mut vectors, mut selectors) = (Vec::new(), Vec::new());
            for (keys, query) in queries {
                let leaves = steps.time("answer_leaves", || {
                    selection.leaves(&query.leaves(&self.engine, &self.layout, keys, &mut workspace)?)
                })?;
                vectors.push(leaves);
                selectors.push(
                    steps.time("answer_selectors", || {
                        query.selectors(&self.engine, &self.layout, keys, &mut workspace)
                    })?,
                );
            }
            let columns =
                self.rows(&selection, &vectors, context, |multiply| steps.time("answer_first_dimension", multiply))?;
            drop(vectors);
            for (((keys, _), selectors), columns) in queries.iter().zip(&selectors).zip(columns) {
                slots.extend(self.slots(&mut steps, &selection, (keys, selectors), columns, &mut workspace)?);
            }
        }
        let mut rest = &slots[..];
        let mut responses = Vec::with_capacity(requests.len());
        for request in requests {
            let own;
            (own, rest) = rest.split_at(request.queries as usize * self.layout.slots);
            let keys = self.keys(request.session)?;
            let bytes = steps.time("answer_response", || self.respond(keys, own, &mut workspace))?;
            let mut builder = FrameBuilder::new(bytes.len());
            builder.payload_mut().copy_from_slice(&bytes);
            let answer = builder.finish(Respire::NAME, "answer");
            responses.push(Response { messages: vec![("answer", answer)], queries: request.queries });
        }
        steps.finish();
        Ok(responses)
    }

    /// Changes records. Clients hold nothing of the database, so they need no message.
    pub(super) fn update(&mut self, changes: &[Change]) -> Result<()> {
        changes.iter().try_for_each(|(index, record)| check_change(self.layout.shape, *index, record))?;
        match &mut self.source {
            Source::Whole(whole) => {
                changes.iter().try_for_each(|(index, record)| self.encoder.change(whole, *index, record))
            }
            Source::Streamed(database) => {
                changes.iter().try_for_each(|(index, record)| database.change(*index, record.clone()))
            }
        }
    }
}

/// For each vector, the ciphertexts of the columns.
pub type Columns = Vec<Vec<Rlwe<u32, Coefficient>>>;
