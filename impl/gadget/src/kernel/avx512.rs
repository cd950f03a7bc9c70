//! AVX-512: F, BW, VL, DQ and VBMI.

use super::loops::{self, Lane, Place};
use super::planar::CarryRows;
use crate::digit::Digit;
use crate::draws::BLOCK;
use std::arch::x86_64::*;

macro_rules! compiled {
    ($($(#[$doc:meta])* $name:ident $(<$($generic:ident: $bound:path),*>)? ($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        pub(super) fn $name $(<$($generic: $bound),*>)? ($($argument: $type),*) {
            loops::$name($($argument),*)
        }
    )*};
}

compiled! {
    digit_row<L: Lane>(planes: &[L], stride: usize, place: Place, offset: i64, row: &mut [L]);
    dither_row<L: Lane>(planes: &[L], dithers: &[L], stride: usize, place: Place, offset: i64, row: &mut [L]);
    widen<L: Lane, D: Digit>(lanes: &[L], digits: &mut [D]);
    shift_centred(input: &[u64], add: u64, q: u64, threshold: u64, values: &mut [u64]);
    shift_below(input: &[u64], add: u64, q: u64, thresholds: &[u64], values: &mut [u64]);
    shift_dither(input: &[u64], q: u64, dither: &[u64], values: &mut [u64]);
    add_dither(dither: &[u64], values: &mut [u64]);
    planes32(values: &[u64], stride: usize, start: usize, planes: &mut [u32]);
}

/// u + add, less q where the coefficient's bit of its block's last word is set.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) fn shift_selected(input: &[u64], add: u64, q: u64, words: &[u64], per_block: usize, values: &mut [u64]) {
    let (add, less) = (_mm512_set1_epi64(add as i64), _mm512_set1_epi64(q as i64));
    let blocks = input.chunks(BLOCK).zip(values.chunks_mut(BLOCK));
    for ((input, values), words) in blocks.zip(words.chunks_exact(per_block)) {
        let select = words[per_block - 1];
        for (i, (u, value)) in input.chunks(8).zip(values.chunks_mut(8)).enumerate() {
            let inside = 0xff >> (8 - u.len());
            // SAFETY: the mask covers the elements of both chunks, which have one length.
            unsafe {
                let sum = _mm512_add_epi64(_mm512_maskz_loadu_epi64(inside, u.as_ptr().cast()), add);
                let sum = _mm512_mask_sub_epi64(sum, (select >> (8 * i)) as u8, sum, less);
                _mm512_mask_storeu_epi64(value.as_mut_ptr().cast(), inside, sum);
            }
        }
    }
}

/// Per block of 64 coefficients the bits that tell where `uniform` is below the values' bits in `mask`. The uniform values of a
/// block are `stride` apart from those of the next.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) fn below_bits(uniform: &[u64], stride: usize, values: &[u64], mask: u64, bits: &mut [u64]) {
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
pub(super) fn keep_below(words: &mut [u64], mask: u64, bound: u64) -> usize {
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
            _mm512_mask_storeu_epi64(words.as_mut_ptr().add(kept).cast(), inside, packed);
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

/// Splits values, whole blocks of 64, into planes of 8 bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) fn planes8(values: &[u64], stride: usize, start: usize, planes: &mut [u8]) {
    assert!(values.len().is_multiple_of(BLOCK) && start + values.len() <= stride && planes.len() >= 8 * stride);
    let byte = |i: usize| (i % 8 * 8 + i / 8) as u8;
    let order: [u8; 64] = std::array::from_fn(byte);
    // SAFETY: 64 bytes.
    let order = unsafe { _mm512_loadu_si512(order.as_ptr().cast()) };
    for (block, values) in values.chunks_exact(BLOCK).enumerate() {
        let rows: [__m512i; 8] = std::array::from_fn(|i| {
            // SAFETY: the block holds eight registers.
            let row = unsafe { _mm512_loadu_si512(values.as_ptr().add(8 * i).cast()) };
            _mm512_permutexvar_epi8(order, row)
        });
        for (plane, bytes) in transpose(rows).into_iter().enumerate() {
            // SAFETY: start + 64 * (block + 1) <= stride, and there are eight planes.
            unsafe {
                _mm512_storeu_si512(planes.as_mut_ptr().add(plane * stride + start + block * BLOCK).cast(), bytes)
            };
        }
    }
}

/// Splits values, whole blocks of 64, into planes of 16 bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) fn planes16(values: &[u64], stride: usize, start: usize, planes: &mut [u16]) {
    assert!(values.len().is_multiple_of(BLOCK) && start + values.len() <= stride && planes.len() >= 4 * stride);
    let order: [u16; 32] = std::array::from_fn(|i| (i % 8 * 4 + i / 8) as u16);
    // SAFETY: 64 bytes.
    let order = unsafe { _mm512_loadu_si512(order.as_ptr().cast()) };
    for (half, values) in values.chunks_exact(32).enumerate() {
        let [a, b, c, d]: [__m512i; 4] = std::array::from_fn(|i| {
            // SAFETY: the half block holds four registers.
            let row = unsafe { _mm512_loadu_si512(values.as_ptr().add(8 * i).cast()) };
            _mm512_permutexvar_epi16(order, row)
        });
        // A 4 x 4 transpose of 128-bit lanes.
        let (low, high) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d));
        let (low_rest, high_rest) = (_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d));
        let all = [
            _mm512_shuffle_i64x2::<0x88>(low, high),
            _mm512_shuffle_i64x2::<0xdd>(low, high),
            _mm512_shuffle_i64x2::<0x88>(low_rest, high_rest),
            _mm512_shuffle_i64x2::<0xdd>(low_rest, high_rest),
        ];
        for (plane, words) in all.into_iter().enumerate() {
            // SAFETY: start + 32 * (half + 1) <= stride, and there are four planes.
            unsafe { _mm512_storeu_si512(planes.as_mut_ptr().add(plane * stride + start + half * 32).cast(), words) };
        }
    }
}

