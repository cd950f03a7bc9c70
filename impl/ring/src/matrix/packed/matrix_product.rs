//! Matrix times wide matrix modulo 2^32: the hint of SimplePIR, bound by the multipliers.

use super::kernels;
use super::matrix::PackedMatrix;
use super::order::{BLOCK_ROWS, GROUP_ROWS};
use super::tile::{LANES_PER_PAIR, TILE_COLS, TILE_ROWS};
use crate::bits::CHUNK;
use crate::kernel::{Checked, Kernel};
use crate::matrix::lanes::{Lanes, split};
use crate::matrix::operands::{ProductError, check_length};
use crate::work::{Kind, Work, count};
use rayon::prelude::*;

/// Recommended number of rows of A (columns of the matrix) per call: long enough that reading and writing the result costs
/// little beside the products, short enough that the prepared rows (4 KiB each at n = 1024) stay in the last-level cache.
pub const RECOMMENDED_CHUNK_ROWS: usize = 2048;

/// Rows of A in one pass of the innermost product: 32 columns of them, 16 KiB, half a first-level cache.
const PANEL_ROWS: usize = 128;

/// The work of [`matmul_accumulate`] for a whole matrix of `rows` x `columns` entries and an A of `columns` x `n` words.
pub fn matmul_work(rows: u64, columns: u64, n: u64) -> Work {
    Work::from([(Kind::MatrixMultiplyAdds, count(&[rows, columns, n])), (Kind::MatrixWords, count(&[columns, n]))])
}

/// Adds the product of some columns of the matrix with a chunk of A modulo 2^32: `out += D[:, first_col..] * a`. `a`:
/// row-major, `a_rows` x `n`, where `a_rows` = `a.len() / n` is a multiple of 32 or reaches the last column exactly; `first_col`
/// is a multiple of 32. `out`: row-major, `rows` x `n`. With `threads` above 1, blocks of 64 rows run on the current rayon pool.
pub fn matmul_accumulate(
    kernel: Kernel,
    matrix: &PackedMatrix,
    first_col: usize,
    a: &[u32],
    n: usize,
    out: &mut [u32],
    threads: usize,
) -> Result<(), ProductError> {
    let kernel = Checked::new(kernel)?;
    if n == 0 {
        return check_length("elements of A", a.len(), 0);
    }
    let a_rows = a.len() / n;
    check_length("elements of A", a.len(), a_rows * n)?;
    check_length("elements of the result", out.len(), matrix.rows().saturating_mul(n))?;
    let end = first_col.saturating_add(a_rows);
    if end > matrix.cols() {
        return Err(ProductError::Length { what: "last column", given: end, needed: matrix.cols() });
    }
    if !first_col.is_multiple_of(CHUNK) {
        return Err(ProductError::Alignment(first_col));
    }
    if end != matrix.cols() && !end.is_multiple_of(CHUNK) {
        return Err(ProductError::Alignment(end));
    }
    if a_rows == 0 {
        return Ok(());
    }
    let panels = Panels::prepare(a, n, threads);
    // One block of 64 rows is unpacked and multiplied at a time: every panel of A that is fetched into the first-level cache
    // serves all of them.
    let block_len = BLOCK_ROWS * n;
    let multiply = |(block, out): (usize, &mut [u32])| {
        multiply_block(kernel, matrix, block, first_col, &panels, n, out);
    };
    if threads <= 1 {
        out.chunks_mut(block_len).enumerate().for_each(multiply);
    } else {
        let at_least = matrix.blocks().div_ceil(threads);
        out.par_chunks_mut(block_len).enumerate().with_min_len(at_least).for_each(multiply);
    }
    Ok(())
}

/// A chunk of A split into 16-bit halves, ordered as the kernels read it: panels of 128 rows, within them strips of 32
/// columns, within them pairs of rows; zero padded to whole strips and to a multiple of 32 rows.
struct Panels {
    halves: Vec<Lanes>,
    padded_rows: usize,
    strips: usize,
}

