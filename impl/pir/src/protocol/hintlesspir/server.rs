//! HintlessPIR's server.

use std::collections::BTreeSet;

use bfv::{ChainKeys, KeyHalf, RotationChain};
use lattice::wire::Reader;
use ring::{Ntt, Poly, PolyVector, Seed};

use super::Set;
use super::blocks::{Blocks, segment_turns};
use super::layout::Layout;
use super::public::Public;
use super::set::NAME;
use crate::core::seed::{self, fresh_seed};
use crate::core::threads::side_by_side;
use crate::core::{
    Change, Context, Database, Error, Group, Messages, Request, Result, TableBytes, Turns, answers, for_each_query,
    protocol,
};
use crate::parts::bfv::{RingTable, write_half};
use crate::parts::lwe_matrix::LinearDatabase;

/// The database, its hint in words and in slots, and the public seed.
pub struct Server {
    set: Set,
    layout: Layout,
    seed: Seed,
    public: Public,
    pub(super) database: LinearDatabase,
    /// H = D' A, n words a row.
    pub(super) hint: Vec<u32>,
    /// For t1 and for t2.
    blocks: Vec<Blocks>,
}

/// A query's keys: the bodies of the encrypted secret, one for each modulus of slots, and of the rotation key.
struct Keys {
    secrets: Vec<Poly<u32, Ntt>>,
    rotation: KeyHalf<u32>,
}

/// Bytes of the message `keys`: bodies modulo Q in the NTT domain.
pub(super) fn key_bytes(set: &Set) -> u64 {
    (set.ring.slot_moduli.len() + set.ring.digits()) as u64 * set.ring.wire_bytes()
}

/// Bytes of the answer to a query.
pub(super) fn answer_bytes(set: &Set, layout: &Layout) -> u64 {
    let ciphertexts = (set.ring.slot_moduli.len() * layout.blocks()) as u64;
    4 * layout.linear.rows as u64 + ciphertexts * set.answer_bytes().iter().sum::<u64>()
}

impl Server {
    fn parse(&self, requests: &[Request]) -> Result<(Vec<Vec<u32>>, Vec<Keys>)> {
        let (mut queries, mut keys) = (Vec::new(), Vec::new());
        let parts = [("keys", key_bytes(&self.set) as usize), ("query", 4 * self.layout.linear.columns)];
        for_each_query(NAME, requests, &parts, |parts| {
            let mut input = Reader::of(parts[0]);
            let secrets =
                self.blocks.iter().map(|_| input.poly(&self.public.ring)).collect::<std::result::Result<_, _>>();
            let rotation = KeyHalf::read_bodies(&self.public.gadget, self.public.exponent(), &mut input);
            keys.push(Keys {
                secrets: secrets.map_err(Error::in_message("keys"))?,
                rotation: rotation.map_err(Error::in_message("keys"))?,
            });
            let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            queries.push(parts[1].chunks_exact(4).map(word).collect());
            Ok(())
        })?;
        Ok((queries, keys))
    }

