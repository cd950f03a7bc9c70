//! Vectorised decomposition of 64-bit residues in bases 2^l.
//!
//! A tile's values are split into planes of 8, 16 or 32 bits, so that one shift yields a digit of as many coefficients as fit a
//! register, and a row of digits is one pass over a plane. The randomised families compute in the narrowest lane that holds
//! their digits, whatever the width of the output, and widen on the way out.

use super::loops::{BELOW, CENTRED, DITHERED, Lane, MODULAR, PLAIN, Place, SELECTED, Source};
use super::{Checked, Rows, avx2, avx512};
use crate::digit::Digit;
use crate::draws::{BLOCK, Draws, TILE};
use crate::family::Family;
use crate::plan::Plan;
use crate::residue::Residue;
use ring::Kernel;
use std::cell::RefCell;

/// A vectorised path that the processor was seen to support.
#[derive(Clone, Copy)]
pub(super) enum Vectorised {
    Avx2,
    Avx512,
}

impl Vectorised {
    pub(super) fn new(kernel: Checked) -> Option<Self> {
        match kernel.kernel() {
            Kernel::Scalar => None,
            Kernel::Avx2 => Some(Self::Avx2),
            Kernel::Avx512 => Some(Self::Avx512),
        }
    }
}

/// Calls the function of that name on the path of `$kernel`.
macro_rules! dispatch {
    ($kernel:expr, $function:ident $(::<$($constant:tt),*>)? ($($argument:expr),* $(,)?)) => {
        match $kernel {
            // SAFETY: a `Vectorised` comes from a `Checked` kernel: the processor has every feature its functions enable.
            Vectorised::Avx512 => unsafe { avx512::$function $(::<$($constant),*>)? ($($argument),*) },
            // SAFETY: as above.
            Vectorised::Avx2 => unsafe { avx2::$function $(::<$($constant),*>)? ($($argument),*) },
        }
    };
}

/// Rows that are computed together: they share carries, and each row's memory is written in long runs.
const GROUP: usize = 4;

#[repr(align(64))]
struct Scratch {
    values: [u64; TILE],
    planes: [u64; TILE],
    dithers: [u64; TILE],
    rows: [u64; GROUP * TILE / 2],
    carries: Vec<u64>,
}

thread_local! {
    static SCRATCH: RefCell<Box<Scratch>> = RefCell::new(Box::new(Scratch {
        values: [0; TILE],
        planes: [0; TILE],
        dithers: [0; TILE],
        rows: [0; GROUP * TILE / 2],
        carries: Vec::new(),
    }));
}

/// Rows of digits with moved carries: row r holds digit `first + r`, less b times its own carry, plus the one before.
pub(super) struct CarryRows<'a, L> {
    pub(super) planes: &'a [L],
    /// Elements between planes.
    pub(super) stride: usize,
    /// Per block of 64 coefficients a word of carries for each digit.
    pub(super) words: &'a [u64],
    pub(super) words_per_block: usize,
    pub(super) first: usize,
    /// A multiple of 64.
    pub(super) coefficients: usize,
    /// Elements between rows.
    pub(super) row_stride: usize,
}

impl<L> CarryRows<'_, L> {
    /// Whether planes, words and rows reach as far as a kernel reads and writes.
    pub(super) fn check(&self, places: &[Place], row_elements: usize) {
        let planes = self.planes.len() / self.stride;
        assert!(places.iter().all(|place| place.plane + usize::from(place.crosses) < planes));
        assert!(self.coefficients <= self.stride && self.coefficients.is_multiple_of(BLOCK));
        assert!(self.first + places.len() <= self.words_per_block);
        assert!(self.words.len() >= self.coefficients / BLOCK * self.words_per_block);
        assert!(row_elements >= (places.len() - 1) * self.row_stride + self.coefficients);
    }
}

