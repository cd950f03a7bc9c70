//! Coins drawn for a polynomial: the input-independent half of the randomised decompositions, Algorithm 1 of the paper.

use crate::coins::Coins;
use crate::family::Family;
use crate::kernel::{Checked, keep_below};
use crate::plan::Plan;
use crate::residue::Residue;

/// Coefficients whose carries share one word.
pub(crate) const BLOCK: usize = 64;
/// The most coefficients that are decomposed together: their planes stay in the first-level cache.
pub(crate) const TILE: usize = 2048;
/// Coefficients that values below a bound are drawn for together, whatever tile they are decomposed in; and those of a tile of a
/// longer polynomial.
pub(crate) const UNIT: usize = 1024;

/// The coefficients of a tile of a polynomial. Stores are fastest where rows follow one another without gaps, which those of a whole
/// polynomial do. A longer one has gaps in any case; larger tiles then gain nothing, and lose where rows leave the caches.
pub(crate) fn tile(coefficients: usize) -> usize {
    if coefficients <= TILE { TILE } else { UNIT }
}

/// The coins of one decomposition of one polynomial, drawn ahead of its input by [`crate::Decomposer::precompute`].
///
/// The papers' offline phase stores z = S y, k digits a coefficient. The carries r = -y hold the same in k bits a coefficient,
/// from which the digits of S y are two masked additions.
#[derive(Clone, Debug, Default)]
pub struct Precomputed<W> {
    /// Per block of 64 coefficients k words: bit j of word i is carry r_i of coefficient j; the last word selects u - q.
    pub(crate) carries: Vec<u64>,
    /// Per coefficient a value below q: u - q is taken where it is below u.
    pub(crate) thresholds: Vec<W>,
    /// Per coefficient the dither rho; for GMP19 per block k - 1 times 64 values, row i below b^(i+1).
    pub(crate) dither: Vec<W>,
}

/// The coins of one tile.
#[derive(Clone, Copy)]
pub(crate) struct Draws<'a, W> {
    pub(crate) carries: &'a [u64],
    pub(crate) thresholds: &'a [W],
    pub(crate) dither: &'a [W],
}

impl<W: Residue> Precomputed<W> {
    /// Bytes that the coins take.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.carries) + size_of_val(&*self.thresholds) + size_of_val(&*self.dither)
    }

    /// Draws the coins of that many `coefficients` from `start` on, a multiple of [`UNIT`].
    pub(crate) fn draw(
        &mut self,
        kernel: Checked,
        plan: &Plan<W>,
        start: usize,
        coefficients: usize,
        coins: &mut Coins,
    ) {
        match plan.family {
            Family::Unsigned | Family::Balanced | Family::Symmetric => {}
            Family::Jlp21 | Family::Jlp24 => {
                let words = coefficients.div_ceil(BLOCK) * plan.length;
                coins.fill(part_mut(&mut self.carries, start / BLOCK * plan.length, words));
            }
            Family::Gmp19 | Family::Zy22 | Family::DitherQ => {
                for from in (0..coefficients).step_by(UNIT) {
                    self.draw_unit(kernel, plan, start + from, UNIT.min(coefficients - from), coins);
                }
            }
        }
    }

    /// The same for the families that draw values below a bound, at most [`UNIT`] coefficients.
    fn draw_unit(&mut self, kernel: Checked, plan: &Plan<W>, start: usize, coefficients: usize, coins: &mut Coins) {
        match plan.family {
            Family::Zy22 => {
                below(kernel, coins, plan.modulus, part_mut(&mut self.thresholds, start, coefficients));
                below(kernel, coins, plan.top, part_mut(&mut self.dither, start, coefficients));
            }
            Family::DitherQ => below(kernel, coins, plan.modulus, part_mut(&mut self.dither, start, coefficients)),
            Family::Gmp19 => {
                below(kernel, coins, plan.modulus, part_mut(&mut self.thresholds, start, coefficients));
                let row = (plan.length - 1) * BLOCK;
                let rows = part_mut(&mut self.dither, start / BLOCK * row, coefficients.div_ceil(BLOCK) * row);
                for block in rows.chunks_exact_mut(row) {
                    for (i, row) in block.chunks_exact_mut(BLOCK).enumerate() {
                        below(kernel, coins, plan.weight(i + 1), row);
                    }
                }
            }
            _ => {}
        }
    }

    /// The coins of the coefficients from `start` on, a multiple of [`BLOCK`].
    pub(crate) fn from(&self, plan: &Plan<W>, start: usize) -> Draws<'_, W> {
        fn rest<T>(all: &[T], start: usize) -> &[T] {
            &all[start.min(all.len())..]
        }
        let rows = if plan.family == Family::Gmp19 { plan.length - 1 } else { 1 };
        Draws {
            carries: rest(&self.carries, start / BLOCK * plan.length),
            thresholds: rest(&self.thresholds, start),
            dither: rest(&self.dither, start * rows),
        }
    }
}

/// `count` elements from `start` on, which the vector is extended to hold.
fn part_mut<T: bytemuck::Zeroable + Clone>(vector: &mut Vec<T>, start: usize, count: usize) -> &mut [T] {
    if vector.len() < start + count {
        vector.resize(start + count, T::zeroed());
    }
    &mut vector[start..start + count]
}

/// Fills `out` with independent uniform values below `bound`: words of the stream, in order, cut to the bits of `bound` - 1;
/// those not below `bound` are skipped.
pub(crate) fn below<W: Residue>(kernel: Checked, coins: &mut Coins, bound: W, out: &mut [W]) {
    let bits = 128 - (bound.to_u128() - 1).leading_zeros();
    let mask = W::from_u128((1 << bits) - 1);
    let mut kept = 0;
    while kept < out.len() {
        coins.fill(&mut out[kept..]);
        kept += keep_below(kernel, &mut out[kept..], mask, bound);
    }
}
