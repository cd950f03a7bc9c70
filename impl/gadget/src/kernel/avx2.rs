//! AVX2.

use super::loops::{self, Lane, Source};
use super::planar::{Carries, RowsJob};
use crate::digit::Digit;
use crate::draws::BLOCK;
use crate::plan::Place;
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
    digit_rows<L: Lane>(job: &RowsJob<'_, L>, rows: &mut [L]);
    widen_rows<L: Lane, D: Digit>(lanes: &[L], stride: usize, digits: &mut [D], row_stride: usize, n: usize);
    below_bits(uniform: &[u64], stride: usize, values: &[u64], mask: u64, bits: &mut [u64]);
}

/// As the portable one.
#[target_feature(enable = "avx2")]
pub(super) fn digit_rows8(job: &RowsJob<'_, u8>, rows: &mut [u8]) {
    loops::digit_rows(job, rows);
}

/// As the portable one.
#[target_feature(enable = "avx2")]
pub(super) fn dither_rows8(job: &RowsJob<'_, u8>, dithers: &[u8], rows: &mut [u8]) {
    loops::dither_rows(job, dithers, rows);
}

/// As the portable one.
#[target_feature(enable = "avx2")]
pub(super) fn digit_rows16(job: &RowsJob<'_, u16>, rows: &mut [u16]) {
    loops::digit_rows(job, rows);
}

/// As the portable one.
#[target_feature(enable = "avx2")]
pub(super) fn dither_rows16(job: &RowsJob<'_, u16>, dithers: &[u16], rows: &mut [u16]) {
    loops::dither_rows(job, dithers, rows);
}

/// As the portable one.
#[target_feature(enable = "avx2")]
pub(super) fn digit_rows32(job: &RowsJob<'_, u32>, rows: &mut [u32]) {
    loops::digit_rows(job, rows);
}

