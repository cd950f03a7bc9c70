//! The server of Pirouette, Pirouette^H and T-Respire.

mod select;

use std::sync::Arc;

use lattice::Rlwe;
use ring::{Coefficient, Ring};

use super::carrier::Carrier;
use super::convert::Selectors;
use super::form::{Asked, Selecting, Session};
use super::keys::ServerKeys;
use super::set::{Set, index_bits};
use super::trace::Trace;
use crate::core::{
    Change, Context, Database, Error, Group, Messages, Request, Result, TableBytes, answers, check_queries, client_of,
    protocol,
};
use crate::parts::folding::{Encoder, Layout, Matrix, Responder, Selection};
use crate::parts::ring_matrix::workspace;

pub(super) use select::{CELLS, TREE_BITS};

/// The preprocessed database and the keys of clients.
pub struct Server<F: Selecting> {
    params: Set<F>,
    ring: Arc<Ring<u32>>,
    responder: Responder,
    selection: Selection,
    /// The preprocessed database. For an encrypted one, which every client sends, it has only the records, which the owner in the same
    /// process needs.
    pub(super) matrix: Matrix,
    sessions: Vec<Session<F>>,
}

impl<F: Selecting> Server<F> {
    fn layout(&self) -> &Layout {
        self.matrix.layout()
    }

    /// Each query of a request, with its client.
    fn parse(&self, request: &Request) -> Result<Vec<Asked<'_, F>>> {
        check_queries(request)?;
        let session = client_of(&self.sessions, request.session)?;
        let asked = F::Carrier::read(&self.params, &session.reader, request, index_bits(self.layout()))?;
        Ok(asked.into_iter().map(|asked| (session, asked)).collect())
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
        let keys: Vec<&ServerKeys> = queries.iter().map(|(session, _)| &session.keys).collect();
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
        let encoder = Encoder::new(layout, selection.matrix_ring());
        let matrix = if params.database.encrypted || context.streamed {
            Matrix::streamed(encoder, database.clone())
        } else {
            context.clock.time("encode", Group::Offline, || Matrix::whole(encoder, database, context))?
        };
        let responder = Responder::new(params.response.params(), &ring)?;
        Ok(Self { params: params.clone(), ring, responder, selection, matrix, sessions: Vec::new() })
    }

    fn tables(&self) -> Vec<TableBytes> {
        let (keys, cells): (Vec<_>, Vec<_>) = self.sessions.iter().map(Session::held).unzip();
        let database = self.matrix.held_bytes() + cells.into_iter().sum::<usize>() as u64;
        let names = keys.first().into_iter().flatten().map(|(name, _)| *name).enumerate();
        let tables = names.map(|(place, name)| TableBytes::of(name, keys.iter().map(|held| held[place].1)));
        std::iter::once(TableBytes::new("database", database)).chain(tables).collect()
    }

    fn owned(&self) -> Option<&Database> {
        self.matrix.database().filter(|_| self.params.database.encrypted)
    }

    /// Takes a client's keys, and what reads its queries (phase `key_expansion`).
    fn receive(&mut self, messages: &Messages, context: &mut Context) -> Result<u64> {
        let (parts, clock) = ((&self.ring, &self.responder), &context.clock);
        let session = clock.time("key_expansion", Group::Offline, || -> Result<Session<F>> {
            let keys = ServerKeys::receive(&self.params, self.layout(), parts, messages, context)?;
            let reader = F::Carrier::reader(&self.params, &keys, messages)?;
            Ok(Session { keys, reader })
        })?;
        self.sessions.push(session);
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
