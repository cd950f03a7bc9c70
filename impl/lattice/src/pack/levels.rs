//! The levels of CDKS's tree.

use crate::error::LatticeError;
use ring::{Automorphism, Ntt, Poly, Ring};

/// The automorphism X -> X^k of each level, the first level first.
pub(super) fn exponents(n: usize) -> impl Iterator<Item = u64> {
    (1..=n.ilog2()).map(|level| (1 << level) + 1)
}

/// One level of the tree.
#[derive(Debug)]
pub(super) struct Level {
    /// Y in the NTT domain.
    pub(super) y: Poly<u32, Ntt>,
    pub(super) map: Automorphism,
    /// Nodes of this level.
    pub(super) nodes: usize,
}

/// The levels of a tree over gamma ciphertexts.
pub(super) fn levels(ring: &Ring<u32>, gamma: usize) -> Result<Vec<Level>, LatticeError> {
    let n = ring.n();
    let level = |(k, exponent): (u32, u64)| {
        Ok(Level { y: ring.monomial_ntt(n >> k), map: Automorphism::new(n, exponent)?, nodes: (gamma >> k).max(1) })
    };
    (1..).zip(exponents(n)).map(level).collect()
}
