//! The server of one-hot PIR.

use lattice::Rlwe;
use ring::{Ntt, PolyMatrix};

use super::Set;
use super::encode::{encode, group, rewrite};
use super::engine::Engine;
use super::set::NAME;
use crate::core::{
    Change, Context, Database, Group, Messages, Request, Result, TableBytes, Turns, answers, only, protocol,
};
use crate::parts::bfv::{Asked, ServerKeys, keys_bytes, query_bytes, read_queries, write_ciphertexts};

/// The database and the keys of all clients.
pub struct Server {
    pub(super) engine: Engine,
    /// Where records are read from that change.
    pub(super) database: Database,
    /// The plaintexts, a matrix for each entry of an item.
    matrices: Vec<PolyMatrix>,
    /// The keys, by session from 1 on.
    clients: Vec<ServerKeys>,
}

impl Server {
    /// All stored plaintexts.
    #[cfg(test)]
    pub(super) fn plaintexts(&self) -> Vec<ring::Poly<u32, Ntt>> {
        let of_matrix = |matrix: &PolyMatrix| {
            let places = (0..matrix.rows()).flat_map(|row| (0..matrix.columns()).map(move |column| (row, column)));
            places.map(|(row, column)| matrix.get(row, column).unwrap()).collect::<Vec<_>>()
        };
        self.matrices.iter().flat_map(of_matrix).collect()
    }

    /// The queries of some requests.
    pub(super) fn parse(&self, requests: &[Request]) -> Result<Vec<Asked<'_>>> {
        let Engine { set, layout, ring, .. } = &self.engine;
        let number = layout.ciphertexts();
        read_queries(NAME, requests, &self.clients, (ring, query_bytes(&set.ring, number), number))
    }

    /// The ciphertexts of the answers to all queries, before they are switched: entry after entry, the product with the row selector of what
    /// diagonals select, added to the sum of those after it, turned.
    fn sums(&self, asked: &[Asked], steps: &mut Turns, threads: usize) -> Result<Vec<Vec<Rlwe<u32, Ntt>>>> {
        let Engine { set, layout, multiplier, gadget, ring, .. } = &self.engine;
        let one = self.engine.scheme.modulus().id().rotation(1);
        let rows = steps.time("answer_selection", || {
            asked.iter().map(|asked| Ok(multiplier.lift(&asked.ciphertexts[0])?)).collect::<Result<Vec<_>>>()
        })?;
        let mut selectors = Vec::new();
        let mut answers: Vec<_> = asked.iter().map(|_| Vec::with_capacity(layout.answers)).collect();
        for answer in 0..layout.answers {
            let mut sums: Vec<Option<Rlwe<u32, Ntt>>> = asked.iter().map(|_| None).collect();
            for entry in layout.entries_of(answer).rev() {
                if selectors.is_empty() || !set.hoisted {
                    let turn = |asked: &Asked| self.engine.selectors(&asked.ciphertexts[1..], asked.keys);
                    let turn = || asked.iter().map(turn).collect::<Result<Vec<_>>>();
                    selectors = steps.time("answer_rotations", turn)?;
                }
                let products = steps.time("answer_product", || {
                    self.matrices[entry].multiply(&selectors.iter().collect::<Vec<_>>(), threads)
                })?;
                for (((asked, row), products), sum) in asked.iter().zip(&rows).zip(&products).zip(&mut sums) {
                    let column = steps.time("answer_giant_steps", || self.engine.giants(products, asked.keys))?;
                    let key = asked.keys.relinearisation()?;
                    let mut next = steps.time("answer_selection", || {
                        multiplier.multiply(row, &multiplier.lift(&column)?, gadget, key)
                    })?;
                    steps.time("answer_sum", || -> Result<()> {
                        if let Some(sum) = &*sum {
                            next.add_assign(ring, &gadget.automorphism(sum, asked.keys.of(one)?)?);
                        }
                        Ok(())
                    })?;
                    *sum = Some(next);
                }
            }
            answers.iter_mut().zip(sums).for_each(|(answers, sum)| answers.extend(sum));
        }
        Ok(answers)
    }

    /// What diagonals select of the first entry, and the ciphertexts of an answer before they are switched.
    pub(super) fn stages(&self, asked: Asked, context: &Context) -> Result<[Vec<Rlwe<u32, Ntt>>; 2]> {
        let selectors = self.engine.selectors(&asked.ciphertexts[1..], asked.keys)?;
        let column = self.engine.giants(&self.matrices[0].multiply(&[&selectors], 1)?[0], asked.keys)?;
        let mut sums = self.sums(std::slice::from_ref(&asked), &mut Turns::new(&context.clock), 1)?;
        Ok([vec![column], sums.remove(0)])
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database (phase `encode`).
    fn new(set: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let engine = Engine::new(set, database.shape(), context.kernel)?;
        let layout = engine.layout;
        let matrix = |_| Ok(PolyMatrix::zero(&engine.ring, layout.matrix_rows(), layout.giants)?);
        let mut matrices = (0..layout.entries).map(matrix).collect::<Result<Vec<_>>>()?;
        context.progress.begin("encode", layout.entries as u64);
        context.clock.time("encode", Group::Offline, || -> Result<()> {
            let group = group(set, &layout)?;
            for first in (0..layout.entries).step_by(group) {
                let entries = first..layout.entries.min(first + group);
                context.progress.advance(entries.len() as u64);
                encode(&engine, &mut matrices[entries.clone()], entries, database, context)?;
            }
            Ok(())
        })?;
        context.progress.end();
        Ok(Self { engine, database: database.clone(), matrices, clients: Vec::new() })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.matrices.iter().map(PolyMatrix::bytes).sum()),
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
        let mut sums = self.sums(&asked, &mut steps, threads)?.into_iter();
        steps.finish(Group::Online);
        let Engine { set, layout, ring, .. } = &self.engine;
        clock.time("answer_write", Group::Online, || {
            answers(NAME, requests, layout.answers * set.answer_bytes(), |_, out| {
                write_ciphertexts(ring, sums.next().unwrap_or_default(), set.switch, out);
                Ok(())
            })
        })
    }

    /// Changes records and writes their items again (phase `update_items`). Clients hold nothing of the database, so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let clock = context.clock.clone();
        clock.time("update_items", Group::Update, || {
            for (index, record) in changes {
                self.database.change(*index, record.clone())?;
            }
            let records = self.engine.layout.items.records;
            let mut items: Vec<usize> = changes.iter().map(|(index, _)| (index / records) as usize).collect();
            items.sort_unstable();
            items.dedup();
            items.into_iter().try_for_each(|item| rewrite(&self.engine, &mut self.matrices, &self.database, item))
        })?;
        Ok(Messages::new())
    }
}
