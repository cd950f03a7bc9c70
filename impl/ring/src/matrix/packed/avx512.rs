//! The AVX-512 path (F, BW, VL, DQ, VBMI, VNNI). Every function enables those features and is called only after
//! [`crate::Kernel::check`] found them all; that, and the slice lengths asserted in the dispatch module, is what the
//! `unsafe` blocks rely on.

use super::order::{BLOCK_ROWS, GROUP_ROWS, Order, STRIP_CHUNKS};
use super::tile::LANES_PER_PAIR;
use crate::kernel::Processor;
use crate::matrix::lanes::Lanes;
use crate::prefetch::{Ahead, ask_for};
use std::arch::x86_64::*;
use std::hint::black_box;

/// How to turn the 64 bytes at a chunk of `W`-bit entries into 32 lanes of 16 bits.
struct Unpacker {
    /// For each lane, the two bytes that contain its entry.
    bytes: __m512i,
    /// For each lane, the bits of the first byte that belong to earlier entries.
    shifts: __m512i,
    mask: __m512i,
}

/// Entry i occupies bits [i*W, i*W + W): at most 16 bits from its first byte's start for every storage width.
const fn gather_tables<const W: usize>() -> ([u8; 64], [u16; 32]) {
    let (mut bytes, mut shifts) = ([0; 64], [0; 32]);
    let mut i = 0;
    while i < 32 {
        assert!(i * W % 8 + W <= 16);
        bytes[2 * i] = (i * W / 8) as u8;
        bytes[2 * i + 1] = if i * W / 8 == 63 { 63 } else { (i * W / 8 + 1) as u8 };
        shifts[i] = (i * W % 8) as u16;
        i += 1;
    }
    (bytes, shifts)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn unpacker<const W: usize>() -> Unpacker {
    // Seen through, constants lead the compiler to split the masking into two instructions.
    let (bytes, shifts) = black_box(const { &gather_tables::<W>() });
    // SAFETY: both arrays are 64 bytes long.
    let (bytes, shifts) =
        unsafe { (_mm512_loadu_si512(bytes.as_ptr().cast()), _mm512_loadu_si512(shifts.as_ptr().cast())) };
    Unpacker { bytes, shifts, mask: _mm512_set1_epi16(black_box((1u32 << W) - 1) as i16) }
}

/// The 32 entries of the share at `data`.
///
/// # Safety
/// 64 bytes from `data` on must be readable.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
unsafe fn entries<const W: usize>(unpacker: &Unpacker, data: *const u8) -> __m512i {
    // SAFETY: the caller's promise.
    let raw = unsafe { _mm512_loadu_si512(data.cast()) };
    match W {
        16 => raw,
        8 => _mm512_cvtepu8_epi16(_mm512_castsi512_si256(raw)),
        _ => {
            let pairs = _mm512_permutexvar_epi8(unpacker.bytes, raw);
            _mm512_and_si512(_mm512_srlv_epi16(pairs, unpacker.shifts), unpacker.mask)
        }
    }
}

/// Sums of the eight rows of a group, 16 lanes each yet to be added up.
type GroupSums = [__m512i; GROUP_ROWS];

/// One group, `chunks` chunks of a strip, `K` queries; `R` of the eight rows at a time, so that `2 * R * K` accumulators stay
/// in registers.
///
/// # Safety
/// As many bytes and elements as `chunks` says must be readable, and 64 bytes more of `data`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
unsafe fn strip<const W: usize, const K: usize, const R: usize>(
    unpacker: &Unpacker,
    data: *const u8,
    chunks: usize,
    queries: [*const Lanes; K],
    sums: [&mut GroupSums; K],
    ahead: Ahead,
) {
    let zero = _mm512_setzero_si512();
    for first_row in (0..GROUP_ROWS).step_by(R) {
        let mut acc = [[[zero; 2]; R]; K];
        for chunk in 0..chunks {
            // SAFETY: inside the lengths that the caller promises.
            unsafe {
                let group = data.add(chunk * 32 * W);
                if first_row == 0 {
                    ahead.ask(group, (32 * W).div_ceil(64));
                }
                let mut lanes = [zero; R];
                for (row, lanes) in lanes.iter_mut().enumerate() {
                    *lanes = entries::<W>(unpacker, group.add((first_row + row) * 4 * W));
                }
                for (query, acc) in queries.iter().zip(&mut acc) {
                    let low = _mm512_load_si512(query.add(chunk * 2).cast());
                    let high = _mm512_load_si512(query.add(chunk * 2 + 1).cast());
                    for (lanes, acc) in lanes.iter().zip(acc) {
                        acc[0] = _mm512_dpwssd_epi32(acc[0], *lanes, low);
                        acc[1] = _mm512_dpwssd_epi32(acc[1], *lanes, high);
                    }
                }
            }
        }
        for k in 0..K {
            for (row, [low, high]) in acc[k].iter().enumerate() {
                let both = _mm512_add_epi32(*low, _mm512_slli_epi32::<16>(*high));
                let sum = &mut sums[k][first_row + row];
                *sum = _mm512_add_epi32(*sum, both);
            }
        }
    }
}

/// The way a block is read: most places read side by side, and the distances of prefetching from each. A processor by itself prefetches
/// only to the end of a page, so that Intel's gains from four places, and from asking for the next page of each long before: Sapphire Rapids,
/// probed at 16 to 17 GB/s, reads 67 MiB at 88 to 90 % of that, at 82 % with the first level alone, and at 77 % with the second alone. Zen 5,
/// probed at 42 GB/s, reads 10 to 42 MB at 35 GB/s in one place with 8 KiB ahead, at 37 to 46 with 16 KiB and at 33 with 4 KiB; in four
/// places at 24 to 29 with 2 KiB and at 15 with 640 bytes. Zen 4, probed at 30 GB/s, reads 64 MiB at 23 with 16 KiB prefetched into its
/// second-level cache, and at 15 into its first.
fn reading() -> (usize, Ahead) {
    match Processor::here() {
        Processor::Zen => (1, Ahead { first: 16384, second: 0 }),
        Processor::Zen4 => (1, Ahead { first: 0, second: 16384 }),
        Processor::Intel => (4, Ahead { first: 1280, second: 4096 }),
        Processor::Older => (4, Ahead { first: 1280, second: 0 }),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn matvec<const W: usize>(data: &[u8], order: Order, queries: &[&[Lanes]], sums: &mut [[u32; BLOCK_ROWS]]) {
    let unpacker = unpacker::<W>();
    let mut lanes = vec![[[_mm512_setzero_si512(); GROUP_ROWS]; BLOCK_ROWS / GROUP_ROWS]; queries.len()];
    let (places, ahead) = reading();
    for (first, group) in order.strips(places) {
        let chunks = order.run(first);
        if group == 0 {
            for query in queries {
                let next = query.as_ptr().wrapping_add((first + STRIP_CHUNKS) * 2);
                (0..2 * STRIP_CHUNKS).for_each(|line| ask_for::<false, _>(next.wrapping_add(line)));
            }
        }
        // SAFETY: the dispatch module asserts that the data holds the whole block and each query all chunks.
        unsafe {
            let data = data.as_ptr().add(order.at(first, group * GROUP_ROWS));
            let at = |query: &[Lanes]| query.as_ptr().add(first * 2);
            let (mut done, mut ahead) = (0, ahead);
            while done < queries.len() {
                let (queries, lanes) = (&queries[done..], &mut lanes[done..]);
                if let (Some(four), Some(lanes)) = (queries.first_chunk::<4>(), lanes.first_chunk_mut()) {
                    let sums = lanes.each_mut().map(|lanes| &mut lanes[group]);
                    strip::<W, 4, 2>(&unpacker, data, chunks, four.map(at), sums, ahead);
                    done += 4;
                } else if let (Some(two), Some(lanes)) = (queries.first_chunk::<2>(), lanes.first_chunk_mut()) {
                    let sums = lanes.each_mut().map(|lanes| &mut lanes[group]);
                    strip::<W, 2, 4>(&unpacker, data, chunks, two.map(at), sums, ahead);
                    done += 2;
                } else {
                    strip::<W, 1, 8>(&unpacker, data, chunks, [at(queries[0])], [&mut lanes[0][group]], ahead);
                    done += 1;
                }
                ahead = Ahead::NOTHING;
            }
        }
    }
    for (sums, lanes) in sums.iter_mut().zip(&lanes) {
        for (sums, lanes) in sums.as_chunks_mut().0.iter_mut().zip(lanes) {
            *sums = add_up(lanes);
        }
    }
}

/// The eight rows' sums, their lanes added up side by side.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn add_up(lanes: &GroupSums) -> [u32; GROUP_ROWS] {
    let [a, b, c, d, e, f, g, h] =
        lanes.map(|lanes| _mm256_add_epi32(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes)));
    let four = |a, b, c, d| _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    // Each has two partial sums of four rows, one in each half.
    let (first, last) = (four(a, b, c, d), four(e, f, g, h));
    let (low, high) = (_mm256_permute2x128_si256::<0x20>(first, last), _mm256_permute2x128_si256::<0x31>(first, last));
    bytemuck::cast(_mm256_add_epi32(low, high))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn unpack<const W: usize>(data: &[u8], chunks: usize, out: &mut [i16], stride: usize) {
    let unpacker = unpacker::<W>();
    for chunk in 0..chunks {
        for row in 0..8 {
            // SAFETY: the dispatch module asserts that data and out have room for all chunks.
            unsafe {
                let lanes = entries::<W>(&unpacker, data.as_ptr().add((chunk * 8 + row) * 4 * W));
                _mm512_storeu_si512(out.as_mut_ptr().add(row * stride + chunk * 32).cast(), lanes);
            }
        }
    }
}

/// `R` rows x `C` vectors of 16 columns.
///
/// # Safety
/// `pairs` pairs of rows in `panel`, `2 * pairs` entries in each row of `d`, and the tile in `out` must be accessible.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
unsafe fn tile<const R: usize, const C: usize>(
    d: *const i16,
    d_stride: usize,
    panel: *const Lanes,
    pairs: usize,
    out: *mut u32,
    out_stride: usize,
) {
    let zero = _mm512_setzero_si512();
    let mut acc = [[[zero; C]; 2]; R];
    for pair in 0..pairs {
        // SAFETY: the caller's promise.
        unsafe {
            let quad = panel.add(pair * LANES_PER_PAIR);
            let mut halves = [[zero; C]; 2];
            for (half, vectors) in halves.iter_mut().enumerate() {
                for (c, vector) in vectors.iter_mut().enumerate() {
                    *vector = _mm512_load_si512(quad.add(half * 2 + c).cast());
                }
            }
            for (row, acc) in acc.iter_mut().enumerate() {
                let both = _mm512_set1_epi32(d.add(row * d_stride + 2 * pair).cast::<i32>().read_unaligned());
                for (acc, vectors) in acc.iter_mut().zip(&halves) {
                    for (acc, vector) in acc.iter_mut().zip(vectors) {
                        *acc = _mm512_dpwssd_epi32(*acc, both, *vector);
                    }
                }
            }
        }
    }
    for (row, [low, high]) in acc.iter().enumerate() {
        for (c, (low, high)) in low.iter().zip(high).enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                let place = out.add(row * out_stride + c * 16);
                let sum = _mm512_add_epi32(*low, _mm512_slli_epi32::<16>(*high));
                let sum = _mm512_add_epi32(sum, _mm512_loadu_si512(place.cast()));
                _mm512_storeu_si512(place.cast(), sum);
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn gemm(d: &[i16], d_stride: usize, panel: &[Lanes], out: &mut [u32], out_stride: usize) {
    let pairs = panel.len() / LANES_PER_PAIR;
    for row in [0, 4] {
        // SAFETY: the dispatch module asserts the lengths of all three for 8 rows and 32 columns.
        unsafe {
            let (d, out) = (d.as_ptr().add(row * d_stride), out.as_mut_ptr().add(row * out_stride));
            tile::<4, 2>(d, d_stride, panel.as_ptr(), pairs, out, out_stride);
        }
    }
}
