//! AVX2.

use super::loops::{self, Lane, Place, Source};
use super::planar::CarryRows;
use crate::digit::Digit;
use crate::draws::BLOCK;
use std::arch::x86_64::*;

macro_rules! compiled {
    ($($(#[$doc:meta])* $name:ident $(<$($generic:ident: $bound:path),*>)? ($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        #[target_feature(enable = "avx2")]
        pub(super) fn $name $(<$($generic: $bound),*>)? ($($argument: $type),*) {
            loops::$name($($argument),*)
        }
    )*};
}

macro_rules! compiled_by_mode {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[target_feature(enable = "avx2")]
        pub(super) fn $name<const MODE: u8>($($argument: $type),*) {
            loops::$name::<MODE>($($argument),*)
        }
    )*};
}

compiled_by_mode! {
    values(source: &Source<'_>, values: &mut [u64]);
    planes8(source: &Source<'_>, stride: usize, planes: &mut [u8]);
    planes16(source: &Source<'_>, stride: usize, planes: &mut [u16]);
    planes32(source: &Source<'_>, stride: usize, planes: &mut [u32]);
}

compiled! {
    digit_row<L: Lane>(planes: &[L], stride: usize, place: Place, offset: i64, row: &mut [L]);
    dither_row<L: Lane>(planes: &[L], dithers: &[L], stride: usize, place: Place, offset: i64, row: &mut [L]);
    widen<L: Lane, D: Digit>(lanes: &[L], digits: &mut [D]);
    below_bits(uniform: &[u64], stride: usize, values: &[u64], mask: u64, bits: &mut [u64]);
}

/// Bits of `a` where `mask` is set, of `b` elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
fn select(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_and_si256(mask, a), _mm256_andnot_si256(mask, b))
}

/// Bytes of ones where a bit is set.
#[inline]
#[target_feature(enable = "avx2")]
fn expand8(bits: u32) -> __m256i {
    let spread = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), spread);
    _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit)
}

/// 16-bit words of ones where a bit is set.
#[inline]
#[target_feature(enable = "avx2")]
fn expand16(bits: u16) -> __m256i {
    let bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, i16::MIN);
    _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(bits as i16), bit), bit)
}

/// 32-bit words of ones where a bit is set.
#[inline]
#[target_feature(enable = "avx2")]
fn expand32(bits: u8) -> __m256i {
    let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits.into()), bit), bit)
}

macro_rules! carry_rows {
    ($name:ident, $top:ident, $lane:ty, $mask:ty, $set:ident, $right:ident, $left:ident, $minus:ident, $expand:ident) => {
        /// Rows of digits with moved carries.
        #[target_feature(enable = "avx2")]
        pub(super) fn $name<const ROWS: usize, const SUBTRACT: bool>(
            job: &CarryRows<'_, $lane>,
            places: &[Place; ROWS],
            subtracted: &[i64; ROWS],
            rows: &mut [$lane],
        ) {
            const LANES: usize = 32 / size_of::<$lane>();
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
                            _mm256_loadu_si256(job.planes.as_ptr().add(place.plane * job.stride + at).cast())
                        };
                        let mut digit = $right(low, _mm_cvtsi64_si128(right));
                        if place.crosses {
                            // SAFETY: as above.
                            let high = unsafe {
                                _mm256_loadu_si256(job.planes.as_ptr().add((place.plane + 1) * job.stride + at).cast())
                            };
                            // Bits of a neighbouring byte are no part of either half.
                            let keep = splat(<$lane>::MAX.checked_shr(place.shift).unwrap_or(0).into());
                            let high = $left(high, _mm_cvtsi64_si128(left));
                            digit = select(keep, digit, high);
                        }
                        let outgoing = expand(words[job.first + r]);
                        // The digit's bits from the digit, the ones above from the carry: d - b where it is set.
                        digit = select(mask, digit, outgoing);
                        digit = $minus(digit, incoming);
                        if SUBTRACT {
                            digit = $minus(digit, _mm256_and_si256(selected, splat(subtracted[r] as u64)));
                        }
                        incoming = outgoing;
                        // SAFETY: as above.
                        unsafe { _mm256_storeu_si256(rows.as_mut_ptr().add(r * job.row_stride + at).cast(), digit) };
                    }
                }
            }
        }

        /// Moves the last carry into the row of the top digits.
        #[target_feature(enable = "avx2")]
        pub(super) fn $top(words: &[u64], per_block: usize, subtracted: i64, row: &mut [$lane]) {
            const LANES: usize = 32 / size_of::<$lane>();
            for (lanes, words) in row.chunks_exact_mut(BLOCK).zip(words.chunks_exact(per_block)) {
                for (part, lanes) in lanes.chunks_exact_mut(LANES).enumerate() {
                    let expand = |word: u64| $expand((word >> (part * LANES)) as $mask);
                    let minus_q = _mm256_and_si256(expand(words[per_block - 1]), $set(subtracted as _));
                    // SAFETY: 32 bytes of lanes.
                    unsafe {
                        let digit = $minus(_mm256_loadu_si256(lanes.as_ptr().cast()), expand(words[per_block - 2]));
                        _mm256_storeu_si256(lanes.as_mut_ptr().cast(), $minus(digit, minus_q));
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
    u32,
    _mm256_set1_epi8,
    _mm256_srl_epi16,
    _mm256_sll_epi16,
    _mm256_sub_epi8,
    expand8
);
carry_rows!(
    carry_rows16,
    carry_top16,
    u16,
    u16,
    _mm256_set1_epi16,
    _mm256_srl_epi16,
    _mm256_sll_epi16,
    _mm256_sub_epi16,
    expand16
);
carry_rows!(
    carry_rows32,
    carry_top32,
    u32,
    u8,
    _mm256_set1_epi32,
    _mm256_srl_epi32,
    _mm256_sll_epi32,
    _mm256_sub_epi32,
    expand32
);
