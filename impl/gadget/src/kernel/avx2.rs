//! AVX2.

use super::jobs::{Carries, Lane, RowsJob};
use super::loops::{self, Source};
use crate::digit::Digit;
use crate::plan::Place;
use crate::residue::Residue;
use crate::tile::{BLOCK, SELECT_ROW, carry_row};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

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
    fold<W: Residue>(q: W, input: &[W], folded: &mut [MaybeUninit<W>], signs: &mut [i8]);
    negate<D: Digit>(signs: &[i8], digits: &mut [D]);
    below_bits(uniform: &[u64], stride: usize, values: &[u64], mask: u64, bits: &mut [u64]);
}

/// Bits of `a` where `mask` is set, of `b` elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
fn select(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_and_si256(mask, a), _mm256_andnot_si256(mask, b))
}

/// Bytes of ones for set bits.
#[inline]
#[target_feature(enable = "avx2")]
fn expand8(bits: u32) -> __m256i {
    let spread = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), spread);
    _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit)
}

/// 16-bit words of ones for set bits.
#[inline]
#[target_feature(enable = "avx2")]
fn expand16(bits: u16) -> __m256i {
    let bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, i16::MIN);
    _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(bits as i16), bit), bit)
}

/// 32-bit words of ones for set bits.
#[inline]
#[target_feature(enable = "avx2")]
fn expand32(bits: u8) -> __m256i {
    let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits.into()), bit), bit)
}

/// Fills the output with one value.
#[target_feature(enable = "avx2")]
pub(super) fn store<D: Digit>(digits: &mut [D]) {
    // A splat of one byte would become a call of memset.
    let value = _mm256_set1_epi32(0x0102_0304);
    let (registers, rest) = bytemuck::cast_slice_mut::<D, u8>(digits).as_chunks_mut::<32>();
    for register in registers {
        // SAFETY: 32 bytes.
        unsafe { _mm256_storeu_si256(register.as_mut_ptr().cast(), value) };
    }
    rest.fill(4);
}

/// Sign-extends a register of lanes, which lie in memory, to digits.
///
/// # Safety
/// `out` has a digit for each lane in `narrow`, which are 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn widen<L: Lane, D: Digit>(narrow: &[L], out: *mut D) {
    let (narrow, out) = (narrow.as_ptr().cast::<u8>(), out.cast::<u8>());
    // SAFETY: each step reads its share of the 32 bytes and writes as many registers as digits take.
    unsafe {
        match (L::BITS, D::BITS) {
            (8, 16) => {
                for i in 0..2 {
                    let digits = _mm256_cvtepi8_epi16(_mm_loadu_si128(narrow.add(16 * i).cast()));
                    _mm256_storeu_si256(out.add(32 * i).cast(), digits);
                }
            }
            (8, 32) => {
                for i in 0..4 {
                    let digits = _mm256_cvtepi8_epi32(_mm_loadl_epi64(narrow.add(8 * i).cast()));
                    _mm256_storeu_si256(out.add(32 * i).cast(), digits);
                }
            }
            (8, 64) => {
                for i in 0..8 {
                    let digits = _mm256_cvtepi8_epi64(_mm_loadu_si32(narrow.add(4 * i).cast()));
                    _mm256_storeu_si256(out.add(32 * i).cast(), digits);
                }
            }
            (16, 32) => {
                for i in 0..2 {
                    let digits = _mm256_cvtepi16_epi32(_mm_loadu_si128(narrow.add(16 * i).cast()));
                    _mm256_storeu_si256(out.add(32 * i).cast(), digits);
                }
            }
            (16, 64) => {
                for i in 0..4 {
                    let digits = _mm256_cvtepi16_epi64(_mm_loadl_epi64(narrow.add(8 * i).cast()));
                    _mm256_storeu_si256(out.add(32 * i).cast(), digits);
                }
            }
            _ => {
                for i in 0..2 {
                    let digits = _mm256_cvtepi32_epi64(_mm_loadu_si128(narrow.add(16 * i).cast()));
                    _mm256_storeu_si256(out.add(32 * i).cast(), digits);
                }
            }
        }
    }
}

