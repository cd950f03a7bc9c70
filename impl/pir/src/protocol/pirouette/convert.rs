//! LWE to RGSW: selectors of the bits of an index.

use lattice::Rgsw;
use lattice::lwe::Lwe;
use rayon::prelude::*;

use super::keys::ServerKeys;
use crate::core::error::Result;
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
    let group = group(bits.len(), threads).max(1);
    let convert = |bits: &[Lwe]| keys.converter.convert_all(bits, keys.rotation(), &mut workspace());
    let groups: std::result::Result<Vec<_>, _> = if threads > 1 {
        bits.par_chunks(group).map(convert).collect()
    } else {
        bits.chunks(group).map(convert).collect()
    };
    Ok(groups?.into_iter().flatten().collect())
}
