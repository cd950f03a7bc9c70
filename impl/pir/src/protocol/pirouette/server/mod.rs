//! The server of Pirouette and Pirouette^H.

use std::sync::Arc;

use lattice::convert::selector_tree;
use lattice::lwe::Lwe;
use lattice::{LatticeError, Rgsw, Rlwe};
use rayon::prelude::*;
use ring::{Coefficient, Ntt, PolyMatrix, PolyPairs, Ring};

use super::form::Selecting;
use super::keys::ServerKeys;
use super::params::Params;
use super::query::{QuerySeed, SeedUse};
use super::trace::{Trace, index_bits};
use super::{SEED, encrypted};
use crate::clock::Group;
use crate::database::{Database, check_change};
use crate::error::{Error, Result};
use crate::folded::{Encoder, Layout, Place, Responder, Selection};
use crate::rlwe::{internal, workspace};
use crate::scheme::{Change, Context, Request, Response, check_queries};
use crate::wire::{BitReader, Frame, FrameBuilder};

/// Bytes of a block of a streamed database at least, where it has so many: several times the last-level cache of any machine.
pub(super) const BLOCK_BYTES: u64 = 1 << 30;

/// Bits whose accumulators are rotated side by side: they share one pass over the blind-rotation key, and stay in the second-level
/// cache.
pub(super) const BITS_TOGETHER: usize = 8;

/// The preprocessed database.
enum Store {
    /// In memory.
    Whole(PolyMatrix),
    /// Built block by block with every answer.
    Streamed(Database),
    /// Nowhere: every client sends its own, encrypted. The records are their owner's, which here is in the same process.
    Encrypted(Database),
}

/// A client whose keys the server holds.
struct Session {
    keys: ServerKeys,
    /// The seed of all its queries, where it has one.
    seed: Option<QuerySeed>,
}

/// The preprocessed database and the keys of clients.
pub struct Server<F> {
    params: Params<F>,
    ring: Arc<Ring<u32>>,
    responder: Responder,
    encoder: Encoder,
    selection: Selection,
    store: Store,
    /// Columns of a block of a streamed database.
    pub(super) block_columns: usize,
    sessions: Vec<Session>,
    /// Updates so far, modulo 2^16.
    epoch: u16,
}

/// The bits of one query's index as RGSW encryptions, most significant first.
type Selectors = Vec<Rgsw<u32>>;

impl<F: Selecting> Server<F> {
    /// Encodes the database (phase `encode`), unless it is streamed.
    pub(super) fn preprocess(params: &Params<F>, database: &Database, context: &mut Context) -> Result<Self> {
        let ring = params.ring(context.kernel)?;
        let layout = params.layout(database.shape())?;
        params.check_streaming(context.streamed)?;
        let selection = Selection::new(layout, &ring, params.database.moduli, context.threads)?;
        let encoder = Encoder::new(layout, selection.matrix_ring(), true);
        let store = if params.database.encrypted {
            Store::Encrypted(database.clone())
        } else if context.streamed {
            Store::Streamed(database.clone())
        } else {
            let clock = Arc::clone(&context.clock);
            let all = 0..layout.matrix_columns();
            Store::Whole(clock.time("encode", Group::Offline, || encoder.block(database, all, context))?)
        };
        let responder = Responder::new(params.response, &ring)?;
        Ok(Self {
            params: params.clone(),
            ring,
            responder,
            encoder,
            selection,
            store,
            block_columns: block_columns(&layout, params.database.moduli),
            sessions: Vec::new(),
            epoch: 0,
        })
    }