macro_rules! carry_rows {
    ($name:ident, $top:ident, $lane:ty, $mask:ty, $set:ident, $right:ident, $left:ident, $minus:ident, $expand:ident) => {
        /// Rows of digits with moved carries.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        pub(super) fn $name<const ROWS: usize, const SUBTRACT: bool>(
            job: &CarryRows<'_, $lane>,
            places: &[Place; ROWS],
            subtracted: &[i64; ROWS],
            rows: &mut [$lane],
        ) {
            const LANES: usize = 64 / size_of::<$lane>();
            job.check(places, rows.len());
            let splat = |x: u64| $set(x as _);
            let blocks = job.coefficients.div_ceil(BLOCK);
            for (block, words) in job.words.chunks_exact(job.words_per_block).take(blocks).enumerate() {
                for part in 0..BLOCK / LANES {
                    let at = block * BLOCK + part * LANES;
                    let expand = |word: u64| $expand((word >> (part * LANES)) as $mask);
                    let mut incoming = if job.first > 0 { expand(words[job.first - 1]) } else { splat(0) };
                    let selected = if SUBTRACT { expand(words[job.words_per_block - 1]) } else { splat(0) };
                    for r in 0..ROWS {
                        let (place, mask) = (places[r], splat(places[r].mask));
                        let (right, left) = (place.shift.into(), (<$lane>::BITS - place.shift).into());
                        // SAFETY: `check` saw that planes and rows reach as far.
                        let low = unsafe {
                            _mm512_loadu_si512(job.planes.as_ptr().add(place.plane * job.stride + at).cast())
                        };
                        let mut digit = $right(low, _mm_cvtsi64_si128(right));
                        if place.crosses {
                            // SAFETY: as above.
                            let high = unsafe {
                                _mm512_loadu_si512(job.planes.as_ptr().add((place.plane + 1) * job.stride + at).cast())
                            };
                            // Bits of a neighbouring byte are no part of either half.
                            let keep = splat(<$lane>::MAX.checked_shr(place.shift).unwrap_or(0).into());
                            let high = $left(high, _mm_cvtsi64_si128(left));
                            digit = _mm512_ternarylogic_epi32::<0xca>(keep, digit, high);
                        }
                        let outgoing = expand(words[job.first + r]);
                        // The digit's bits from the digit, the ones above from the carry: d - b where it is set.
                        digit = _mm512_ternarylogic_epi32::<0xca>(mask, digit, outgoing);
                        digit = $minus(digit, incoming);
                        if SUBTRACT {
                            digit = $minus(digit, _mm512_and_si512(selected, splat(subtracted[r] as u64)));
                        }
                        incoming = outgoing;
                        // SAFETY: as above.
                        unsafe { _mm512_storeu_si512(rows.as_mut_ptr().add(r * job.row_stride + at).cast(), digit) };
                    }
                }
            }
        }

        /// Moves the last carry into the row of the top digits.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        pub(super) fn $top(words: &[u64], per_block: usize, subtracted: i64, row: &mut [$lane]) {
            const LANES: usize = 64 / size_of::<$lane>();
            for (lanes, words) in row.chunks_exact_mut(BLOCK).zip(words.chunks_exact(per_block)) {
                for (part, lanes) in lanes.chunks_exact_mut(LANES).enumerate() {
                    let expand = |word: u64| $expand((word >> (part * LANES)) as $mask);
                    let minus_q = _mm512_and_si512(expand(words[per_block - 1]), $set(subtracted as _));
                    // SAFETY: 64 bytes of lanes.
                    unsafe {
                        let digit = $minus(_mm512_loadu_si512(lanes.as_ptr().cast()), expand(words[per_block - 2]));
                        _mm512_storeu_si512(lanes.as_mut_ptr().cast(), $minus(digit, minus_q));
                    }
                }
            }
        }
    };
}

carry_rows!(
    carry_rows8,
    carry_top8,
    u8,
    u64,
    _mm512_set1_epi8,
    _mm512_srl_epi16,
    _mm512_sll_epi16,
    _mm512_sub_epi8,
    _mm512_movm_epi8
);
carry_rows!(
    carry_rows16,
    carry_top16,
    u16,
    u32,
    _mm512_set1_epi16,
    _mm512_srl_epi16,
    _mm512_sll_epi16,
    _mm512_sub_epi16,
    _mm512_movm_epi16
);
carry_rows!(
    carry_rows32,
    carry_top32,
    u32,
    u16,
    _mm512_set1_epi32,
    _mm512_srl_epi32,
    _mm512_sll_epi32,
    _mm512_sub_epi32,
    _mm512_movm_epi32
);
