//! The hint in slots: its plaintexts, the turns of the encrypted secret's mask, and the masks of sums and answers, for one modulus of slots.

use std::collections::BTreeMap;

use bfv::{RotationChain, Scheme};
use ring::{Modulus, Ntt, Poly, PolyMatrix, PolyVector};

use super::Set;
use super::layout::{Layout, Skewed};
use super::public::Public;
use crate::core::threads::side_by_side;
use crate::core::{Context, Error, Result};
use crate::parts::bfv::{Switch, write_half};

/// Blocks that are made side by side, which lie side by side in the matrix.
pub const GROUP: usize = 4;
/// Plaintexts of each of these blocks that are made before they are stored.
pub const CHUNK: usize = 32;
/// Turns of the secret in a segment, a multiple of [`CHUNK`]: few enough that the turned bodies are still in a cache of 32 MB when they are multiplied.
/// In tests they are few, so that toy sets have several segments.
pub const SEGMENT: usize = if cfg!(test) { CHUNK } else { 128 };

/// The tables of one modulus of slots.
pub struct Blocks {
    number: usize,
    /// The plaintexts by segments of turns: a row for each turn, a column for each giant step of a block, the last step first.
    pub segments: Vec<PolyMatrix>,
    /// The digits of the mask of the encrypted secret at every turn.
    pub chain: RotationChain<u32>,
    /// These masks.
    turned: Vec<Poly<u32, Ntt>>,
    /// How the sums of a block become its answer, by block.
    pub answers: BTreeMap<usize, Answer>,
}

/// What no query changes of a block's answer.
pub struct Answer {
    /// The digits of the masks of a block's sums as they are turned and added up.
    pub chain: RotationChain<u32>,
    /// The mask of the ciphertext, as it is sent.
    pub mask: Vec<u8>,
}

impl Blocks {
    /// The tables of slot modulus `number`, without any block yet.
    pub fn new(number: usize, layout: &Layout, public: &Public) -> Result<Self> {
        let (rotation, mask) = (&public.rotations[0], public.secret_mask(number));
        let (chain, turned) = RotationChain::new(&rotation.gadget, mask, &rotation.key_half()?, layout.babies)?;
        let segment =
            || Ok(PolyMatrix::zero(&public.ring, segment_turns(layout), layout.columns_of(0..layout.blocks()).len())?);
        let segments = (0..layout.babies / segment_turns(layout)).map(|_| segment()).collect::<Result<_>>()?;
        Ok(Self { number, segments, chain, turned, answers: BTreeMap::new() })
    }

    /// Makes blocks, given in order, of the rows of the hint, n words each.
    pub fn make(
        &mut self,
        which: &[usize],
        hint: &[u32],
        (set, layout, public): (&Set, &Layout, &Public),
        context: &Context,
    ) -> Result<()> {
        let (scheme, t) = (&public.schemes[self.number], &public.moduli[self.number]);
        let n = set.lwe.dimension;
        for group in which.chunks(GROUP) {
            let skew = |block: &usize| {
                let rows = layout.rows_of(*block);
                Ok(Skewed::new(*layout, &hint[rows.start * n..rows.end * n], n, t))
            };
            let skewed = side_by_side(group.iter(), context.threads, skew)?;
            let turns = segment_turns(layout);
            for first in (0..layout.terms()).step_by(CHUNK) {
                let terms = first..layout.terms().min(first + CHUNK);
                let places = terms.flat_map(|term| group.iter().zip(&skewed).map(move |place| (term, place)));
                let entry = |(term, (block, skewed)): (usize, (&usize, &Skewed))| {
                    Ok(((term % turns, layout.column_of(*block, term)), plaintext(scheme, &skewed.slots(term))?))
                };
                let entries = side_by_side(places, context.threads, entry)?;
                self.segments[first % layout.babies / turns].set(&entries, context.threads)?;
            }
            context.progress.advance(group.len() as u64);
        }
        self.make_masks(which, (set, layout, public), context)
    }

    /// The masks of the sums and answers of blocks whose plaintexts are made.
    fn make_masks(
        &mut self,
        which: &[usize],
        (set, layout, public): (&Set, &Layout, &Public),
        context: &Context,
    ) -> Result<()> {
        let (ring, rotation, blocks) = (&public.ring, public.of_sums(), layout.blocks());
        let key = rotation.key_half()?;
        let modulus = set.switch.map(|Switch { mask_modulus, .. }| mask_modulus);
        let mut left = which;
        while let Some(first) = left.first().map(|block| block - block % GROUP) {
            let group = first..blocks.min(first + GROUP);
            let (here, rest) = left.split_at(left.partition_point(|block| *block < group.end));
            let (columns, mut sums) = (layout.columns_of(group.clone()), Vec::new());
            for (segment, masks) in self.segments.iter().zip(self.turned.chunks(segment_turns(layout))) {
                let turns = PolyVector::new(ring, masks.iter().map(|mask| [mask]))?;
                segment.multiply_add(&[&turns], columns.clone(), &mut sums, context.threads)?;
            }
            for block in here {
                let columns = layout.columns_of(block - first..block - first + 1);
                let masks = sums[0].tuples(columns)?.into_iter().flatten().collect();
                let (chain, mask) = RotationChain::of_sum(&rotation.gadget, masks, &key)?;
                self.answers.insert(*block, Answer { chain, mask: write_half(ring, mask, modulus) });
            }
            left = rest;
        }
        Ok(())
    }

    /// Bytes of the plaintexts.
    pub fn plaintext_bytes(&self) -> u64 {
        self.segments.iter().map(PolyMatrix::bytes).sum()
    }

    /// Bytes of the masks of the encrypted secret, and of the digits of all masks.
    pub fn rotation_bytes(&self) -> u64 {
        let chains = self.answers.values().map(|answer| &answer.chain).chain([&self.chain]);
        (self.turned.iter().map(Poly::bytes).sum::<usize>() + chains.map(RotationChain::bytes).sum::<usize>()) as u64
    }

    /// Bytes of the masks of answers.
    pub fn mask_bytes(&self) -> u64 {
        self.answers.values().map(|answer| answer.mask.len() as u64).sum()
    }
}

/// Turns of a segment of that layout.
pub fn segment_turns(layout: &Layout) -> usize {
    layout.babies.min(SEGMENT)
}

fn plaintext(scheme: &Scheme<u32>, slots: &[u64]) -> Result<Poly<u32, Ntt>> {
    Ok(scheme.prepare(&scheme.modulus().encode(slots)?)?)
}

/// The moduli of slots modulo which a number is known, and the way back to it.
pub struct Remainders(ring::Rns<u64>);

impl Remainders {
    /// Of distinct primes.
    pub fn new(moduli: &[Modulus<u64>]) -> Result<Self> {
        let primes: Vec<u64> = moduli.iter().map(Modulus::value).collect();
        ring::Rns::new(&primes).map(Self).map_err(|e| Error::Workload(e.to_string()))
    }

    /// The centred numbers with these residues, those modulo t1 first, modulo 2^32.
    pub fn words(&self, residues: &[u64]) -> Vec<u32> {
        let mut out = vec![0; residues.len() / self.0.len()];
        self.0.compose_centred_wrapping(residues, &mut out);
        out.into_iter().map(|word| word as u32).collect()
    }
}
