//! Polynomials modulo X^N + 1 and a product of primes, in coefficient or NTT domain.

mod automorphism;
mod ring;
mod shape;
mod storage;
#[cfg(test)]
mod tests;

pub use automorphism::{Automorphism, AutomorphismError};
pub use ring::{Ring, RingError};
pub use shape::RingShape;

use crate::residues::Word;
use std::marker::PhantomData;
use std::sync::Arc;
use storage::Aligned;
use zeroize::Zeroize;

/// Coefficient domain: element j of a limb is the coefficient of X^j.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coefficient;

/// NTT domain: element j of a limb is the value in slot j, at psi^(2 bitrev(j) + 1) for the limb's root psi of order 2N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ntt;

/// A polynomial of N coefficients as its residues modulo each prime of a [`Ring`], in domain `D`: limb i is elements i * N to
/// (i + 1) * N. It knows the primes. Operations are the ring's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Poly<W: Word, D> {
    data: Aligned<W>,
    n: usize,
    primes: Arc<[u64]>,
    domain: PhantomData<D>,
}

impl<W: Word, D> Zeroize for Poly<W, D> {
    fn zeroize(&mut self) {
        self.data.zeroize();
    }
}

impl<W: Word, D> Poly<W, D> {
    fn from_data(data: Aligned<W>, n: usize, primes: Arc<[u64]>) -> Self {
        Self { data, n, primes, domain: PhantomData }
    }

    /// Bytes of its residues.
    pub fn bytes(&self) -> usize {
        size_of_val::<[W]>(&self.data)
    }

    /// Becomes `other`, a polynomial of the same ring, without new memory.
    ///
    /// # Panics
    /// If it is of another ring.
    pub fn copy_from(&mut self, other: &Self) {
        assert!(other.is_over(self.n, &self.primes), "polynomials of the same ring");
        self.data.copy_from_slice(&other.data);
    }

    /// Whether it has N coefficients modulo those primes.
    fn is_over(&self, n: usize, primes: &Arc<[u64]>) -> bool {
        self.n == n && (Arc::ptr_eq(&self.primes, primes) || self.primes == *primes)
    }

    /// N.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The residues modulo prime i.
    pub fn limb(&self, i: usize) -> &[W] {
        &self.data[i * self.n..(i + 1) * self.n]
    }

    /// The residues modulo prime i; written values must be below it.
    pub fn limb_mut(&mut self, i: usize) -> &mut [W] {
        &mut self.data[i * self.n..(i + 1) * self.n]
    }

    /// All limbs, one after the other.
    pub fn limbs(&self) -> std::slice::ChunksExact<'_, W> {
        self.data.chunks_exact(self.n)
    }

    /// All limbs, one after the other; written values must be below their primes.
    pub fn limbs_mut(&mut self) -> std::slice::ChunksExactMut<'_, W> {
        self.data.chunks_exact_mut(self.n)
    }

    /// All residues, limb after limb.
    pub fn as_slice(&self) -> &[W] {
        &self.data
    }

    /// All residues, limb after limb; written values must be below their primes.
    pub fn as_mut_slice(&mut self) -> &mut [W] {
        &mut self.data
    }
}
