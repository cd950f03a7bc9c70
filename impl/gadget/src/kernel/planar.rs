//! Vectorised decomposition of 64-bit residues in bases 2^l.
//!
//! A tile's values are split into planes of 8, 16 or 32 bits, so that one shift yields a digit of as many coefficients as fit a
//! register, and a row of digits is one pass over a plane. The randomised families compute in the narrowest lane that holds
//! their digits, whatever the width of the output, and widen on the way out.

use super::jobs::{Carries, Lane, RowsJob};
use super::loops::{BELOW, CENTRED, DITHERED, MODULAR, PLAIN, SELECTED, Source};
use super::{avx2, avx512};
use crate::digit::Digit;
use crate::family::Family;
use crate::plan::Plan;
use crate::residue::Residue;
use crate::tile::{BLOCK, Draws, Rows, TILE, Words, carry_row};
use ring::Kernel;
use ring::kernel::Checked;
use std::cell::RefCell;

/// A vectorised path that was checked.
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

/// Elements between planes: a block more than a tile, so that planes start at different places of a page.
const STRIDE: usize = TILE + BLOCK;

/// The order of fields matters: planes that do not start at cache lines cost a quarter of the time.
#[repr(C, align(4096))]
struct Scratch {
    /// Separates the next field from the places in a page where rows of digits tend to start.
    gap: [u64; 32],
    values: [u64; TILE],
    planes: [u64; STRIDE],
    dithers: [u64; STRIDE],
    carries: Vec<u64>,
}

thread_local! {
    static SCRATCH: RefCell<Box<Scratch>> = RefCell::new(Box::new(Scratch {
        gap: [0; 32],
        values: [0; TILE],
        planes: [0; STRIDE],
        dithers: [0; STRIDE],
        carries: Vec::new(),
    }));
}

