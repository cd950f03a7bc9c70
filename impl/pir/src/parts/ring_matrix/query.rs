//! Encryptions of a unit vector under public masks: one ring element for every d entries, of which only the body travels.

use std::sync::Arc;

use lattice::RlweKey;
use lattice::wire::{Reader, Writer, residue_bits};
use ring::{Coefficient, DiscreteGaussian, Modulus, Ntt, Poly, Prg, ResidueVector, Ring, Seed};

use crate::core::{Error, Result};

/// Most bytes of a query's coefficient, which is the width published for YPIR's second query.
pub(super) const WORD_BYTES: usize = 8;

/// The public masks a_k of queries of one length, k = 0, 1, ...: the streams of one seed, sampled in the NTT domain.
#[derive(Clone)]
pub struct RingQueries {
    ring: Arc<Ring<u32>>,
    prg: Prg,
    entries: usize,
}

impl RingQueries {
    /// The masks of `seed` for vectors of `entries` entries. Every use needs its own seed.
    pub fn new(ring: &Arc<Ring<u32>>, seed: Seed, entries: usize) -> Self {
        Self { ring: Arc::clone(ring), prg: seed.prg(), entries }
    }

    /// Ring elements of a query.
    pub fn blocks(&self) -> usize {
        self.entries.div_ceil(self.ring.n())
    }

    /// a_k in the NTT domain.
    pub fn mask(&self, block: usize) -> Poly<u32, Ntt> {
        self.ring.expand(&self.prg, block as u64)
    }

    /// a_k for every k in the NTT domain, by which hints multiply the database's columns.
    pub fn masks(&self) -> Vec<Poly<u32, Ntt>> {
        (0..self.blocks()).map(|k| self.mask(k)).collect()
    }

    /// The body of an encryption under `key` of `message`, an index and a scale, and zeros elsewhere: for each entry a number modulo q in
    /// `bytes_each` little-endian bytes.
    pub fn body(
        &self,
        key: &RlweKey<u32>,
        message: (usize, u64),
        error: &DiscreteGaussian,
        bytes_each: usize,
        rng: &mut impl rand::RngCore,
        out: &mut [u8],
    ) {
        let mut words = vec![0u64; self.ring.n()];
        for (block, out) in out.chunks_mut(self.ring.n() * bytes_each).enumerate() {
            self.ring.compose_u64(&self.block(block, key, message, error, rng), &mut words);
            for (out, word) in out.chunks_exact_mut(bytes_each).zip(&words) {
                out.copy_from_slice(&word.to_le_bytes()[..bytes_each]);
            }
        }
    }

    /// Writes this body as bit-packed residues, in the order of [`Self::residues`].
    pub fn pack(
        &self,
        key: &RlweKey<u32>,
        message: (usize, u64),
        error: &DiscreteGaussian,
        rng: &mut impl rand::RngCore,
        out: &mut Writer,
    ) {
        let residues = self.residues(key, message, error, rng);
        for (residues, &prime) in residues.chunks_exact(self.entries).zip(self.ring.primes()) {
            out.write_all(residues, residue_bits(prime));
        }
    }

    /// This body as residues: those of all entries modulo the first prime, then modulo the second.
    pub fn residues(
        &self,
        key: &RlweKey<u32>,
        message: (usize, u64),
        error: &DiscreteGaussian,
        rng: &mut impl rand::RngCore,
    ) -> Vec<u32> {
        let mut out = vec![0; self.entries * self.ring.primes().len()];
        for block in 0..self.blocks() {
            let body = self.block(block, key, message, error, rng);
            for (out, limb) in out.chunks_exact_mut(self.entries).zip(body.limbs()) {
                let out = &mut out[block * self.ring.n()..];
                out.iter_mut().zip(limb).for_each(|(out, residue)| *out = *residue);
            }
        }
        out
    }

    /// a_k s + e, plus the message if it is in this block.
    fn block(
        &self,
        block: usize,
        key: &RlweKey<u32>,
        (index, scale): (usize, u64),
        error: &DiscreteGaussian,
        rng: &mut impl rand::RngCore,
    ) -> Poly<u32, Coefficient> {
        let n = self.ring.n();
        let mut errors = vec![0i32; n];
        error.fill(rng, &mut errors);
        let mut body: Poly<u32, Coefficient> = self.ring.from_signed_i32(&errors);
        if index / n == block {
            for (i, (modulus, _)) in self.ring.limbs().iter().enumerate() {
                let slot = &mut body.limb_mut(i)[index % n];
                *slot = modulus.add(*slot, modulus.reduce_u64(scale));
            }
        }
        let mut product = self.mask(block);
        self.ring.mul_assign(&mut product, key.ntt());
        self.ring.add_assign(&mut body, &self.ring.inverse(product));
        body
    }
}

/// A query's body in the form that products read.
pub fn read_coefficients(ring: &Ring<u32>, bytes_each: usize, payload: &[u8]) -> Result<ResidueVector> {
    residue_vector(ring, &read_residues(ring, bytes_each, payload)?)
}

/// Residues of all entries modulo the first prime, then modulo the second, in the form that products read.
pub fn residue_vector(ring: &Ring<u32>, residues: &[u32]) -> Result<ResidueVector> {
    let moduli: Vec<Modulus<u32>> = ring.limbs().iter().map(|(modulus, _)| *modulus).collect();
    ResidueVector::new(&moduli, residues).map_err(Error::in_message("query"))
}

/// The residues of queries of `entries` entries, in the order in which [`RingQueries::pack`] wrote them.
pub fn read_packed<const N: usize>(ring: &Ring<u32>, entries: [usize; N], payload: &[u8]) -> Result<[Vec<u32>; N]> {
    let mut reader = Reader::of(payload);
    let mut all = entries.map(|entries| Vec::with_capacity(entries * ring.primes().len()));
    for (residues, entries) in all.iter_mut().zip(entries) {
        for &prime in ring.primes() {
            residues.extend(reader.residues::<u32>(entries, prime).map_err(Error::in_message("query"))?);
        }
    }
    reader.finish().map_err(Error::in_message("query"))?;
    Ok(all)
}

/// The residues of a query's body: all coefficients modulo the first prime, then modulo the second.
pub fn read_residues(ring: &Ring<u32>, bytes_each: usize, payload: &[u8]) -> Result<Vec<u32>> {
    let q = ring.modulus_u128().unwrap_or(u128::MAX);
    let mut words = Vec::with_capacity(payload.len() / bytes_each);
    for coefficient in payload.chunks_exact(bytes_each) {
        let mut word = [0; WORD_BYTES];
        word[..bytes_each].copy_from_slice(coefficient);
        let word = u64::from_le_bytes(word);
        if u128::from(word) >= q {
            return Err(Error::message("query", format!("coefficient {word} is not below q = {q}.")));
        }
        words.push(word);
    }
    let mut residues = vec![0u32; words.len() * ring.primes().len()];
    ring.rns().decompose_u64(ring.vectors(), &words, &mut residues);
    Ok(residues)
}
