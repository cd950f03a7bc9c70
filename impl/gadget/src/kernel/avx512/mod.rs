//! AVX-512: F, BW, VL, DQ and VBMI.

mod planes;

pub(super) use planes::{below_bits, keep_below, planes8, planes16, planes32, values};

use super::jobs::{Carries, Lane, RowsJob};
use super::loops;
use crate::digit::Digit;
use crate::plan::{Place, Plan};
use crate::residue::Residue;
use crate::tile::{BLOCK, Draws, Rows, SELECT_ROW, carry_row};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

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
    digit_rows<L: Lane>(job: &RowsJob<'_, L>, rows: &mut [L]);
    fold<W: Residue>(q: W, input: &[W], folded: &mut [MaybeUninit<W>], signs: &mut [i8]);
    negate<D: Digit>(signs: &[i8], digits: &mut [D]);
    decompose<W: Residue, D: Digit>(plan: &Plan<W>, input: &[W], words: &[u64], draws: Draws<'_, W>, rows: &mut Rows<'_, D>);
}

/// Fills the output with one value.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) fn store<D: Digit>(digits: &mut [D]) {
    // A splat of one byte would become a call of memset.
    let value = _mm512_set1_epi32(0x0102_0304);
    let (registers, rest) = bytemuck::cast_slice_mut::<D, u8>(digits).as_chunks_mut::<64>();
    for register in registers {
        // SAFETY: 64 bytes.
        unsafe { _mm512_storeu_si512(register.as_mut_ptr().cast(), value) };
    }
    rest.fill(4);
}

