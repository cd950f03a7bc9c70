//! The Galois automorphisms f(X) -> f(X^k), k odd, in both domains.

use crate::modulus::inverse_of_odd;

/// Reasons to refuse an automorphism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AutomorphismError {
    /// N is not a power of two from 2^4 to 2^31.
    #[error("automorphisms need a power of two from 2^4 to 2^31 as N, not {0}")]
    Size(usize),
    /// k is even.
    #[error("X -> X^{0} is not an automorphism: the exponent must be odd")]
    Even(u64),
}

/// The tables of one automorphism f(X) -> f(X^k) modulo X^N + 1; they do not depend on the primes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automorphism {
    exponent: u64,
    /// Coefficient j of the image is coefficient `sources[j] >> 1` of the argument, negated if the lowest bit is set.
    sources: Vec<u32>,
    /// Slot j of the image is slot `slots[j]` of the argument.
    slots: Vec<u32>,
}

impl Automorphism {
    /// Bytes of its tables.
    pub fn bytes(&self) -> usize {
        size_of_val::<[u32]>(&self.sources) + size_of_val::<[u32]>(&self.slots)
    }

    /// The automorphism of exponent `k`, taken modulo 2N.
    pub fn new(n: usize, k: u64) -> Result<Self, AutomorphismError> {
        if !n.is_power_of_two() || !(4..=31).contains(&n.trailing_zeros()) {
            return Err(AutomorphismError::Size(n));
        }
        if k.is_multiple_of(2) {
            return Err(AutomorphismError::Even(k));
        }
        let mask = 2 * n as u64 - 1;
        let k = k & mask;
        let inverse = inverse_of_odd(k) & mask;
        // X^j is the image of X^(j / k), and X^(i + N) = -X^i.
        let source = |j: u64| {
            let i = (j * inverse) & mask;
            ((i % n as u64) << 1) | (i / n as u64)
        };
        // The value of the image in a slot of exponent e is f(psi^(e k)); slot j has exponent 2 bitrev(j) + 1.
        let shift = 64 - n.trailing_zeros();
        let reverse = |j: u64| j.reverse_bits() >> shift;
        let slot = |j: u64| reverse((((2 * reverse(j) + 1) * k) & mask) / 2);
        Ok(Self {
            exponent: k,
            sources: (0..n as u64).map(|j| source(j) as u32).collect(),
            slots: (0..n as u64).map(|j| slot(j) as u32).collect(),
        })
    }

    /// N.
    pub fn n(&self) -> usize {
        self.slots.len()
    }

    /// k modulo 2N.
    pub fn exponent(&self) -> u64 {
        self.exponent
    }

    /// For each coefficient of the image, twice the index of its source, plus one if the sign changes.
    pub(super) fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// For each slot of the image, the slot of the argument that it is.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }
}
