//! PIRANA's server.

use std::ops::Range;

use bfv::Lifted;
use lattice::Rlwe;
use ring::{Ntt, PolyMatrix, PolyPairs};

use super::Set;
use super::column::encode;
use super::engine::Engine;
use super::set::NAME;
use super::update::rewrite;
use crate::core::threads::side_by_side;
use crate::core::{
    Change, Context, Database, Group, Messages, Request, Result, TableBytes, Turns, answers, only, protocol,
};
use crate::parts::bfv::{Asked, ServerKeys, keys_bytes, query_bytes, read_queries, write_ciphertexts};
use crate::parts::buckets::Places;

/// The database and the keys of all clients.
pub struct Server {
    pub(super) engine: Engine,
    /// Where records are read from that change.
    pub(super) database: Database,
    /// The plaintexts, a matrix for each segment.
    segments: Vec<PolyMatrix>,
    /// The keys, by session from 1 on.
    clients: Vec<ServerKeys>,
}

/// The lifted bits of a query; none where columns have a ciphertext each.
type Operands = Vec<Lifted<u32>>;

impl Server {
    /// All stored plaintexts.
    #[cfg(test)]
    pub(super) fn plaintexts(&self) -> Vec<ring::Poly<u32, Ntt>> {
        let of_matrix = |matrix: &PolyMatrix| {
            let places = (0..matrix.rows()).flat_map(|row| (0..matrix.columns()).map(move |column| (row, column)));
            places.map(|(row, column)| matrix.get(row, column).unwrap()).collect::<Vec<_>>()
        };
        self.segments.iter().flat_map(of_matrix).collect()
    }

