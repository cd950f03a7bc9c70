//! CwPIR's server.

use std::ops::Range;

use lattice::Rlwe;
use ring::{Ntt, PolyMatrix, PolyPairs};

use super::Set;
use super::engine::{Engine, Operands};
use super::set::NAME;
use crate::core::threads::side_by_side;
use crate::core::{
    Change, Context, Database, Group, Messages, Request, Result, TableBytes, Turns, answers, only, protocol,
};
use crate::parts::bfv::{Asked, ServerKeys, keys_bytes, query_bytes, read_queries, write_ciphertexts};

/// The database and the keys of all clients.
pub struct Server {
    pub(super) engine: Engine,
    /// Where records are read from that change.
    pub(super) database: Database,
    /// The plaintexts, a row an item, a matrix for each segment.
    segments: Vec<PolyMatrix>,
    /// The keys, by session from 1 on.
    clients: Vec<ServerKeys>,
}

/// What a query's errors are logged of: the bits of its word, some items' selections, and the sums before they are switched.
pub struct Stages {
    pub bits: Vec<Rlwe<u32, Ntt>>,
    pub selected: Vec<Rlwe<u32, Ntt>>,
    pub sums: Vec<Rlwe<u32, Ntt>>,
}

impl Server {
    /// The queries of some requests.
    pub(super) fn parse(&self, requests: &[Request]) -> Result<Vec<Asked<'_>>> {
        let Engine { set, layout, ring, .. } = &self.engine;
        let number = layout.ciphertexts();
        read_queries(NAME, requests, &self.clients, (ring, query_bytes(&set.ring, number), number))
    }

    fn select(
        &self,
        (asked, operands): (&Asked, &Operands),
        items: Range<usize>,
        threads: usize,
    ) -> Result<Vec<Rlwe<u32, Ntt>>> {
        side_by_side(items, threads, |item| self.engine.select(operands, item, asked.keys))
    }

    /// The sums of products of all queries, in one pass over the database.
    fn products(&self, asked: &[Asked], steps: &mut Turns, threads: usize) -> Result<Vec<PolyPairs>> {
        let (engine, mut sums) = (&self.engine, Vec::<PolyPairs>::new());
        let mut operands = Vec::with_capacity(asked.len());
        for Asked { keys, ciphertexts } in asked {
            let bits = steps.time("answer_expansion", || engine.expand(ciphertexts, keys, threads))?;
            operands.push(steps.time("answer_selection", || engine.operands(bits, threads))?);
        }
        for (segment, matrix) in self.segments.iter().enumerate() {
            let vectors = steps.time("answer_selection", || -> Result<Vec<_>> {
                let vector = |query| {
                    let selected = self.select(query, engine.layout.items_of(segment), threads)?;
                    Ok(PolyPairs::new(&engine.ring, selected.iter().map(|selected| [&selected.a, &selected.b]))?)
                };
                asked.iter().zip(&operands).map(vector).collect()
            })?;
            let products = steps.time("answer_product", || -> Result<_> {
                let products = matrix.multiply(&vectors.iter().collect::<Vec<_>>(), threads)?;
                sums.iter_mut().zip(&products).try_for_each(|(sums, products)| sums.add_assign(products))?;
                Ok(products)
            })?;
            if sums.is_empty() {
                sums = products;
            }
        }
        Ok(sums)
    }

    /// What the errors of a query are logged of.
    pub(super) fn stages(&self, asked: Asked, items: Range<usize>, context: &Context) -> Result<Stages> {
        let bits = self.engine.expand(&asked.ciphertexts, asked.keys, 1)?;
        let selected = self.select((&asked, &self.engine.operands(bits.clone(), 1)?), items, 1)?;
        let products = self.products(std::slice::from_ref(&asked), &mut Turns::new(&context.clock), 1)?;
        Ok(Stages { bits, selected, sums: ciphertexts(&products[0])? })
    }

    /// Makes the plaintexts of an item and stores them.
    fn encode(&mut self, item: usize, context: &Context) -> Result<()> {
        let Engine { layout, scheme, .. } = &self.engine;
        let bits = layout.items.item(&self.database, item as u64)?;
        let (segment, row) = (item / layout.segment_items(), item % layout.segment_items());
        let prepare = |(column, z): (usize, Vec<i64>)| Ok(((row, column), scheme.prepare(&z)?));
        let entries = side_by_side(layout.plaintexts(item, &bits).into_iter().enumerate(), context.threads, prepare)?;
        Ok(self.segments[segment].set(&entries, context.threads)?)
    }

    /// All stored plaintexts.
    #[cfg(test)]
    pub(super) fn plaintexts(&self) -> Vec<ring::Poly<u32, Ntt>> {
        let of_matrix = |matrix: &PolyMatrix| {
            let places = (0..matrix.rows()).flat_map(|row| (0..matrix.columns()).map(move |column| (row, column)));
            places.map(|(row, column)| matrix.get(row, column).unwrap()).collect::<Vec<_>>()
        };
        self.segments.iter().flat_map(of_matrix).collect()
    }
}

