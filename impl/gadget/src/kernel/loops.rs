//! Loops the compiler vectorises by itself: the same source for every path, compiled with the path's instructions.

use crate::digit::Digit;
use crate::draws::BLOCK;
use bytemuck::Pod;

/// An unsigned word that rows are computed in. A value of 64 bits is held as `64 / BITS` planes, so that a digit needs one shift
/// for as many coefficients as fit a register.
pub(crate) trait Lane: Pod + Default {
    const BITS: u32;
    fn truncate(value: u64) -> Self;
    fn right(self, shift: u32) -> Self;
    fn left(self, shift: u32) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// The value as a signed number, extended or cut to a digit.
    fn signed<D: Digit>(self) -> D;
}

macro_rules! lane {
    ($($word:ty: $signed:ty),*) => {$(
        impl Lane for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline(always)]
            fn truncate(value: u64) -> Self {
                value as $word
            }

            #[inline(always)]
            fn right(self, shift: u32) -> Self {
                self >> shift
            }

            #[inline(always)]
            fn left(self, shift: u32) -> Self {
                self << shift
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn signed<D: Digit>(self) -> D {
                D::from_i64(i64::from(self as $signed))
            }
        }
    )*};
}
lane!(u8: i8, u16: i16, u32: i32, u64: i64);

/// Where a digit lies in the planes of its value.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The plane of its lowest bit.
    pub(crate) plane: usize,
    /// That bit's position in the plane.
    pub(crate) shift: u32,
    /// Whether it reaches into the next plane.
    pub(crate) crosses: bool,
    /// The bits of the digit.
    pub(crate) mask: u64,
}

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

/// One row of digits, each less `offset`.
#[inline(always)]
pub(crate) fn digit_row<L: Lane>(planes: &[L], stride: usize, place: Place, offset: i64, row: &mut [L]) {
    let (n, offset) = (row.len(), L::truncate(offset as u64));
    if place.crosses {
        let digit = digits::<L, true>(planes, stride, place, n);
        (0..n).for_each(|j| row[j] = digit(j).minus(offset));
    } else {
        let digit = digits::<L, false>(planes, stride, place, n);
        (0..n).for_each(|j| row[j] = digit(j).minus(offset));
    }
}

/// One row of digits, each less `offset` and the digit of the dither.
#[inline(always)]
pub(crate) fn dither_row<L: Lane>(
    planes: &[L],
    dithers: &[L],
    stride: usize,
    place: Place,
    offset: i64,
    row: &mut [L],
) {
    let offset = L::truncate(offset as u64);
    let n = row.len();
    if place.crosses {
        let value = digits::<L, true>(planes, stride, place, n);
        let dither = digits::<L, true>(dithers, stride, place, n);
        (0..n).for_each(|j| row[j] = value(j).minus(dither(j)).minus(offset));
    } else {
        let value = digits::<L, false>(planes, stride, place, n);
        let dither = digits::<L, false>(dithers, stride, place, n);
        (0..n).for_each(|j| row[j] = value(j).minus(dither(j)).minus(offset));
    }
}

/// Signed lanes as digits.
#[inline(always)]
pub(crate) fn widen<L: Lane, D: Digit>(lanes: &[L], digits: &mut [D]) {
    digits.iter_mut().zip(lanes).for_each(|(digit, lane)| *digit = lane.signed());
}

/// u + add, less q from the threshold on.
#[inline(always)]
pub(crate) fn shift_centred(input: &[u64], add: u64, q: u64, threshold: u64, values: &mut [u64]) {
    for (value, &u) in values.iter_mut().zip(input) {
        *value = u + add - if u >= threshold { q } else { 0 };
    }
}

/// u + add, less q where the coefficient's threshold is below u.
#[inline(always)]
pub(crate) fn shift_below(input: &[u64], add: u64, q: u64, thresholds: &[u64], values: &mut [u64]) {
    for ((value, &u), &threshold) in values.iter_mut().zip(input).zip(thresholds) {
        *value = u + add - if threshold < u { q } else { 0 };
    }
}

/// u + rho modulo q.
#[inline(always)]
pub(crate) fn shift_dither(input: &[u64], q: u64, dither: &[u64], values: &mut [u64]) {
    for ((value, &u), &rho) in values.iter_mut().zip(input).zip(dither) {
        let sum = u + rho;
        *value = sum.min(sum.wrapping_sub(q));
    }
}

/// Adds the dither.
#[inline(always)]
pub(crate) fn add_dither(dither: &[u64], values: &mut [u64]) {
    values.iter_mut().zip(dither).for_each(|(value, rho)| *value += rho);
}

/// u + add, less q where the coefficient's bit of its block's last word is set.
#[inline(always)]
pub(crate) fn shift_selected(input: &[u64], add: u64, q: u64, words: &[u64], per_block: usize, values: &mut [u64]) {
    let blocks = input.chunks(BLOCK).zip(values.chunks_mut(BLOCK));
    for ((input, values), words) in blocks.zip(words.chunks_exact(per_block)) {
        let select = words[per_block - 1];
        for (j, (value, &u)) in values.iter_mut().zip(input).enumerate() {
            *value = u + add - (q & (select >> j & 1).wrapping_neg());
        }
    }
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

/// Splits values into planes, from element `start` of each on, of 8 bits.
#[inline(always)]
pub(crate) fn planes8(values: &[u64], stride: usize, start: usize, planes: &mut [u8]) {
    split(values, stride, start, planes);
}

/// Splits values into planes, from element `start` of each on, of 16 bits.
#[inline(always)]
pub(crate) fn planes16(values: &[u64], stride: usize, start: usize, planes: &mut [u16]) {
    split(values, stride, start, planes);
}

/// Splits values into planes, from element `start` of each on, of 32 bits.
#[inline(always)]
pub(crate) fn planes32(values: &[u64], stride: usize, start: usize, planes: &mut [u32]) {
    split(values, stride, start, planes);
}

#[inline(always)]
fn split<L: Lane>(values: &[u64], stride: usize, start: usize, planes: &mut [L]) {
    for (i, plane) in planes.chunks_exact_mut(stride).enumerate() {
        let shift = i as u32 * L::BITS;
        plane[start..].iter_mut().zip(values).for_each(|(part, value)| *part = L::truncate(value >> shift));
    }
}
