//! Samples for polynomials: uniform residues in bulk, from a generator or expanded from a seed, and small signed values.

use crate::gaussian::{DiscreteGaussian, StdDevError};
use crate::modulus::Modulus;
use crate::noise::StdDev;
use crate::prg::Prg;
use crate::residues::Word;
use crate::secret;
use rand::RngCore;

/// Bytes drawn at a time.
const BATCH_BYTES: usize = 4096;

/// Uniform residues from a source of random bytes: each little-endian word, masked to the bits of q - 1, is a residue if it is below
/// q and is skipped otherwise. So there is no bias, and the residues depend only on the bytes, not on the way they were drawn.
struct Rejection<F> {
    /// Fills a buffer with the next bytes of the source.
    next: F,
    buffer: Vec<u8>,
    used: usize,
}

impl<F: FnMut(&mut [u8])> Rejection<F> {
    fn new(next: F) -> Self {
        Self { next, buffer: vec![0; BATCH_BYTES], used: BATCH_BYTES }
    }

    fn fill<W: Word>(&mut self, modulus: &Modulus<W>, out: &mut [W]) {
        let (q, size) = (modulus.value(), size_of::<W>());
        let mask = u64::MAX >> (64 - modulus.bits());
        let mut filled = 0;
        while filled < out.len() {
            if self.used == BATCH_BYTES {
                (self.next)(&mut self.buffer);
                self.used = 0;
            }
            for bytes in self.buffer[self.used..].chunks_exact(size) {
                let mut word = [0; 8];
                word[..size].copy_from_slice(bytes);
                let candidate = W::from_u64(u64::from_le_bytes(word) & mask);
                self.used += size;
                // Kept or overwritten by the next, without a branch to mispredict.
                out[filled] = candidate;
                filled += usize::from(candidate < q);
                if filled == out.len() {
                    break;
                }
            }
        }
    }
}

/// Fills the limbs of `out`, one of `out.len() / moduli.len()` residues for each modulus, with uniform residues.
pub fn fill_uniform<W: Word>(rng: &mut impl RngCore, moduli: &[Modulus<W>], out: &mut [W]) {
    fill_limbs(Rejection::new(|bytes: &mut [u8]| rng.fill_bytes(bytes)), moduli, out);
}

/// Like [`fill_uniform`], with residues determined by the seed of `prg` and the number of the stream: for seeds that are sent instead
/// of their expansion.
pub fn expand_uniform<W: Word>(prg: &Prg, stream: u64, moduli: &[Modulus<W>], out: &mut [W]) {
    let mut offset = 0;
    let next = |bytes: &mut [u8]| {
        prg.fill_stream_at(stream, offset, bytes);
        offset += bytes.len() as u64;
    };
    fill_limbs(Rejection::new(next), moduli, out);
}

fn fill_limbs<W: Word>(mut source: Rejection<impl FnMut(&mut [u8])>, moduli: &[Modulus<W>], out: &mut [W]) {
    assert!(out.len().is_multiple_of(moduli.len().max(1)), "one limb for each modulus");
    if !out.is_empty() {
        let n = out.len() / moduli.len();
        moduli.iter().zip(out.chunks_mut(n)).for_each(|(modulus, limb)| source.fill(modulus, limb));
    }
}

/// A distribution of small signed numbers: secrets and errors.
#[derive(Clone, Debug)]
pub enum Small {
    /// 0 or 1, each with probability 1/2.
    Binary,
    /// -1, 0 or 1, each with probability 1/3.
    Ternary,
    /// A fixed number of entries -1 or 1 at uniform places with uniform signs, zeros elsewhere.
    FixedWeight(usize),
    /// The discrete Gaussian.
    Gaussian(DiscreteGaussian),
}

/// More entries of fixed weight than a vector has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{weight} entries are not zero, but the vector has only {len}")]
pub struct WeightError {
    /// The requested weight.
    pub weight: usize,
    /// Length of the vector.
    pub len: usize,
}

impl Small {
    /// The discrete Gaussian of that standard deviation or width.
    pub fn gaussian(size: impl Into<StdDev>) -> Result<Self, StdDevError> {
        DiscreteGaussian::new(size).map(Self::Gaussian)
    }

    /// Fills `out` with samples; only a fixed weight above `out.len()` fails, and then `out` is left as it was.
    pub fn fill(&self, rng: &mut impl RngCore, out: &mut [i32]) -> Result<(), WeightError> {
        match self {
            Self::Binary => secret::fill_binary(rng, out),
            Self::Ternary => secret::fill_ternary(rng, out),
            Self::Gaussian(gaussian) => gaussian.fill(rng, out),
            Self::FixedWeight(weight) if secret::fill_fixed_weight(rng, *weight, out) => {}
            Self::FixedWeight(weight) => return Err(WeightError { weight: *weight, len: out.len() }),
        }
        Ok(())
    }

    /// E[x^2] of an entry of a vector of `len` (for the Gaussian, the square of its standard deviation).
    pub fn second_moment(&self, len: usize) -> f64 {
        match self {
            Self::Binary => 0.5,
            Self::Ternary => 2.0 / 3.0,
            Self::FixedWeight(weight) => *weight as f64 / len as f64,
            Self::Gaussian(gaussian) => gaussian.stddev().0.powi(2),
        }
    }
}

#[cfg(test)]
mod tests;
