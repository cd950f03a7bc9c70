//! The portable path, and the plain loops that the other paths compile again with their own vectors.

use super::{ACCUMULATED_ROWS, LANES_PER_PAIR, Lanes, TILE_COLS, TILE_ROWS};
use crate::bits::{load128, unpack8};
use crate::matrix::{BLOCK_ROWS, GROUP_ROWS, Order};

/// An element of a prepared vector from its halves: low + 2^16 * high.
#[inline(always)]
fn join(low: i16, high: i16) -> u32 {
    (i32::from(low) as u32).wrapping_add((high as u16 as u32) << 16)
}

pub(crate) fn matvec<const W: usize>(data: &[u8], order: Order, queries: &[&[Lanes]], sums: &mut [[u32; BLOCK_ROWS]]) {
    for (query, sums) in queries.iter().zip(sums) {
        *sums = [0; BLOCK_ROWS];
        for (chunk, halves) in query.chunks_exact(2).enumerate() {
            let query: [u32; 32] = std::array::from_fn(|i| join(halves[0].0[i], halves[1].0[i]));
            for (row, sum) in sums.iter_mut().enumerate().take(order.groups * GROUP_ROWS) {
                let share = &data[order.at(chunk, row)..];
                for group in 0..4 {
                    let eight = unpack8::<W>(load128(&share[group * W..]));
                    for (entry, element) in eight.iter().zip(&query[8 * group..]) {
                        *sum = sum.wrapping_add(u32::from(*entry).wrapping_mul(*element));
                    }
                }
            }
        }
    }
}

pub(crate) fn unpack<const W: usize>(data: &[u8], chunks: usize, out: &mut [i16], stride: usize) {
    for chunk in 0..chunks {
        for row in 0..8 {
            for group in 0..4 {
                let eight = unpack8::<W>(load128(&data[(chunk * 8 + row) * 4 * W + group * W..]));
                let at = row * stride + chunk * 32 + group * 8;
                for (out, entry) in out[at..at + 8].iter_mut().zip(eight) {
                    *out = entry as i16;
                }
            }
        }
    }
}

pub(crate) fn gemm(d: &[i16], d_stride: usize, panel: &[Lanes], out: &mut [u32], out_stride: usize) {
    for row in 0..TILE_ROWS {
        let mut sums = [0u32; TILE_COLS];
        for (pair, quad) in panel.chunks_exact(LANES_PER_PAIR).enumerate() {
            for (col, sum) in sums.iter_mut().enumerate() {
                for side in 0..2 {
                    let entry = d[row * d_stride + 2 * pair + side] as u32;
                    let (vector, lane) = (col / 16, 2 * (col % 16) + side);
                    let element = join(quad[vector].0[lane], quad[2 + vector].0[lane]);
                    *sum = sum.wrapping_add(entry.wrapping_mul(element));
                }
            }
        }
        for (out, sum) in out[row * out_stride..].iter_mut().zip(sums) {
            *out = out.wrapping_add(sum);
        }
    }
}

/// Several running sums, so that the additions of one vector do not wait for those of the last.
#[inline(always)]
pub(crate) fn dot(a: &[u32], x: &[u32]) -> u32 {
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

pub(crate) fn accumulate<const D: usize>(
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

pub(crate) fn read_sum<const S: usize>(bytes: &[u8], _ahead: usize) -> u64 {
    let part = bytes.len() / S;
    let mut sums = [[0u64; 8]; S];
    for at in (0..part).step_by(64) {
        for (stream, sums) in sums.iter_mut().enumerate() {
            let line = &bytes[stream * part + at..][..64];
            for (sum, word) in sums.iter_mut().zip(line.chunks_exact(8)) {
                let mut value = [0; 8];
                value.copy_from_slice(word);
                *sum = sum.wrapping_add(u64::from_le_bytes(value));
            }
        }
    }
    sums.iter().flatten().fold(0, |all: u64, sum| all.wrapping_add(*sum))
}
