//! The portable path, and the plain loops that the other paths compile again with their own vectors.

use super::order::{BLOCK_ROWS, GROUP_ROWS, Order};
use super::tile::{LANES_PER_PAIR, TILE_COLS, TILE_ROWS};
use crate::bits::{load128, unpack8};
use crate::matrix::lanes::Lanes;

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
