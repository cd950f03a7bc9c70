//! Matrix times vectors of residues, bound by memory bandwidth.

use super::part::Part;
use super::residues::{DIGITS, LINES_PER_SUM, MAX_PRIME, ResidueVector};
use super::{ColumnMatrix, LINE, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::{Checked, Kernel, dispatch};
use crate::matrix::operands::{ProductError, check_length};
use crate::work::{Kind, Work, count};
use rayon::prelude::*;

/// Columns whose part of a block stays in the cache until it is multiplied by every query: 16 KiB for 2048 rows.
const COLUMNS_PER_TILE: usize = 4;

/// Rows of a part of a block: the number that the kernels add in 32-bit lanes.
const PART_ROWS: usize = LINES_PER_SUM * LINE;

/// Parts whose products a 64-bit sum holds: one adds less than 2^11 * 2^15 * 646^3 / 2 < 2^53.01.
const PARTS_PER_SUM: usize = 256;

const _: () = assert!((PARTS_PER_SUM * PART_ROWS) as i128 * (1 << 14) * (MAX_PRIME as i128) < 1 << 62);

/// The work of [`product`] with a matrix of `stored` bytes and `vectors` vectors modulo `primes` primes.
pub fn product_work(rows: u64, columns: u64, stored: u64, (vectors, primes): (u64, u64)) -> Work {
    Work::from([(Kind::MultiplyAddsU16, count(&[primes, rows, columns, vectors])), (Kind::BytesRead, stored)])
}

/// Products of a matrix with one or more vectors, all modulo the same primes, in one pass over the matrix: for each vector, for
/// each of its primes, the sums over the rows of `matrix[row][col] * query[row]`, for all columns. With `threads` above 1
/// the columns are split into that many tasks on the current rayon pool.
///
/// # Errors
/// A kernel this processor lacks, a vector without as many elements as the matrix has rows, vectors modulo other primes.
pub fn product(
    kernel: Kernel,
    matrix: &ColumnMatrix,
    queries: &[ResidueVector],
    threads: usize,
) -> Result<Vec<Vec<u32>>, ProductError> {
    let kernel = Checked::new(kernel)?;
    let Some(first) = queries.first() else { return Ok(Vec::new()) };
    for query in queries {
        check_length("elements of a query", query.len(), matrix.rows())?;
        if query.primes() != first.primes() {
            return Err(ProductError::Moduli);
        }
    }
    let primes = first.primes();
    let cols_each = matrix.cols().div_ceil(threads.max(1)).next_multiple_of(COLUMNS_PER_TILE);
    let starts: Vec<usize> = (0..matrix.cols()).step_by(cols_each).collect();
    let task = |start: &usize| multiply(kernel, matrix, *start, cols_each.min(matrix.cols() - start), queries);
    let parts: Vec<Vec<i64>> = match starts.as_slice() {
        [all] => vec![task(all)],
        several => several.par_iter().map(task).collect(),
    };
    let residues = |k: usize| {
        let mut out = Vec::with_capacity(primes.len() * matrix.cols());
        for (i, prime) in primes.iter().enumerate() {
            for part in &parts {
                let sums = &part[k * part.len() / queries.len()..(k + 1) * part.len() / queries.len()];
                out.extend(sums.chunks_exact(primes.len()).map(|sums| prime.from_signed(sums[i])));
            }
        }
        out
    };
    let mut products: Vec<Vec<u32>> = (0..queries.len()).map(residues).collect();
    for (row, col) in matrix.excess() {
        for (query, product) in queries.iter().zip(&mut products) {
            for (i, prime) in primes.iter().enumerate() {
                let slot = &mut product[i * matrix.cols() + col];
                *slot = prime.add(*slot, query.residue(row, i));
            }
        }
    }
    Ok(products)
}

/// For each query, for each of `cols` columns from `first_col` on, for each prime, a number congruent to the sum.
fn multiply(
    kernel: Checked,
    matrix: &ColumnMatrix,
    first_col: usize,
    cols: usize,
    queries: &[ResidueVector],
) -> Vec<i64> {
    let primes = queries[0].primes();
    let mut sums = vec![0i64; queries.len() * cols * primes.len()];
    let mut parts = 0;
    for block in 0..matrix.blocks() {
        let height = matrix.height(block);
        let data = &matrix.block(block)[first_col * height..(first_col + cols) * height];
        for first_row in (0..height).step_by(PART_ROWS) {
            parts += 1;
            if parts % PARTS_PER_SUM == 0 {
                for sums in sums.chunks_exact_mut(primes.len()) {
                    sums.iter_mut().zip(primes).for_each(|(sum, prime)| *sum = prime.from_signed(*sum).into());
                }
            }
            let rows = PART_ROWS.min(height - first_row);
            let mut tiles = data.chunks(height * COLUMNS_PER_TILE).enumerate().peekable();
            while let Some((tile, data)) = tiles.next() {
                let next = tiles.peek().map_or(&[][..], |(_, next)| next);
                for (k, query) in queries.iter().enumerate() {
                    let digits = query.lines(block * matrix.degree() + first_row, rows);
                    let sums = &mut sums[(k * cols + tile * COLUMNS_PER_TILE) * primes.len()..];
                    let sums = &mut sums[..data.len() / height * primes.len()];
                    let share = (queries.len() > 1)
                        .then(|| &next[k * next.len() / queries.len()..(k + 1) * next.len() / queries.len()]);
                    multiply_part(kernel, Part { data, height, first_row, digits, share }, primes.len(), sums);
                }
            }
        }
    }
    sums
}

/// Adds to `sums[col * primes + i]` the product of the part's column `col` with the digits of prime i.
fn multiply_part(kernel: Checked, part: Part, primes: usize, sums: &mut [i64]) {
    let lines = part.digits.len() / (DIGITS * primes);
    assert!(lines <= LINES_PER_SUM && part.first_row + lines * LINE <= part.height);
    assert!(part.data.len().is_multiple_of(part.height) && sums.len() == part.data.len() / part.height * primes);
    dispatch!(kernel, part(part, primes, sums));
}
