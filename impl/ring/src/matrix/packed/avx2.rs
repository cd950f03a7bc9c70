//! The AVX2 path. Every function enables AVX2 and is called only after [`crate::Kernel::check`] found it; that, and the slice
//! lengths asserted in the dispatch module, is what the `unsafe` blocks rely on.

use super::order::{BLOCK_ROWS, GROUP_ROWS, Order};
use super::tile::LANES_PER_PAIR;
use crate::matrix::lanes::Lanes;
use std::arch::x86_64::*;

/// How to turn the 16 bytes at each of two groups of eight `W`-bit entries into 16 lanes of 16 bits.
struct Unpacker {
    /// For each lane, the two bytes that contain its entry, within its 128-bit half.
    bytes: __m256i,
    /// For each lane, the power of two that moves its entry to the top of the lane.
    scales: __m256i,
}

/// A group of eight entries takes exactly `W` bytes, so that all groups are gathered alike.
const fn gather_tables<const W: usize>() -> ([u8; 16], [u16; 8]) {
    let (mut bytes, mut scales) = ([0; 16], [0; 8]);
    let mut i = 0;
    while i < 8 {
        bytes[2 * i] = (i * W / 8) as u8;
        bytes[2 * i + 1] = (i * W / 8 + 1) as u8;
        scales[i] = 1 << (16 - W - i * W % 8);
        i += 1;
    }
    (bytes, scales)
}

#[target_feature(enable = "avx2")]
#[inline]
fn unpacker<const W: usize>() -> Unpacker {
    let (bytes, scales) = const { gather_tables::<W>() };
    // SAFETY: both arrays are 16 bytes long.
    let (bytes, scales) = unsafe { (_mm_loadu_si128(bytes.as_ptr().cast()), _mm_loadu_si128(scales.as_ptr().cast())) };
    Unpacker { bytes: _mm256_broadcastsi128_si256(bytes), scales: _mm256_broadcastsi128_si256(scales) }
}

/// The 16 entries of the half share at `data`.
///
/// # Safety
/// `W + 16` bytes from `data` on must be readable.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn entries<const W: usize>(unpacker: &Unpacker, data: *const u8) -> __m256i {
    // SAFETY: the caller's promise.
    let raw = unsafe { _mm256_loadu2_m128i(data.add(W).cast(), data.cast()) };
    if W == 16 {
        return raw;
    }
    let pairs = _mm256_shuffle_epi8(raw, unpacker.bytes);
    let top = _mm256_mullo_epi16(pairs, unpacker.scales);
    _mm256_srl_epi16(top, _mm_cvtsi32_si128(16 - W as i32))
}

/// The sum of the eight lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn reduce_add(v: __m256i) -> u32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two))) as u32
}

/// One group, `chunks` chunks of a strip, one query; `R` of the eight rows at a time. Asks for the group that follows in memory.
///
/// # Safety
/// As many bytes and elements as `chunks` says must be readable, and 64 bytes more of `data`.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn strip<const W: usize, const R: usize>(
    unpacker: &Unpacker,
    data: *const u8,
    chunks: usize,
    query: *const i16,
    sums: &mut [__m256i; GROUP_ROWS],
) {
    for first_row in (0..GROUP_ROWS).step_by(R) {
        let mut acc = [[_mm256_setzero_si256(); 2]; R];
        for chunk in 0..chunks {
            if first_row == 0 {
                for line in 0..(32 * W).div_ceil(64) {
                    _mm_prefetch::<_MM_HINT_T0>(data.wrapping_add((chunks + chunk) * 32 * W + 64 * line).cast());
                }
            }
            for half in 0..2 {
                // SAFETY: inside the lengths that the caller promises.
                unsafe {
                    let low = _mm256_loadu_si256(query.add(chunk * 64 + half * 16).cast());
                    let high = _mm256_loadu_si256(query.add(chunk * 64 + 32 + half * 16).cast());
                    let group = data.add(chunk * 32 * W + first_row * 4 * W + half * 2 * W);
                    for (row, acc) in acc.iter_mut().enumerate() {
                        let lanes = entries::<W>(unpacker, group.add(row * 4 * W));
                        acc[0] = _mm256_add_epi32(acc[0], _mm256_madd_epi16(lanes, low));
                        acc[1] = _mm256_add_epi32(acc[1], _mm256_madd_epi16(lanes, high));
                    }
                }
            }
        }
        for (row, [low, high]) in acc.iter().enumerate() {
            let both = _mm256_add_epi32(*low, _mm256_slli_epi32::<16>(*high));
            let sum = &mut sums[first_row + row];
            *sum = _mm256_add_epi32(*sum, both);
        }
    }
}

