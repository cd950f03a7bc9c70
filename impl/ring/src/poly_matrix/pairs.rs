//! Vectors of pairs of polynomials, in the order in which products read them.

use super::{LINE, Line, PolyMatrixError};
use crate::poly::{Ntt, Poly, Ring};
use std::sync::Arc;

/// A vector of pairs of polynomials in the NTT domain, such as ring ciphertexts (mask and body). Lines lie limb after limb, 16 slots
/// after 16 slots, pair after pair.
pub struct PolyPairs {
    ring: Arc<Ring<u32>>,
    len: usize,
    lines: Vec<[Line; 2]>,
}

impl PolyPairs {
    /// Those pairs.
    ///
    /// # Errors
    /// A polynomial of another ring.
    pub fn new<'a>(
        ring: &Arc<Ring<u32>>,
        pairs: impl IntoIterator<Item = [&'a Poly<u32, Ntt>; 2]>,
    ) -> Result<Self, PolyMatrixError> {
        let pairs: Vec<_> = pairs.into_iter().collect();
        let mut all = Self::zero(ring, pairs.len());
        all.set(0, &pairs)?;
        Ok(all)
    }

    /// `len` pairs of zeros.
    pub fn zero(ring: &Arc<Ring<u32>>, len: usize) -> Self {
        let strips = ring.n() * ring.primes().len() / LINE;
        Self { ring: Arc::clone(ring), len, lines: vec![[[0; LINE]; 2]; strips * len] }
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
        for (strip, lines) in self.lines.chunks_exact_mut(self.len).enumerate() {
            for (line, pair) in lines[first..].iter_mut().zip(pairs) {
                for (line, poly) in line.iter_mut().zip(pair) {
                    line.copy_from_slice(&poly.as_slice()[strip * LINE..][..LINE]);
                }
            }
        }
        Ok(())
    }

    /// Bytes of `len` pairs over rings of `n` slots and so many primes.
    pub fn bytes_for(n: usize, primes: usize, len: usize) -> u64 {
        2 * (size_of::<u32>() * n * primes * len) as u64
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether they are of that ring.
    pub(super) fn is_of(&self, ring: &Ring<u32>) -> bool {
        self.ring.is_same(ring)
    }

    /// The lines of 16 slots of all pairs.
    pub(super) fn strip(&self, strip: usize) -> &[[Line; 2]] {
        &self.lines[strip * self.len..][..self.len]
    }
}
