//! AVX-512: F, BW, VL, DQ and VBMI.

use super::loops::{self, CENTRED, DITHERED, Lane, MODULAR, PLAIN, SELECTED, Source};
use super::planar::{Carries, RowsJob};
use crate::digit::Digit;
use crate::draws::BLOCK;
use crate::plan::Place;
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
    digit_rows<L: Lane>(job: &RowsJob<'_, L>, rows: &mut [L]);
    widen_rows<L: Lane, D: Digit>(lanes: &[L], stride: usize, digits: &mut [D], row_stride: usize, n: usize);
}

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
pub(super) fn values<const MODE: u8>(source: &Source<'_>, values: &mut [u64]) {
    source.check::<MODE>();
    for (i, values) in values[..source.input.len()].chunks_mut(8).enumerate() {
        let inside = 0xff >> (8 - values.len());
        // SAFETY: the mask covers the elements of the chunk.
        unsafe { _mm512_mask_storeu_epi64(values.as_mut_ptr().cast(), inside, value::<MODE>(source, 8 * i)) };
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

/// As the portable one.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) fn planes8<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u8]) {
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
pub(super) fn planes16<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u16]) {
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
pub(super) fn planes32<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u32]) {
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

macro_rules! row_kernels {
    ($digit_rows:ident, $dither_rows:ident, $carry_rows:ident, $digit:ident, $group:ident, $lane:ty, $mask:ty, $set:ident,
     $right:ident, $left:ident, $minus:ident, $expand:ident, $store:ident) => {
        /// Digits `at` and following at `place`. The bits above them are anything.
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
            // Bits that shifts bring from a neighbouring byte are no part of either half.
            let keep = $set((<$lane>::MAX >> place.shift) as _);
            if place.crosses {
                let high = $left(load(place.plane + 1), _mm_cvtsi64_si128((<$lane>::BITS - place.shift).into()));
                _mm512_ternarylogic_epi32::<0xca>(keep, low, high)
            } else {
                low
            }
        }

        /// As the portable one.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        pub(super) fn $digit_rows(job: &RowsJob<'_, $lane>, rows: &mut [$lane]) {
            const LANES: usize = 64 / size_of::<$lane>();
            job.check(rows.len());
            for (r, (place, offset)) in job.places.iter().zip(job.offsets).enumerate() {
                let keep = if place.crosses { <$lane>::MAX } else { <$lane>::MAX >> place.shift };
                let (mask, offset) = ($set((keep & place.mask as $lane) as _), $set(*offset as _));
                for at in (0..job.coefficients).step_by(LANES) {
                    let inside = <$mask>::MAX >> (LANES - LANES.min(job.coefficients - at));
                    // SAFETY: `check` saw that planes and rows reach as far; the store is masked to the row.
                    unsafe {
                        let digit = _mm512_and_si512($digit(job.planes, job.stride, *place, at), mask);
                        let out = rows.as_mut_ptr().add(r * job.row_stride + at);
                        $store(out.cast(), inside, $minus(digit, offset));
                    }
                }
            }
        }

        /// As the portable one.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        pub(super) fn $dither_rows(job: &RowsJob<'_, $lane>, dithers: &[$lane], rows: &mut [$lane]) {
            const LANES: usize = 64 / size_of::<$lane>();
            job.check(rows.len());
            assert!(dithers.len() >= job.planes.len());
            for (r, (place, offset)) in job.places.iter().zip(job.offsets).enumerate() {
                let keep = if place.crosses { <$lane>::MAX } else { <$lane>::MAX >> place.shift };
                let (mask, offset) = ($set((keep & place.mask as $lane) as _), $set(*offset as _));
                for at in (0..job.coefficients).step_by(LANES) {
                    let inside = <$mask>::MAX >> (LANES - LANES.min(job.coefficients - at));
                    // SAFETY: `check` saw that planes and rows reach as far, and the dithers' planes are as many; the store is
                    // masked to the row.
                    unsafe {
                        let value = _mm512_and_si512($digit(job.planes, job.stride, *place, at), mask);
                        let dither = _mm512_and_si512($digit(dithers, job.stride, *place, at), mask);
                        let out = rows.as_mut_ptr().add(r * job.row_stride + at);
                        $store(out.cast(), inside, $minus($minus(value, dither), offset));
                    }
                }
            }
        }

        /// Rows of digits with moved carries.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
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
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
        unsafe fn $group<const ROWS: usize, const SUBTRACT: bool, const TOP: bool>(
            job: &RowsJob<'_, $lane>,
            carries: &Carries<'_>,
            row: usize,
            rows: &mut [$lane],
        ) {
            const LANES: usize = 64 / size_of::<$lane>();
            let places: [Place; ROWS] = std::array::from_fn(|r| job.places[row + r]);
            let subtracted: [i64; ROWS] =
                std::array::from_fn(|r| if SUBTRACT { carries.subtracted[row + r] } else { 0 });
            let (first, last) = (carries.first + row, carries.per_block - 1);
            let (out, zero) = (rows[row * job.row_stride..].as_mut_ptr(), _mm512_setzero_si512());
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
                            digit = _mm512_and_si512(digit, $set(keep as _));
                            digit = $minus($minus(digit, incoming), $set(job.offsets[row] as _));
                        } else {
                            let outgoing = expand(words[first + r]);
                            // The digit's bits from the digit, those above from the carry: d - b where it is set.
                            digit = _mm512_ternarylogic_epi32::<0xca>($set(place.mask as _), digit, outgoing);
                            digit = $minus(digit, incoming);
                            incoming = outgoing;
                        }
                        if SUBTRACT {
                            digit = $minus(digit, _mm512_and_si512(selected, $set(subtracted[r] as _)));
                        }
                        // SAFETY: as above.
                        unsafe { _mm512_storeu_si512(out.add(r * job.row_stride + at).cast(), digit) };
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
    group8,
    u8,
    u64,
    _mm512_set1_epi8,
    _mm512_srl_epi16,
    _mm512_sll_epi16,
    _mm512_sub_epi8,
    _mm512_movm_epi8,
    _mm512_mask_storeu_epi8
);
row_kernels!(
    digit_rows16,
    dither_rows16,
    carry_rows16,
    digit16,
    group16,
    u16,
    u32,
    _mm512_set1_epi16,
    _mm512_srl_epi16,
    _mm512_sll_epi16,
    _mm512_sub_epi16,
    _mm512_movm_epi16,
    _mm512_mask_storeu_epi16
);
row_kernels!(
    digit_rows32,
    dither_rows32,
    carry_rows32,
    digit32,
    group32,
    u32,
    u16,
    _mm512_set1_epi32,
    _mm512_srl_epi32,
    _mm512_sll_epi32,
    _mm512_sub_epi32,
    _mm512_movm_epi32,
    _mm512_mask_storeu_epi32
);