/// Places in a block that are read side by side: the processor fetches ahead along each, and no further than to the end of a page.
const STREAMS: usize = 4;

#[target_feature(enable = "avx2")]
pub(super) fn matvec<const W: usize>(data: &[u8], order: Order, queries: &[&[Lanes]], sums: &mut [[u32; BLOCK_ROWS]]) {
    let unpacker = unpacker::<W>();
    let mut lanes = vec![[[_mm256_setzero_si256(); GROUP_ROWS]; BLOCK_ROWS / GROUP_ROWS]; queries.len()];
    for (first, group) in order.strips(STREAMS) {
        for (query, lanes) in queries.iter().zip(&mut lanes) {
            // SAFETY: the dispatch module asserts that the data holds the whole block and each query all chunks.
            unsafe {
                let data = data.as_ptr().add(order.at(first, group * GROUP_ROWS));
                let query = query.as_ptr().add(first * 2).cast();
                strip::<W, 4>(&unpacker, data, order.run(first), query, &mut lanes[group]);
            }
        }
    }
    for (sums, lanes) in sums.iter_mut().zip(&lanes) {
        for (sum, lanes) in sums.iter_mut().zip(lanes.iter().flatten()) {
            *sum = reduce_add(*lanes);
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn unpack<const W: usize>(data: &[u8], chunks: usize, out: &mut [i16], stride: usize) {
    let unpacker = unpacker::<W>();
    for chunk in 0..chunks {
        for row in 0..8 {
            for half in 0..2 {
                // SAFETY: the dispatch module asserts that data and out have room for all chunks.
                unsafe {
                    let lanes = entries::<W>(&unpacker, data.as_ptr().add((chunk * 8 + row) * 4 * W + half * 2 * W));
                    _mm256_storeu_si256(out.as_mut_ptr().add(row * stride + chunk * 32 + half * 16).cast(), lanes);
                }
            }
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn gemm(d: &[i16], d_stride: usize, panel: &[Lanes], out: &mut [u32], out_stride: usize) {
    let pairs = panel.len() / LANES_PER_PAIR;
    for (row, col) in [0, 4].into_iter().flat_map(|row| [0, 8, 16, 24].map(|col| (row, col))) {
        // SAFETY: the dispatch module asserts the lengths of all three for 8 rows and 32 columns.
        unsafe {
            let mut acc = [[_mm256_setzero_si256(); 2]; 4];
            for pair in 0..pairs {
                let quad = panel.as_ptr().cast::<i16>().add(pair * 128 + 2 * col);
                let low = _mm256_loadu_si256(quad.cast());
                let high = _mm256_loadu_si256(quad.add(64).cast());
                for (r, acc) in acc.iter_mut().enumerate() {
                    let place = d.as_ptr().add((row + r) * d_stride + 2 * pair);
                    let both = _mm256_set1_epi32(place.cast::<i32>().read_unaligned());
                    acc[0] = _mm256_add_epi32(acc[0], _mm256_madd_epi16(both, low));
                    acc[1] = _mm256_add_epi32(acc[1], _mm256_madd_epi16(both, high));
                }
            }
            for (r, [low, high]) in acc.iter().enumerate() {
                let place = out.as_mut_ptr().add((row + r) * out_stride + col).cast::<__m256i>();
                let sum = _mm256_add_epi32(*low, _mm256_slli_epi32::<16>(*high));
                _mm256_storeu_si256(place, _mm256_add_epi32(sum, _mm256_loadu_si256(place)));
            }
        }
    }
}
