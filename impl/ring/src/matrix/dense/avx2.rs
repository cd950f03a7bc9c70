//! The AVX2 path.

use super::ACCUMULATED_ROWS;
use super::scalar;
use std::arch::x86_64::*;

#[target_feature(enable = "avx2")]
pub(super) fn dot(a: &[u32], x: &[u32]) -> u32 {
    scalar::dot(a, x)
}

#[target_feature(enable = "avx2")]
pub(super) fn accumulate<const D: usize>(
    coefficients: &[[u32; ACCUMULATED_ROWS]; D],
    rows: &[u32],
    stride: usize,
    cols: usize,
    out: &mut [u32],
    out_stride: usize,
) {
    const LANES: usize = 8;
    let whole = cols - cols % (2 * LANES);
    for col in (0..whole).step_by(2 * LANES) {
        let mut acc = [[_mm256_setzero_si256(); 2]; D];
        for i in 0..ACCUMULATED_ROWS {
            // SAFETY: the dispatch module asserts that there are eight rows of `cols` elements; prefetches cannot fault.
            unsafe {
                let place = rows.as_ptr().add(i * stride + col);
                // Eight short rows are eight streams that end before the processor has learnt them: the next eight, which
                // follow in memory, are asked for by hand.
                _mm_prefetch::<_MM_HINT_T1>(place.wrapping_add(ACCUMULATED_ROWS * stride).cast());
                let row = [_mm256_loadu_si256(place.cast()), _mm256_loadu_si256(place.add(LANES).cast())];
                for (acc, coefficients) in acc.iter_mut().zip(coefficients) {
                    let coefficient = _mm256_set1_epi32(coefficients[i] as i32);
                    for (acc, row) in acc.iter_mut().zip(row) {
                        *acc = _mm256_add_epi32(*acc, _mm256_mullo_epi32(coefficient, row));
                    }
                }
            }
        }
        for (d, sums) in acc.iter().enumerate() {
            for (half, sum) in sums.iter().enumerate() {
                // SAFETY: the dispatch module asserts that each row of `out` has `cols` elements.
                unsafe {
                    let place = out.as_mut_ptr().add(d * out_stride + col + half * LANES).cast();
                    _mm256_storeu_si256(place, _mm256_add_epi32(_mm256_loadu_si256(place), *sum));
                }
            }
        }
    }
    scalar::accumulate(coefficients, &rows[whole..], stride, cols - whole, &mut out[whole..], out_stride);
}