/// A lane with its kernels.
pub(super) trait Planar: Lane {
    fn split<const MODE: u8>(k: Vectorised, source: &Source<'_>, planes: &mut [Self]);
    fn digit_rows<D: Digit>(k: Vectorised, job: &RowsJob<'_, Self>, rows: &mut [D]);
    fn dither_rows<D: Digit>(k: Vectorised, job: &RowsJob<'_, Self>, dithers: &[Self], rows: &mut [D]);
    fn carry_rows<D: Digit>(k: Vectorised, job: &RowsJob<'_, Self>, carries: Carries<'_, '_>, rows: &mut [D]);
}

macro_rules! planar {
    ($lane:ty, $split:ident, $digit_rows:ident, $dither_rows:ident, $carry_rows:ident) => {
        impl Planar for $lane {
            fn split<const MODE: u8>(k: Vectorised, source: &Source<'_>, planes: &mut [Self]) {
                dispatch!(k, $split::<MODE>(source, STRIDE, planes));
            }

            fn digit_rows<D: Digit>(k: Vectorised, job: &RowsJob<'_, Self>, rows: &mut [D]) {
                dispatch!(k, $digit_rows(job, rows));
            }

            fn dither_rows<D: Digit>(k: Vectorised, job: &RowsJob<'_, Self>, dithers: &[Self], rows: &mut [D]) {
                dispatch!(k, $dither_rows(job, dithers, rows));
            }

            fn carry_rows<D: Digit>(k: Vectorised, job: &RowsJob<'_, Self>, carries: Carries<'_, '_>, rows: &mut [D]) {
                dispatch!(k, $carry_rows(job, carries, rows));
            }
        }
    };
}
planar!(u8, planes8, digit_rows8, dither_rows8, carry_rows8);
planar!(u16, planes16, digit_rows16, dither_rows16, carry_rows16);
planar!(u32, planes32, digit_rows32, dither_rows32, carry_rows32);

/// Decomposes a tile on a vectorised path.
pub(super) fn decompose<W: Residue, D: Digit>(
    k: Vectorised,
    plan: &Plan<W>,
    base_bits: u32,
    input: &[u64],
    words: &mut Words<'_>,
    draws: Draws<'_, u64>,
    rows: &mut Rows<'_, D>,
) {
    SCRATCH.with_borrow_mut(|scratch| {
        let tile = Tile { k, plan, base_bits, input, draws };
        if plan.family.randomised() {
            match plan.lane_bits.min(D::BITS) {
                8 => tile.randomised::<u8, D>(words, scratch, rows),
                16 => tile.randomised::<u16, D>(words, scratch, rows),
                _ => tile.randomised::<u32, D>(words, scratch, rows),
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
    /// All rows of the tile, `row_stride` apart.
    fn job<'a, L: Lane>(&'a self, planes: &'a [L], row_stride: usize) -> RowsJob<'a, L> {
        RowsJob {
            planes,
            stride: STRIDE,
            places: self.plan.places(L::BITS),
            offsets: &self.plan.offsets,
            coefficients: self.input.len(),
            row_stride,
        }
    }

    fn source<'a>(&'a self, words: &'a [u64]) -> Source<'a> {
        Source {
            input: self.input,
            add: self.plan.add.low(),
            q: self.plan.modulus.low(),
            threshold: self.plan.threshold.low(),
            words,
            thresholds: self.draws.thresholds,
            dither: self.draws.dither,
        }
    }

    /// Splits the integers that are decomposed into planes.
    fn split<L: Planar>(&self, words: &[u64], planes: &mut [L]) {
        let (k, source) = (self.k, self.source(words));
        match self.plan.family {
            Family::Unsigned | Family::Jlp21 => L::split::<PLAIN>(k, &source, planes),
            Family::Balanced | Family::Symmetric => L::split::<CENTRED>(k, &source, planes),
            Family::Jlp24 => L::split::<SELECTED>(k, &source, planes),
            Family::Gmp19 => L::split::<BELOW>(k, &source, planes),
            Family::Zy22 => L::split::<DITHERED>(k, &source, planes),
            Family::DitherQ => L::split::<MODULAR>(k, &source, planes),
        }
    }

    fn deterministic64<D: Digit>(&self, scratch: &mut Scratch, rows: &mut Rows<'_, D>) {
        let n = self.input.len();
        let mut values = self.input;
        if matches!(self.plan.family, Family::Balanced | Family::Symmetric) {
            dispatch!(self.k, values::<CENTRED>(&self.source(&[]), &mut scratch.values));
            values = &scratch.values[..n];
        } else if self.source(&[]).add > 0 {
            dispatch!(self.k, values::<PLAIN>(&self.source(&[]), &mut scratch.values));
            values = &scratch.values[..n];
        }
        let job = RowsJob { stride: n, ..self.job(values, rows.stride) };
        dispatch!(self.k, digit_rows(&job, bytemuck::cast_slice_mut(rows.tile_rows())));
    }

    fn deterministic<L: Planar, D: Digit>(&self, scratch: &mut Scratch, rows: &mut Rows<'_, D>) {
        let planes: &mut [L] = bytemuck::cast_slice_mut(&mut scratch.planes);
        self.split(&[], planes);
        L::digit_rows(self.k, &self.job(planes, rows.stride), rows.tile_rows());
    }

    fn randomised<L: Planar, D: Digit>(&self, words: &mut Words<'_>, scratch: &mut Scratch, rows: &mut Rows<'_, D>) {
        let Scratch { values, planes, dithers, carries, .. } = scratch;
        let planes: &mut [L] = bytemuck::cast_slice_mut(planes);
        self.split(words.drawn(self.input.len().div_ceil(BLOCK)), planes);
        match self.plan.family {
            Family::Zy22 | Family::DitherQ => {
                let dithers: &mut [L] = bytemuck::cast_slice_mut(dithers);
                let input = &self.draws.dither[..self.input.len()];
                L::split::<PLAIN>(self.k, &Source { input, add: 0, ..self.source(&[]) }, dithers);
                L::dither_rows(self.k, &self.job(planes, rows.stride), dithers, rows.tile_rows());
            }
            Family::Gmp19 => {
                dispatch!(self.k, values::<BELOW>(&self.source(&[]), values));
                self.random_carries(&values[..self.input.len()], carries);
                self.carried(planes, &mut Words::Drawn(carries), &[], rows);
            }
            Family::Jlp21 => self.carried(planes, words, &self.plan.modulus_digits, rows),
            _ => self.carried(planes, words, &[], rows),
        }
    }

    /// GMP19's carries, in the layout of drawn ones; the top digit has no carry.
    fn random_carries(&self, values: &[u64], carries: &mut Vec<u64>) {
        let k = self.plan.length;
        let blocks = self.input.len().div_ceil(BLOCK);
        let mut padded = [0; BLOCK];
        carries.clear();
        carries.resize(blocks * k, 0);
        for (block, values) in values.chunks(BLOCK).enumerate() {
            padded[..values.len()].copy_from_slice(values);
            for t in 0..k - 1 {
                let word = &mut carries[carry_row(t) * blocks + block];
                let uniform = &self.draws.dither[(block * (k - 1) + t) * BLOCK..][..BLOCK];
                let mask = (1 << ((t + 1) as u32 * self.base_bits)) - 1;
                dispatch!(self.k, below_bits(uniform, BLOCK, &padded, mask, std::slice::from_mut(word)));
            }
        }
    }

    fn carried<L: Planar, D: Digit>(
        &self,
        planes: &[L],
        words: &mut Words<'_>,
        subtracted: &[i64],
        rows: &mut Rows<'_, D>,
    ) {
        L::carry_rows(self.k, &self.job(planes, rows.stride), Carries { words, subtracted }, rows.tile_rows());
    }
}
