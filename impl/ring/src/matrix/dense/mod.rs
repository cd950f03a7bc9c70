//! Products with dense matrices modulo 2^32: the client's work (A * s, H * s) and DoublePIR's second level.
//! All matrices row-major, all sums wrapping.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::kernel::{Checked, Kernel, dispatch};
use crate::matrix::operands::{ProductError, check_length};
use rayon::prelude::*;

/// Columns visited together by the products that add up rows, so that the sums stay in the first-level cache.
const STRIP_COLS: usize = 1024;

/// `out = a * x`: `a` is `out.len()` x `x.len()`. With `threads` above 1 the rows are split on the current rayon pool.
pub fn matvec_u32(kernel: Kernel, a: &[u32], x: &[u32], out: &mut [u32], threads: usize) -> Result<(), ProductError> {
    let kernel = Checked::new(kernel)?;
    check_length("elements of the matrix", a.len(), out.len().saturating_mul(x.len()))?;
    if x.is_empty() {
        out.fill(0);
        return Ok(());
    }
    let dots = |out: &mut [u32], a: &[u32]| {
        for (out, row) in out.iter_mut().zip(a.chunks_exact(x.len())) {
            *out = dot(kernel, row, x);
        }
    };
    let each = out.len().div_ceil(threads.max(1)).max(1);
    if each >= out.len() {
        dots(out, a);
    } else {
        out.par_chunks_mut(each).zip(a.par_chunks(each * x.len())).for_each(|(out, a)| dots(out, a));
    }
    Ok(())
}

/// `out = x^T * a`, that is, the transposed matrix times x: `a` is `x.len()` x `out.len()`. One thread.
pub fn mat_t_vec(kernel: Kernel, a: &[u32], x: &[u32], out: &mut [u32]) -> Result<(), ProductError> {
    out.fill(0);
    digits_product(Checked::new(kernel)?, x, x.len(), |&coefficient| coefficient, a, out.len(), out)
}

/// `out += digits * a`: `digits` is delta x l (signed), `a` is l x `n`, `out` is delta x `n`. One pass over `a` serves four
/// rows of digits. One thread: the work is bound by the bandwidth of a core.
pub fn digits_accumulate(
    kernel: Kernel,
    digits: &[i16],
    l: usize,
    a: &[u32],
    n: usize,
    out: &mut [u32],
) -> Result<(), ProductError> {
    digits_product(Checked::new(kernel)?, digits, l, |&digit| i32::from(digit) as u32, a, n, out)
}

fn digits_product<T>(
    kernel: Checked,
    digits: &[T],
    l: usize,
    residue: impl Fn(&T) -> u32,
    a: &[u32],
    n: usize,
    out: &mut [u32],
) -> Result<(), ProductError> {
    check_length("elements of the matrix", a.len(), l.saturating_mul(n))?;
    if l == 0 || n == 0 {
        return Ok(());
    }
    let delta = digits.len() / l;
    check_length("digits", digits.len(), delta * l)?;
    check_length("elements of the result", out.len(), delta * n)?;
    // The rows after the last whole group of eight, completed by zeros.
    let mut tail = vec![0; if l.is_multiple_of(ACCUMULATED_ROWS) { 0 } else { ACCUMULATED_ROWS * n }];
    let tail_start = l - l % ACCUMULATED_ROWS;
    tail[..a.len() - tail_start * n].copy_from_slice(&a[tail_start * n..]);
    for first in (0..l).step_by(ACCUMULATED_ROWS) {
        let rows = if first == tail_start { &tail[..] } else { &a[first * n..] };
        let coefficients = |row: usize| -> [u32; ACCUMULATED_ROWS] {
            std::array::from_fn(|i| if first + i < l { residue(&digits[row * l + first + i]) } else { 0 })
        };
        for col in (0..n).step_by(STRIP_COLS) {
            let cols = STRIP_COLS.min(n - col);
            let mut row = 0;
            while row < delta {
                let out = &mut out[row * n + col..];
                if delta - row >= 4 {
                    let four: [_; 4] = std::array::from_fn(|d| coefficients(row + d));
                    accumulate(kernel, &four, (&rows[col..], n), cols, (out, n));
                    row += 4;
                } else {
                    accumulate(kernel, &[coefficients(row)], (&rows[col..], n), cols, (out, n));
                    row += 1;
                }
            }
        }
    }
    Ok(())
}

/// Inner product modulo 2^32 of two vectors of one length.
fn dot(k: Checked, a: &[u32], x: &[u32]) -> u32 {
    assert_eq!(a.len(), x.len());
    dispatch!(k, dot(a, x))
}

/// Rows that one call of [`accumulate`] adds.
const ACCUMULATED_ROWS: usize = 8;

/// For each of `D` rows `out[d]` (`out_stride` apart): adds the sum over i of `coefficients[d][i] * rows[i]` modulo 2^32, over
/// `cols` columns, where the eight rows are `stride` apart.
fn accumulate<const D: usize>(
    k: Checked,
    coefficients: &[[u32; ACCUMULATED_ROWS]; D],
    (rows, stride): (&[u32], usize),
    cols: usize,
    (out, out_stride): (&mut [u32], usize),
) {
    assert!(rows.len() >= (ACCUMULATED_ROWS - 1) * stride + cols && out.len() >= (D - 1) * out_stride + cols);
    dispatch!(k, accumulate::<D>(coefficients, rows, stride, cols, out, out_stride));
}
