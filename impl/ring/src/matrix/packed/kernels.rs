//! The steps of products of packed matrices. Each path has the same functions and results.

use super::order::{BLOCK_ROWS, GROUP_ROWS, Order, SLACK};
use super::scalar;
use super::tile::{LANES_PER_PAIR, TILE_COLS, TILE_ROWS};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::bits::for_width;
use crate::kernel::{Checked, dispatch};
use crate::matrix::lanes::Lanes;

/// The products of one block of rows. `data`: its packed bytes, at least 64 more than it takes. `queries[k]`: per chunk the low
/// halves of 32 elements, then the high halves. `sums[k]` is set to the rows' sums modulo 2^32.
pub(crate) fn matvec(
    k: Checked,
    width: u32,
    data: &[u8],
    order: Order,
    queries: &[&[Lanes]],
    sums: &mut [[u32; BLOCK_ROWS]],
) {
    assert!(order.share == 4 * width as usize && order.groups * GROUP_ROWS <= BLOCK_ROWS);
    assert!(data.len() >= order.bytes() + SLACK && queries.len() == sums.len());
    assert!(queries.iter().all(|query| query.len() == order.chunks * 2));
    for_width!(width, W => dispatch!(k, matvec::<W>(data, order, queries, sums)));
}

/// Unpacks `chunks` consecutive chunks of one group of rows within a strip: row `r`, column `c` of them goes to `out[r * stride + c]`.
pub(crate) fn unpack(k: Checked, width: u32, data: &[u8], chunks: usize, out: &mut [i16], stride: usize) {
    assert!(data.len() >= chunks * 32 * width as usize + SLACK);
    assert!(stride >= chunks * 32 && out.len() >= 7 * stride + chunks * 32);
    for_width!(width, W => dispatch!(k, unpack::<W>(data, chunks, out, stride)));
}

/// Adds D * A modulo 2^32 to a tile of 8 x 32 in `out`, whose rows are `out_stride` apart. `d`: 8 rows of `2 * pairs`
/// entries, `d_stride` apart. `panel`: for each pair of rows of A, 32 columns of (low, low) halves, then 32 of (high, high).
pub(crate) fn gemm(k: Checked, d: &[i16], d_stride: usize, panel: &[Lanes], out: &mut [u32], out_stride: usize) {
    let pairs = panel.len() / LANES_PER_PAIR;
    assert!(panel.len().is_multiple_of(LANES_PER_PAIR) && d.len() >= (TILE_ROWS - 1) * d_stride + 2 * pairs);
    assert!(out.len() >= (TILE_ROWS - 1) * out_stride + TILE_COLS && out_stride >= TILE_COLS);
    dispatch!(k, gemm(d, d_stride, panel, out, out_stride));
}
