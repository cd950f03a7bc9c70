//! The server of Pirouette and Pirouette^H.

mod select;

use std::sync::Arc;

use lattice::Rlwe;
use lattice::lwe::Lwe;
use lattice::wire::Reader;
use ring::{Coefficient, Ring};

use super::convert::Selectors;
use super::form::Selecting;
use super::keys::{SEED, ServerKeys};
use super::query::{QuerySeed, SeedUse};
use super::set::Set;
use super::trace::{Trace, index_bits};
use crate::core::{
    Change, Context, Database, Error, Group, Messages, Request, Result, TableBytes, answers, check_queries, client_of,
    only, protocol,
};
use crate::parts::folding::{Encoder, Layout, Matrix, Responder, Selection};
use crate::parts::ring_matrix::workspace;

pub(super) use select::{CELLS, TREE_BITS};

/// A client whose keys the server holds.
struct Session {
    keys: ServerKeys,
    /// The seed of all its queries, if they share one.
    seed: Option<QuerySeed>,
}

/// The preprocessed database and the keys of clients.
pub struct Server<F> {
    params: Set<F>,
    ring: Arc<Ring<u32>>,
    responder: Responder,
    selection: Selection,
    /// The preprocessed database. For an encrypted one, which every client sends, it has only the records, which the owner in the same
    /// process needs.
    pub(super) matrix: Matrix,
    sessions: Vec<Session>,
}

impl<F: Selecting> Server<F> {
    fn layout(&self) -> &Layout {
        self.matrix.layout()
    }

    /// The ciphertexts of each query of a request.
    fn parse(&self, request: &Request) -> Result<Vec<(&ServerKeys, Vec<Lwe>)>> {
        check_queries(request)?;
        let session = client_of(&self.sessions, request.session)?;
        let message = only("query", &request.messages)?;
        let bits = index_bits(self.layout());
        let bodies = self.params.messages(0, bits)?.len();
        let encryption = self.params.encryption();
        let bytes = encryption.bytes(request.queries.saturating_mul(bodies as u64));
        let message = message.clone().check(F::NAME, "query", bytes)?;
        let (own_seed, payload) = message.payload().split_at(encryption.seed_bytes());
        let (seed, first) = match encryption.seed {
            SeedUse::PerQuery => (QuerySeed::try_from(own_seed).ok(), 0),
            // A transport's sequence number: no payload.
            SeedUse::PerClient => (session.seed, u64::from(message.sequence())),
        };
        let seed = seed.ok_or_else(|| Error::message("query", "its seed is missing."))?;
        let dimension = F::dimension(self.ring.n(), self.params.lwe.dimension);
        let mut reader = Reader::of(payload);
        let query = |k| {
            let masks = encryption.masks(&seed, first + k, bodies, dimension);
            (&session.keys, encryption.read(masks, &mut reader))
        };
        Ok((0..request.queries).map(query).collect())
    }

    /// Answers every query of every request; `trace` opens the ciphertexts of the first query.
    pub(super) fn answer_traced(
        &self,
        requests: &[Request],
        mut trace: Option<&mut Trace<F>>,
        context: &mut Context,
    ) -> Result<Vec<Messages>> {
        let clock = &context.clock;
        let queries: Vec<_> = clock.time("answer_parse", Group::Online, || {
            let parsed: Result<Vec<_>> = requests.iter().map(|request| self.parse(request)).collect();
            Ok::<_, Error>(parsed?.into_iter().flatten().collect())
        })?;
        let keys: Vec<&ServerKeys> = queries.iter().map(|(keys, _)| *keys).collect();
        let selectors =
            self.params.query.selectors(queries, index_bits(self.layout()), trace.as_deref_mut(), context)?;
        trace.as_mut().map_or(Ok(()), |trace| trace.selectors(&selectors[0]))?;
        let folded = if self.params.database.encrypted {
            let fold = |(keys, selectors): (&&ServerKeys, &Selectors)| self.fold_encrypted(keys, selectors);
            clock.time("answer_folding", Group::Online, || {
                keys.iter().zip(&selectors).map(fold).collect::<Result<_>>()
            })?
        } else {
            self.select_cells(&keys, &selectors, trace.as_deref_mut(), context)?
        };
        trace.as_mut().map_or(Ok(()), |trace| trace.folded(&folded[0]))?;
        let rotated = clock.time("answer_rotation", Group::Online, || {
            let queries = keys.iter().zip(&selectors).zip(folded);
            let all = queries.map(|((keys, selectors), folded)| self.rotate(keys, selectors, folded));
            all.collect::<Result<Vec<_>>>()
        })?;
        trace.as_mut().map_or(Ok(()), |trace| trace.rotated(&rotated[0]))?;
        clock.time("answer_compression", Group::Online, || self.compress(requests, &keys, &rotated))
    }

