//! Samples for polynomials: uniform residues in bulk, from a generator or expanded from a seed.

use crate::modulus::Modulus;
use crate::prg::Prg;
use crate::residues::Word;
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

#[cfg(test)]
mod tests;
