//! KSPIR's server.

use lattice::{Rgsw, Rlwe, SeededRgsw, SeededRlwe};
use ring::{Coefficient, Ntt, PolyPairs};

use super::Set;
use super::blocks::{Blocks, Differences};
use super::engine::Engine;
use super::keys::{ServerKeys, key_bytes, seeded_bytes};
use super::set::NAME;
use crate::core::threads::side_by_side;
use crate::core::{
    Change, Context, Database, Error, Group, Messages, Request, Result, TableBytes, Turns, answers, client_of,
    for_each_query, only, protocol,
};
use crate::parts::ring_matrix::workspace;

/// The database and the keys of all clients.
pub struct Server {
    engine: Engine,
    /// Where records are read from that change.
    pub(super) database: Database,
    blocks: Blocks,
    /// The keys, by session from 1 on.
    clients: Vec<ServerKeys>,
}

/// A query, with the keys of the client that asks.
struct Asked<'a> {
    keys: &'a ServerKeys,
    /// The column.
    column: Rlwe<u32, Ntt>,
    /// X^-k, which brings the coefficients of item k to multiples of r.
    selector: Rgsw<u32>,
}

/// Bytes of the two parts of a query.
pub fn query_bytes(set: &Set) -> [usize; 2] {
    [1, 2 * set.length(set.selector_gadget)].map(|encryptions| seeded_bytes(encryptions, 8 * set.poly_bytes() as usize))
}

impl Server {
    /// All stored plaintexts.
    #[cfg(test)]
    pub(super) fn plaintexts(&self) -> Vec<ring::Poly<u32, Ntt>> {
        let matrix = &self.blocks.matrix;
        let places = (0..matrix.rows()).flat_map(|row| (0..matrix.columns()).map(move |column| (row, column)));
        places.map(|(row, column)| matrix.get(row, column).unwrap_or_else(|_| self.engine.ring.zero())).collect()
    }

