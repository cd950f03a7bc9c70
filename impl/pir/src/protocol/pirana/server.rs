//! PIRANA's server.

use lattice::Rlwe;
use lattice::wire::{Reader, SEED_BYTES};
use ring::{Ntt, Poly, PolyMatrix, PolyPairs};

use super::Set;
use super::column::encode;
use super::engine::Engine;
use super::keys::{ServerKeys, key_bytes};
use super::set::NAME;
use super::update::rewrite;
use crate::core::threads::side_by_side;
use crate::core::{
    Change, Context, Database, Error, Group, Messages, Request, Result, TableBytes, Turns, answers, client_of,
    for_each_query, only, protocol,
};
use crate::parts::bfv::write_half;

/// The database and the keys of all clients.
pub struct Server {
    engine: Engine,
    /// Where records are read from that change.
    pub(super) database: Database,
    matrix: PolyMatrix,
    /// The keys, by session from 1 on.
    clients: Vec<ServerKeys>,
}

/// A query, with the keys of the client that asks.
pub struct Asked<'a> {
    keys: &'a ServerKeys,
    /// A ciphertext for each bit of the codeword.
    bits: Vec<Rlwe<u32, Ntt>>,
}

/// Mask and body of each column of the matrix.
type Products = Vec<[Poly<u32, Ntt>; 2]>;

/// Bytes of a query: the seed of its masks, and bodies.
pub fn query_bytes(set: &Set, bits: usize) -> usize {
    SEED_BYTES + (bits as u64).saturating_mul(set.ring.wire_bytes()) as usize
}

impl Server {
    /// All stored plaintexts.
    #[cfg(test)]
    pub(super) fn plaintexts(&self) -> Vec<Poly<u32, Ntt>> {
        let matrix = &self.matrix;
        let places = (0..matrix.rows()).flat_map(|row| (0..matrix.columns()).map(move |column| (row, column)));
        places.map(|(row, column)| matrix.get(row, column).unwrap()).collect()
    }

    /// The queries of some requests.
    pub(super) fn parse(&self, requests: &[Request]) -> Result<Vec<Asked<'_>>> {
        let (engine, mut asked) = (&self.engine, Vec::new());
        let bits = engine.layout.code.bits;
        for request in requests {
            let keys = client_of(&self.clients, request.session)?;
            let parts = [("query", query_bytes(&engine.set, bits))];
            for_each_query(NAME, std::slice::from_ref(request), &parts, |parts| {
                let mut input = Reader::of(parts[0]);
                let masks = input.seed().prg();
                let bit = |number: u64| {
                    let b = input.poly(&engine.ring).map_err(Error::in_message("query"))?;
                    Ok(Rlwe { a: engine.ring.expand(&masks, number), b })
                };
                asked.push(Asked { keys, bits: (0..bits as u64).map(bit).collect::<Result<_>>()? });
                Ok(())
            })?;
        }
        Ok(asked)
    }

    /// For every column an encryption of the unit vector of the class, or of zeros.
    pub(super) fn select(&self, asked: &Asked, threads: usize) -> Result<Vec<Rlwe<u32, Ntt>>> {
        let Engine { layout, gadget, multiplier, .. } = &self.engine;
        let Some(multiplier) = multiplier else { return Ok(asked.bits[..layout.columns].to_vec()) };
        let lifted = side_by_side(asked.bits.iter(), threads, |bit| Ok(multiplier.lift(bit)?))?;
        let key = asked.keys.relinearisation()?;
        let product = |column: usize| {
            let ones = layout.code.ones(column as u64);
            Ok(multiplier.multiply(&lifted[ones[0]], &lifted[ones[1]], gadget, key)?)
        };
        side_by_side(0..layout.columns, threads, product)
    }

    /// A selected column at every half and baby step.
    fn turn(&self, keys: &ServerKeys, column: Rlwe<u32, Ntt>) -> Result<Vec<Rlwe<u32, Ntt>>> {
        let Engine { layout, gadget, .. } = &self.engine;
        let mut turned: Vec<Rlwe<u32, Ntt>> = Vec::with_capacity(layout.halves * layout.baby);
        for half in 0..layout.halves {
            let first = if half == 0 { column.clone() } else { gadget.automorphism(&column, keys.swap()?)? };
            turned.push(first);
            for _ in 1..layout.baby {
                turned.push(gadget.automorphism(&turned[turned.len() - 1], keys.baby()?)?);
            }
        }
        Ok(turned)
    }

    /// All selected columns at every half and baby step, as the product reads them.
    fn turns(&self, asked: &Asked, selected: Vec<Rlwe<u32, Ntt>>, threads: usize) -> Result<PolyPairs> {
        let mut pairs = PolyPairs::zero(&self.engine.ring, self.engine.layout.matrix_rows())?;
        let each = self.engine.layout.halves * self.engine.layout.baby;
        let mut first = 0;
        let mut columns = selected.into_iter().peekable();
        while columns.peek().is_some() {
            let together = columns.by_ref().take(TOGETHER.max(threads));
            let turned = side_by_side(together, threads, |column| self.turn(asked.keys, column))?;
            let halves: Vec<_> = turned.iter().flatten().map(|turned| [&turned.a, &turned.b]).collect();
            pairs.set(first * each, &halves)?;
            first += turned.len();
        }
        Ok(pairs)
    }

    /// The ciphertexts of an answer: the sums of each, turned and added.
    pub(super) fn sum(&self, asked: &Asked, products: &Products, threads: usize) -> Result<Vec<Rlwe<u32, Ntt>>> {
        let Engine { layout, gadget, ring, .. } = &self.engine;
        let sum = |products: &[[Poly<u32, Ntt>; 2]]| {
            let mut sum: Option<Rlwe<u32, Ntt>> = None;
            for [a, b] in products.iter().rev() {
                let mut next = Rlwe { a: a.clone(), b: b.clone() };
                if let Some(sum) = &sum {
                    next.add_assign(ring, &gadget.automorphism(sum, asked.keys.giant()?)?);
                }
                sum = Some(next);
            }
            Ok(sum.unwrap_or_else(|| Rlwe::zero(ring)))
        };
        side_by_side(products.chunks_exact(layout.giants), threads, sum)
    }

    /// The selected columns of a query and the ciphertexts of its answer before they are switched.
    pub(super) fn stages(&self, asked: &Asked) -> Result<[Vec<Rlwe<u32, Ntt>>; 2]> {
        let selected = self.select(asked, 1)?;
        let vector = self.turns(asked, selected.clone(), 1)?;
        let products = self.matrix.multiply(&[&vector], 1)?;
        Ok([selected, self.sum(asked, &products[0], 1)?])
    }
}

