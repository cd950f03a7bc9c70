//! Columns times ring elements: the part of the first product that does not depend on the query.

use super::ColumnMatrix;
use crate::matrix::operands::{ProductError, check_length};
use crate::poly::{Ntt, Poly, Ring, RingShape};
use crate::work::{Kind, Work, count};

/// Polynomials transformed before their products are summed: few, so that they stay in the second-level cache.
const BATCH: usize = 8;

/// The work of [`ring_products`] for `columns` columns of `rows` rows, with new memory for the results.
pub fn ring_products_work(ring: RingShape, rows: u64, columns: u64) -> Work {
    let polynomials = count(&[columns, rows.div_ceil(ring.degree as u64)]);
    let entries =
        [(Kind::WidenedEntries, count(&[columns, rows])), (Kind::AllocatedBytes, count(&[columns, ring.poly_bytes()]))];
    ring.transforms(polynomials) + ring.products(polynomials) + entries.into()
}

/// For each of `out.len()` columns from `first_col` on: the sum over the blocks of D(1/X), where D(X) is the block's polynomial
/// in that column, times `factors[block]`, modulo X^N + 1 and the primes.
///
/// With `factors[block]` = a_block(X), where query rows are the coefficients of a_block(X) s(X) + e, a result is the ring mask of that
/// column's LWE sample, which packing takes.
///
/// # Errors
/// Numbers of factors and blocks that differ, a degree other than the ring's, columns outside the matrix.
pub fn ring_products(
    matrix: &ColumnMatrix,
    ring: &Ring<u32>,
    factors: &[Poly<u32, Ntt>],
    first_col: usize,
    out: &mut [Poly<u32, Ntt>],
) -> Result<(), ProductError> {
    check_length("factors of the blocks", factors.len(), matrix.blocks())?;
    check_length("rows of a block", matrix.degree(), ring.n())?;
    if first_col + out.len() > matrix.cols() {
        check_length("columns", first_col + out.len(), matrix.cols())?;
    }
    let mut wide = vec![0i32; ring.n()];
    let mut transformed: Vec<Poly<u32, Ntt>> = (0..BATCH.min(matrix.blocks())).map(|_| ring.zero()).collect();
    let mut sum = ring.zero();
    let mut excess: Vec<(usize, usize)> = matrix.excess().map(|(row, col)| (col, row)).collect();
    excess.sort_unstable();
    for (i, out) in out.iter_mut().enumerate() {
        for first in (0..matrix.blocks()).step_by(BATCH) {
            let blocks = BATCH.min(matrix.blocks() - first);
            for (block, transformed) in (first..first + blocks).zip(&mut transformed) {
                let entries = matrix.polynomial(block, first_col + i);
                reflect(entries, &mut wide);
                let (first_row, col) = (block * ring.n(), first_col + i);
                let listed = excess.partition_point(|place| *place < (col, first_row));
                for (_, row) in excess[listed..].iter().take_while(|place| **place < (col, first_row + ring.n())) {
                    match row - first_row {
                        0 => wide[0] += 1,
                        at => wide[ring.n() - at] -= 1,
                    }
                }
                for ((_, plan), limb) in ring.limbs().iter().zip(transformed.limbs_mut()) {
                    plan.forward_signed(&wide, limb);
                }
            }
            let left: Vec<_> = transformed[..blocks].iter().collect();
            let right: Vec<_> = factors[first..first + blocks].iter().collect();
            if first == 0 {
                ring.sum_products(&left, &right, &mut [&mut *out]);
            } else {
                ring.sum_products(&left, &right, &mut [&mut sum]);
                ring.add_assign(out, &sum);
            }
        }
    }
    Ok(())
}

/// The coefficients of D(1/X) = D_0 - sum over i > 0 of D_i X^(N - i), where D has the entries as its first coefficients.
fn reflect(entries: &[i16], out: &mut [i32]) {
    let (constant, rest) = out.split_at_mut(1);
    constant[0] = entries.first().map_or(0, |entry| i32::from(*entry));
    let entries = entries.get(1..).unwrap_or_default();
    let (zeros, reflected) = rest.split_at_mut(rest.len() - entries.len());
    zeros.fill(0);
    reflected.iter_mut().rev().zip(entries).for_each(|(out, entry)| *out = -i32::from(*entry));
}
