//! AVX-512: values from their sources, split into planes.

use crate::draws::BLOCK;
use crate::kernel::loops::{CENTRED, DITHERED, MODULAR, PLAIN, SELECTED, Source};
use std::arch::x86_64::*;

/// Values `at` to `at` + 7 of the source, those behind its end anything. `at` is a multiple of 8.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn value<const MODE: u8>(source: &Source<'_>, at: usize) -> __m512i {
    let left = source.input.len().saturating_sub(at);
    let inside = if left >= 8 { 0xff } else { (1 << left) - 1 };
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
            let word = source.words.get((at / BLOCK + 1) * source.words_per_block - 1).copied().unwrap_or(0);
            _mm512_mask_sub_epi64(sum, (word >> (at % BLOCK)) as u8, sum, q)
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
        let value = value::<MODE>(source, 8 * i);
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
    let (mut kept, mut next) = (0, 0);
    while next < words.len() {
        let inside = 0xff >> (8 - (words.len() - next).min(8));
        // SAFETY: the load is masked to the slice; the store's eight elements start no later than the load's and are masked to
        // as many as the load's, all of which have been read.
        unsafe {
            let value = _mm512_and_si512(_mm512_maskz_loadu_epi64(inside, words.as_ptr().add(next).cast()), mask);
            let fits = _mm512_mask_cmplt_epu64_mask(inside, value, bound);
            let packed = _mm512_maskz_compress_epi64(fits, value);
            if inside == 0xff {
                _mm512_storeu_si512(words.as_mut_ptr().add(kept).cast(), packed);
            } else {
                _mm512_mask_storeu_epi64(words.as_mut_ptr().add(kept).cast(), inside, packed);
            }
            kept += fits.count_ones() as usize;
        }
        next += 8;
    }
    kept
}

/// Transposes eight registers of eight 64-bit elements.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn transpose(rows: [__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = rows;
    let pairs = [(a, b), (c, d), (e, f), (g, h)];
    let [s0, s1, s2, s3] = pairs.map(|(x, y)| (_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y)));
    // Even and odd columns: after the first step lane i of the four 128-bit lanes holds columns 2i (lo) and 2i + 1 (hi).
    let merge = |p: __m512i, q: __m512i, r: __m512i, s: __m512i| {
        let (low, high) = (_mm512_shuffle_i64x2::<0x88>(p, q), _mm512_shuffle_i64x2::<0x88>(r, s));
        let (low_odd, high_odd) = (_mm512_shuffle_i64x2::<0xdd>(p, q), _mm512_shuffle_i64x2::<0xdd>(r, s));
        [
            _mm512_shuffle_i64x2::<0x88>(low, high),
            _mm512_shuffle_i64x2::<0x88>(low_odd, high_odd),
            _mm512_shuffle_i64x2::<0xdd>(low, high),
            _mm512_shuffle_i64x2::<0xdd>(low_odd, high_odd),
        ]
    };
    let [c0, c2, c4, c6] = merge(s0.0, s1.0, s2.0, s3.0);
    let [c1, c3, c5, c7] = merge(s0.1, s1.1, s2.1, s3.1);
    [c0, c1, c2, c3, c4, c5, c6, c7]
}

/// As the portable one.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(in crate::kernel) fn planes8<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u8]) {
    let n = source.input.len();
    source.check::<MODE>();
    assert!(n.next_multiple_of(BLOCK) <= stride && planes.len() >= 8 * stride);
    let order: [u8; 64] = std::array::from_fn(|i| (i % 8 * 8 + i / 8) as u8);
    // SAFETY: 64 bytes.
    let order = unsafe { _mm512_loadu_si512(order.as_ptr().cast()) };
    for start in (0..n).step_by(BLOCK) {
        let mut rows = [_mm512_setzero_si512(); 8];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = _mm512_permutexvar_epi8(order, value::<MODE>(source, start + 8 * i));
        }
        for (plane, bytes) in transpose(rows).into_iter().enumerate() {
            // SAFETY: start + 64 <= stride, and there are eight planes.
            unsafe { _mm512_storeu_si512(planes.as_mut_ptr().add(plane * stride + start).cast(), bytes) };
        }
    }
}

/// As the portable one.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(in crate::kernel) fn planes16<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u16]) {
    let n = source.input.len();
    source.check::<MODE>();
    assert!(n.next_multiple_of(BLOCK) <= stride && planes.len() >= 4 * stride);
    let order: [u16; 32] = std::array::from_fn(|i| (i % 8 * 4 + i / 8) as u16);
    // SAFETY: 64 bytes.
    let order = unsafe { _mm512_loadu_si512(order.as_ptr().cast()) };
    for start in (0..n.next_multiple_of(BLOCK)).step_by(32) {
        let mut rows = [_mm512_setzero_si512(); 4];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = _mm512_permutexvar_epi16(order, value::<MODE>(source, start + 8 * i));
        }
        // A 4 x 4 transpose of 128-bit lanes.
        let [a, b, c, d] = rows;
        let (low, high) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d));
        let (low_rest, high_rest) = (_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d));
        let all = [
            _mm512_shuffle_i64x2::<0x88>(low, high),
            _mm512_shuffle_i64x2::<0xdd>(low, high),
            _mm512_shuffle_i64x2::<0x88>(low_rest, high_rest),
            _mm512_shuffle_i64x2::<0xdd>(low_rest, high_rest),
        ];
        for (plane, words) in all.into_iter().enumerate() {
            // SAFETY: start + 32 <= stride, and there are four planes.
            unsafe { _mm512_storeu_si512(planes.as_mut_ptr().add(plane * stride + start).cast(), words) };
        }
    }
}

/// As the portable one.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(in crate::kernel) fn planes32<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u32]) {
    let n = source.input.len();
    source.check::<MODE>();
    assert!(n.next_multiple_of(BLOCK) <= stride && planes.len() >= 2 * stride);
    for start in (0..n.next_multiple_of(BLOCK)).step_by(8) {
        let row = value::<MODE>(source, start);
        let (low, high) = (_mm512_cvtepi64_epi32(row), _mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(row)));
        // SAFETY: start + 8 <= stride, and there are two planes.
        unsafe {
            _mm256_storeu_si256(planes.as_mut_ptr().add(start).cast(), low);
            _mm256_storeu_si256(planes.as_mut_ptr().add(stride + start).cast(), high);
        }
    }
}