    /// Compressed slots in messages.
    fn compress(
        &self,
        requests: &[Request],
        keys: &[&ServerKeys],
        items: &[Vec<Rlwe<u32, Coefficient>>],
    ) -> Result<Vec<Messages>> {
        let (each, slots) = (self.responder.response_bytes(), self.layout().slots);
        let mut workspace = workspace();
        answers(F::NAME, requests, each * slots, |k, out| {
            for (slot, part) in self.selection.slots(&items[k]).iter().zip(out.chunks_exact_mut(each)) {
                let response = self.responder.compress(slot, &keys[k].response, &mut workspace)?;
                part.copy_from_slice(&response.to_bytes());
            }
            Ok(())
        })
    }
}

impl<F: Selecting> protocol::Server for Server<F> {
    type Set = Set<F>;

    /// Encodes the database (phase `encode`), unless it is streamed or encrypted.
    fn new(params: &Set<F>, database: &Database, context: &mut Context) -> Result<Self> {
        let ring = params.ring(context.kernel)?;
        let layout = params.layout(database.shape())?;
        params.check_streaming(context.streamed)?;
        let selection = Selection::new(layout, &ring, params.database.moduli(), context.threads)?;
        let encoder = Encoder::new(layout, selection.matrix_ring(), true);
        let matrix = if params.database.encrypted || context.streamed {
            Matrix::streamed(encoder, database.clone())
        } else {
            context.clock.time("encode", Group::Offline, || Matrix::whole(encoder, database, context))?
        };
        let responder = Responder::new(params.response.params(), &ring)?;
        Ok(Self { params: params.clone(), ring, responder, selection, matrix, sessions: Vec::new() })
    }

    fn tables(&self) -> Vec<TableBytes> {
        let (keys, cells): (Vec<_>, Vec<_>) = self.sessions.iter().map(|session| session.keys.held()).unzip();
        let database = self.matrix.held_bytes() + cells.into_iter().sum::<usize>() as u64;
        let names = keys.first().into_iter().flatten().map(|(name, _)| *name).enumerate();
        let tables = names.map(|(place, name)| TableBytes::of(name, keys.iter().map(|held| held[place].1)));
        std::iter::once(TableBytes::new("database", database)).chain(tables).collect()
    }

    fn owned(&self) -> Option<&Database> {
        self.matrix.database().filter(|_| self.params.database.encrypted)
    }

    /// Takes a client's keys and, if its queries share one, their seed (phase `key_expansion`).
    fn receive(&mut self, messages: &Messages, context: &mut Context) -> Result<u64> {
        let parts = (&self.ring, &self.responder);
        let seed = match self.params.encryption().seed {
            SeedUse::PerQuery => None,
            SeedUse::PerClient => {
                let message = messages.iter().find(|(name, _)| *name == SEED);
                let (_, message) = message.ok_or_else(|| Error::message(SEED, "it is missing."))?;
                let message = message.clone().check(F::NAME, SEED, size_of::<QuerySeed>() as u64)?;
                QuerySeed::try_from(message.payload()).ok()
            }
        };
        let clock = &context.clock;
        let keys = clock.time("key_expansion", Group::Offline, || {
            ServerKeys::receive(&self.params, self.layout(), parts, messages, context)
        })?;
        self.sessions.push(Session { keys, seed });
        Ok(self.sessions.len() as u64)
    }

    fn forget(&mut self) {
        self.sessions.clear();
    }

    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        self.answer_traced(requests, None, context)
    }

    /// Changes records (phase `update_encode`). Clients hold nothing of the database.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        if self.params.database.encrypted {
            return Err(Error::Workload("an encrypted database is its owner's: the server cannot update it.".into()));
        }
        context.clock.time("update_encode", Group::Update, || self.matrix.update(changes))?;
        Ok(Messages::new())
    }
}
