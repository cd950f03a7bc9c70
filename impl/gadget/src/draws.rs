//! Coins drawn for a polynomial: the input-independent half of the randomised decompositions, Algorithm 1 of the paper.

use crate::coins::Coins;
use crate::family::Family;
use crate::kernel::keep_below;
use crate::plan::Plan;
use crate::residue::Residue;
use crate::tile::{BLOCK, Draws, UNIT, Words};
use ring::kernel::Checked;

/// The coins of one decomposition of one polynomial, drawn ahead of its input by [`crate::Decomposer::precompute`].
///
/// The papers' offline phase stores z = S y, k digits a coefficient. The carries r = -y hold the same in k bits a coefficient,
/// from which the digits of S y are two masked additions.
#[derive(Clone, Debug, Default)]
pub struct Precomputed<W> {
    /// Per tile k rows of a word for every block of 64 coefficients: the first selects u - q where its bits are set, bit j of row
    /// i + 1 is carry r_i of the block's coefficient j.
    pub(crate) carries: Vec<u64>,
    /// Per coefficient a value below q: u - q is taken if it is below u.
    pub(crate) thresholds: Vec<W>,
    /// Per coefficient the dither rho; for GMP19 per block k - 1 times 64 values, row i below b^(i+1).
    pub(crate) dither: Vec<W>,
}

impl<W: Residue> Precomputed<W> {
    /// Bytes of the coins.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.carries) + size_of_val(&*self.thresholds) + size_of_val(&*self.dither)
    }

    /// Draws the coins of `coefficients` coefficients from `start` on, a multiple of [`UNIT`].
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

    /// The coins of the coefficients from `start` on, a multiple of a tile.
    pub(crate) fn from(&self, plan: &Plan<W>, start: usize) -> (Words<'_>, Draws<'_, W>) {
        let rows = if plan.family == Family::Gmp19 { plan.length - 1 } else { 1 };
        let draws = Draws { thresholds: rest(&self.thresholds, start), dither: rest(&self.dither, start * rows) };
        (Words::Drawn(rest(&self.carries, start / BLOCK * plan.length)), draws)
    }

    /// Fresh coins for a tile of `coefficients` coefficients, whose words are drawn later.
    pub(crate) fn fresh<'a>(
        &'a mut self,
        kernel: Checked,
        plan: &Plan<W>,
        coefficients: usize,
        coins: &'a mut Coins,
    ) -> (Words<'a>, Draws<'a, W>) {
        if !matches!(plan.family, Family::Jlp21 | Family::Jlp24) {
            self.draw(kernel, plan, 0, coefficients, coins);
            return self.from(plan, 0);
        }
        let words = part_mut(&mut self.carries, 0, coefficients.div_ceil(BLOCK) * plan.length);
        (Words::Fresh { words, drawn: 0, coins }, Draws { thresholds: &[], dither: &[] })
    }
}

fn rest<T>(all: &[T], start: usize) -> &[T] {
    &all[start.min(all.len())..]
}

/// `count` elements from `start` on; the vector grows to hold them.
fn part_mut<T: bytemuck::Zeroable + Clone>(vector: &mut Vec<T>, start: usize, count: usize) -> &mut [T] {
    if vector.len() < start + count {
        vector.resize(start + count, T::zeroed());
    }
    &mut vector[start..start + count]
}

/// Fills `out` with independent uniform values below `bound`: words of the stream, in order, masked to the bits of `bound` - 1;
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
