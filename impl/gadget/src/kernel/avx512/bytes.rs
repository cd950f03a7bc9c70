//! AVX-512 with GFNI: JLP24's digits in bytes.
//!
//! A linear map over the bits of each byte is one instruction. So is a digit of a plane, shifted and masked; and so is what the
//! carries add to it, z = r_in - b r_out: bit 0 is r_in, the bits from log2 b on are r_out.

use super::put8;
use crate::digit::Digit;
use crate::draws::{BLOCK, TILE};
use crate::kernel::planar::{RowsJob, Windows};
use crate::plan::{ByteMaps, WINDOW};
use std::arch::x86_64::*;

/// Per block of 64 coefficients the first coins, in a word.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni")]
pub(in crate::kernel) fn selectors(first: &[u8], selectors: &mut [u64]) {
    for (block, word) in first.as_chunks::<BLOCK>().0.iter().zip(selectors) {
        // SAFETY: 64 bytes.
        let coins = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        *word = _mm512_test_epi8_mask(coins, _mm512_set1_epi8(1));
    }
}

/// Rows of digits. The first window has been drawn.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni")]
pub(in crate::kernel) fn carry_bytes<D: Digit>(
    job: &RowsJob<'_, u8>,
    maps: &[ByteMaps],
    mut windows: Windows<'_>,
    rows: &mut [D],
) {
    job.check(rows.len());
    assert!(maps.len() == job.places.len() && job.coefficients <= TILE);
    let (n, top, mut narrow) = (job.coefficients, maps.len() - 1, Narrow([0; TILE]));
    for (row, (maps, place)) in maps.iter().zip(job.places).enumerate() {
        let is_next = row < top && (row + 1).is_multiple_of(WINDOW);
        let window = (row + 1).min(top) / WINDOW;
        if is_next {
            windows.draw(window);
        }
        let coins = [windows.get(window.saturating_sub(1)), windows.get(window)];
        assert!(coins.iter().all(|coins| size_of_val(*coins) >= n.next_multiple_of(BLOCK)));
        let [before, now] = coins.map(|coins| coins.as_ptr().cast());
        // SAFETY: `check` saw that planes reach to whole blocks and rows to the coefficients.
        unsafe {
            let low = job.planes.as_ptr().add(place.plane * job.stride);
            let inputs = [low, if place.crosses { low.add(job.stride) } else { low }, before, now];
            let out = rows.as_mut_ptr().add(row * job.row_stride);
            // Digits so wide that loads, which extend them, are cheaper than shuffles.
            if D::BITS > 16 {
                pass_of(
                    maps,
                    place.crosses,
                    is_next || row == top,
                    inputs,
                    narrow.0.as_mut_ptr().cast::<i8>(),
                    n.next_multiple_of(BLOCK),
                );
                widen(narrow.0.as_ptr(), out, n);
            } else {
                pass_of(maps, place.crosses, is_next || row == top, inputs, out, n);
            }
        }
    }
}

/// [`pass`] with what the row needs.
///
/// # Safety
/// As there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni")]
unsafe fn pass_of<D: Digit>(
    maps: &ByteMaps,
    crosses: bool,
    other: bool,
    inputs: [*const u8; 4],
    out: *mut D,
    n: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match (crosses, other) {
            (_, true) => pass::<D, true, true>(maps, inputs, out, n),
            (true, _) => pass::<D, true, false>(maps, inputs, out, n),
            _ => pass::<D, false, false>(maps, inputs, out, n),
        }
    }
}

/// One row. `CROSSES`: the digit may reach into the next plane; `OTHER`: it takes a carry of the window before, or an offset. Not
/// inlined: nothing is to be spilled between the stores of rows, which run at full speed only one after the other.
///
/// # Safety
/// Behind each input there are whole blocks of `n` bytes, behind `out` n digits.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni")]
unsafe fn pass<D: Digit, const CROSSES: bool, const OTHER: bool>(
    maps: &ByteMaps,
    [low, high, before, now]: [*const u8; 4],
    out: *mut D,
    n: usize,
) {
    let set = |map: u64| _mm512_set1_epi64(map as i64);
    let (low_map, high_map, carry_map) = (set(maps.low), set(maps.high), set(maps.carry));
    let (before_map, offset) = (set(maps.before), set(maps.offset));
    // SAFETY: the caller's promise.
    let each = |at: usize, left: usize| unsafe {
        let mapped = |bytes: *const u8, map: __m512i| {
            _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_loadu_si512(bytes.add(at).cast()), map)
        };
        let mut digit = mapped(low, low_map);
        if CROSSES {
            digit = _mm512_or_si512(digit, mapped(high, high_map));
        }
        digit = _mm512_add_epi8(digit, mapped(now, carry_map));
        if OTHER {
            digit = _mm512_sub_epi8(_mm512_add_epi8(digit, mapped(before, before_map)), offset);
        }
        put8(digit, out.add(at), left);
    };
    let fours = n / (4 * BLOCK) * (4 * BLOCK);
    for at in (0..fours).step_by(4 * BLOCK) {
        for r in 0..4 {
            each(at + r * BLOCK, usize::MAX);
        }
    }
    for at in (fours..n).step_by(BLOCK) {
        each(at, n - at);
    }
}

/// A row of bytes on its way to wider digits.
#[repr(align(64))]
struct Narrow([u8; TILE]);

/// Writes `n` signed bytes as digits.
///
/// # Safety
/// Behind both pointers there are as many.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni")]
unsafe fn widen<D: Digit>(bytes: *const u8, out: *mut D, n: usize) {
    let lanes = 64 / size_of::<D>();
    // SAFETY: the caller's promise, for `at` + `lanes` at most n.
    let each = |at: usize| unsafe {
        let from = bytes.add(at);
        let digits = match D::BITS {
            32 => _mm512_cvtepi8_epi32(_mm_loadu_si128(from.cast())),
            _ => _mm512_cvtepi8_epi64(_mm_loadl_epi64(from.cast())),
        };
        _mm512_storeu_si512(out.add(at).cast(), digits);
    };
    let eights = n / (8 * lanes) * (8 * lanes);
    for at in (0..eights).step_by(8 * lanes) {
        for r in 0..8 {
            each(at + r * lanes);
        }
    }
    let whole = n / lanes * lanes;
    for at in (eights..whole).step_by(lanes) {
        each(at);
    }
    for at in whole..n {
        // SAFETY: the caller's promise.
        unsafe { *out.add(at) = D::from_i64((*bytes.add(at) as i8).into()) };
    }
}