    fn parse(&self, requests: &[Request]) -> Result<Vec<Asked<'_>>> {
        let (engine, [first, second]) = (&self.engine, query_bytes(&self.engine.set));
        let mut asked = Vec::new();
        for request in requests {
            let keys = client_of(&self.clients, request.session)?;
            for_each_query(NAME, std::slice::from_ref(request), &[("query", first + second)], |parts| {
                let (column, selector) = parts[0].split_at(first);
                let in_query = Error::in_message("query");
                let column = SeededRlwe::from_bytes(&engine.ring, column).map_err(in_query)?;
                let selector = SeededRgsw::from_bytes(&engine.selector, selector).map_err(in_query)?;
                asked.push(Asked {
                    keys,
                    column: column.expand(&engine.ring),
                    selector: selector.expand(&engine.ring),
                });
                Ok(())
            })?;
        }
        Ok(asked)
    }

    /// The encrypted column at every baby step: turned by the multiples of K, and these by fewer places.
    fn rotations(&self, asked: &Asked, threads: usize) -> Result<PolyPairs> {
        let Engine { layout, baby: gadget, ring, set, .. } = &self.engine;
        let (each, keys, column) = (set.baby_keys.min(layout.baby), &asked.keys.baby, &asked.column);
        let mut digits = gadget.digits(&column.a);
        let turn = |key| Ok(gadget.switch(&digits, &column.b, key)?);
        // The last of the keys up to K places, and those after it.
        let bases = side_by_side(keys.iter().skip(each - 1), threads, turn)?;
        let mut vector = PolyPairs::zero(ring, layout.baby)?;
        for (number, base) in std::iter::once(column).chain(&bases).enumerate() {
            if number > 0 && each > 1 {
                digits = gadget.digits(&base.a);
            }
            vector.set(number * each, &[[&base.a, &base.b]])?;
            let mut stored = number * each + 1;
            for keys in keys[..each - 1].chunks(PolyPairs::TOGETHER.next_multiple_of(threads)) {
                let turned = side_by_side(keys.iter(), threads, |key| Ok(gadget.switch(&digits, &base.b, key)?))?;
                vector.set(stored, &turned.iter().map(|turned| [&turned.a, &turned.b]).collect::<Vec<_>>())?;
                stored += turned.len();
            }
        }
        Ok(vector)
    }

    /// A block's column from its sums of baby steps, one for each giant step.
    fn column(&self, keys: &ServerKeys, sums: &PolyPairs, block: usize) -> Result<Rlwe<u32, Ntt>> {
        let Engine { giant: gadget, ring, layout, .. } = &self.engine;
        let first = block * layout.giants();
        let mut sums = sums.tuples(first..first + layout.giants())?.into_iter();
        let mut column = sums.next().map_or_else(|| Rlwe::zero(ring), |[a, b]| Rlwe { a, b });
        for ([a, b], key) in sums.zip(&keys.giant) {
            column.add_assign(ring, &gadget.switch(&gadget.digits_of_coefficients(&ring.inverse(a)), &b, key)?);
        }
        Ok(column)
    }

    /// The parts of a record's item, packed, from the sums of baby steps of all blocks.
    fn respond(
        &self,
        steps: &mut Turns,
        (asked, products): (&Asked, &PolyPairs),
        threads: usize,
    ) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        let engine = &self.engine;
        let columns = steps.time("answer_giant_steps", || {
            side_by_side(0..engine.layout.blocks(), threads, |block| self.column(asked.keys, products, block))
        })?;
        let selected = steps.time("answer_selection", || {
            side_by_side(columns.into_iter(), threads, |column| {
                let mut out = Rlwe::zero(&engine.ring);
                let column = column.inverse(&engine.ring);
                engine.selector.external_product(&column, &asked.selector, &mut workspace(), &mut out)?;
                Ok(out)
            })
        })?;
        steps.time("answer_packing", || {
            let join = |inputs: &[Rlwe<u32, Coefficient>]| {
                Ok(engine.packing.join(inputs.to_vec(), &asked.keys.packing, &mut workspace())?)
            };
            side_by_side(selected.chunks_exact(engine.layout.classes), threads, join)
        })
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database (phase `encode`).
    fn new(set: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(set, database.shape(), context.kernel)?;
        let mut blocks = Blocks::zero(&engine)?;
        context.clock.time("encode", Group::Offline, || blocks.encode(&engine, database, context))?;
        Ok(Self { engine, database: database.clone(), blocks, clients: Vec::new() })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.blocks.matrix.bytes()),
            TableBytes::of("keys", self.clients.iter().map(ServerKeys::bytes)),
        ]
    }

    fn receive(&mut self, messages: &Messages, _: &mut Context) -> Result<u64> {
        let keys =
            only("keys", messages)?.clone().check(NAME, "keys", key_bytes(&self.engine.set, &self.engine.layout))?;
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
        let vectors = clock.time("answer_rotations", Group::Online, || {
            asked.iter().map(|asked| self.rotations(asked, threads)).collect::<Result<Vec<_>>>()
        })?;
        let products = clock.time("answer_product", Group::Online, || {
            self.blocks.matrix.multiply(&vectors.iter().collect::<Vec<_>>(), threads)
        })?;
        drop(vectors);
        let (mut steps, mut responses) = (Turns::new(clock), Vec::with_capacity(asked.len()));
        for (asked, products) in asked.iter().zip(products) {
            responses.push(self.respond(&mut steps, (asked, &products), threads)?.into_iter());
        }
        steps.finish(Group::Online);
        let bytes = self.engine.set.answer_bytes() as usize;
        clock.time("answer_write", Group::Online, || {
            answers(NAME, requests, self.engine.layout.parts * bytes, |k, out| {
                for (out, part) in out.chunks_exact_mut(bytes).zip(responses[k].by_ref()) {
                    out.copy_from_slice(&self.engine.write(part)?);
                }
                Ok(())
            })
        })
    }

    /// Changes records: adds the differences, in slots, to the plaintexts of every block that holds an entry of them (phase
    /// `update_blocks`). Clients hold nothing of the database, so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let (clock, layout) = (context.clock.clone(), self.engine.layout);
        clock.time("update_blocks", Group::Update, || {
            let mut differences = Differences::new();
            for (index, record) in changes {
                let (old, place) = (self.database.record(*index)?, layout.place(*index));
                for part in 0..layout.parts {
                    let [old, new] = [&old, record].map(|record| layout.entries_of(*index, record, part));
                    let entries =
                        differences.entry((part, place.column, place.class)).or_insert_with(|| vec![0; layout.slots]);
                    for ((entry, old), new) in entries.iter_mut().zip(old).zip(new) {
                        *entry += i32::from(new) - i32::from(old);
                    }
                }
                self.database.change(*index, record.clone())?;
            }
            self.blocks.add(&self.engine, &differences, context)
        })?;
        Ok(Messages::new())
    }
}
