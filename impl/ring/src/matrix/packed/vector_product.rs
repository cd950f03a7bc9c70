//! Matrix times vectors modulo 2^32: the online work of SimplePIR and its kin, bound by memory bandwidth.

use super::kernels;
use super::matrix::PackedMatrix;
use super::order::BLOCK_ROWS;
use crate::bits::CHUNK;
use crate::kernel::{Checked, Kernel};
use crate::matrix::lanes::{Lanes, split};
use crate::matrix::operands::{ProductError, check_length};
use crate::work::{Kind, Work, count};
use rayon::prelude::*;

/// A vector modulo 2^32 as the kernels read it: each element as low + 2^16 * high with signed 16-bit halves; per chunk of 32
/// elements the low halves, then the high ones; zero padded.
pub struct PreparedVector {
    halves: Vec<[Lanes; 2]>,
    len: usize,
    sum: u32,
}

impl PreparedVector {
    /// Number of elements.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The sum of its elements modulo 2^32, by which a common offset of all entries of a matrix changes a product.
    pub fn sum(&self) -> u32 {
        self.sum
    }
}

/// Vectors modulo 2^32.
pub struct Vector32;

impl Vector32 {
    /// Splits a vector into the form that [`matvec`] takes. Costs one pass; do it once a query.
    pub fn prepare(elements: &[u32]) -> PreparedVector {
        let (chunks, rest) = elements.as_chunks();
        let mut last = [0; CHUNK];
        last[..rest.len()].copy_from_slice(rest);
        let mut sums = [0u32; CHUNK];
        let halves = chunks.iter().chain((!rest.is_empty()).then_some(&last)).map(|elements| {
            let mut halves = [Lanes::ZERO; 2];
            for (i, (&element, sum)) in elements.iter().zip(&mut sums).enumerate() {
                (halves[0].0[i], halves[1].0[i]) = split(element);
                *sum = sum.wrapping_add(element);
            }
            halves
        });
        let halves = halves.collect();
        let sum = sums.into_iter().fold(0, u32::wrapping_add);
        PreparedVector { halves, len: elements.len(), sum }
    }
}

/// Queries of one pass over the matrix: their sums of a block (4 KiB a query) stay in the second-level cache. This number
/// multiply-adds of each entry take longer than reading it again for the next ones.
pub const QUERIES_TOGETHER: usize = 32;

/// The work of [`matvec`] with a matrix of `stored` bytes, which each pass reads once. [`queries_work`] counts the reading of queries.
///
/// Multiply-adds of several queries are a separate kind, because a shared pass both waits for the matrix and computes, and overlaps the
/// two only in part. The row sums of queries after the first of a pass are a separate kind too.
pub fn matvec_work(rows: u64, columns: u64, stored: u64, queries: u64) -> Work {
    let products = if queries > 1 { Kind::BatchMultiplyAddsPacked } else { Kind::MultiplyAddsPacked };
    let passes = queries.div_ceil(QUERIES_TOGETHER as u64);
    Work::from([
        (products, count(&[rows, columns, queries])),
        (Kind::BytesRead, count(&[stored, passes])),
        (Kind::RowSums, count(&[rows, passes])),
        (Kind::FurtherRowSums, count(&[rows, queries - passes])),
    ])
}

/// The work of reading queries in [`matvec`]: each is read again for every block of rows but the first, which finds it in the cache.
pub fn queries_work(rows: u64, columns: u64, queries: u64) -> Work {
    let again = rows.div_ceil(BLOCK_ROWS as u64).saturating_sub(1);
    Work::of(Kind::BytesRead, &[size_of::<u32>() as u64, columns, again, queries])
}

/// Products of a matrix with vectors modulo 2^32, in one pass over the matrix for every [`QUERIES_TOGETHER`] of them: `out[k][row]` is set to the sum
/// over columns of `matrix[row][col] * queries[k][col]`. `queries[k]` has `cols` elements, `out[k]` has `rows`. With
/// `threads` above 1 the blocks of rows are split into that many tasks on the current rayon pool.
pub fn matvec(
    kernel: Kernel,
    matrix: &PackedMatrix,
    queries: &[PreparedVector],
    out: &mut [&mut [u32]],
    threads: usize,
) -> Result<(), ProductError> {
    let kernel = Checked::new(kernel)?;
    check_length("result vectors", out.len(), queries.len())?;
    for (query, out) in queries.iter().zip(out.iter()) {
        check_length("elements of a query", query.len(), matrix.cols())?;
        check_length("elements of a result", out.len(), matrix.rows())?;
    }
    if queries.is_empty() {
        return Ok(());
    }
    let blocks_each = matrix.blocks().div_ceil(threads.max(1));
    if blocks_each == matrix.blocks() {
        multiply_blocks(kernel, matrix, 0, queries, out);
        return Ok(());
    }
    let mut tasks: Vec<Vec<&mut [u32]>> = Vec::new();
    tasks.resize_with(matrix.blocks().div_ceil(blocks_each), Vec::new);
    for out in out.iter_mut() {
        for (task, part) in tasks.iter_mut().zip(out.chunks_mut(blocks_each * BLOCK_ROWS)) {
            task.push(part);
        }
    }
    tasks.par_iter_mut().enumerate().for_each(|(index, out)| {
        multiply_blocks(kernel, matrix, index * blocks_each, queries, out);
    });
    Ok(())
}

/// [`matvec`] into new vectors.
pub fn matvec_new(
    kernel: Kernel,
    matrix: &PackedMatrix,
    queries: &[PreparedVector],
    threads: usize,
) -> Result<Vec<Vec<u32>>, ProductError> {
    let mut out = vec![vec![0; matrix.rows()]; queries.len()];
    let mut parts: Vec<&mut [u32]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    matvec(kernel, matrix, queries, &mut parts, threads)?;
    Ok(out)
}

/// The rows of the blocks from `first_block` on that `out` has room for.
fn multiply_blocks(
    kernel: Checked,
    matrix: &PackedMatrix,
    first_block: usize,
    queries: &[PreparedVector],
    out: &mut [&mut [u32]],
) {
    let rows = out.first().map_or(0, |out| out.len());
    for (queries, out) in queries.chunks(QUERIES_TOGETHER).zip(out.chunks_mut(QUERIES_TOGETHER)) {
        let halves: Vec<&[Lanes]> = queries.iter().map(|query| query.halves.as_flattened()).collect();
        let mut sums = vec![[0; BLOCK_ROWS]; queries.len()];
        for block in 0..rows.div_ceil(BLOCK_ROWS) {
            let index = first_block + block;
            kernels::matvec(kernel, matrix.width(), matrix.tail(index), matrix.order(index), &halves, &mut sums);
            let first_row = block * BLOCK_ROWS;
            let valid = BLOCK_ROWS.min(rows - first_row);
            for (out, sums) in out.iter_mut().zip(&sums) {
                out[first_row..first_row + valid].copy_from_slice(&sums[..valid]);
            }
        }
    }
}
