//! Vectors of tuples of polynomials, in the order in which products read them.

use super::{LINE, Line, PolyMatrixError};
use crate::poly::{Ntt, Poly, Ring};
use crate::words::Buffer;
use std::ops::Range;
use std::sync::Arc;

/// A vector of tuples of `K` polynomials in the NTT domain. Lines lie limb after limb, 16 slots after 16 slots, tuple after tuple.
pub struct PolyVector<const K: usize> {
    ring: Arc<Ring<u32>>,
    len: usize,
    /// The words are on huge pages: for a vector of eight megabytes, allocated in each answer, small pages took as long to map as to fill.
    words: Buffer<u32>,
}

/// A vector of pairs, such as ring ciphertexts (mask and body).
pub type PolyPairs = PolyVector<2>;

impl<const K: usize> PolyVector<K> {
    /// Tuples that are best written at a time: their lines lie side by side, and half as many take twice the time each.
    pub const TOGETHER: usize = 16;

    /// The vector of these tuples.
    ///
    /// # Errors
    /// A polynomial of another ring, no memory.
    pub fn new<'a>(
        ring: &Arc<Ring<u32>>,
        tuples: impl IntoIterator<Item = [&'a Poly<u32, Ntt>; K]>,
    ) -> Result<Self, PolyMatrixError> {
        let tuples: Vec<_> = tuples.into_iter().collect();
        let mut all = Self::zero(ring, tuples.len())?;
        all.set(0, &tuples)?;
        Ok(all)
    }

    /// `len` tuples of zeros.
    ///
    /// # Errors
    /// No memory.
    pub fn zero(ring: &Arc<Ring<u32>>, len: usize) -> Result<Self, PolyMatrixError> {
        let bytes = Self::bytes_for(ring.n(), ring.primes().len(), len);
        let words = usize::try_from(bytes).ok().and_then(|bytes| Buffer::zeroed(bytes / size_of::<u32>()).ok());
        Ok(Self { ring: Arc::clone(ring), len, words: words.ok_or(PolyMatrixError::Memory(bytes))? })
    }

    /// Replaces the tuples from number `first` on.
    ///
    /// # Errors
    /// A polynomial of another ring, more tuples than there are.
    pub fn set(&mut self, first: usize, tuples: &[[&Poly<u32, Ntt>; K]]) -> Result<(), PolyMatrixError> {
        if tuples.as_flattened().iter().any(|poly| !self.ring.owns(poly)) {
            return Err(PolyMatrixError::Ring);
        }
        if first.saturating_add(tuples.len()) > self.len {
            return Err(PolyMatrixError::Length { found: first.saturating_add(tuples.len()), rows: self.len });
        }
        let polys: Vec<[&[Line]; K]> =
            tuples.iter().map(|polys| polys.map(|poly| poly.as_slice().as_chunks().0)).collect();
        for (strip, places) in self.strips_mut(1).enumerate() {
            for (place, polys) in places[first..].iter_mut().zip(&polys) {
                *place = polys.map(|lines| lines[strip]);
            }
        }
        Ok(())
    }

    /// The tuples of those numbers, of which lines that lie side by side are read together.
    ///
    /// # Errors
    /// A number out of range.
    pub fn tuples(&self, numbers: Range<usize>) -> Result<Vec<[Poly<u32, Ntt>; K]>, PolyMatrixError> {
        if numbers.end > self.len {
            return Err(PolyMatrixError::Length { found: numbers.end, rows: self.len });
        }
        let mut out: Vec<[_; K]> = numbers.clone().map(|_| std::array::from_fn(|_| self.ring.zero())).collect();
        for (strip, tuples) in self.lines().chunks_exact(self.len.max(1)).enumerate() {
            for (polys, lines) in out.iter_mut().zip(&tuples[numbers.clone()]) {
                for (poly, line) in polys.iter_mut().zip(lines) {
                    poly.as_mut_slice()[strip * LINE..][..LINE].copy_from_slice(line);
                }
            }
        }
        Ok(out)
    }

    /// Bytes of `len` tuples over rings of `n` slots and `primes` primes.
    pub fn bytes_for(n: usize, primes: usize, len: usize) -> u64 {
        (K * size_of::<u32>() * n * primes * len) as u64
    }

    /// Number of tuples.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether they are of that ring.
    pub(super) fn is_of(&self, ring: &Ring<u32>) -> bool {
        self.ring.is_same(ring)
    }

    /// Strips, `each` at a time: the lines of 16 slots of all tuples, then of the next 16.
    pub(super) fn strips_mut(&mut self, each: usize) -> impl Iterator<Item = &mut [[Line; K]]> {
        let lines: &mut [[Line; K]] = self.words.as_chunks_mut().0.as_chunks_mut().0;
        lines.chunks_mut((each * self.len).max(1))
    }

    /// The lines of 16 slots of all tuples.
    pub(super) fn strip(&self, strip: usize) -> &[[Line; K]] {
        &self.lines()[strip * self.len..][..self.len]
    }

    /// All strips.
    fn lines(&self) -> &[[Line; K]] {
        self.words.as_chunks().0.as_chunks().0
    }
}
