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

/// The keys of all queries.
struct Keys {
    /// For each modulus of slots, the bodies of the encrypted secrets.
    secrets: Vec<Vec<Poly<u32, Ntt>>>,
    /// For each rotation, the bodies of its keys.
    rotations: Vec<Vec<KeyHalf<u32>>>,
}

/// Bytes of the message `keys`: bodies modulo Q in the NTT domain.
pub(super) fn key_bytes(set: &Set, layout: &Layout) -> u64 {
    set.key_polynomials(layout) as u64 * set.ring.wire_bytes()
}

/// Bytes of the answer to a query.
pub(super) fn answer_bytes(set: &Set, layout: &Layout) -> u64 {
    let ciphertexts = (set.ring.slot_moduli.len() * layout.blocks()) as u64;
    4 * layout.linear.rows as u64 + ciphertexts * set.answer_bytes().iter().sum::<u64>()
}

impl Server {
    fn parse(&self, requests: &[Request]) -> Result<(Vec<Vec<u32>>, Keys)> {
        let Public { ring, rotations, moduli, .. } = &self.public;
        let mut keys = Keys {
            secrets: moduli.iter().map(|_| Vec::new()).collect(),
            rotations: rotations.iter().map(|_| Vec::new()).collect(),
        };
        let mut queries = Vec::new();
        let parts = [("keys", key_bytes(&self.set, &self.layout) as usize), ("query", 4 * self.layout.linear.columns)];
        for_each_query(NAME, requests, &parts, |parts| {
            let mut input = Reader::of(parts[0]);
            for secrets in &mut keys.secrets {
                secrets.push(input.poly(ring).map_err(Error::in_message("keys"))?);
            }
            for (rotation, halves) in rotations.iter().zip(&mut keys.rotations) {
                let half = KeyHalf::read_bodies(&rotation.gadget, rotation.exponent, &mut input);
                halves.push(half.map_err(Error::in_message("keys"))?);
            }
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
        let (chain, gadget) = (&self.blocks[number].chain, &self.public.rotations[0].gadget);
        let count = segment_turns(&self.layout);
        for first in (0..count).step_by(PolyVector::<1>::TOGETHER) {
            let turns = first..count.min(first + PolyVector::<1>::TOGETHER);
            let mut turned = vec![std::mem::take(bodies)];
            for _ in turns.clone().step_by(RotationChain::<u32>::TOGETHER) {
                let done = segment * count + first + turned.len() - 1;
                turned.extend(chain.turns(gadget, done, &turned[turned.len() - 1], keys)?);
            }
            // One more than is stored, but at the end of the chain: the next ones are made from it.
            if turned.len() > turns.len() {
                *bodies = turned.pop().unwrap_or_default();
            }
            for (query, vector) in vectors.iter_mut().enumerate() {
                vector.set(first, &turned.iter().map(|bodies| [&bodies[query]]).collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    /// The bodies of a block's answer to every query, from its sums.
    fn add_up(
        &self,
        (number, block): (usize, usize),
        sums: &[PolyVector<1>],
        keys: &ChainKeys<u32>,
    ) -> Result<Vec<Poly<u32, Ntt>>> {
        let mut steps: Vec<Vec<_>> = (0..self.layout.giants()).map(|_| Vec::with_capacity(sums.len())).collect();
        for sums in sums {
            let of_query = sums.tuples(self.layout.columns_of(block..block + 1))?;
            steps.iter_mut().zip(of_query).for_each(|(step, [body])| step.push(body));
        }
        Ok(self.blocks[number].answers[&block].chain.sum(&self.public.of_sums().gadget, steps, keys)?)
    }

    /// The bodies of the answers to every query, block after block for one modulus of slots after the other.
    fn bodies(&self, keys: Keys, context: &Context) -> Result<Vec<Vec<Poly<u32, Ntt>>>> {
        let (Public { ring, rotations, .. }, threads) = (&self.public, context.threads);
        let (mut turns, count) = (Turns::new(&context.clock), segment_turns(&self.layout));
        let (mut bodies, rotation_keys) = (keys.secrets, rotations.iter().zip(keys.rotations));
        let keys = rotation_keys.map(|(rotation, halves)| Ok(ChainKeys::new(&rotation.gadget, halves)?));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let vectors = |secrets: &Vec<_>| secrets.iter().map(|_| Ok(PolyVector::zero(ring, count)?)).collect();
        let mut vectors = bodies.iter().map(vectors).collect::<Result<Vec<Vec<_>>>>()?;
        let mut sums: Vec<Vec<_>> = self.blocks.iter().map(|_| Vec::new()).collect();
        for segment in 0..self.layout.babies / count {
            turns.time("answer_rotations", || {
                let all = bodies.iter_mut().zip(vectors.iter_mut().map(Vec::as_mut_slice)).enumerate();
                side_by_side(all, threads, |(number, state)| self.turn(number, segment, &keys[0], state))
            })?;
            turns.time("answer_blocks", || -> Result<()> {
                for ((blocks, vectors), sums) in self.blocks.iter().zip(&vectors).zip(&mut sums) {
                    let (matrix, vectors) = (&blocks.segments[segment], vectors.iter().collect::<Vec<_>>());
                    matrix.multiply_add(&vectors, 0..matrix.columns(), sums, threads)?;
                }
                Ok(())
            })?;
        }
        let answers = turns.time("answer_rotations", || {
            let places = (0..sums.len()).flat_map(|number| (0..self.layout.blocks()).map(move |block| (number, block)));
            side_by_side(places, threads, |place| self.add_up(place, &sums[place.0], &keys[keys.len() - 1]))
        });
        turns.finish(Group::Online);
        answers
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
        let public = Public::new(set, &layout, seed, context.kernel)?;
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
            TableBytes::new("rotations", bytes(Blocks::rotation_bytes)),
            TableBytes::new("answer masks", bytes(Blocks::mask_bytes)),
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
        let bodies = self.bodies(keys, context)?;
        let modulus = self.set.switch.map(|switch| switch.body_modulus);
        clock.time("answer_write", Group::Online, || {
            answers(NAME, requests, answer_bytes(&self.set, &self.layout) as usize, |k, out| {
                let (words, mut out) = out.split_at_mut(4 * self.layout.linear.rows);
                words.chunks_exact_mut(4).zip(&products[k]).for_each(|(out, word)| {
                    out.copy_from_slice(&word.to_le_bytes());
                });
                let blocks = self.blocks.iter().flat_map(|blocks| blocks.answers.values());
                for (answer, bodies) in blocks.zip(&bodies) {
                    for half in [&answer.mask, &write_half(&self.public.ring, bodies[k].clone(), modulus)] {
                        out.split_off_mut(..half.len()).unwrap_or_default().copy_from_slice(half);
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
