//! AVX-512: values from their sources, split into planes.

use crate::kernel::loops::{CENTRED, DITHERED, MODULAR, PLAIN, SELECTED, Source};
use crate::tile::BLOCK;
use std::arch::x86_64::*;

/// A mask of the values `at` to `at` + 7 that the source has.
#[inline]
fn inside(source: &Source<'_>, at: usize) -> __mmask8 {
    match source.input.len().saturating_sub(at) {
        left @ 0..8 => (1 << left) - 1,
        _ => 0xff,
    }
}

/// Values `at` to `at` + 7 of the source; those behind its end are arbitrary. `at` is a multiple of 8.
///
/// # Safety
/// The source has been checked for the mode, and has values in the block of 64 that `at` lies in; it has all eight if `WHOLE`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn value<const MODE: u8, const WHOLE: bool>(source: &Source<'_>, at: usize) -> __m512i {
    let inside = if WHOLE { 0xff } else { inside(source, at) };
    // SAFETY: loads are masked to the length of the input, which `Source::check` saw the others have.
    let load = |words: &[u64]| unsafe { _mm512_maskz_loadu_epi64(inside, words.as_ptr().wrapping_add(at).cast()) };
    let (u, q) = (load(source.input), _mm512_set1_epi64(source.q as i64));
    let mut sum = u;
    if MODE != MODULAR {
        sum = _mm512_add_epi64(sum, _mm512_set1_epi64(source.add as i64));
    }
    if MODE == DITHERED || MODE == MODULAR {
        sum = _mm512_add_epi64(sum, load(source.dither));
    }
    match MODE {
        PLAIN => sum,
        MODULAR => _mm512_min_epu64(sum, _mm512_sub_epi64(sum, q)),
        CENTRED => {
            let minus_q = _mm512_cmpge_epu64_mask(u, _mm512_set1_epi64(source.threshold as i64));
            _mm512_mask_sub_epi64(sum, minus_q, sum, q)
        }
        SELECTED => {
            // SAFETY: `Source::check` saw a word for the block; byte i of all is for the coefficients from 8 i on.
            let minus_q = unsafe { *source.words.as_ptr().cast::<u8>().add(at / 8) };
            _mm512_mask_sub_epi64(sum, minus_q, sum, q)
        }
        _ => {
            let minus_q = _mm512_cmplt_epu64_mask(load(source.thresholds), u);
            _mm512_mask_sub_epi64(sum, minus_q, sum, q)
        }
    }
}

/// The values.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(in crate::kernel) fn values<const MODE: u8>(source: &Source<'_>, values: &mut [u64]) {
    source.check::<MODE>();
    for (i, values) in values[..source.input.len()].chunks_mut(8).enumerate() {
        let inside = 0xff >> (8 - values.len());
        // SAFETY: the source was checked.
        let value = unsafe { value::<MODE, false>(source, 8 * i) };
        // SAFETY: the chunk holds eight elements, or the mask covers those it has.
        unsafe {
            if inside == 0xff {
                _mm512_storeu_si512(values.as_mut_ptr().cast(), value);
            } else {
                _mm512_mask_storeu_epi64(values.as_mut_ptr().cast(), inside, value);
            }
        }
    }
}

/// Per block of 64 coefficients the bits that tell where `uniform` is below the values' bits in `mask`. The uniform values of a
/// block are `stride` apart from those of the next.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(in crate::kernel) fn below_bits(uniform: &[u64], stride: usize, values: &[u64], mask: u64, bits: &mut [u64]) {
    let mask = _mm512_set1_epi64(mask as i64);
    for ((uniform, values), bits) in uniform.chunks(stride).zip(values.chunks_exact(BLOCK)).zip(bits) {
        *bits = 0;
        for (i, (uniform, value)) in uniform[..BLOCK].chunks_exact(8).zip(values.chunks_exact(8)).enumerate() {
            // SAFETY: both chunks hold eight elements.
            let (uniform, value) =
                unsafe { (_mm512_loadu_epi64(uniform.as_ptr().cast()), _mm512_loadu_epi64(value.as_ptr().cast())) };
            let below = _mm512_cmplt_epu64_mask(uniform, _mm512_and_si512(value, mask));
            *bits |= u64::from(below) << (8 * i);
        }
    }
}

/// Moves the masked words that are below `bound` together, from the front of `words` on; returns their number.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(in crate::kernel) fn keep_below(words: &mut [u64], mask: u64, bound: u64) -> usize {
    let (mask, bound) = (_mm512_set1_epi64(mask as i64), _mm512_set1_epi64(bound as i64));
    let (n, whole, start) = (words.len(), words.len() / 8 * 8, words.as_mut_ptr());
    let mut kept = 0;
    // SAFETY: loads are inside the slice. The elements that a store writes, eight or as many as the last load has, start no later
    // than those of its load: all of them have been read.
    unsafe {
        // The load is not masked: masked loads would wait until the words just drawn have reached the cache.
        for next in (0..whole).step_by(8) {
            let value = _mm512_and_si512(_mm512_loadu_epi64(start.add(next).cast()), mask);
            let fits = _mm512_cmplt_epu64_mask(value, bound);
            _mm512_storeu_epi64(start.add(kept).cast(), _mm512_maskz_compress_epi64(fits, value));
            kept += fits.count_ones() as usize;
        }
        let inside = (1u16 << (n - whole)) as u8 - 1;
        let value = _mm512_and_si512(_mm512_maskz_loadu_epi64(inside, start.add(whole).cast()), mask);
        let fits = _mm512_mask_cmplt_epu64_mask(inside, value, bound);
        _mm512_mask_storeu_epi64(start.add(kept).cast(), inside, _mm512_maskz_compress_epi64(fits, value));
        kept += fits.count_ones() as usize;
    }
    kept
}