/// Sign-extends a register of lanes to digits, in registers: through memory it would take another store.
///
/// # Safety
/// `out` has room for a digit of each lane of a register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn widen<L: Lane, D: Digit>(lanes: __m512i, out: *mut D) {
    let put = |i: usize, digits: __m512i| {
        // SAFETY: the caller's promise, for `i` below the ratio of the widths.
        unsafe { _mm512_storeu_si512(out.cast::<u8>().add(64 * i).cast(), digits) };
    };
    let halves = [_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes)];
    let quarter = |i: usize| match i % 2 {
        0 => _mm256_castsi256_si128(halves[i / 2]),
        _ => _mm256_extracti128_si256::<1>(halves[i / 2]),
    };
    match (L::BITS, D::BITS) {
        (8, 16) => (0..2).for_each(|i| put(i, _mm512_cvtepi8_epi16(halves[i]))),
        (16, 32) => (0..2).for_each(|i| put(i, _mm512_cvtepi16_epi32(halves[i]))),
        (32, 64) => (0..2).for_each(|i| put(i, _mm512_cvtepi32_epi64(halves[i]))),
        (8, 32) => (0..4).for_each(|i| put(i, _mm512_cvtepi8_epi32(quarter(i)))),
        (16, 64) => (0..4).for_each(|i| put(i, _mm512_cvtepi16_epi64(quarter(i)))),
        _ => {
            for i in 0..4 {
                put(2 * i, _mm512_cvtepi8_epi64(quarter(i)));
                put(2 * i + 1, _mm512_cvtepi8_epi64(_mm_srli_si128::<8>(quarter(i))));
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
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        unsafe fn $digit(planes: &[$lane], stride: usize, place: Place, at: usize) -> __m512i {
            let load = |plane: usize| {
                // SAFETY: the caller's promise.
                unsafe { _mm512_loadu_si512(planes.as_ptr().add(plane * stride + at).cast()) }
            };
            let low = $right(load(place.plane), _mm_cvtsi64_si128(place.shift.into()));
            // Bits that shifts bring from a neighbouring byte belong to neither half.
            let keep = $set((<$lane>::MAX >> place.shift) as _);
            if place.crosses {
                let high = $left(load(place.plane + 1), _mm_cvtsi64_si128((<$lane>::BITS - place.shift).into()));
                _mm512_ternarylogic_epi32::<0xca>(keep, low, high)
            } else {
                low
            }
        }

        /// Writes the first `left` lanes, or all, as digits.
        ///
        /// # Safety
        /// `out` has room for these digits.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        unsafe fn $put<D: Digit>(lanes: __m512i, out: *mut D, left: usize) {
            const LANES: usize = 64 / size_of::<$lane>();
            // SAFETY: the caller's promise, and `narrow` takes a register.
            unsafe {
                if left < LANES {
                    let mut narrow = [0 as $lane; LANES];
                    _mm512_storeu_si512(narrow.as_mut_ptr().cast(), lanes);
                    loops::put_part(&narrow[..left], out);
                } else if D::BITS == <$lane>::BITS {
                    _mm512_storeu_si512(out.cast(), lanes);
                } else {
                    widen::<$lane, D>(lanes, out);
                }
            }
        }

        /// See the portable path. Places are looked up for every register: if they are computed before, rows of bytes take 4 to 8 % longer on
        /// Zen 5, on which a tighter loop is not faster.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        pub(super) fn $digit_rows<D: Digit>(job: &RowsJob<'_, $lane>, rows: &mut [D]) {
            const LANES: usize = 64 / size_of::<$lane>();
            job.check(rows.len());
            let n = job.coefficients;
            for (r, (place, offset)) in job.places.iter().zip(job.offsets).enumerate() {
                let (mask, offset) = ($set(place.exact_mask(<$lane>::BITS) as _), $set(*offset as _));
                let out = rows[r * job.row_stride..].as_mut_ptr();
                // SAFETY: `check` saw that planes reach as far as whole blocks of the row, and the row as far as `n`.
                let each = |at: usize, left: usize| unsafe {
                    let digit = _mm512_and_si512($digit(job.planes, job.stride, *place, at), mask);
                    $put($minus(digit, offset), out.add(at), left);
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
        }

        /// As the portable one.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        pub(super) fn $dither_rows<D: Digit>(job: &RowsJob<'_, $lane>, dithers: &[$lane], rows: &mut [D]) {
            job.check(rows.len());
            assert!(dithers.len() >= job.planes.len());
            for r in 0..job.places.len() {
                // SAFETY: the job was checked, and the dithers' planes are as many.
                match job.places[r].crosses {
                    true => unsafe { $row::<D, true>(job, dithers, r, rows) },
                    false => unsafe { $row::<D, false>(job, dithers, r, rows) },
                }
            }
        }

        /// Row `r` of digits less those of the dithers; `CROSSES` as its place says.
        ///
        /// # Safety
        /// `job` has been checked against `rows`, and the planes of the dithers are as many.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        unsafe fn $row<D: Digit, const CROSSES: bool>(
            job: &RowsJob<'_, $lane>,
            dithers: &[$lane],
            r: usize,
            rows: &mut [D],
        ) {
            const LANES: usize = 64 / size_of::<$lane>();
            let (n, place) = (job.coefficients, job.places[r]);
            let (mask, offset) = ($set(place.exact_mask(<$lane>::BITS) as _), $set(job.offsets[r] as _));
            let right = _mm_cvtsi64_si128(place.shift.into());
            let left = _mm_cvtsi64_si128((<$lane>::BITS - place.shift).into());
            // Bits that shifts bring from a neighbouring byte belong to neither half.
            let keep = $set((<$lane>::MAX >> place.shift) as _);
            let start = place.plane * job.stride;
            // SAFETY: `check` saw that planes reach as far as whole blocks of the row.
            let digit = |planes: *const $lane, at: usize| unsafe {
                let low = $right(_mm512_loadu_si512(planes.add(start + at).cast()), right);
                if CROSSES {
                    let high = $left(_mm512_loadu_si512(planes.add(start + job.stride + at).cast()), left);
                    _mm512_and_si512(_mm512_ternarylogic_epi32::<0xca>(keep, low, high), mask)
                } else {
                    _mm512_and_si512(low, mask)
                }
            };
            let out = rows[r * job.row_stride..].as_mut_ptr();
            // SAFETY: `check` saw that the row reaches as far as `n`.
            let each = |at: usize, left: usize| unsafe {
                let digits = $minus(digit(job.planes.as_ptr(), at), digit(dithers.as_ptr(), at));
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
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        pub(super) fn $carry_rows<D: Digit>(job: &RowsJob<'_, $lane>, mut carries: Carries<'_, '_>, rows: &mut [D]) {
            job.check(rows.len());
            carries.check(job);
            let top = job.places.len() - 1;
            let plain = |row: usize, rows: usize| {
                row + rows <= top && !job.places[row..row + rows].iter().any(|place| place.crosses)
            };
            // If digits are wider than lanes, storing whole rows one after the other gains more than loading carries
            // once.
            let narrow = D::BITS == <$lane>::BITS;
            let (minus, mut row) = (carries.subtracted, 0);
            // SAFETY: `check` saw that planes, words and rows reach as far.
            unsafe {
                if minus.is_empty() {
                    while row < top {
                        let words = carries.before(job, row + 2);
                        row += if narrow && plain(row, 2) {
                            $group::<D, 2, false, false, false>(job, words, minus, row, rows);
                            2
                        } else {
                            match plain(row, 1) {
                                true => $group::<D, 1, false, false, false>(job, words, minus, row, rows),
                                false => $group::<D, 1, false, true, false>(job, words, minus, row, rows),
                            }
                            1
                        };
                    }
                    $group::<D, 1, false, true, true>(job, carries.before(job, top), minus, top, rows);
                } else {
                    while row + 4 <= top {
                        $group::<D, 4, true, true, false>(job, carries.before(job, row + 4), minus, row, rows);
                        row += 4;
                    }
                    let words = carries.before(job, top);
                    (row..top).for_each(|row| $group::<D, 1, true, true, false>(job, words, minus, row, rows));
                    $group::<D, 1, true, true, true>(job, words, minus, top, rows);
                }
            }
        }

        /// `ROWS` rows from `row` on, which share the carries between them. `SUBTRACT`: less a multiple of the selecting bit, if
        /// there is one; `CROSSES`: a digit may reach into the next plane; `TOP`: the last is the row of the
        /// top digits.
        ///
        /// # Safety
        /// `job` and the carries have been checked against `rows`.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        unsafe fn $group<D: Digit, const ROWS: usize, const SUBTRACT: bool, const CROSSES: bool, const TOP: bool>(
            job: &RowsJob<'_, $lane>,
            words: &[u64],
            minus: &[i64],
            row: usize,
            rows: &mut [D],
        ) {
            const LANES: usize = 64 / size_of::<$lane>();
            let (n, stride, blocks) = (job.coefficients, job.stride, job.coefficients.div_ceil(BLOCK));
            let places: [Place; ROWS] = std::array::from_fn(|r| job.places[row + r]);
            let minus: [i64; ROWS] = std::array::from_fn(|r| minus.get(row + r).copied().unwrap_or(0));
            let (rows, mut end) = (&mut rows[row * job.row_stride..], MaybeUninit::<[[D; BLOCK]; ROWS]>::uninit());
            // If no digit of the row crosses, nothing is kept from the other plane.
            let high = places.map(|place| place.plane + usize::from(place.crosses));
            let offset = $set(job.offsets[row + ROWS - 1] as _);
            let right = places.map(|place| _mm_cvtsi64_si128(place.shift.into()));
            let left = places.map(|place| _mm_cvtsi64_si128((<$lane>::BITS - place.shift).into()));
            let whole = n / BLOCK * BLOCK;
            for (from, to) in [(0, whole), (whole, n)] {
                // A last, partial block is written through `end`.
                let (out, out_stride) = match from == 0 && whole > 0 {
                    true => (rows.as_mut_ptr(), job.row_stride),
                    false => (end.as_mut_ptr().cast::<D>(), BLOCK),
                };
                for start in (from..to).step_by(BLOCK) {
                    // SAFETY: `Carries::check` saw a word for every digit and block, `RowsJob::check` that planes reach to
                    // whole blocks and rows to the coefficients.
                    unsafe {
                        let words = words.as_ptr().add(start / BLOCK);
                        for part in (0..BLOCK).step_by(LANES) {
                            let load = |plane: usize| {
                                _mm512_loadu_si512(job.planes.as_ptr().add(plane * stride + start + part).cast())
                            };
                            let expand = |i: usize| $expand(*words.add(i * blocks).cast::<$mask>().add(part / LANES));
                            let mut incoming =
                                if row > 0 { expand(carry_row(row - 1)) } else { _mm512_setzero_si512() };
                            let selected = if SUBTRACT { expand(SELECT_ROW) } else { incoming };
                            for r in 0..ROWS {
                                let mut digit = $right(load(places[r].plane), right[r]);
                                if CROSSES {
                                    // Bits that shifts bring from a neighbouring byte belong to neither half.
                                    let keep = $set((<$lane>::MAX >> places[r].shift) as _);
                                    let high = $left(load(high[r]), left[r]);
                                    digit = _mm512_ternarylogic_epi32::<0xca>(keep, digit, high);
                                }
                                if TOP && r + 1 == ROWS {
                                    digit = _mm512_and_si512(digit, $set(places[r].exact_mask(<$lane>::BITS) as _));
                                    digit = $minus($minus(digit, incoming), offset);
                                } else {
                                    let outgoing = expand(carry_row(row + r));
                                    // The digit's bits from the digit, those above from the carry: d - b where it is set.
                                    let mask = $set(places[r].mask as _);
                                    digit = _mm512_ternarylogic_epi32::<0xca>(mask, digit, outgoing);
                                    digit = $minus(digit, incoming);
                                    incoming = outgoing;
                                }
                                if SUBTRACT {
                                    digit = $minus(digit, _mm512_and_si512(selected, $set(minus[r] as _)));
                                }
                                $put(digit, out.add(r * out_stride + (start - from) + part), usize::MAX);
                            }
                        }
                    }
                }
            }
            if n > whole {
                // SAFETY: the last pass above wrote whole blocks of every row.
                for (r, end) in unsafe { end.assume_init_ref() }.iter().enumerate() {
                    rows[r * job.row_stride + whole..][..n - whole].copy_from_slice(&end[..n - whole]);
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
    u64,
    _mm512_set1_epi8,
    _mm512_srl_epi16,
    _mm512_sll_epi16,
    _mm512_sub_epi8,
    _mm512_movm_epi8
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
    u32,
    _mm512_set1_epi16,
    _mm512_srl_epi16,
    _mm512_sll_epi16,
    _mm512_sub_epi16,
    _mm512_movm_epi16
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
    u16,
    _mm512_set1_epi32,
    _mm512_srl_epi32,
    _mm512_sll_epi32,
    _mm512_sub_epi32,
    _mm512_movm_epi32
);