    /// Stores the turns of a segment and leaves the secrets as the next segment begins with them.
    fn turn(
        &self,
        number: usize,
        segment: usize,
        keys: &ChainKeys<u32>,
        (bodies, vectors): (&mut Vec<Poly<u32, Ntt>>, &mut [PolyVector<1>]),
    ) -> Result<()> {
        let chain = &self.blocks[number].chain;
        let count = segment_turns(&self.layout);
        for first in (0..count).step_by(PolyVector::<1>::TOGETHER) {
            let turns = first..count.min(first + PolyVector::<1>::TOGETHER);
            let mut turned: Vec<Vec<Poly<u32, Ntt>>> = Vec::with_capacity(turns.len());
            for turn in turns.step_by(RotationChain::<u32>::TOGETHER) {
                let next = chain.turns(&self.public.gadget, segment * count + turn, bodies, keys)?;
                turned.push(std::mem::take(bodies));
                turned.extend(next);
                // The next ones are made from the last of these.
                if turned.len() > turn - first + RotationChain::<u32>::TOGETHER {
                    *bodies = turned.pop().unwrap_or_default();
                }
            }
            for (query, vector) in vectors.iter_mut().enumerate() {
                vector.set(first, &turned.iter().map(|bodies| [&bodies[query]]).collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    /// For each modulus of slots and each query, the sums of every block: plaintexts times turns.
    fn sums(&self, keys: Vec<Keys>, context: &Context) -> Result<Vec<Vec<PolyVector<1>>>> {
        let (ring, threads, mut turns) = (&self.public.ring, context.threads, Turns::new(&context.clock));
        let count = segment_turns(&self.layout);
        let secrets = |number: usize| keys.iter().map(|keys| keys.secrets[number].clone()).collect();
        let mut bodies: Vec<Vec<Poly<u32, Ntt>>> = (0..self.blocks.len()).map(secrets).collect();
        let vectors = || keys.iter().map(|_| Ok(PolyVector::zero(ring, count)?)).collect::<Result<Vec<_>>>();
        let mut vectors = self.blocks.iter().map(|_| vectors()).collect::<Result<Vec<_>>>()?;
        let keys = ChainKeys::new(&self.public.gadget, keys.into_iter().map(|keys| keys.rotation).collect())?;
        let mut sums: Vec<Vec<_>> = self.blocks.iter().map(|_| Vec::new()).collect();
        for segment in 0..self.layout.terms() / count {
            turns.time("answer_rotations", || {
                let all = bodies.iter_mut().zip(vectors.iter_mut().map(Vec::as_mut_slice)).enumerate();
                side_by_side(all, threads, |(number, state)| self.turn(number, segment, &keys, state))
            })?;
            turns.time("answer_blocks", || -> Result<()> {
                for ((blocks, vectors), sums) in self.blocks.iter().zip(&vectors).zip(&mut sums) {
                    let (matrix, vectors) = (&blocks.segments[segment], vectors.iter().collect::<Vec<_>>());
                    matrix.multiply_add(&vectors, 0..matrix.columns(), sums, threads)?;
                }
                Ok(())
            })?;
        }
        turns.finish(Group::Online);
        Ok(sums)
    }

    /// Makes blocks again, or for the first time.
    fn make(&mut self, which: &[usize], context: &Context) -> Result<()> {
        let Self { set, layout, public, hint, blocks, .. } = self;
        context.progress.begin("blocks", (blocks.len() * which.len()) as u64);
        blocks.iter_mut().try_for_each(|blocks| blocks.make(which, hint, (set, layout, public), context))?;
        context.progress.end();
        Ok(())
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database, computes H = D' A and what depends on it and on the seed (phases `encode`, `hint`, `rotations`, `blocks`).
    fn new(set: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let layout = set.layout(database.shape())?;
        let seed = fresh_seed(&mut context.rng);
        let public = Public::new(set, seed, context.kernel)?;
        let clock = &context.clock;
        let database =
            clock.time("encode", Group::Offline, || LinearDatabase::encode(layout.linear, database, context))?;
        let mut hint = vec![0; layout.linear.rows * set.lwe.dimension];
        clock.time("hint", Group::Offline, || database.accumulate_hint(&public.matrix, &mut hint, context))?;
        let blocks = clock.time("rotations", Group::Offline, || {
            side_by_side(0..public.moduli.len(), context.threads, |number| Blocks::new(number, &layout, &public))
        })?;
        let mut server = Self { set: set.clone(), layout, seed, public, database, hint, blocks };
        let all: Vec<usize> = (0..layout.blocks()).collect();
        clock.time("blocks", Group::Offline, || server.make(&all, context))?;
        Ok(server)
    }

    fn tables(&self) -> Vec<TableBytes> {
        let bytes = |of: fn(&Blocks) -> u64| self.blocks.iter().map(of).sum();
        vec![
            TableBytes::new("database", self.database.stored_bytes()),
            TableBytes::of("hint", [size_of_val::<[u32]>(&self.hint)]),
            TableBytes::new("hint in slots", bytes(Blocks::plaintext_bytes)),
            TableBytes::new("rotations", bytes(|blocks| blocks.chain.bytes() as u64)),
            TableBytes::new("answer masks", bytes(|blocks| blocks.mask_bytes() as u64)),
        ]
    }

    fn publish(&self) -> Messages {
        seed::publish(NAME, &self.seed)
    }

    /// Answers every query of every request in one pass over the database and one over the hint in slots.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let (clock, threads) = (&context.clock, context.threads);
        let (queries, keys) = clock.time("answer_parse", Group::Online, || self.parse(requests))?;
        let products =
            clock.time("answer_product", Group::Online, || self.database.product(&queries, context.kernel, threads))?;
        let sums = self.sums(keys, context)?;
        let modulus = self.set.switch.map(|switch| switch.body_modulus);
        clock.time("answer_write", Group::Online, || {
            answers(NAME, requests, answer_bytes(&self.set, &self.layout) as usize, |k, out| {
                let (words, mut out) = out.split_at_mut(4 * self.layout.linear.rows);
                words.chunks_exact_mut(4).zip(&products[k]).for_each(|(out, word)| {
                    out.copy_from_slice(&word.to_le_bytes());
                });
                for (blocks, sums) in self.blocks.iter().zip(&sums) {
                    for (mask, [body]) in blocks.masks.iter().zip(sums[k].tuples(0..blocks.masks.len())?) {
                        for half in [mask, &write_half(&self.public.ring, body, modulus)] {
                            out.split_off_mut(..half.len()).unwrap_or_default().copy_from_slice(half);
                        }
                    }
                }
                Ok(())
            })
        })
    }

    /// Changes records: adds the differences to the hint and makes the touched blocks again (phases `update_hint`, `update_blocks`).
    /// Clients hold nothing of the database, so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let clock = context.clock.clone();
        let n = self.set.lwe.dimension;
        clock.time("update_hint", Group::Update, || -> Result<()> {
            for change in self.database.change(changes)? {
                let (first, column, _) = self.layout.linear.place(change.index);
                let mask = self.public.matrix.row(column);
                for (row, delta) in self.hint[first * n..].chunks_exact_mut(n).zip(&change.deltas) {
                    let delta = i32::from(*delta) as u32;
                    row.iter_mut().zip(&mask).for_each(|(h, a)| *h = h.wrapping_add(delta.wrapping_mul(*a)));
                }
            }
            Ok(())
        })?;
        let touched: BTreeSet<usize> = changes.iter().flat_map(|(index, _)| self.layout.blocks_of(*index)).collect();
        let touched: Vec<usize> = touched.into_iter().collect();
        clock.time("update_blocks", Group::Update, || self.make(&touched, context))?;
        Ok(Messages::new())
    }
}