macro_rules! row_kernels {
    ($digit_rows:ident, $dither_rows:ident, $carry_rows:ident, $digit:ident, $row:ident, $group:ident, $put:ident, $lane:ty, $mask:ty,
     $set:ident, $right:ident, $left:ident, $minus:ident, $expand:ident) => {
        /// Digits `at` and following at `place`. The bits above them are arbitrary.
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
            // Bits that shifts bring from a neighbouring byte belong to neither half.
            let keep = $set((<$lane>::MAX >> place.shift) as _);
            if place.crosses {
                let high = $left(load(place.plane + 1), _mm_cvtsi64_si128((<$lane>::BITS - place.shift).into()));
                select(keep, low, high)
            } else {
                low
            }
        }

        /// Writes the first `left` lanes, or all, as digits.
        ///
        /// # Safety
        /// `out` has room for these digits.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn $put<D: Digit>(lanes: __m256i, out: *mut D, left: usize) {
            const LANES: usize = 32 / size_of::<$lane>();
            // SAFETY: the caller's promise, and `narrow` takes a register.
            unsafe {
                if left < LANES {
                    let mut narrow = [0 as $lane; LANES];
                    _mm256_storeu_si256(narrow.as_mut_ptr().cast(), lanes);
                    loops::put_part(&narrow[..left], out);
                } else if D::BITS == <$lane>::BITS {
                    _mm256_storeu_si256(out.cast(), lanes);
                } else {
                    let mut narrow = [0 as $lane; LANES];
                    _mm256_storeu_si256(narrow.as_mut_ptr().cast(), lanes);
                    widen::<$lane, D>(&narrow, out);
                }
            }
        }

        /// See the portable path.
        #[target_feature(enable = "avx2")]
        pub(super) fn $digit_rows<D: Digit>(job: &RowsJob<'_, $lane>, rows: &mut [D]) {
            job.check(rows.len());
            for r in 0..job.places.len() {
                // SAFETY: the job was checked.
                match job.places[r].crosses {
                    true => unsafe { $row::<D, true, false>(job, &[], r, rows) },
                    false => unsafe { $row::<D, false, false>(job, &[], r, rows) },
                }
            }
        }

        /// See the portable path.
        #[target_feature(enable = "avx2")]
        pub(super) fn $dither_rows<D: Digit>(job: &RowsJob<'_, $lane>, dithers: &[$lane], rows: &mut [D]) {
            job.check(rows.len());
            assert!(dithers.len() >= job.planes.len());
            for r in 0..job.places.len() {
                // SAFETY: the job was checked, and the dithers' planes are as many.
                match job.places[r].crosses {
                    true => unsafe { $row::<D, true, true>(job, dithers, r, rows) },
                    false => unsafe { $row::<D, false, true>(job, dithers, r, rows) },
                }
            }
        }

        /// Row `r` of digits, less those of the dithers if `DITHERED`; `CROSSES` as its place says.
        ///
        /// # Safety
        /// `job` has been checked against `rows`, and if `DITHERED` the planes of the dithers are as many.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn $row<D: Digit, const CROSSES: bool, const DITHERED: bool>(
            job: &RowsJob<'_, $lane>,
            dithers: &[$lane],
            r: usize,
            rows: &mut [D],
        ) {
            const LANES: usize = 32 / size_of::<$lane>();
            let (n, place) = (job.coefficients, job.places[r]);
            let (mask, offset) = ($set(place.exact_mask(<$lane>::BITS) as _), $set(job.offsets[r] as _));
            let right = _mm_cvtsi64_si128(place.shift.into());
            let left = _mm_cvtsi64_si128((<$lane>::BITS - place.shift).into());
            // Bits that shifts bring from a neighbouring byte belong to neither half.
            let keep = $set((<$lane>::MAX >> place.shift) as _);
            let start = place.plane * job.stride;
            // SAFETY: `check` saw that planes reach as far as whole blocks of the row.
            let digit = |planes: *const $lane, at: usize| unsafe {
                let low = $right(_mm256_loadu_si256(planes.add(start + at).cast()), right);
                if CROSSES {
                    let high = $left(_mm256_loadu_si256(planes.add(start + job.stride + at).cast()), left);
                    _mm256_and_si256(select(keep, low, high), mask)
                } else {
                    _mm256_and_si256(low, mask)
                }
            };
            let out = rows[r * job.row_stride..].as_mut_ptr();
            // SAFETY: `check` saw that the row reaches as far as `n`.
            let each = |at: usize, left: usize| unsafe {
                let mut digits = digit(job.planes.as_ptr(), at);
                if DITHERED {
                    digits = $minus(digits, digit(dithers.as_ptr(), at));
                }
                $put($minus(digits, offset), out.add(at), left);
            };
            let fours = n / (4 * LANES) * (4 * LANES);
            for at in (0..fours).step_by(4 * LANES) {
                for r in 0..4 {
                    each(at + r * LANES, usize::MAX);
                }
            }
            for at in (fours..n).step_by(LANES) {
                each(at, n - at);
            }
        }

        /// Rows of digits with moved carries.
        #[target_feature(enable = "avx2")]
        pub(super) fn $carry_rows<D: Digit>(job: &RowsJob<'_, $lane>, mut carries: Carries<'_, '_>, rows: &mut [D]) {
            job.check(rows.len());
            carries.check(job);
            let (top, minus) = (job.places.len() - 1, carries.subtracted);
            let crosses = |row: usize| job.places[row..row + 4].iter().any(|place| place.crosses);
            let mut row = 0;
            // SAFETY: `check` saw that planes, words and rows reach as far.
            unsafe {
                while row + 4 <= top {
                    let words = carries.before(job, row + 4);
                    match (minus.is_empty(), crosses(row)) {
                        (true, false) => $group::<D, 4, false, false, false>(job, words, minus, row, rows),
                        (true, true) => $group::<D, 4, false, true, false>(job, words, minus, row, rows),
                        _ => $group::<D, 4, true, true, false>(job, words, minus, row, rows),
                    }
                    row += 4;
                }
                let words = carries.before(job, top);
                (row..top).for_each(|row| $group::<D, 1, true, true, false>(job, words, minus, row, rows));
                $group::<D, 1, true, true, true>(job, words, minus, top, rows);
            }
        }

        /// `ROWS` rows from `row` on, which share the carries between them. `SUBTRACT`: less a multiple of the selecting bit, if
        /// there is one; `CROSSES`: a digit may reach into the next plane; `TOP`: the row of the top digits.
        ///
        /// # Safety
        /// `job` and the carries have been checked against `rows`.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn $group<D: Digit, const ROWS: usize, const SUBTRACT: bool, const CROSSES: bool, const TOP: bool>(
            job: &RowsJob<'_, $lane>,
            words: &[u64],
            minus: &[i64],
            row: usize,
            rows: &mut [D],
        ) {
            const LANES: usize = 32 / size_of::<$lane>();
            let places: [Place; ROWS] = std::array::from_fn(|r| Place {
                crosses: CROSSES && job.places[row + r].crosses,
                ..job.places[row + r]
            });
            let minus: [i64; ROWS] = std::array::from_fn(|r| minus.get(row + r).copied().unwrap_or(0));
            let (n, blocks) = (job.coefficients, job.coefficients.div_ceil(BLOCK));
            let (out, zero) = (rows[row * job.row_stride..].as_mut_ptr(), _mm256_setzero_si256());
            for start in (0..n).step_by(BLOCK) {
                // SAFETY: `Carries::check` saw a word for every digit and block.
                let word = |i: usize| unsafe { *words.get_unchecked(i * blocks + start / BLOCK) };
                for part in (0..BLOCK).step_by(LANES).take_while(|part| start + part < n) {
                    let at = start + part;
                    let expand = |word: u64| $expand((word >> part) as $mask);
                    let mut incoming = if row > 0 { expand(word(carry_row(row - 1))) } else { zero };
                    let selected = if SUBTRACT { expand(word(SELECT_ROW)) } else { zero };
                    for r in 0..ROWS {
                        // SAFETY: the caller's promise.
                        let mut digit = unsafe { $digit(job.planes, job.stride, places[r], at) };
                        if TOP {
                            digit = _mm256_and_si256(digit, $set(places[r].exact_mask(<$lane>::BITS) as _));
                            digit = $minus($minus(digit, incoming), $set(job.offsets[row] as _));
                        } else {
                            let outgoing = expand(word(carry_row(row + r)));
                            // The digit's bits from the digit, those above from the carry: d - b where it is set.
                            digit = select($set(places[r].mask as _), digit, outgoing);
                            digit = $minus(digit, incoming);
                            incoming = outgoing;
                        }
                        if SUBTRACT {
                            digit = $minus(digit, _mm256_and_si256(selected, $set(minus[r] as _)));
                        }
                        // SAFETY: as above.
                        unsafe { $put(digit, out.add(r * job.row_stride + at), n - at) };
                    }
                }
            }
        }
    };
}

row_kernels!(
    digit_rows8,
    dither_rows8,
    carry_rows8,
    digit8,
    row8,
    group8,
    put8,
    u8,
    u32,
    _mm256_set1_epi8,
    _mm256_srl_epi16,
    _mm256_sll_epi16,
    _mm256_sub_epi8,
    expand8
);
row_kernels!(
    digit_rows16,
    dither_rows16,
    carry_rows16,
    digit16,
    row16,
    group16,
    put16,
    u16,
    u16,
    _mm256_set1_epi16,
    _mm256_srl_epi16,
    _mm256_sll_epi16,
    _mm256_sub_epi16,
    expand16
);
row_kernels!(
    digit_rows32,
    dither_rows32,
    carry_rows32,
    digit32,
    row32,
    group32,
    put32,
    u32,
    u8,
    _mm256_set1_epi32,
    _mm256_srl_epi32,
    _mm256_sll_epi32,
    _mm256_sub_epi32,
    expand32
);