/// Pairs as ciphertexts.
fn ciphertexts(pairs: &PolyPairs) -> Result<Vec<Rlwe<u32, Ntt>>> {
    let ciphertext = |number| Ok(pairs.get(number).map(|[a, b]| Rlwe { a, b })?);
    (0..pairs.len()).map(ciphertext).collect()
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database (phase `encode`).
    fn new(set: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(set, database.shape(), context.kernel)?;
        let layout = engine.layout;
        let matrix = |segment| Ok(PolyMatrix::zero(&engine.ring, layout.items_of(segment).len(), layout.polynomials)?);
        let segments = (0..layout.segments()).map(matrix).collect::<Result<Vec<_>>>()?;
        let mut server = Self { engine, database: database.clone(), segments, clients: Vec::new() };
        context.progress.begin("encode", layout.count() as u64);
        let clock = context.clock.clone();
        clock.time("encode", Group::Offline, || {
            (0..layout.count()).try_for_each(|item| {
                context.progress.advance(1);
                server.encode(item, context)
            })
        })?;
        context.progress.end();
        Ok(server)
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.segments.iter().map(PolyMatrix::bytes).sum()),
            TableBytes::of("keys", self.clients.iter().map(ServerKeys::bytes)),
        ]
    }

    fn receive(&mut self, messages: &Messages, _: &mut Context) -> Result<u64> {
        let Engine { set, gadget, exponents, .. } = &self.engine;
        let bytes = keys_bytes(&set.ring, exponents.len() as u64);
        let keys = only("keys", messages)?.clone().check(NAME, "keys", bytes)?;
        self.clients.push(ServerKeys::read(gadget, set.fingerprint()?, exponents, keys.payload())?);
        Ok(self.clients.len() as u64)
    }

    fn forget(&mut self) {
        self.clients.clear();
    }

    /// Answers every query of every request in one pass over the database.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let (clock, threads) = (&context.clock, context.threads);
        let asked = clock.time("answer_parse", Group::Online, || self.parse(requests))?;
        let mut steps = Turns::new(clock);
        let products = self.products(&asked, &mut steps, threads)?;
        steps.finish(Group::Online);
        let Engine { set, layout, ring, .. } = &self.engine;
        clock.time("answer_write", Group::Online, || {
            answers(NAME, requests, layout.polynomials * set.answer_bytes(), |number, out| {
                write_ciphertexts(ring, ciphertexts(&products[number])?, set.switch, out);
                Ok(())
            })
        })
    }

    /// Changes records and makes the plaintexts of their items again (phase `update_items`). Clients hold nothing of the database, so they
    /// need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let clock = context.clock.clone();
        clock.time("update_items", Group::Update, || {
            for (index, record) in changes {
                self.database.change(*index, record.clone())?;
            }
            let mut items: Vec<usize> = changes.iter().map(|(index, _)| self.engine.layout.item_of(*index)).collect();
            items.sort_unstable();
            items.dedup();
            items.into_iter().try_for_each(|item| self.encode(item, context))
        })?;
        Ok(Messages::new())
    }
}