/// Planes of two registers: 0 to 3 in the four 128-bit lanes, then 4 to 7.
static ORDER8: [[u8; 64]; 2] = {
    let mut order = [[0; 64]; 2];
    let mut i = 0;
    while i < 128 {
        order[i / 64][i % 64] = (i % 16 / 8 * 64 + i % 8 * 8 + i / 16) as u8;
        i += 1;
    }
    order
};

/// Planes of two registers: 0 and 1 in the two halves, then 2 and 3.
static ORDER16: [[u16; 32]; 2] = {
    let mut order = [[0; 32]; 2];
    let mut i = 0;
    while i < 64 {
        order[i / 32][i % 32] = (i % 16 / 8 * 32 + i % 8 * 4 + i / 16) as u16;
        i += 1;
    }
    order
};

/// The `N` registers of values from `at` on.
///
/// # Safety
/// As for [`value`], of every register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn registers<const MODE: u8, const WHOLE: bool, const N: usize>(source: &Source<'_>, at: usize) -> [__m512i; N] {
    let mut registers = [_mm512_setzero_si512(); N];
    for (i, register) in registers.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *register = unsafe { value::<MODE, WHOLE>(source, at + 8 * i) };
    }
    registers
}

/// Calls `$each::<WHOLE>(start)` for blocks of 64 values.
macro_rules! by_block {
    ($source:expr, $planes:expr, $stride:expr, $count:literal, $each:ident) => {
        let n = $source.input.len();
        $source.check::<MODE>();
        assert!(n.next_multiple_of(BLOCK) <= $stride && $planes.len() >= $count * $stride);
        let planes = $planes.as_mut_ptr();
        // SAFETY: the source was checked, and so was the length of the planes.
        unsafe {
            for start in (0..n / BLOCK * BLOCK).step_by(BLOCK) {
                $each::<MODE, true>($source, start, planes.add(start), $stride);
            }
            if n % BLOCK > 0 {
                let start = n / BLOCK * BLOCK;
                $each::<MODE, false>($source, start, planes.add(start), $stride);
            }
        }
    };
}

/// See the portable path.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(in crate::kernel) fn planes8<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u8]) {
    by_block!(source, planes, stride, 8, block8);
}

/// See the portable path.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(in crate::kernel) fn planes16<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u16]) {
    by_block!(source, planes, stride, 4, block16);
}

/// See the portable path.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(in crate::kernel) fn planes32<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u32]) {
    by_block!(source, planes, stride, 2, block32);
}

/// Splits 64 values into planes of 8 bits.
///
/// # Safety
/// As for [`registers`]; 64 elements lie behind `planes` in each plane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn block8<const MODE: u8, const WHOLE: bool>(source: &Source<'_>, at: usize, planes: *mut u8, stride: usize) {
    // SAFETY: the caller's promise, and 64 bytes.
    unsafe {
        let [a, b, c, d, e, f, g, h] = registers::<MODE, WHOLE, 8>(source, at);
        for (half, order) in ORDER8.iter().enumerate() {
            let order = _mm512_loadu_si512(order.as_ptr().cast());
            let [p, q, r, s] = [(a, b), (c, d), (e, f), (g, h)].map(|(x, y)| _mm512_permutex2var_epi8(x, order, y));
            let (low, high) = (_mm512_shuffle_i64x2::<0x44>(p, q), _mm512_shuffle_i64x2::<0x44>(r, s));
            let (low_rest, high_rest) = (_mm512_shuffle_i64x2::<0xee>(p, q), _mm512_shuffle_i64x2::<0xee>(r, s));
            let all = [
                _mm512_shuffle_i64x2::<0x88>(low, high),
                _mm512_shuffle_i64x2::<0xdd>(low, high),
                _mm512_shuffle_i64x2::<0x88>(low_rest, high_rest),
                _mm512_shuffle_i64x2::<0xdd>(low_rest, high_rest),
            ];
            for (plane, bytes) in all.into_iter().enumerate() {
                _mm512_storeu_si512(planes.add((4 * half + plane) * stride).cast(), bytes);
            }
        }
    }
}

/// Splits 64 values into planes of 16 bits.
///
/// # Safety
/// As for [`block8`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn block16<const MODE: u8, const WHOLE: bool>(source: &Source<'_>, at: usize, planes: *mut u16, stride: usize) {
    // SAFETY: the caller's promise, and 64 bytes.
    unsafe {
        for part in [0, 32] {
            let [a, b, c, d] = registers::<MODE, WHOLE, 4>(source, at + part);
            for (half, order) in ORDER16.iter().enumerate() {
                let order = _mm512_loadu_si512(order.as_ptr().cast());
                let (low, high) = (_mm512_permutex2var_epi16(a, order, b), _mm512_permutex2var_epi16(c, order, d));
                let planes = planes.add(2 * half * stride + part);
                _mm512_storeu_si512(planes.cast(), _mm512_shuffle_i64x2::<0x44>(low, high));
                _mm512_storeu_si512(planes.add(stride).cast(), _mm512_shuffle_i64x2::<0xee>(low, high));
            }
        }
    }
}

/// Splits 64 values into planes of 32 bits.
///
/// # Safety
/// As for [`block8`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn block32<const MODE: u8, const WHOLE: bool>(source: &Source<'_>, at: usize, planes: *mut u32, stride: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        for (i, row) in registers::<MODE, WHOLE, 8>(source, at).into_iter().enumerate() {
            let (low, high) = (_mm512_cvtepi64_epi32(row), _mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(row)));
            _mm256_storeu_si256(planes.add(8 * i).cast(), low);
            _mm256_storeu_si256(planes.add(stride + 8 * i).cast(), high);
        }
    }
}