/// A lane with its kernels.
pub(super) trait Planar: Lane {
    fn split<const MODE: u8>(k: Vectorised, source: &Source<'_>, planes: &mut [Self]);
    fn carry_rows<const ROWS: usize>(
        k: Vectorised,
        job: &CarryRows<'_, Self>,
        places: &[Place; ROWS],
        subtracted: Option<&[i64; ROWS]>,
        rows: &mut [Self],
    );
    fn carry_top(k: Vectorised, words: &[u64], per_block: usize, subtracted: i64, row: &mut [Self]);
}

macro_rules! planar {
    ($lane:ty, $split:ident, $rows:ident, $top:ident) => {
        impl Planar for $lane {
            fn split<const MODE: u8>(k: Vectorised, source: &Source<'_>, planes: &mut [Self]) {
                dispatch!(k, $split::<MODE>(source, TILE, planes));
            }

            fn carry_rows<const ROWS: usize>(
                k: Vectorised,
                job: &CarryRows<'_, Self>,
                places: &[Place; ROWS],
                subtracted: Option<&[i64; ROWS]>,
                rows: &mut [Self],
            ) {
                match subtracted {
                    Some(subtracted) => dispatch!(k, $rows::<ROWS, true>(job, places, subtracted, rows)),
                    None => dispatch!(k, $rows::<ROWS, false>(job, places, &[0; ROWS], rows)),
                }
            }

            fn carry_top(k: Vectorised, words: &[u64], per_block: usize, subtracted: i64, row: &mut [Self]) {
                dispatch!(k, $top(words, per_block, subtracted, row));
            }
        }
    };
}
planar!(u8, planes8, carry_rows8, carry_top8);
planar!(u16, planes16, carry_rows16, carry_top16);
planar!(u32, planes32, carry_rows32, carry_top32);

/// Decomposes a tile on a vectorised path.
pub(super) fn decompose<W: Residue, D: Digit>(
    k: Vectorised,
    plan: &Plan<W>,
    base_bits: u32,
    input: &[u64],
    draws: Draws<'_, u64>,
    rows: &mut Rows<'_, D>,
) {
    SCRATCH.with_borrow_mut(|scratch| {
        let tile = Tile { k, plan, base_bits, input, draws };
        if plan.family.randomised() {
            match plan.lane_bits.min(D::BITS) {
                8 => tile.randomised::<u8, D>(scratch, rows),
                16 => tile.randomised::<u16, D>(scratch, rows),
                _ => tile.randomised::<u32, D>(scratch, rows),
            }
        } else {
            match D::BITS {
                8 => tile.deterministic::<u8, D>(scratch, rows),
                16 => tile.deterministic::<u16, D>(scratch, rows),
                32 => tile.deterministic::<u32, D>(scratch, rows),
                _ => tile.deterministic64(scratch, rows),
            }
        }
    });
}

struct Tile<'a, W> {
    k: Vectorised,
    plan: &'a Plan<W>,
    base_bits: u32,
    input: &'a [u64],
    draws: Draws<'a, u64>,
}