/// Columns that are turned before they are written for the product.
const TOGETHER: usize = 4;

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database (phase `encode`).
    fn new(set: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(set, database.shape(), context.kernel)?;
        let layout = engine.layout;
        let mut matrix = PolyMatrix::zero(&engine.ring, layout.matrix_rows(), layout.matrix_columns())?;
        context.progress.begin("encode", layout.columns as u64);
        context.clock.time("encode", Group::Offline, || -> Result<()> {
            (0..layout.columns).try_for_each(|column| {
                encode(&engine, &mut matrix, column, database, context)?;
                context.progress.advance(1);
                Ok(())
            })
        })?;
        context.progress.end();
        Ok(Self { engine, database: database.clone(), matrix, clients: Vec::new() })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.matrix.bytes()),
            TableBytes::of("keys", self.clients.iter().map(ServerKeys::bytes)),
        ]
    }

    fn receive(&mut self, messages: &Messages, _: &mut Context) -> Result<u64> {
        let bytes = key_bytes(&self.engine.set, &self.engine.layout);
        let keys = only("keys", messages)?.clone().check(NAME, "keys", bytes)?;
        self.clients.push(ServerKeys::read(&self.engine, keys.payload())?);
        Ok(self.clients.len() as u64)
    }

    fn forget(&mut self) {
        self.clients.clear();
    }

    /// Answers every query of every request in one pass over the database.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let (clock, threads) = (&context.clock, context.threads);
        let asked = clock.time("answer_parse", Group::Online, || self.parse(requests))?;
        let (mut steps, mut vectors) = (Turns::new(clock), Vec::with_capacity(asked.len()));
        for asked in &asked {
            let selected = steps.time("answer_selection", || self.select(asked, threads))?;
            vectors.push(steps.time("answer_rotations", || self.turns(asked, selected, threads))?);
        }
        steps.finish(Group::Online);
        let products = clock.time("answer_product", Group::Online, || {
            self.matrix.multiply(&vectors.iter().collect::<Vec<_>>(), threads)
        })?;
        drop(vectors);
        let sums = clock.time("answer_giant_steps", Group::Online, || {
            asked
                .iter()
                .zip(&products)
                .map(|(asked, products)| self.sum(asked, products, threads))
                .collect::<Result<Vec<_>>>()
        })?;
        let Engine { set, layout, ring, .. } = &self.engine;
        let moduli = set.switch.map_or([None; 2], |switch| [switch.mask_modulus, switch.body_modulus].map(Some));
        let mut sums = sums.into_iter();
        clock.time("answer_write", Group::Online, || {
            answers(NAME, requests, layout.answers * set.answer_bytes(), |_, mut out| {
                for Rlwe { a, b } in sums.next().unwrap_or_default() {
                    for (half, modulus) in [a, b].into_iter().zip(moduli) {
                        let bytes = write_half(ring, half, modulus);
                        out.split_off_mut(..bytes.len()).unwrap_or_default().copy_from_slice(&bytes);
                    }
                }
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
            rewrite(&self.engine, &mut self.matrix, (&self.database, changes), context)
        })?;
        Ok(Messages::new())
    }
}
