//! The AVX2 path: a line is two registers, of which the even and the odd elements are multiplied apart.

use super::{Line, Plan, Sums};
use std::arch::x86_64::*;

/// Lines prefetched ahead of the one at hand, 4 KiB: the hardware's prefetcher stops at page borders.
const AHEAD: usize = 64;

#[target_feature(enable = "avx2")]
pub(super) fn add_products<const C: usize>(plan: Plan, lines: &[Line], inputs: [&[u32]; C], sums: &mut [Sums; C]) {
    // Sixteen registers hold the sums of two inputs at a time; a strip's lines stay in the first-level cache for the others.
    for (sums, inputs) in sums.chunks_mut(2).zip(inputs.chunks(2)) {
        match (sums, inputs) {
            ([a, b], [x, y]) => pair(plan, lines, [x, y], [a, b]),
            ([a], [x]) => pair(plan, lines, [x], [a]),
            _ => {}
        }
    }
}

#[target_feature(enable = "avx2")]
fn pair<const C: usize>(plan: Plan, lines: &[Line], inputs: [&[u32]; C], sums: [&mut Sums; C]) {
    let mut first = 0;
    while first < lines.len() {
        let last = lines.len().min(first.saturating_add(plan.terms));
        // Registers 0 and 1: even elements of the halves of a line, 2 and 3: odd ones.
        // SAFETY: `sums` holds four registers of each kind; `Sums` is aligned to registers.
        let mut low: [[__m256i; 4]; C] = std::array::from_fn(|c| {
            std::array::from_fn(|part| unsafe { _mm256_load_si256(sums[c].low.as_ptr().add(4 * part).cast()) })
        });
        for i in first..last {
            // SAFETY: i is below the number of lines, and a prefetch may have any address.
            let halves = unsafe {
                let at = lines.as_ptr().add(i);
                _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(AHEAD).cast());
                [_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.cast::<__m256i>().add(1))]
            };
            for c in 0..C {
                // SAFETY: every input has as many entries as there are lines.
                let x = _mm256_set1_epi32(unsafe { *inputs[c].get_unchecked(i) } as i32);
                for half in 0..2 {
                    let odd = _mm256_srli_epi64::<32>(halves[half]);
                    low[c][half] = _mm256_add_epi64(low[c][half], _mm256_mul_epu32(halves[half], x));
                    low[c][2 + half] = _mm256_add_epi64(low[c][2 + half], _mm256_mul_epu32(odd, x));
                }
            }
        }
        let mask = _mm256_set1_epi64x(u32::MAX.into());
        for c in 0..C {
            for (part, low) in low[c].into_iter().enumerate() {
                // SAFETY: as above.
                unsafe {
                    let (to_low, to_high) =
                        (sums[c].low.as_mut_ptr().add(4 * part), sums[c].high.as_mut_ptr().add(4 * part));
                    let high = _mm256_add_epi64(_mm256_load_si256(to_high.cast()), _mm256_srli_epi64::<32>(low));
                    _mm256_store_si256(to_high.cast(), high);
                    _mm256_store_si256(to_low.cast(), _mm256_and_si256(low, mask));
                }
            }
        }
        first = last;
    }
}
