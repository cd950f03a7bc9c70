//! Seeded ciphertexts: the mask is expanded from (seed, stream), so that only the body is sent beside a seed.

use super::Rlwe;
use crate::error::LatticeError;
use crate::wire;
use ring::{Ntt, Poly, Prg, Ring, Seed, Word};

/// Gives out the masks of one seed, each once: two ciphertexts under one key must never share a mask.
pub struct Masks {
    seed: Seed,
    prg: Prg,
    next: u64,
}

impl Masks {
    /// All masks of `seed`. Make one of them per seed and keep it as long as keys are made from the seed.
    pub fn new(seed: Seed) -> Self {
        Self { seed, prg: seed.prg(), next: 0 }
    }

    /// The seed.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The next mask and its stream index.
    pub(super) fn next<W: Word>(&mut self, ring: &Ring<W>) -> (u64, Poly<W, Ntt>) {
        let stream = self.next;
        self.next += 1;
        (stream, ring.expand(&self.prg, stream))
    }
}

/// A fresh ciphertext on the wire: seed and stream of its mask, and the body in the NTT domain.
#[derive(Clone, Debug)]
pub struct SeededRlwe<W: Word> {
    /// Seed of the mask.
    pub seed: Seed,
    /// Stream of the seed from which the mask is expanded.
    pub stream: u64,
    /// The body.
    pub b: Poly<W, Ntt>,
}

/// Bytes of a seed and a stream index.
pub(super) const ORIGIN_BYTES: usize = wire::SEED_BYTES + 8;

impl<W: Word> SeededRlwe<W> {
    /// The whole ciphertext.
    pub fn expand(&self, ring: &Ring<W>) -> Rlwe<W, Ntt> {
        Rlwe { a: ring.expand(&self.seed.prg(), self.stream), b: self.b.clone() }
    }

    /// Bytes of [`Self::to_bytes`]: seed, stream index (8), N residues of each prime.
    pub fn wire_bytes(ring: &Ring<W>) -> usize {
        ORIGIN_BYTES + wire::poly_bits(ring).div_ceil(8)
    }

    /// Seed, stream index and bit-packed body.
    pub fn to_bytes(&self, ring: &Ring<W>) -> Vec<u8> {
        let mut out = wire::Writer::with_capacity(Self::wire_bytes(ring));
        out.write_seed(&self.seed);
        out.write_all(&[self.stream], u64::BITS);
        out.write_poly(ring, &self.b);
        out.finish()
    }

    /// Inverse of [`Self::to_bytes`].
    ///
    /// # Errors
    /// A wrong number of bytes, a residue not below its prime, padding that is not zero.
    pub fn from_bytes(ring: &Ring<W>, bytes: &[u8]) -> Result<Self, LatticeError> {
        let mut input = wire::Reader::new(bytes, Self::wire_bytes(ring))?;
        let (seed, stream, b) = (input.seed(), input.word(), input.poly(ring)?);
        input.finish()?;
        Ok(Self { seed, stream, b })
    }
}