    /// Takes a client's keys and, where its queries share one, their seed; returns the number of its session.
    pub(super) fn receive(&mut self, messages: &[(&'static str, Frame)], context: &Context) -> Result<u64> {
        let parts = (&self.ring, &self.responder);
        let seed = match self.params.query.encryption().seed {
            SeedUse::PerQuery => None,
            SeedUse::PerClient => {
                let message = messages.iter().find(|(name, _)| *name == SEED);
                let (_, message) = message.ok_or_else(|| Error::message(SEED, "it is missing."))?;
                let message = message.clone().check(F::NAME, SEED, size_of::<QuerySeed>() as u64)?;
                QuerySeed::try_from(message.payload()).ok()
            }
        };
        let keys = ServerKeys::receive(&self.params, self.layout(), parts, messages, context)?;
        self.sessions.push(Session { keys, seed });
        Ok(self.sessions.len() as u64)
    }

    /// The records that clients encrypt themselves.
    pub(super) fn owned(&self) -> Option<&Database> {
        match &self.store {
            Store::Encrypted(database) => Some(database),
            Store::Whole(_) | Store::Streamed(_) => None,
        }
    }

    fn layout(&self) -> &Layout {
        self.encoder.layout()
    }

    fn session(&self, request: &Request) -> Result<&Session> {
        let index = request.session.checked_sub(1).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.sessions.get(index)).ok_or_else(|| {
            let problem = format!("the server has no keys of session {}: send them first.", request.session);
            Error::message("query", problem)
        })
    }

    /// The ciphertexts of each query of a request.
    fn parse(&self, request: &Request) -> Result<Vec<(&ServerKeys, Vec<Lwe>)>> {
        check_queries(request)?;
        let session = self.session(request)?;
        let [("query", message)] = &request.messages[..] else {
            return Err(Error::message("query", "a request is one message `query`."));
        };
        let bits = index_bits(self.layout());
        let bodies = self.params.query.messages(0, bits)?.len();
        let encryption = self.params.query.encryption();
        let bytes = encryption.bytes(request.queries.saturating_mul(bodies as u64));
        let message = message.clone().check(F::NAME, "query", bytes)?;
        let (own_seed, payload) = message.payload().split_at(encryption.seed_bytes());
        let (seed, first) = match encryption.seed {
            SeedUse::PerQuery => (QuerySeed::try_from(own_seed).ok(), 0),
            // A transport's sequence number: no payload.
            SeedUse::PerClient => (session.seed, u64::from(message.epoch())),
        };
        let seed = seed.ok_or_else(|| Error::message("query", "its seed is missing."))?;
        let dimension = F::dimension(self.ring.n(), self.params.dimension);
        let mut reader = BitReader::new(payload);
        let query = |k| {
            let masks = encryption.masks(&seed, first + k, bodies, dimension);
            (&session.keys, encryption.read(masks, &mut reader))
        };
        Ok((0..request.queries).map(query).collect())
    }

    /// Answers every query of every request; `trace` keeps the ciphertexts of the first one, at that place.
    pub(super) fn answer(
        &self,
        requests: &[Request],
        mut trace: Option<(&mut Trace, Place)>,
        context: &mut Context,
    ) -> Result<Vec<Response>> {
        let clock = Arc::clone(&context.clock);
        let queries: Vec<_> = clock.time("answer_parse", Group::Online, || {
            let parsed: Result<Vec<_>> = requests.iter().map(|request| self.parse(request)).collect();
            Ok::<_, Error>(parsed?.into_iter().flatten().collect())
        })?;
        let keys: Vec<&ServerKeys> = queries.iter().map(|(keys, _)| *keys).collect();
        let seen = trace.as_mut().map(|(trace, place)| (&mut **trace, *place));
        let bits = self.params.query.bits(queries, index_bits(self.layout()), seen, context)?;
        let selectors = clock.time("answer_rgsw", Group::Online, || {
            let all = keys.iter().zip(&bits).map(|(keys, bits)| self.convert(keys, bits, context.threads));
            all.collect::<Result<Vec<Selectors>>>()
        })?;
        if let Some((trace, _)) = &mut trace {
            trace.accumulators = rotated_tables(keys[0], &bits[0]).map_err(internal)?;
            trace.bits = bits[0].clone();
            trace.selectors = selectors[0].clone();
        }
        let products = if self.params.database.encrypted {
            vec![Vec::new(); keys.len()]
        } else {
            self.select_rows(&keys, &selectors, trace.as_mut(), context)?
        };
        let folded = clock.time("answer_folding", Group::Online, || {
            let queries = keys.iter().zip(&selectors).zip(products);
            let fold = |((keys, selectors), products): ((&&ServerKeys, &Selectors), Vec<_>)| {
                if self.params.database.encrypted {
                    self.fold_encrypted(keys, selectors, context.threads)
                } else {
                    self.fold(keys, selectors, products)
                }
            };
            let all = queries.map(fold);
            all.collect::<Result<Vec<_>>>()
        })?;
        if let Some((trace, _)) = &mut trace {
            trace.folded = folded[0].clone();
        }
        let rotated = clock.time("answer_rotation", Group::Online, || {
            let queries = keys.iter().zip(&selectors).zip(folded);
            let all = queries.map(|((keys, selectors), folded)| self.rotate(keys, selectors, folded));
            all.collect::<Result<Vec<_>>>()
        })?;
        if let Some((trace, _)) = &mut trace {
            trace.rotated = rotated[0].clone();
        }
        clock.time("answer_compression", Group::Online, || self.compress(requests, &keys, &rotated))
    }

    /// For each query the ciphertexts of all columns of the row asked for.
    fn select_rows(
        &self,
        keys: &[&ServerKeys],
        selectors: &[Selectors],
        mut trace: Option<&mut (&mut Trace, Place)>,
        context: &Context,
    ) -> Result<Vec<Vec<Rlwe<u32, Coefficient>>>> {
        let clock = &context.clock;
        let vectors = clock.time("answer_selector", Group::Online, || {
            let mut seen = trace.as_mut().map(|(trace, _)| &mut trace.leaves);
            let vector = |(keys, selectors): (&&ServerKeys, &Selectors)| {
                self.leaves(keys, selectors, seen.take(), context.threads)
            };
            keys.iter().zip(selectors).map(vector).collect::<Result<Vec<_>>>()
        })?;
        let products =
            clock.time("answer_first_dimension", Group::Online, || self.first_dimension(&vectors, context))?;
        if let Some((trace, place)) = trace {
            let columns = self.layout().columns;
            trace.products = products[0].iter().skip(place.column).step_by(columns).cloned().collect();
        }
        Ok(products)
    }

    /// LWE to RGSW.
    fn convert(&self, keys: &ServerKeys, bits: &[Lwe], threads: usize) -> Result<Selectors> {
        // As many groups of one size for every thread.
        let groups = bits.len().div_ceil(BITS_TOGETHER).next_multiple_of(threads.max(1));
        let group = bits.len().div_ceil(groups.max(1)).max(1);
        let convert = |bits: &[Lwe]| keys.converter.convert_all(bits, keys.rotation(), &mut workspace());
        let groups: std::result::Result<Vec<_>, _> = if threads > 1 {
            bits.par_chunks(group).map(convert).collect()
        } else {
            bits.chunks(group).map(convert).collect()
        };
        Ok(groups.map_err(internal)?.into_iter().flatten().collect())
    }

    /// The selectors of the row, of the column and of the position.
    fn split<'a>(&self, selectors: &'a Selectors) -> [&'a [Rgsw<u32>]; 3] {
        let layout = self.layout();
        let (rows, rest) = selectors.split_at(layout.row_bits as usize);
        let (columns, positions) = rest.split_at(layout.column_bits as usize);
        [rows, columns, positions]
    }

