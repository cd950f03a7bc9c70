//! Matrix times wide matrix modulo 2^32: the hint of SimplePIR, bound by the multipliers.

use crate::kernel::{self, Checked, Kernel, TILE_COLS, TILE_ROWS};
use crate::matrix::{BLOCK_ROWS, CHUNK, PackedMatrix};
use crate::matvec::{ProductError, check_length, split};
use rayon::prelude::*;

/// Recommended number of rows of A (columns of the matrix) per call: long enough that reading and writing the result costs
/// little beside the products, short enough that the prepared rows (4 KiB each at n = 1024) stay in the last-level cache.
pub const RECOMMENDED_CHUNK_ROWS: usize = 2048;

/// Blocks of rows unpacked and multiplied together; every panel of A fetched into the first-level cache serves all of them.
const BAND_BLOCKS: usize = 8;
/// Rows of A in one pass of the innermost product: 32 columns of them, 16 KiB, half a first-level cache.
const PANEL_ROWS: usize = 128;

/// Adds the product of some columns of the matrix with a chunk of A modulo 2^32: `out += D[:, first_col..] * a`. `a`:
/// row-major, `a_rows` x `n`, where `a_rows` = `a.len() / n` is a multiple of 32 or reaches the last column exactly; `first_col`
/// is a multiple of 32. `out`: row-major, `rows` x `n`. With `threads` above 1, bands of 64 rows run on the current rayon pool.
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
    let band_len = BAND_BLOCKS * BLOCK_ROWS * n;
    let bands = |(band, out): (usize, &mut [u32])| {
        multiply_band(kernel, matrix, band * BAND_BLOCKS, first_col, &panels, n, out);
    };
    if threads <= 1 {
        out.chunks_mut(band_len).enumerate().for_each(bands);
    } else {
        let at_least = matrix.blocks().div_ceil(BAND_BLOCKS).div_ceil(threads);
        out.par_chunks_mut(band_len).enumerate().with_min_len(at_least).for_each(bands);
    }
    Ok(())
}

/// A chunk of A split into 16-bit halves, ordered as the kernels read it: panels of 128 rows, within them strips of 32
/// columns, within them pairs of rows; zero padded to whole strips and to a multiple of 32 rows.
struct Panels {
    halves: Vec<i16>,
    padded_rows: usize,
    strips: usize,
}

impl Panels {
    fn prepare(a: &[u32], n: usize, threads: usize) -> Self {
        let (rows, strips) = (a.len() / n, n.div_ceil(TILE_COLS));
        let padded_rows = rows.next_multiple_of(CHUNK);
        let mut halves = vec![0i16; padded_rows * strips * TILE_COLS * 2];
        let fill = |(panel, halves): (usize, &mut [i16])| {
            let first_row = panel * PANEL_ROWS;
            let pairs = halves.len() / (strips * 4 * TILE_COLS);
            for pair in 0..pairs {
                for side in 0..2 {
                    let row = first_row + 2 * pair + side;
                    if row >= rows {
                        continue;
                    }
                    for (strip, elements) in a[row * n..(row + 1) * n].chunks(TILE_COLS).enumerate() {
                        let quad = &mut halves[(strip * pairs + pair) * 4 * TILE_COLS..][..4 * TILE_COLS];
                        let (low, high) = quad.split_at_mut(2 * TILE_COLS);
                        for (col, &element) in elements.iter().enumerate() {
                            (low[2 * col + side], high[2 * col + side]) = split(element);
                        }
                    }
                }
            }
        };
        let panel_len = PANEL_ROWS * strips * TILE_COLS * 2;
        if threads <= 1 {
            halves.chunks_mut(panel_len).enumerate().for_each(fill);
        } else {
            halves.par_chunks_mut(panel_len).enumerate().for_each(fill);
        }
        Self { halves, padded_rows, strips }
    }

    /// The panels with the rows each has.
    fn panels(&self) -> impl Iterator<Item = (usize, &[i16])> {
        let per_row = self.strips * TILE_COLS * 2;
        self.halves.chunks(PANEL_ROWS * per_row).map(move |halves| (halves.len() / per_row, halves))
    }
}

/// One band of up to 64 rows against all panels; `out` is the band's part of the result.
fn multiply_band(
    kernel: Checked,
    matrix: &PackedMatrix,
    first_block: usize,
    first_col: usize,
    panels: &Panels,
    n: usize,
    out: &mut [u32],
) {
    let stride = panels.padded_rows;
    let rows = out.len() / n;
    let blocks = rows.div_ceil(BLOCK_ROWS);
    let mut d = vec![0i16; blocks * BLOCK_ROWS * stride];
    for (block, d) in d.chunks_exact_mut(BLOCK_ROWS * stride).enumerate() {
        let data = matrix.tail(first_block + block, first_col / CHUNK);
        kernel::unpack(kernel, matrix.width(), data, stride / CHUNK, d, stride);
    }
    let mut first_row_of_a = 0;
    for (panel_rows, panel) in panels.panels() {
        for (strip, panel) in panel.chunks_exact(panel_rows * TILE_COLS * 2).enumerate() {
            let col = strip * TILE_COLS;
            for block in 0..blocks {
                let d = &d[block * BLOCK_ROWS * stride + first_row_of_a..];
                let row = block * BLOCK_ROWS;
                let (tile_rows, tile_cols) = ((rows - row).min(TILE_ROWS), (n - col).min(TILE_COLS));
                let out = &mut out[row * n + col..];
                if (tile_rows, tile_cols) == (TILE_ROWS, TILE_COLS) {
                    kernel::gemm(kernel, d, stride, panel, out, n);
                    continue;
                }
                // At the edges the kernel works on a whole tile of its own, of which the part inside is added.
                let mut tile = [0; TILE_ROWS * TILE_COLS];
                kernel::gemm(kernel, d, stride, panel, &mut tile, TILE_COLS);
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