impl Panels {
    fn prepare(a: &[u32], n: usize, threads: usize) -> Self {
        let (rows, strips) = (a.len() / n, n.div_ceil(TILE_COLS));
        let padded_rows = rows.next_multiple_of(CHUNK);
        let mut halves = vec![Lanes::ZERO; padded_rows / 2 * strips * LANES_PER_PAIR];
        let fill = |(panel, halves): (usize, &mut [Lanes])| {
            let first_row = panel * PANEL_ROWS;
            let pairs = halves.len() / (strips * LANES_PER_PAIR);
            for pair in 0..pairs {
                for side in 0..2 {
                    let row = first_row + 2 * pair + side;
                    if row >= rows {
                        continue;
                    }
                    for (strip, elements) in a[row * n..(row + 1) * n].chunks(TILE_COLS).enumerate() {
                        let quad = &mut halves[(strip * pairs + pair) * LANES_PER_PAIR..][..LANES_PER_PAIR];
                        let (low, high) = quad.split_at_mut(2);
                        for (col, &element) in elements.iter().enumerate() {
                            let (vector, lane) = (col / 16, 2 * (col % 16) + side);
                            (low[vector].0[lane], high[vector].0[lane]) = split(element);
                        }
                    }
                }
            }
        };
        let panel_len = PANEL_ROWS / 2 * strips * LANES_PER_PAIR;
        if threads <= 1 {
            halves.chunks_mut(panel_len).enumerate().for_each(fill);
        } else {
            halves.par_chunks_mut(panel_len).enumerate().for_each(fill);
        }
        Self { halves, padded_rows, strips }
    }

    /// The panels with the rows each has.
    fn panels(&self) -> impl Iterator<Item = (usize, &[Lanes])> {
        let per_pair = self.strips * LANES_PER_PAIR;
        self.halves.chunks(PANEL_ROWS / 2 * per_pair).map(move |halves| (halves.len() / per_pair * 2, halves))
    }
}

/// One block of rows against all panels; `out` is the block's part of the result.
fn multiply_block(
    kernel: Checked,
    matrix: &PackedMatrix,
    block: usize,
    first_col: usize,
    panels: &Panels,
    n: usize,
    out: &mut [u32],
) {
    let stride = panels.padded_rows;
    let rows = out.len() / n;
    let groups = rows.div_ceil(GROUP_ROWS);
    let mut d = vec![0i16; groups * GROUP_ROWS * stride];
    for (group, d) in d.chunks_exact_mut(GROUP_ROWS * stride).enumerate() {
        matrix.unpack_group_with(kernel, block * (BLOCK_ROWS / GROUP_ROWS) + group, first_col, d);
    }
    let mut first_row_of_a = 0;
    for (panel_rows, panel) in panels.panels() {
        for (strip, panel) in panel.chunks_exact(panel_rows / 2 * LANES_PER_PAIR).enumerate() {
            let col = strip * TILE_COLS;
            for group in 0..groups {
                let d = &d[group * GROUP_ROWS * stride + first_row_of_a..];
                let row = group * GROUP_ROWS;
                let (tile_rows, tile_cols) = ((rows - row).min(TILE_ROWS), (n - col).min(TILE_COLS));
                let out = &mut out[row * n + col..];
                if (tile_rows, tile_cols) == (TILE_ROWS, TILE_COLS) {
                    kernels::gemm(kernel, d, stride, panel, out, n);
                    continue;
                }
                // At the edges the kernel works on a separate whole tile, and the part inside the matrix is added.
                let mut tile = [0; TILE_ROWS * TILE_COLS];
                kernels::gemm(kernel, d, stride, panel, &mut tile, TILE_COLS);
                for (row, tile) in tile.chunks_exact(TILE_COLS).take(tile_rows).enumerate() {
                    for (out, sum) in out[row * n..].iter_mut().zip(&tile[..tile_cols]) {
                        *out = out.wrapping_add(*sum);
                    }
                }
            }
        }
        first_row_of_a += panel_rows;
    }
}
