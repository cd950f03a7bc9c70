//! Vectors of pairs of polynomials, in the order in which products read them.

use super::{LINE, Line, PolyMatrixError};
use crate::poly::{Ntt, Poly, Ring};
use crate::words::Buffer;
use std::sync::Arc;

/// A vector of pairs of polynomials in the NTT domain, such as ring ciphertexts (mask and body). Lines lie limb after limb, 16 slots
/// after 16 slots, pair after pair.
pub struct PolyPairs {
    ring: Arc<Ring<u32>>,
    len: usize,
    /// The words are on huge pages: for a vector of eight megabytes, allocated in each answer, small pages took as long to map as to fill.
    words: Buffer<u32>,
}

impl PolyPairs {
    /// The vector of these pairs.
    ///
    /// # Errors
    /// A polynomial of another ring, no memory.
    pub fn new<'a>(
        ring: &Arc<Ring<u32>>,
        pairs: impl IntoIterator<Item = [&'a Poly<u32, Ntt>; 2]>,
    ) -> Result<Self, PolyMatrixError> {
        let pairs: Vec<_> = pairs.into_iter().collect();
        let mut all = Self::zero(ring, pairs.len())?;
        all.set(0, &pairs)?;
        Ok(all)
    }

    /// `len` pairs of zeros.
    ///
    /// # Errors
    /// No memory.
    pub fn zero(ring: &Arc<Ring<u32>>, len: usize) -> Result<Self, PolyMatrixError> {
        let bytes = Self::bytes_for(ring.n(), ring.primes().len(), len);
        let words = usize::try_from(bytes).ok().and_then(|bytes| Buffer::zeroed(bytes / size_of::<u32>()).ok());
        Ok(Self { ring: Arc::clone(ring), len, words: words.ok_or(PolyMatrixError::Memory(bytes))? })
    }

    /// Replaces the pairs from number `first` on.
    ///
    /// # Errors
    /// A polynomial of another ring, more pairs than there are.
    pub fn set(&mut self, first: usize, pairs: &[[&Poly<u32, Ntt>; 2]]) -> Result<(), PolyMatrixError> {
        if pairs.iter().flatten().any(|poly| !self.ring.owns(poly)) {
            return Err(PolyMatrixError::Ring);
        }
        if first.saturating_add(pairs.len()) > self.len {
            return Err(PolyMatrixError::Length { found: first.saturating_add(pairs.len()), rows: self.len });
        }
        if self.len == 0 {
            return Ok(());
        }
        for (strip, words) in self.words.chunks_exact_mut(2 * LINE * self.len).enumerate() {
            for (words, pair) in words[2 * LINE * first..].chunks_exact_mut(2 * LINE).zip(pairs) {
                for (words, poly) in words.chunks_exact_mut(LINE).zip(pair) {
                    words.copy_from_slice(&poly.as_slice()[strip * LINE..][..LINE]);
                }
            }
        }
        Ok(())
    }

    /// Bytes of `len` pairs over rings of `n` slots and `primes` primes.
    pub fn bytes_for(n: usize, primes: usize, len: usize) -> u64 {
        2 * (size_of::<u32>() * n * primes * len) as u64
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds no pair.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether they are of that ring.
    pub(super) fn is_of(&self, ring: &Ring<u32>) -> bool {
        self.ring.is_same(ring)
    }

    /// The lines of 16 slots of all pairs.
    pub(super) fn strip(&self, strip: usize) -> &[[Line; 2]] {
        let words = 2 * LINE * self.len;
        bytemuck::cast_slice(&self.words[strip * words..][..words])
    }
}