    /// The queries of some requests.
    pub(super) fn parse(&self, requests: &[Request]) -> Result<Vec<Asked<'_>>> {
        let Engine { set, layout, ring, .. } = &self.engine;
        let bits = layout.code.bits;
        read_queries(NAME, requests, &self.clients, (ring, query_bytes(&set.ring, bits), bits))
    }

    /// The bits of a query as operands of products.
    fn lift(&self, asked: &Asked, threads: usize) -> Result<Operands> {
        let Some(multiplier) = &self.engine.multiplier else { return Ok(Vec::new()) };
        side_by_side(asked.ciphertexts.iter(), threads, |bit| Ok(multiplier.lift(bit)?))
    }

    /// For each of some columns an encryption of the unit vector of the class, or of zeros.
    fn select(
        &self,
        (asked, operands): (&Asked, &Operands),
        columns: Range<usize>,
        threads: usize,
    ) -> Result<Vec<Rlwe<u32, Ntt>>> {
        let Engine { layout, gadget, multiplier, .. } = &self.engine;
        let Some(multiplier) = multiplier else { return Ok(asked.ciphertexts[columns].to_vec()) };
        let key = asked.keys.relinearisation()?;
        let product = |column: usize| {
            let ones = layout.code.ones(column as u64);
            Ok(multiplier.multiply(&operands[ones[0]], &operands[ones[1]], gadget, key)?)
        };
        side_by_side(columns, threads, product)
    }

    /// A selected column at every half and baby step.
    fn turn(&self, keys: &ServerKeys, column: Rlwe<u32, Ntt>) -> Result<Vec<Rlwe<u32, Ntt>>> {
        let Engine { layout, gadget, .. } = &self.engine;
        let id = self.engine.scheme.modulus().id();
        let mut turned: Vec<Rlwe<u32, Ntt>> = Vec::with_capacity(layout.halves * layout.baby);
        for half in 0..layout.halves {
            let first = if half == 0 { column.clone() } else { gadget.automorphism(&column, keys.of(id.swap())?)? };
            turned.push(first);
            for _ in 1..layout.baby {
                turned.push(gadget.automorphism(&turned[turned.len() - 1], keys.of(id.rotation(layout.giants))?)?);
            }
        }
        Ok(turned)
    }

    /// The selected columns of a segment at every half and baby step, as the product reads them.
    fn turns(&self, asked: &Asked, selected: Vec<Rlwe<u32, Ntt>>, threads: usize) -> Result<PolyPairs> {
        let turned = side_by_side(selected.into_iter(), threads, |column| self.turn(asked.keys, column))?;
        let halves = turned.iter().flatten().map(|turned| [&turned.a, &turned.b]);
        Ok(PolyPairs::new(&self.engine.ring, halves)?)
    }

    /// The sums of products of all queries, in one pass over the database.
    fn products(&self, asked: &[Asked], steps: &mut Turns, threads: usize) -> Result<Vec<PolyPairs>> {
        let (layout, mut sums) = (&self.engine.layout, Vec::<PolyPairs>::new());
        let operands = steps.time("answer_selection", || {
            asked.iter().map(|asked| self.lift(asked, threads)).collect::<Result<Vec<_>>>()
        })?;
        for (segment, matrix) in self.segments.iter().enumerate() {
            let mut vectors = Vec::with_capacity(asked.len());
            for query in asked.iter().zip(&operands) {
                let columns = layout.columns_of(segment);
                let selected = steps.time("answer_selection", || self.select(query, columns, threads))?;
                vectors.push(steps.time("answer_rotations", || self.turns(query.0, selected, threads))?);
            }
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

    /// The ciphertexts of an answer: the sums of each, turned and added.
    fn sum(&self, asked: &Asked, products: &PolyPairs, threads: usize) -> Result<Vec<Rlwe<u32, Ntt>>> {
        let Engine { layout, gadget, ring, scheme, .. } = &self.engine;
        let one = scheme.modulus().id().rotation(1);
        let sum = |first| {
            let mut sum: Option<Rlwe<u32, Ntt>> = None;
            for number in (first..first + layout.giants).rev() {
                let [a, b] = products.get(number)?;
                let mut next = Rlwe { a, b };
                if let Some(sum) = &sum {
                    next.add_assign(ring, &gadget.automorphism(sum, asked.keys.of(one)?)?);
                }
                sum = Some(next);
            }
            Ok(sum.unwrap_or_else(|| Rlwe::zero(ring)))
        };
        side_by_side((0..products.len()).step_by(layout.giants), threads, sum)
    }

    /// Some selected columns of a query, and the ciphertexts of its answer before they are switched.
    pub(super) fn stages(
        &self,
        asked: Asked,
        columns: Range<usize>,
        context: &Context,
    ) -> Result<[Vec<Rlwe<u32, Ntt>>; 2]> {
        let selected = self.select((&asked, &self.lift(&asked, 1)?), columns, 1)?;
        let products = self.products(std::slice::from_ref(&asked), &mut Turns::new(&context.clock), 1)?;
        Ok([selected, self.sum(&asked, &products[0], 1)?])
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database (phase `encode`).
    fn new(set: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let mut engine = Engine::new(set, database.shape(), context.kernel)?;
        engine.places = engine.buckets.map(|buckets| Places::draw(buckets, &mut context.rng));
        let (layout, laid_out) = (engine.layout, engine.laid_out(database));
        let matrix =
            |segment| Ok(PolyMatrix::zero(&engine.ring, layout.matrix_rows(segment), layout.matrix_columns())?);
        let mut segments = (0..layout.segments()).map(matrix).collect::<Result<Vec<_>>>()?;
        context.progress.begin("encode", layout.columns as u64);
        context.clock.time("encode", Group::Offline, || -> Result<()> {
            for column in 0..layout.columns {
                encode(&engine, &mut segments[column / layout.segment_columns()], column, &laid_out, context)?;
                context.progress.advance(1);
            }
            Ok(())
        })?;
        context.progress.end();
        Ok(Self { engine, database: database.clone(), segments, clients: Vec::new() })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.segments.iter().map(PolyMatrix::bytes).sum()),
            TableBytes::of("keys", self.clients.iter().map(ServerKeys::bytes)),
        ]
    }

    fn publish(&self) -> Messages {
        self.engine.places.as_ref().map_or_else(Messages::new, |places| places.publish(NAME))
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
        let sums = clock.time("answer_giant_steps", Group::Online, || {
            asked
                .iter()
                .zip(&products)
                .map(|(asked, products)| self.sum(asked, products, threads))
                .collect::<Result<Vec<_>>>()
        })?;
        let Engine { set, layout, ring, .. } = &self.engine;
        let mut sums = sums.into_iter();
        clock.time("answer_write", Group::Online, || {
            answers(NAME, requests, layout.answers * set.answer_bytes(), |_, out| {
                write_ciphertexts(ring, sums.next().unwrap_or_default(), set.switch, out);
                Ok(())
            })
        })
    }

    /// Changes records and makes the plaintexts of their columns again (phase `update_columns`). Clients hold nothing of the database,
    /// so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let clock = context.clock.clone();
        clock.time("update_columns", Group::Update, || {
            for (index, record) in changes {
                self.database.change(*index, record.clone())?;
            }
            let changed: Vec<u64> = changes.iter().flat_map(|(index, _)| self.engine.numbers(*index)).collect();
            rewrite(&self.engine, &mut self.segments, (&self.engine.laid_out(&self.database), &changed), context)
        })?;
        Ok(Messages::new())
    }
}
