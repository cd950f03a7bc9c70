//! An index on its way from a query to selectors of its bits.

use lattice::LatticeError;
use lattice::functional::{Bootstrapper, DigitLayout};
use lattice::lwe::Lwe;

use super::convert::Selectors;
use super::keys::ServerKeys;
use crate::parts::ring_matrix::workspace;

pub(super) type Lattice<T> = std::result::Result<T, LatticeError>;

/// A query, what decomposes it, and the bits it has.
pub(super) struct EncryptedIndex<'a> {
    pub keys: &'a ServerKeys,
    pub bootstrapper: &'a Bootstrapper<u32>,
    pub layout: DigitLayout,
    pub bits: u32,
    pub query: Lwe,
}

/// Bits of an index, the lowest first.
#[derive(Default)]
pub(super) struct Converted {
    /// Modulo Q under the ring key.
    pub large: Vec<Lwe>,
    /// Modulo 2N under the small key.
    pub small: Vec<Lwe>,
    pub selectors: Selectors,
}

impl EncryptedIndex<'_> {
    /// The bits of some digits from number `first` on, without selectors. The last digit may have more bits than the index.
    pub fn bits_of(&self, first: u32, digits: &[Lwe]) -> Lattice<Converted> {
        let (keys, mut workspace) = (self.bootstrapper, workspace());
        let bits = keys.bits(&self.layout, digits, &mut workspace)?;
        let left = self.bits - first * self.layout.bits();
        let large: Vec<Lwe> = bits.into_iter().flatten().take(left as usize).collect();
        let small = keys.to_small(&large, &mut workspace)?;
        Ok(Converted { large, small, selectors: Selectors::new() })
    }
}
