//! The input of vectorised kernels: words, rows of digits of one tile, and their carries.

use crate::digit::Digit;
use crate::plan::Place;
use crate::tile::{BLOCK, Words, carry_row};
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

/// Rows of digits of one tile.
#[derive(Clone, Copy)]
pub(super) struct RowsJob<'a, L> {
    /// The planes of the values.
    pub(super) planes: &'a [L],
    /// Elements between planes.
    pub(super) stride: usize,
    /// The place of each row's digit.
    pub(super) places: &'a [Place],
    /// The number that is subtracted from the digits of each row.
    pub(super) offsets: &'a [i64],
    pub(super) coefficients: usize,
    /// Elements between rows.
    pub(super) row_stride: usize,
}

impl<L: Lane> RowsJob<'_, L> {
    /// Whether planes and rows are as long as a kernel reads and writes: planes have whole blocks, rows all coefficients.
    pub(super) fn check(&self, row_elements: usize) {
        let planes = self.planes.len() / self.stride;
        assert!(
            self.places.iter().all(|place| place.shift < L::BITS && place.plane + usize::from(place.crosses) < planes)
        );
        assert!(self.coefficients.next_multiple_of(BLOCK) <= self.stride && self.offsets.len() == self.places.len());
        assert!(row_elements >= (self.places.len() - 1) * self.row_stride + self.coefficients);
    }
}

/// Carries of the rows of a job.
pub(super) struct Carries<'a, 'b> {
    pub(super) words: &'a mut Words<'b>,
    /// Per row the number, if any, that is subtracted if a selecting bit is set.
    pub(super) subtracted: &'a [i64],
}

impl Carries<'_, '_> {
    /// Whether there are carries for every row and coefficient.
    pub(super) fn check<L>(&self, job: &RowsJob<'_, L>) {
        assert!(self.words.len() >= job.coefficients.div_ceil(BLOCK) * job.places.len());
        assert!(self.subtracted.is_empty() || self.subtracted.len() == job.places.len());
    }

    /// All words, of which those for the rows before `row` have been drawn.
    pub(super) fn before<L>(&mut self, job: &RowsJob<'_, L>, row: usize) -> &[u64] {
        self.words.drawn(carry_row(row) * job.coefficients.div_ceil(BLOCK))
    }
}
