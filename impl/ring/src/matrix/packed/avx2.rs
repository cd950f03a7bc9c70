//! The AVX2 path. Every function enables AVX2 and is called only after [`crate::Kernel::check`] found it; that, and the slice
//! lengths asserted in the dispatch module, is what the `unsafe` blocks rely on.

use super::order::{BLOCK_ROWS, GROUP_ROWS, Order, STRIP_CHUNKS};
use super::tile::LANES_PER_PAIR;
use crate::matrix::lanes::Lanes;
use std::arch::x86_64::*;
use std::hint::black_box;

/// How to turn the 16 bytes at each of two groups of eight `W`-bit entries into 16 lanes of 16 bits.
struct Unpacker {
    /// For each lane, the two bytes that contain its entry, within its 128-bit half, which begins with a group.
    bytes: __m256i,
    /// The same where the first group ends with its half.
    bytes_between: __m256i,
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
    // Seen through, constants lead the compiler to replace the shift by a blend and a mask.
    let (bytes, scales) = black_box(const { &gather_tables::<W>() });
    // SAFETY: both arrays are 16 bytes long.
    let (bytes, scales) = unsafe { (_mm_loadu_si128(bytes.as_ptr().cast()), _mm_loadu_si128(scales.as_ptr().cast())) };
    let last = _mm_add_epi8(bytes, _mm_set1_epi8(16 - W as i8));
    Unpacker {
        bytes: _mm256_broadcastsi128_si256(bytes),
        bytes_between: _mm256_set_m128i(bytes, last),
        scales: _mm256_broadcastsi128_si256(scales),
    }
}

/// The 16 entries of the half share at `data`.
///
/// # Safety
/// `W + 16` bytes from `data` on must be readable.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn entries<const W: usize>(unpacker: &Unpacker, data: *const u8) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        match W {
            8 => _mm256_cvtepu8_epi16(_mm_loadu_si128(data.cast())),
            16 => _mm256_loadu_si256(data.cast()),
            _ => unpacked::<W>(unpacker.bytes, unpacker.scales, _mm256_loadu2_m128i(data.add(W).cast(), data.cast())),
        }
    }
}

/// As [`entries`], from one load that begins before them, so that the register's middle is that of the entries.
///
/// # Safety
/// As for [`entries`]; `16 - W` bytes before `data` must be readable too.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn entries_between<const W: usize>(unpacker: &Unpacker, data: *const u8) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        match W {
            8 | 16 => entries::<W>(unpacker, data),
            _ => unpacked::<W>(unpacker.bytes_between, unpacker.scales, _mm256_loadu_si256(data.sub(16 - W).cast())),
        }
    }
}

/// The entries at these bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn unpacked<const W: usize>(bytes: __m256i, scales: __m256i, raw: __m256i) -> __m256i {
    let top = _mm256_mullo_epi16(_mm256_shuffle_epi8(raw, bytes), scales);
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

/// Places in a block that are read side by side, a chunk of each in turn: the processor fetches ahead along each, and no further than to
/// the end of a page.
const PLACES: usize = 4;

/// Bytes that are prefetched ahead of each place.
const AHEAD: usize = 2048;

/// Rows whose sums stay in registers.
const ROWS: usize = 4;

/// Sums of products with low and with high halves of a query, for each row of a group.
type GroupSums = [[__m256i; 2]; GROUP_ROWS];

/// Adds the products of a group's rows with a query, `chunks` chunks in each of `P` places; `data` and `queries` are where they begin.
///
/// # Safety
/// As many bytes and elements as `chunks` says must be readable, and 64 bytes more of `data`.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn add_products<const W: usize, const P: usize>(
    unpacker: &Unpacker,
    data: [*const u8; P],
    queries: [*const i16; P],
    (chunks, ahead): (usize, bool),
    sums: &mut GroupSums,
) {
    for chunk in 0..chunks {
        for (part, sums) in sums.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
            // A local copy stays in registers.
            let mut local = *sums;
            for place in 0..P {
                let data = data[place].wrapping_add(chunk * GROUP_ROWS * 4 * W);
                let query = queries[place].wrapping_add(chunk * 64);
                if ahead {
                    for line in 0..(ROWS * 4 * W).div_ceil(64) {
                        _mm_prefetch::<_MM_HINT_T0>(data.wrapping_add(part * ROWS * 4 * W + AHEAD + 64 * line).cast());
                    }
                }
                for half in 0..2 {
                    // SAFETY: the caller's promise; `at` bytes of the same chunk lie before the entries.
                    unsafe {
                        let low = _mm256_loadu_si256(query.add(half * 16).cast());
                        let high = _mm256_loadu_si256(query.add(32 + half * 16).cast());
                        for (row, sums) in local.iter_mut().enumerate() {
                            let at = (4 * (part * ROWS + row) + 2 * half) * W;
                            let lanes = if at + W < 16 {
                                entries::<W>(unpacker, data.add(at))
                            } else {
                                entries_between::<W>(unpacker, data.add(at))
                            };
                            sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(lanes, low));
                            sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(lanes, high));
                        }
                    }
                }
            }
            *sums = local;
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn matvec<const W: usize>(data: &[u8], order: Order, queries: &[&[Lanes]], sums: &mut [[u32; BLOCK_ROWS]]) {
    let unpacker = unpacker::<W>();
    let mut groups = vec![[[[_mm256_setzero_si256(); 2]; GROUP_ROWS]; BLOCK_ROWS / GROUP_ROWS]; queries.len()];
    for (strips, group) in order.turns(PLACES) {
        let mut firsts = [0; PLACES];
        let count = firsts.iter_mut().zip(strips).map(|(place, first)| *place = first).count();
        let data_at = |first: usize| data.as_ptr().wrapping_add(order.at(first, group * GROUP_ROWS));
        let runs = firsts.map(|first| order.run(first));
        for (number, (query, groups)) in queries.iter().zip(&mut groups).enumerate() {
            let (sums, ahead) = (&mut groups[group], number == 0);
            let query_at = |first: usize| query.as_ptr().wrapping_add(first * 2).cast();
            // SAFETY: the dispatch module asserts that the data holds the whole block, with 64 bytes after it, and each query all chunks.
            unsafe {
                if count == PLACES && runs == [STRIP_CHUNKS; PLACES] {
                    let (data, queries) = (firsts.map(data_at), firsts.map(query_at));
                    add_products::<W, PLACES>(&unpacker, data, queries, (STRIP_CHUNKS, ahead), sums);
                } else {
                    for (&first, run) in firsts[..count].iter().zip(runs) {
                        add_products::<W, 1>(&unpacker, [data_at(first)], [query_at(first)], (run, ahead), sums);
                    }
                }
            }
        }
    }
    for (sums, groups) in sums.iter_mut().zip(&groups) {
        for (sum, [low, high]) in sums.iter_mut().zip(groups.as_flattened()) {
            *sum = reduce_add(_mm256_add_epi32(*low, _mm256_slli_epi32::<16>(*high)));
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