    /// The vector that selects the row: an encryption of floor(Q / p) in its place, of zero in the others.
    fn leaves(
        &self,
        keys: &ServerKeys,
        selectors: &Selectors,
        seen: Option<&mut Vec<Rlwe<u32, Ntt>>>,
        threads: usize,
    ) -> Result<PolyPairs> {
        let [rows, _, _] = self.split(selectors);
        let mut workspaces: Vec<_> = (0..threads.max(1)).map(|_| workspace()).collect();
        let scale = u128::from(self.params.scale());
        let tree = selector_tree(keys.converter.output(), &[scale], rows, &mut workspaces).map_err(internal)?;
        let mut leaves = tree.into_ciphertexts();
        leaves.truncate(self.layout().rows);
        if let Some(seen) = seen {
            seen.clone_from(&leaves);
        }
        if self.params.database.moduli == self.ring.primes().len() {
            return PolyPairs::new(&self.ring, leaves.iter().map(|leaf| [&leaf.a, &leaf.b])).map_err(internal);
        }
        let ring = &*self.ring;
        let leaves: Vec<_> = if threads > 1 {
            leaves.into_par_iter().map(|leaf| leaf.inverse(ring)).collect()
        } else {
            leaves.into_iter().map(|leaf| leaf.inverse(ring)).collect()
        };
        self.selection.leaves(&leaves)
    }

