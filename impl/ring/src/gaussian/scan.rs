//! Magnitudes of many draws by a scan of the whole table. Each path has one function, with the same results.

use crate::kernel::{Checked, Kernel};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Draws that are scanned together.
pub(super) const TOGETHER: usize = 32;

/// For each draw the number of thresholds that it reached, in time that depends only on the numbers of draws and thresholds.
pub(super) fn reached(kernel: Checked, thresholds: &[u64], draws: &[u64; TOGETHER]) -> [u32; TOGETHER] {
    match kernel.kernel() {
        // SAFETY: a `Checked` kernel exists only if the processor has every feature its functions enable.
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 => unsafe { avx512(thresholds, draws) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 => unsafe { avx2(thresholds, draws) },
        _ => draws.map(|draw| thresholds.iter().map(|threshold| u32::from(*threshold <= draw)).sum()),
    }
}

/// Registers of draws that are held beside their counts.
#[cfg(target_arch = "x86_64")]
const HELD: usize = 4;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(thresholds: &[u64], draws: &[u64; TOGETHER]) -> [u32; TOGETHER] {
    const LANES: usize = 4;
    // The instruction set has only signed comparisons.
    let flip = _mm256_set1_epi64x(i64::MIN);
    let mut out = [0; TOGETHER];
    for (draws, out) in draws.as_chunks::<{ LANES * HELD }>().0.iter().zip(out.as_chunks_mut::<{ LANES * HELD }>().0) {
        let draws: [__m256i; HELD] = bytemuck::cast(*draws);
        let draws = draws.map(|draw| _mm256_xor_si256(draw, flip));
        // Subtracts one for each threshold that is not reached.
        let mut counts = [_mm256_set1_epi64x(thresholds.len() as i64); HELD];
        for threshold in thresholds {
            let threshold = _mm256_xor_si256(_mm256_set1_epi64x(*threshold as i64), flip);
            for (count, draw) in counts.iter_mut().zip(draws) {
                *count = _mm256_add_epi64(*count, _mm256_cmpgt_epi64(threshold, draw));
            }
        }
        *out = bytemuck::cast::<_, [u64; LANES * HELD]>(counts).map(|count| count as u32);
    }
    out
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512(thresholds: &[u64], draws: &[u64; TOGETHER]) -> [u32; TOGETHER] {
    const LANES: usize = 8;
    let one = _mm512_set1_epi64(1);
    // SAFETY: eight draws each.
    let draws: [__m512i; HELD] =
        std::array::from_fn(|i| unsafe { _mm512_loadu_si512(draws[i * LANES..][..LANES].as_ptr().cast()) });
    let mut counts = [_mm512_setzero_si512(); HELD];
    for threshold in thresholds {
        let threshold = _mm512_set1_epi64(*threshold as i64);
        for (count, draw) in counts.iter_mut().zip(draws) {
            *count = _mm512_mask_add_epi64(*count, _mm512_cmple_epu64_mask(threshold, draw), *count, one);
        }
    }
    bytemuck::cast(counts.map(|count| _mm512_cvtepi64_epi32(count)))
}

#[cfg(test)]
mod tests;