impl<W: Residue> Tile<'_, W> {
    /// Where digit `t` lies in planes of `L`.
    fn place<L: Lane>(&self, t: usize) -> Place {
        let bit = (self.plan.dropped + t) as u32 * self.base_bits;
        let (plane, shift) = (bit / L::BITS, bit % L::BITS);
        let top = t + 1 == self.plan.length;
        let last = plane + 1 == u64::BITS / L::BITS;
        Place {
            plane: plane as usize,
            shift,
            crosses: !last && shift > 0 && (top || shift + self.base_bits > L::BITS),
            mask: if top { u64::MAX } else { self.plan.base - 1 },
        }
    }

    fn offset(&self, t: usize) -> i64 {
        if t + 1 == self.plan.length { self.plan.top_offset } else { self.plan.offset }
    }

    fn source(&self) -> Source<'_> {
        Source {
            input: self.input,
            add: self.plan.add.low(),
            q: self.plan.modulus.low(),
            threshold: self.plan.threshold.low(),
            words: self.draws.carries,
            words_per_block: self.plan.length,
            thresholds: self.draws.thresholds,
            dither: self.draws.dither,
        }
    }

    /// Splits the integers whose digits are taken into planes.
    fn split<L: Planar>(&self, planes: &mut [L]) {
        let (k, source) = (self.k, self.source());
        match self.plan.family {
            Family::Unsigned | Family::Jlp21 => L::split::<PLAIN>(k, &source, planes),
            Family::Balanced => L::split::<CENTRED>(k, &source, planes),
            Family::Jlp24 => L::split::<SELECTED>(k, &source, planes),
            Family::Gmp19 => L::split::<BELOW>(k, &source, planes),
            Family::Zy22 => L::split::<DITHERED>(k, &source, planes),
            Family::DitherQ => L::split::<MODULAR>(k, &source, planes),
        }
    }

    fn deterministic64<D: Digit>(&self, scratch: &mut Scratch, rows: &mut Rows<'_, D>) {
        let n = self.input.len();
        let mut values = self.input;
        if self.plan.family == Family::Balanced {
            dispatch!(self.k, values::<CENTRED>(&self.source(), &mut scratch.values));
            values = &scratch.values[..n];
        } else if self.source().add > 0 {
            dispatch!(self.k, values::<PLAIN>(&self.source(), &mut scratch.values));
            values = &scratch.values[..n];
        }
        for t in 0..self.plan.length {
            let row: &mut [u64] = bytemuck::cast_slice_mut(rows.row(t, n));
            dispatch!(self.k, digit_row(values, n, self.place::<u64>(t), self.offset(t), row));
        }
    }

    fn deterministic<L: Planar, D: Digit>(&self, scratch: &mut Scratch, rows: &mut Rows<'_, D>) {
        let planes: &mut [L] = bytemuck::cast_slice_mut(&mut scratch.planes);
        self.split(planes);
        for t in 0..self.plan.length {
            let row: &mut [L] = bytemuck::cast_slice_mut(rows.row(t, self.input.len()));
            dispatch!(self.k, digit_row(&*planes, TILE, self.place::<L>(t), self.offset(t), row));
        }
    }

    fn randomised<L: Planar, D: Digit>(&self, scratch: &mut Scratch, rows: &mut Rows<'_, D>) {
        let Scratch { values, planes, dithers, rows: spare, carries } = scratch;
        let planes: &mut [L] = bytemuck::cast_slice_mut(planes);
        let spare: &mut [L] = bytemuck::cast_slice_mut(spare);
        self.split(planes);
        match self.plan.family {
            Family::Zy22 | Family::DitherQ => {
                let dithers: &mut [L] = bytemuck::cast_slice_mut(dithers);
                let input = &self.draws.dither[..self.input.len()];
                L::split::<PLAIN>(self.k, &Source { input, add: 0, ..self.source() }, dithers);
                self.dithered(planes, dithers, spare, rows);
            }
            Family::Gmp19 => {
                dispatch!(self.k, values::<BELOW>(&self.source(), values));
                self.random_carries(&values[..self.input.len()], carries);
                self.carried(planes, carries, None, spare, rows);
            }
            Family::Jlp21 => self.carried(planes, self.draws.carries, Some(&self.plan.modulus_digits), spare, rows),
            _ => self.carried(planes, self.draws.carries, None, spare, rows),
        }
    }

    fn dithered<L: Planar, D: Digit>(&self, planes: &[L], dithers: &[L], spare: &mut [L], rows: &mut Rows<'_, D>) {
        for t in 0..self.plan.length {
            let (place, offset, row) = (self.place::<L>(t), self.offset(t), rows.row(t, self.input.len()));
            if L::BITS == D::BITS {
                dispatch!(self.k, dither_row(planes, dithers, TILE, place, offset, bytemuck::cast_slice_mut(row)));
            } else {
                let spare = &mut spare[..row.len()];
                dispatch!(self.k, dither_row(planes, dithers, TILE, place, offset, &mut *spare));
                dispatch!(self.k, widen(&*spare, row));
            }
        }
    }

    /// GMP19's carries, in the layout of drawn ones; there is none out of the top digit.
    fn random_carries(&self, values: &[u64], carries: &mut Vec<u64>) {
        let k = self.plan.length;
        let blocks = self.input.len().div_ceil(BLOCK);
        let mut padded = [0; BLOCK];
        carries.clear();
        carries.resize(blocks * k, 0);
        for (block, (values, words)) in values.chunks(BLOCK).zip(carries.chunks_exact_mut(k)).enumerate() {
            padded[..values.len()].copy_from_slice(values);
            for (t, word) in words[..k - 1].iter_mut().enumerate() {
                let uniform = &self.draws.dither[(block * (k - 1) + t) * BLOCK..][..BLOCK];
                let mask = (1 << ((t + 1) as u32 * self.base_bits)) - 1;
                dispatch!(self.k, below_bits(uniform, BLOCK, &padded, mask, std::slice::from_mut(word)));
            }
        }
    }

    fn carried<L: Planar, D: Digit>(
        &self,
        planes: &[L],
        words: &[u64],
        subtracted: Option<&[i64]>,
        spare: &mut [L],
        rows: &mut Rows<'_, D>,
    ) {
        let (n, top) = (self.input.len(), self.plan.length - 1);
        let mut first = 0;
        while first + GROUP <= top {
            self.carried_group::<L, D, GROUP>(first, planes, words, subtracted, spare, rows);
            first += GROUP;
        }
        while first < top {
            self.carried_group::<L, D, 1>(first, planes, words, subtracted, spare, rows);
            first += 1;
        }
        let spare = &mut spare[..n.next_multiple_of(BLOCK)];
        dispatch!(self.k, digit_row(planes, TILE, self.place::<L>(top), self.offset(top), &mut spare[..n]));
        let subtracted = subtracted.map_or(0, |digits| digits[top]);
        L::carry_top(self.k, words, self.plan.length, subtracted, spare);
        dispatch!(self.k, widen(&spare[..n], rows.row(top, n)));
    }

    fn carried_group<L: Planar, D: Digit, const ROWS: usize>(
        &self,
        first: usize,
        planes: &[L],
        words: &[u64],
        subtracted: Option<&[i64]>,
        spare: &mut [L],
        rows: &mut Rows<'_, D>,
    ) {
        let n = self.input.len();
        let places: [Place; ROWS] = std::array::from_fn(|r| self.place::<L>(first + r));
        let subtracted: Option<[i64; ROWS]> = subtracted.map(|digits| std::array::from_fn(|r| digits[first + r]));
        let mut job = CarryRows {
            planes,
            stride: TILE,
            words,
            words_per_block: self.plan.length,
            first,
            coefficients: n.next_multiple_of(BLOCK),
            row_stride: rows.stride,
        };
        if L::BITS == D::BITS && n.is_multiple_of(BLOCK) {
            let out = &mut rows.digits[first * rows.stride + rows.start..];
            L::carry_rows(self.k, &job, &places, subtracted.as_ref(), bytemuck::cast_slice_mut(out));
            return;
        }
        job.row_stride = TILE;
        L::carry_rows(self.k, &job, &places, subtracted.as_ref(), spare);
        for (r, spare) in spare.chunks(TILE).take(ROWS).enumerate() {
            dispatch!(self.k, widen(&spare[..n], rows.row(first + r, n)));
        }
    }
}
