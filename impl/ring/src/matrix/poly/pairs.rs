//! Vectors of pairs of polynomials, in the order in which products read them.

use super::{LINE, Line, PolyMatrixError};
use crate::poly::{Ntt, Poly, Ring};
use crate::words::Buffer;
use std::ops::Range;
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
        (0..2).try_for_each(|half| {
            let polys: Vec<_> = pairs.iter().map(|pair| pair[half]).collect();
            self.set_half(first, half, &polys)
        })
    }

    /// Replaces the first (`half` = 0) or the second (1) polynomials of the pairs from number `first` on.
    ///
    /// # Errors
    /// A polynomial of another ring, more polynomials than there are pairs.
    pub fn set_half(&mut self, first: usize, half: usize, polys: &[&Poly<u32, Ntt>]) -> Result<(), PolyMatrixError> {
        if polys.iter().any(|poly| !self.ring.owns(poly)) {
            return Err(PolyMatrixError::Ring);
        }
        if first.saturating_add(polys.len()) > self.len {
            return Err(PolyMatrixError::Length { found: first.saturating_add(polys.len()), rows: self.len });
        }
        for (strip, pairs) in self.strips_mut(1).enumerate() {
            for (pair, poly) in pairs[first..].iter_mut().zip(polys) {
                pair[half].copy_from_slice(&poly.as_slice()[strip * LINE..][..LINE]);
            }
        }
        Ok(())
    }

    /// The pairs of those numbers, of which lines that lie side by side are read together.
    ///
    /// # Errors
    /// A number of no pair.
    pub fn pairs(&self, numbers: Range<usize>) -> Result<Vec<[Poly<u32, Ntt>; 2]>, PolyMatrixError> {
        if numbers.end > self.len {
            return Err(PolyMatrixError::Length { found: numbers.end, rows: self.len });
        }
        let mut out: Vec<_> = numbers.clone().map(|_| [self.ring.zero(), self.ring.zero()]).collect();
        for (strip, pairs) in self.lines().chunks_exact(self.len.max(1)).enumerate() {
            for (polys, lines) in out.iter_mut().zip(&pairs[numbers.clone()]) {
                for (poly, line) in polys.iter_mut().zip(lines) {
                    poly.as_mut_slice()[strip * LINE..][..LINE].copy_from_slice(line);
                }
            }
        }
        Ok(out)
    }

    /// Bytes of `len` pairs over rings of `n` slots and `primes` primes.
    pub fn bytes_for(n: usize, primes: usize, len: usize) -> u64 {
        2 * (size_of::<u32>() * n * primes * len) as u64
    }

    /// Number of pairs.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether they are of that ring.
    pub(super) fn is_of(&self, ring: &Ring<u32>) -> bool {
        self.ring.is_same(ring)
    }

    /// Strips, `each` at a time: the lines of 16 slots of all pairs, then of the next 16.
    pub(super) fn strips_mut(&mut self, each: usize) -> impl Iterator<Item = &mut [[Line; 2]]> {
        let lines: &mut [[Line; 2]] = bytemuck::cast_slice_mut(&mut self.words);
        lines.chunks_mut((each * self.len).max(1))
    }

    /// The lines of 16 slots of all pairs.
    pub(super) fn strip(&self, strip: usize) -> &[[Line; 2]] {
        &self.lines()[strip * self.len..][..self.len]
    }

    /// All strips.
    fn lines(&self) -> &[[Line; 2]] {
        bytemuck::cast_slice(&self.words)
    }
}
