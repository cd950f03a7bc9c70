//! The portable path.

use super::ACCUMULATED_ROWS;

/// Several running sums, so that the additions of one vector do not wait for those of the last.
#[inline(always)]
pub(super) fn dot(a: &[u32], x: &[u32]) -> u32 {
    const LANES: usize = 64;
    let mut sums = [0u32; LANES];
    let (a_chunks, x_chunks) = (a.chunks_exact(LANES), x.chunks_exact(LANES));
    let rest = a_chunks.remainder().iter().zip(x_chunks.remainder());
    let rest = rest.fold(0u32, |sum, (a, x)| sum.wrapping_add(a.wrapping_mul(*x)));
    for (a, x) in a_chunks.zip(x_chunks) {
        for lane in 0..LANES {
            sums[lane] = sums[lane].wrapping_add(a[lane].wrapping_mul(x[lane]));
        }
    }
    sums.iter().fold(rest, |sum, lane| sum.wrapping_add(*lane))
}

pub(super) fn accumulate<const D: usize>(
    coefficients: &[[u32; ACCUMULATED_ROWS]; D],
    rows: &[u32],
    stride: usize,
    cols: usize,
    out: &mut [u32],
    out_stride: usize,
) {
    for (d, coefficients) in coefficients.iter().enumerate() {
        let out = &mut out[d * out_stride..][..cols];
        for (i, coefficient) in coefficients.iter().enumerate() {
            for (out, element) in out.iter_mut().zip(&rows[i * stride..][..cols]) {
                *out = out.wrapping_add(coefficient.wrapping_mul(*element));
            }
        }
    }
}
