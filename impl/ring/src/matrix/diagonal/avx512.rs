//! The AVX-512 path: a line is one register; its even and odd elements are multiplied apart, for the multiplier takes the lower
//! half of each lane of 64 bits, by an input entry that is broadcast as it is loaded.

use super::{Line, Plan, Sums};
use std::arch::x86_64::*;

/// Lines prefetched ahead of the one at hand, 4 KiB: the hardware's prefetcher stops at page borders.
const AHEAD: usize = 64;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn add_products<const C: usize>(plan: Plan, lines: &[Line], inputs: [&[u32]; C], sums: &mut [Sums; C]) {
    let mut first = 0;
    while first < lines.len() {
        let last = lines.len().min(first.saturating_add(plan.terms));
        // SAFETY: `sums` holds two registers of each kind; `Sums` is aligned to registers.
        let mut low: [[__m512i; 2]; C] = std::array::from_fn(|c| unsafe {
            let at = sums[c].low.as_ptr();
            [_mm512_load_si512(at.cast()), _mm512_load_si512(at.add(8).cast())]
        });
        for i in first..last {
            // SAFETY: i is below the number of lines, and a prefetch may have any address.
            let line = unsafe {
                let at = lines.as_ptr().add(i);
                _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(AHEAD).cast());
                _mm512_loadu_si512(at.cast())
            };
            let odd = _mm512_srli_epi64::<32>(line);
            for c in 0..C {
                // SAFETY: every input has as many entries as there are lines.
                let x = _mm512_set1_epi32(unsafe { *inputs[c].get_unchecked(i) } as i32);
                low[c][0] = _mm512_add_epi64(low[c][0], _mm512_mul_epu32(line, x));
                low[c][1] = _mm512_add_epi64(low[c][1], _mm512_mul_epu32(odd, x));
            }
        }
        let mask = _mm512_set1_epi64(u32::MAX.into());
        for c in 0..C {
            for (half, low) in low[c].into_iter().enumerate() {
                // SAFETY: as above.
                unsafe {
                    let (to_low, to_high) =
                        (sums[c].low.as_mut_ptr().add(8 * half), sums[c].high.as_mut_ptr().add(8 * half));
                    let high = _mm512_add_epi64(_mm512_load_si512(to_high.cast()), _mm512_srli_epi64::<32>(low));
                    _mm512_store_si512(to_high.cast(), high);
                    _mm512_store_si512(to_low.cast(), _mm512_and_si512(low, mask));
                }
            }
        }
        first = last;
    }
}
