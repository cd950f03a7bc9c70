//! Loops that the compiler vectorises: every path compiles the same source with its own instructions.

use super::jobs::{Lane, RowsJob};
pub(super) use super::scalar::{decompose, fold, negate};
use crate::digit::Digit;
use crate::plan::Place;
use crate::tile::BLOCK;

/// The digits at `place` of `n` values in planes `stride` apart, `CROSSES` as the place says.
#[inline(always)]
fn digits<L: Lane, const CROSSES: bool>(planes: &[L], stride: usize, place: Place, n: usize) -> impl Fn(usize) -> L {
    let (shift, mask) = (place.shift, L::truncate(place.mask));
    let low = &planes[place.plane * stride..][..n];
    let high = if CROSSES { &planes[(place.plane + 1) * stride..][..n] } else { low };
    move |j| {
        let digit = low[j].right(shift);
        if CROSSES { digit.or(high[j].left(L::BITS - shift)).and(mask) } else { digit.and(mask) }
    }
}

/// Rows of digits.
#[inline(always)]
pub(crate) fn digit_rows<L: Lane>(job: &RowsJob<'_, L>, rows: &mut [L]) {
    let n = job.coefficients;
    for ((row, place), offset) in rows.chunks_mut(job.row_stride).zip(job.places).zip(job.offsets) {
        let (row, offset) = (&mut row[..n], L::truncate(*offset as u64));
        if place.crosses {
            let digit = digits::<L, true>(job.planes, job.stride, *place, n);
            (0..n).for_each(|j| row[j] = digit(j).minus(offset));
        } else {
            let digit = digits::<L, false>(job.planes, job.stride, *place, n);
            (0..n).for_each(|j| row[j] = digit(j).minus(offset));
        }
    }
}

/// Writes lanes as digits: the end of a row, out of line.
///
/// # Safety
/// `out` has room for a digit of each lane.
#[cold]
#[inline(never)]
pub(crate) unsafe fn put_part<L: Lane, D: Digit>(lanes: &[L], out: *mut D) {
    for (j, lane) in lanes.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { *out.add(j) = lane.signed() };
    }
}

/// The integers that are decomposed, made from the input as `MODE` says.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) input: &'a [u64],
    pub(crate) add: u64,
    pub(crate) q: u64,
    /// CENTRED: residues from here on stand for u - q.
    pub(crate) threshold: u64,
    /// SELECTED: a block's word selects u - q.
    pub(crate) words: &'a [u64],
    /// BELOW and DITHERED: u - q where the coefficient's threshold is below u.
    pub(crate) thresholds: &'a [u64],
    /// DITHERED and MODULAR: added, modulo q for the latter.
    pub(crate) dither: &'a [u64],
}

pub(crate) const PLAIN: u8 = 0;
pub(crate) const CENTRED: u8 = 1;
pub(crate) const SELECTED: u8 = 2;
pub(crate) const BELOW: u8 = 3;
pub(crate) const DITHERED: u8 = 4;
pub(crate) const MODULAR: u8 = 5;

impl Source<'_> {
    /// Whether everything `MODE` reads is as long as the input.
    #[inline(always)]
    pub(crate) fn check<const MODE: u8>(&self) {
        let n = self.input.len();
        assert!(MODE != SELECTED || self.words.len() >= n.div_ceil(BLOCK));
        assert!(!matches!(MODE, BELOW | DITHERED) || self.thresholds.len() >= n);
        assert!(!matches!(MODE, DITHERED | MODULAR) || self.dither.len() >= n);
    }

    /// Value `j`, below the input's length.
    #[inline(always)]
    fn value<const MODE: u8>(&self, j: usize) -> u64 {
        let u = self.input[j];
        let minus_q = match MODE {
            CENTRED => u64::from(u >= self.threshold).wrapping_neg(),
            // The bit is moved to the sign and spread, so that it never becomes a branch: coins cannot be predicted.
            SELECTED => {
                let word = self.words[j / BLOCK];
                ((word << (BLOCK - 1 - j % BLOCK)) as i64 >> (BLOCK - 1)) as u64
            }
            BELOW | DITHERED => u64::from(self.thresholds[j] < u).wrapping_neg(),
            _ => 0,
        };
        let dither = if matches!(MODE, DITHERED | MODULAR) { self.dither[j] } else { 0 };
        let sum = u + self.add + dither;
        match MODE {
            PLAIN => sum,
            MODULAR => sum.min(sum.wrapping_sub(self.q)),
            _ => sum - (self.q & minus_q),
        }
    }
}

/// The values.
#[inline(always)]
pub(crate) fn values<const MODE: u8>(source: &Source<'_>, values: &mut [u64]) {
    source.check::<MODE>();
    (0..source.input.len()).for_each(|j| values[j] = source.value::<MODE>(j));
}

/// Per block of 64 coefficients the bits that tell where `uniform` is below the values' bits in `mask`. The uniform values of a
/// block are `stride` apart from those of the next.
#[inline(always)]
pub(crate) fn below_bits(uniform: &[u64], stride: usize, values: &[u64], mask: u64, bits: &mut [u64]) {
    for ((uniform, values), bits) in uniform.chunks(stride).zip(values.chunks_exact(BLOCK)).zip(bits) {
        *bits = 0;
        for (j, (uniform, value)) in uniform.iter().zip(values).enumerate() {
            *bits |= u64::from(*uniform < *value & mask) << j;
        }
    }
}

/// Splits the values into planes of 8 bits, `stride` apart; elements behind them, up to a multiple of 64, become arbitrary.
#[inline(always)]
pub(crate) fn planes8<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u8]) {
    split::<MODE, u8>(source, stride, planes);
}

/// Like [`planes8`], of 16 bits.
#[inline(always)]
pub(crate) fn planes16<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u16]) {
    split::<MODE, u16>(source, stride, planes);
}

/// Like [`planes8`], of 32 bits.
#[inline(always)]
pub(crate) fn planes32<const MODE: u8>(source: &Source<'_>, stride: usize, planes: &mut [u32]) {
    split::<MODE, u32>(source, stride, planes);
}

#[inline(always)]
fn split<const MODE: u8, L: Lane>(source: &Source<'_>, stride: usize, planes: &mut [L]) {
    source.check::<MODE>();
    for start in (0..source.input.len()).step_by(BLOCK) {
        let (mut values, n) = ([0; BLOCK], BLOCK.min(source.input.len() - start));
        (0..n).for_each(|j| values[j] = source.value::<MODE>(start + j));
        for (i, plane) in planes.chunks_exact_mut(stride).enumerate() {
            let shift = i as u32 * L::BITS;
            let plane = plane[start..].iter_mut().zip(&values);
            plane.for_each(|(part, value)| *part = L::truncate(value >> shift));
        }
    }
}