    /// For each query the ciphertexts of all columns.
    fn first_dimension(&self, vectors: &[PolyPairs], context: &Context) -> Result<Vec<Vec<Rlwe<u32, Coefficient>>>> {
        let vectors: Vec<&PolyPairs> = vectors.iter().collect();
        let database = match &self.store {
            Store::Whole(matrix) => return self.selection.rows(matrix, &vectors),
            Store::Streamed(database) => database,
            Store::Encrypted(_) => return Ok(vec![Vec::new(); vectors.len()]),
        };
        let (all, step) = (self.layout().matrix_columns(), self.block_columns);
        let mut products = vec![Vec::with_capacity(all); vectors.len()];
        for first in (0..all).step_by(step) {
            let columns = first..all.min(first + step);
            let block = context.clock.outside(|| self.encoder.block(database, columns, context))?;
            for (products, block) in products.iter_mut().zip(self.selection.rows(&block, &vectors)?) {
                products.extend(block);
            }
            // Giving the memory back is no part of an answer either.
            context.clock.outside(|| drop(block));
        }
        Ok(products)
    }

    /// The ciphertext of the column asked for, of each part.
    fn fold(
        &self,
        keys: &ServerKeys,
        selectors: &Selectors,
        mut products: Vec<Rlwe<u32, Coefficient>>,
    ) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        let [_, columns, _] = self.split(selectors);
        let mut parts = Vec::with_capacity(self.layout().parts);
        while !products.is_empty() {
            let rest = products.split_off(self.layout().columns.min(products.len()));
            parts.push(self.selection.column(keys.converter.output(), columns, products)?);
            products = rest;
        }
        Ok(parts)
    }

    /// As [`Self::fold`], of the client's own encrypted columns.
    fn fold_encrypted(
        &self,
        keys: &ServerKeys,
        selectors: &Selectors,
        threads: usize,
    ) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        let [_, columns, _] = self.split(selectors);
        let gadget = keys.converter.output();
        let parts = keys.cells.chunks(self.layout().columns);
        let fold = |cells: &[Rlwe<u32, Coefficient>]| match columns {
            [] => Ok(cells[0].clone()),
            [first, rest @ ..] => {
                let half = encrypted::halve(gadget, first, cells, 1 << rest.len(), threads)?;
                self.selection.column(gadget, rest, half)
            }
        };
        parts.map(fold).collect()
    }

    /// The item asked for brought to position 0.
    fn rotate(
        &self,
        keys: &ServerKeys,
        selectors: &Selectors,
        parts: Vec<Rlwe<u32, Coefficient>>,
    ) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        let [_, _, positions] = self.split(selectors);
        let mut workspace = workspace();
        let rotate = |part| self.selection.position(keys.converter.output(), positions, part, &mut workspace);
        parts.into_iter().map(rotate).collect()
    }

    /// Compressed slots in messages.
    fn compress(
        &self,
        requests: &[Request],
        keys: &[&ServerKeys],
        items: &[Vec<Rlwe<u32, Coefficient>>],
    ) -> Result<Vec<Response>> {
        let (each, slots) = (self.responder.response_bytes(), self.layout().slots);
        let mut workspace = workspace();
        let mut queries = keys.iter().zip(items);
        let respond = |request: &Request| {
            let mut builder = FrameBuilder::new(each * slots * request.queries as usize);
            let mut parts = builder.payload_mut().chunks_exact_mut(each);
            for (keys, item) in queries.by_ref().take(request.queries as usize) {
                for (slot, part) in self.selection.slots(item).iter().zip(&mut parts) {
                    let response = self.responder.compress(slot, &keys.response, &mut workspace)?;
                    part.copy_from_slice(&response.to_bytes());
                }
            }
            let answer = builder.at_epoch(self.epoch).finish(F::NAME, "answer");
            Ok(Response { messages: vec![("answer", answer)], queries: request.queries })
        };
        requests.iter().map(respond).collect()
    }

    /// The plaintext polynomials of the cell at a place, by part.
    pub(super) fn cell(&self, place: &Place, context: &Context) -> Result<Vec<Vec<i64>>> {
        let layout = self.layout();
        let ring = self.selection.matrix_ring();
        let part = |part: usize| -> Result<Vec<i64>> {
            let column = part * layout.columns + place.column;
            let poly = match &self.store {
                Store::Whole(matrix) => matrix.get(place.row, column),
                Store::Streamed(database) | Store::Encrypted(database) => {
                    self.encoder.block(database, column..column + 1, context)?.get(place.row, 0)
                }
            };
            let mut digits = vec![0; layout.dimensions.degree];
            ring.compose_u64(&ring.inverse(poly.map_err(internal)?), &mut digits);
            let modulus = ring.primes().iter().product::<u64>();
            let centred = |x: u64| if x > modulus / 2 { x as i64 - modulus as i64 } else { x as i64 };
            Ok(digits.into_iter().map(centred).collect())
        };
        (0..layout.parts).map(part).collect()
    }

    /// Changes records (phase `update_encode`). Clients hold nothing of the database.
    pub(super) fn update(&mut self, changes: &[Change], context: &Context) -> Result<()> {
        let shape = self.layout().shape;
        changes.iter().try_for_each(|(index, record)| check_change(shape, *index, record))?;
        let Store::Whole(matrix) = &mut self.store else {
            return Err(Error::Workload(
                "a streamed database is never whole and an encrypted one is its owner's: the server cannot update it."
                    .into(),
            ));
        };
        context.clock.time("update_encode", Group::Update, || {
            changes.iter().try_for_each(|(index, record)| self.encoder.change(matrix, *index, record))
        })?;
        self.epoch = self.epoch.wrapping_add(1);
        Ok(())
    }
}

/// Columns of a block of a streamed matrix.
pub(super) fn block_columns(layout: &Layout, primes: usize) -> usize {
    let column = PolyMatrix::bytes_for(layout.dimensions.degree, primes, layout.rows, 1);
    // Whole groups of columns that the matrix stores side by side.
    let columns = BLOCK_BYTES.div_ceil(column).next_multiple_of(4);
    usize::try_from(columns).unwrap_or(usize::MAX).min(layout.matrix_columns())
}

/// The tables of LWE to RGSW rotated by those bits.
fn rotated_tables(keys: &ServerKeys, bits: &[Lwe]) -> std::result::Result<Vec<Rlwe<u32, Coefficient>>, LatticeError> {
    let ring = keys.rotation().ring();
    let mut accumulators = vec![Rlwe::trivial(ring, keys.converter.table()); bits.len()];
    keys.rotation().rotate_all(&mut accumulators, bits, &mut workspace())?;
    Ok(accumulators)
}
