//! The AVX-512 path.

use super::ACCUMULATED_ROWS;
use super::scalar;
use std::arch::x86_64::*;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn dot(a: &[u32], x: &[u32]) -> u32 {
    scalar::dot(a, x)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn accumulate<const D: usize>(
    coefficients: &[[u32; ACCUMULATED_ROWS]; D],
    rows: &[u32],
    stride: usize,
    cols: usize,
    out: &mut [u32],
    out_stride: usize,
) {
    const LANES: usize = 16;
    let whole = cols - cols % LANES;
    for col in (0..whole).step_by(LANES) {
        let mut acc = [_mm512_setzero_si512(); D];
        for i in 0..ACCUMULATED_ROWS {
            // SAFETY: the dispatch module asserts that there are eight rows of `cols` elements; prefetches cannot fault.
            unsafe {
                let place = rows.as_ptr().add(i * stride + col);
                // Eight short rows are eight streams that end before the processor has learnt them: the next eight, which
                // follow in memory, are asked for by hand.
                _mm_prefetch::<_MM_HINT_T1>(place.wrapping_add(ACCUMULATED_ROWS * stride).cast());
                let row = _mm512_loadu_si512(place.cast());
                for (acc, coefficients) in acc.iter_mut().zip(coefficients) {
                    let product = _mm512_mullo_epi32(_mm512_set1_epi32(coefficients[i] as i32), row);
                    *acc = _mm512_add_epi32(*acc, product);
                }
            }
        }
        for (d, sum) in acc.iter().enumerate() {
            // SAFETY: the dispatch module asserts that each row of `out` has `cols` elements.
            unsafe {
                let place = out.as_mut_ptr().add(d * out_stride + col).cast();
                _mm512_storeu_si512(place, _mm512_add_epi32(_mm512_loadu_si512(place), *sum));
            }
        }
    }
    scalar::accumulate(coefficients, &rows[whole..], stride, cols - whole, &mut out[whole..], out_stride);
}
