//! The conversion of an index's bits to selectors: LWE to RGSW.

use lattice::functional::{Bootstrapper, DigitLayout};
use lattice::lwe::Lwe;
use lattice::{LatticeError, Rgsw};

use super::keys::ServerKeys;
use crate::core::threads::side_by_side;
use crate::core::{Error, Result};
use crate::parts::ring_matrix::workspace;

/// Bits whose accumulators are rotated side by side: they share one pass over the blind-rotation key and fit into the second-level
/// cache.
pub const BITS_TOGETHER: usize = 8;

/// Bits of one query's index as RGSW encryptions.
pub type Selectors = Vec<Rgsw<u32>>;

/// Bits of a group, such that every thread gets the same number of groups of one size.
pub fn group(bits: usize, threads: usize) -> usize {
    let groups = bits.div_ceil(BITS_TOGETHER).next_multiple_of(threads.max(1));
    bits.div_ceil(groups.max(1))
}

/// Selectors of bits modulo 2N under the small key.
pub fn convert(keys: &ServerKeys, bits: &[Lwe], threads: usize) -> Result<Selectors> {
    let groups: Vec<_> = bits.chunks(group(bits.len(), threads).max(1)).collect();
    let converted = side_by_side(0..groups.len(), threads, |i| {
        keys.converter.convert_all(groups[i], keys.rotation(), &mut workspace()).map_err(Error::from)
    });
    Ok(converted?.into_iter().flatten().collect())
}

pub(super) type Lattice<T> = std::result::Result<T, LatticeError>;

/// A query, the keys and layout that decompose it, and its number of bits.
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
    /// The bits of digits from number `first` on, without selectors. The last digit may have more bits than are left of the index.
    pub fn bits_of(&self, first: u32, digits: &[Lwe]) -> Lattice<Converted> {
        let (keys, mut workspace) = (self.bootstrapper, workspace());
        let bits = keys.bits(&self.layout, digits, &mut workspace)?;
        let left = self.bits - first * self.layout.bits();
        let large: Vec<Lwe> = bits.into_iter().flatten().take(left as usize).collect();
        let small = keys.to_small(&large, &mut workspace)?;
        Ok(Converted { large, small, selectors: Selectors::new() })
    }
}
