//! The work of selecting: a vector of leaves, the product with the matrix, the folding.

use ring::{Kind, PolyMatrix, PolyPairs, RingShape, Work};

use super::Layout;
use crate::core::plan::count;

/// A shorter vector is on small pages.
const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// The ring of the stored polynomials: modulo the first `primes` primes.
pub(crate) fn matrix_shape(ring: RingShape, primes: usize) -> RingShape {
    RingShape { primes, ..ring }
}

/// Bytes of small pages that a vector of leaves takes from the system. It is new memory in each answer, which is cheap from a huge page on.
pub(crate) fn small_pages(layout: &Layout, matrix: RingShape) -> u64 {
    let bytes = PolyPairs::bytes_for(matrix.degree, matrix.primes, layout.matrix_rows());
    if bytes < HUGE_PAGE_BYTES { bytes } else { 0 }
}

/// The work of the products of `queries` vectors with the matrix, in `passes` passes over its `stored` bytes.
pub(crate) fn product_work(layout: &Layout, matrix: RingShape, queries: u64, (passes, stored): (u64, u64)) -> Work {
    let vectors = PolyPairs::bytes_for(matrix.degree, matrix.primes, layout.matrix_rows());
    let read = count(&[passes, stored]).saturating_add(count(&[queries, vectors]));
    let dimensions = (layout.matrix_rows(), layout.matrix_columns());
    PolyMatrix::multiply_work(matrix, dimensions, 2 * queries, read)
        + matrix.transforms(count(&[queries, 2 * layout.matrix_columns() as u64]))
}

/// The work of folding the columns of every part for one query: a CMUX for every stored pair. Missing columns make fewer.
pub(crate) fn folding_work(layout: &Layout, cmux: Work) -> Work {
    let folds: u64 = (0..layout.column_bits).map(|bit| (layout.columns as u64).min(1 << bit)).sum();
    cmux * layout.parts as u64 * folds
}

/// The work with all kinds that steps with ciphertexts list, even if a count is zero.
pub(crate) fn of_ciphertexts(ring: RingShape, work: Work) -> Work {
    let kinds = [Kind::Digits, Kind::DividedDigits, Kind::ResidueMultiplyAdds, Kind::MovedSlots];
    work + ring.ntts(0) + kinds.map(|kind| (kind, 0)).into()
}
