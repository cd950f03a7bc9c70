//! LWE to RGSW: selectors of the bits of an index.

use lattice::Rgsw;
use lattice::lwe::Lwe;

use super::keys::ServerKeys;
use crate::core::error::{Error, Result};
use crate::core::tables::side_by_side;
use crate::parts::ring_matrix::workspace;

/// Bits whose accumulators are rotated side by side: they share one pass over the blind-rotation key, and stay in the second-level
/// cache.
pub const BITS_TOGETHER: usize = 8;

/// Bits of one query's index as RGSW encryptions.
pub type Selectors = Vec<Rgsw<u32>>;

/// Bits of a group, where every thread gets as many groups of one size.
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