/// As the portable one.
#[target_feature(enable = "avx2")]
pub(super) fn dither_rows32(job: &RowsJob<'_, u32>, dithers: &[u32], rows: &mut [u32]) {
    loops::dither_rows(job, dithers, rows);
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

macro_rules! row_kernels {
    ($carry_rows:ident, $digit:ident, $group:ident, $lane:ty, $mask:ty, $set:ident,
     $right:ident, $left:ident, $minus:ident, $expand:ident) => {
        /// Digits `at` and following at `place`. The bits above them are anything.
        ///
        /// # Safety
        /// The planes that the place names reach a register beyond `at`.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn $digit(planes: &[$lane], stride: usize, place: Place, at: usize) -> __m256i {
            let load = |plane: usize| {
                // SAFETY: the caller's promise.
                unsafe { _mm256_loadu_si256(planes.as_ptr().add(plane * stride + at).cast()) }
            };
            let low = $right(load(place.plane), _mm_cvtsi64_si128(place.shift.into()));
            // Bits that shifts bring from a neighbouring byte are no part of either half.
            let keep = $set((<$lane>::MAX >> place.shift) as _);
            if place.crosses {
                let high = $left(load(place.plane + 1), _mm_cvtsi64_si128((<$lane>::BITS - place.shift).into()));
                select(keep, low, high)
            } else {
                low
            }
        }

        /// Rows of digits with moved carries.
        #[target_feature(enable = "avx2")]
        pub(super) fn $carry_rows(job: &RowsJob<'_, $lane>, carries: &Carries<'_>, rows: &mut [$lane]) {
            job.check(rows.len());
            carries.check(job);
            // All rows but the top one, which no carry leaves.
            let moving = job.places.len().min(carries.per_block - 1 - carries.first);
            let mut row = 0;
            // SAFETY: `check` saw that planes, words and rows reach as far.
            unsafe {
                if carries.subtracted.is_empty() {
                    while row + 4 <= moving {
                        $group::<4, false, false>(job, carries, row, rows);
                        row += 4;
                    }
                    while row < moving {
                        $group::<1, false, false>(job, carries, row, rows);
                        row += 1;
                    }
                    if row < job.places.len() {
                        $group::<1, false, true>(job, carries, row, rows);
                    }
                } else {
                    while row + 4 <= moving {
                        $group::<4, true, false>(job, carries, row, rows);
                        row += 4;
                    }
                    while row < moving {
                        $group::<1, true, false>(job, carries, row, rows);
                        row += 1;
                    }
                    if row < job.places.len() {
                        $group::<1, true, true>(job, carries, row, rows);
                    }
                }
            }
        }

        /// `ROWS` rows from `row` on, which share the carries between them. `SUBTRACT`: less a multiple of the selecting bit;
        /// `TOP`: the row of the top digits.
        ///
        /// # Safety
        /// `job` and `carries` have been checked against `rows`.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn $group<const ROWS: usize, const SUBTRACT: bool, const TOP: bool>(
            job: &RowsJob<'_, $lane>,
            carries: &Carries<'_>,
            row: usize,
            rows: &mut [$lane],
        ) {
            const LANES: usize = 32 / size_of::<$lane>();
            let places: [Place; ROWS] = std::array::from_fn(|r| job.places[row + r]);
            let subtracted: [i64; ROWS] =
                std::array::from_fn(|r| if SUBTRACT { carries.subtracted[row + r] } else { 0 });
            let (first, last) = (carries.first + row, carries.per_block - 1);
            let (out, zero) = (rows[row * job.row_stride..].as_mut_ptr(), _mm256_setzero_si256());
            for (block, words) in carries.words.chunks_exact(carries.per_block).enumerate() {
                for part in 0..BLOCK / LANES {
                    let at = block * BLOCK + part * LANES;
                    if at >= job.coefficients {
                        return;
                    }
                    let expand = |word: u64| $expand((word >> (part * LANES)) as $mask);
                    let mut incoming = if first > 0 { expand(words[first - 1]) } else { zero };
                    let selected = if SUBTRACT { expand(words[last]) } else { zero };
                    for r in 0..ROWS {
                        let place = places[r];
                        // SAFETY: the caller's promise.
                        let mut digit = unsafe { $digit(job.planes, job.stride, place, at) };
                        if TOP {
                            let keep = if place.crosses { <$lane>::MAX } else { <$lane>::MAX >> place.shift };
                            digit = _mm256_and_si256(digit, $set(keep as _));
                            digit = $minus($minus(digit, incoming), $set(job.offsets[row] as _));
                        } else {
                            let outgoing = expand(words[first + r]);
                            // The digit's bits from the digit, those above from the carry: d - b where it is set.
                            digit = select($set(place.mask as _), digit, outgoing);
                            digit = $minus(digit, incoming);
                            incoming = outgoing;
                        }
                        if SUBTRACT {
                            digit = $minus(digit, _mm256_and_si256(selected, $set(subtracted[r] as _)));
                        }
                        // SAFETY: as above.
                        unsafe { _mm256_storeu_si256(out.add(r * job.row_stride + at).cast(), digit) };
                    }
                }
            }
        }
    };
}

row_kernels!(
    carry_rows8,
    digit8,
    group8,
    u8,
    u32,
    _mm256_set1_epi8,
    _mm256_srl_epi16,
    _mm256_sll_epi16,
    _mm256_sub_epi8,
    expand8
);
row_kernels!(
    carry_rows16,
    digit16,
    group16,
    u16,
    u16,
    _mm256_set1_epi16,
    _mm256_srl_epi16,
    _mm256_sll_epi16,
    _mm256_sub_epi16,
    expand16
);
row_kernels!(
    carry_rows32,
    digit32,
    group32,
    u32,
    u8,
    _mm256_set1_epi32,
    _mm256_srl_epi32,
    _mm256_sll_epi32,
    _mm256_sub_epi32,
    expand32
);
