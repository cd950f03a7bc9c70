//! The hint in slots: its plaintexts, the turns of the encrypted secret's mask, and the masks of answers, for one modulus of slots.

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
/// Turns of a segment, a multiple of [`CHUNK`]: few enough that the turned bodies are still in a cache of 32 MB when they are multiplied.
pub const SEGMENT: usize = 128;

/// The tables of one modulus of slots.
pub struct Blocks {
    number: usize,
    /// The plaintexts by segments of turns: a row for each term, a column for each block.
    pub segments: Vec<PolyMatrix>,
    /// The mask of the encrypted secret at every turn, and its digits.
    pub chain: RotationChain<u32>,
    /// The masks of an answer's ciphertexts, as they are sent: no query changes them.
    pub masks: Vec<Vec<u8>>,
}

impl Blocks {
    /// The tables of slot modulus `number`, without any block yet.
    pub fn new(number: usize, layout: &Layout, public: &Public) -> Result<Self> {
        let chain =
            RotationChain::new(&public.gadget, public.secret_mask(number), &public.key_half()?, layout.terms())?;
        let segment = || Ok(PolyMatrix::zero(&public.ring, segment_turns(layout), layout.blocks())?);
        let segments = (0..layout.terms() / segment_turns(layout)).map(|_| segment()).collect::<Result<_>>()?;
        Ok(Self { number, segments, chain, masks: vec![Vec::new(); layout.blocks()] })
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
                    Ok(((term % turns, *block), plaintext(scheme, &skewed.slots(term))?))
                };
                let entries = side_by_side(places, context.threads, entry)?;
                self.segments[first / turns].set(&entries, context.threads)?;
            }
            context.progress.advance(group.len() as u64);
        }
        self.make_masks(which, set, public, context)
    }

    /// The masks of the answers of blocks whose plaintexts are made.
    fn make_masks(&mut self, which: &[usize], set: &Set, public: &Public, context: &Context) -> Result<()> {
        let (ring, blocks) = (&public.ring, self.masks.len());
        let mut left = which;
        while let Some(first) = left.first().map(|block| block - block % GROUP) {
            let columns = first..blocks.min(first + GROUP);
            let (here, rest) = left.split_at(left.partition_point(|block| *block < columns.end));
            let mut sums = Vec::new();
            for (segment, masks) in self.segments.iter().zip(self.chain.masks().chunks(self.segments[0].rows())) {
                let turns = PolyVector::new(ring, masks.iter().map(|mask| [mask]))?;
                segment.multiply_add(&[&turns], columns.clone(), &mut sums, context.threads)?;
            }
            let modulus = set.switch.map(|Switch { mask_modulus, .. }| mask_modulus);
            for (block, [mask]) in columns.clone().zip(sums[0].tuples(0..columns.len())?) {
                if here.contains(&block) {
                    self.masks[block] = write_half(ring, mask, modulus);
                }
            }
            left = rest;
        }
        Ok(())
    }

    /// Bytes of the plaintexts.
    pub fn plaintext_bytes(&self) -> u64 {
        self.segments.iter().map(PolyMatrix::bytes).sum()
    }

    /// Bytes of the masks.
    pub fn mask_bytes(&self) -> usize {
        self.masks.iter().map(Vec::len).sum()
    }
}

/// Turns of a segment of that layout.
pub fn segment_turns(layout: &Layout) -> usize {
    layout.terms().min(SEGMENT)
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
