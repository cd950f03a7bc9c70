//! Transforms on registers: their tables, in the order of use.

use super::lanes::{Constants, Field, Isa, Word};
use super::passes::{log_block, radices};
use super::tables::{Factors, Table};
use super::transform::Transform;
use crate::word::Residue as _;

#[derive(Debug)]
pub(super) struct Vectorised<F: Field> {
    constants: Constants<Word<F>>,
    forward: Table<Word<F>>,
    inverse: Table<Word<F>>,
    /// The factors of the last inverse layer: times N, and exact.
    scales: [[Word<F>; 4]; 2],
}

/// Factors in the making; `powers[m + i]` is that of block `i` in the layer of `m` blocks.
struct Layout<'a, F: Field> {
    powers: &'a [u64],
    prime: Word<F>,
    common: Vec<Word<F>>,
    lanes: Vec<Word<F>>,
}

impl<F: Field> Layout<'_, F> {
    fn factor(&self, value: u64) -> [Word<F>; 2] {
        F::factor(Word::<F>::from_u64(value), self.prime)
    }

    /// `layers` on block `block` of `blocks`.
    fn block(&mut self, layers: usize, blocks: usize, block: usize) {
        for layer in 0..layers {
            for part in 0..1 << layer {
                self.common.extend(self.factor(self.powers[((blocks + block) << layer) + part]));
            }
        }
    }

    /// The layers of distances `distances` on the pairs of registers of each of `blocks` blocks.
    fn pairs(&mut self, blocks: usize, distances: impl Iterator<Item = usize> + Clone) {
        let (n, lanes) = (self.powers.len(), 1 << F::I::LOG_LANES);
        for block in 0..blocks {
            for distance in distances.clone() {
                let starts = (block * n / blocks..(block + 1) * n / blocks).step_by(2 * lanes);
                starts.for_each(|start| self.pair(start, distance));
            }
        }
    }

    /// The layer of distance `distance` on two registers from element `start` on, after the exchanges down to it: lane by
    /// lane as [`Isa::exchange`] leaves them.
    fn pair(&mut self, start: usize, distance: usize) {
        let lanes = 1 << F::I::LOG_LANES;
        // The element in each lane of the first register: the bits of the lane number, those from `distance` on moved up.
        let elements = (0..lanes).map(|lane| start + (lane / distance * distance * 2) + lane % distance);
        let blocks = self.powers.len() / (2 * distance);
        let factors: Vec<_> =
            elements.map(|element| self.factor(self.powers[blocks + element / (2 * distance)])).collect();
        self.lanes.extend(factors.iter().map(|factor| factor[0]));
        self.lanes.extend(factors.iter().map(|factor| factor[1]));
    }
}

impl<F: Field> Vectorised<F> {
    pub(super) fn new(prime: Word<F>, factors: &Factors) -> Self {
        let Factors { powers, inverses, scale } = factors;
        let n = powers.len();
        let log_n = n.trailing_zeros() as usize;
        let (log_lanes, held) = (F::I::LOG_LANES, log_block::<F::I>(log_n));
        let passes: Vec<_> = radices::<F::I>(log_n)
            .scan(1, |blocks, layers| {
                let pass = (layers, *blocks);
                *blocks <<= layers;
                Some(pass)
            })
            .collect();
        let blocks = n >> (log_lanes + held);
        let layout = |powers| Layout::<F> { powers, prime, common: Vec::new(), lanes: Vec::new() };

        let mut forward = layout(powers);
        for (layers, blocks) in &passes {
            (0..*blocks).for_each(|block| forward.block(*layers, *blocks, block));
        }
        (0..blocks).for_each(|block| forward.block(held, blocks, block));
        forward.pairs(blocks, (0..log_lanes).rev().map(|log| 1 << log));

        let mut inverse = layout(inverses);
        (0..blocks).for_each(|block| inverse.block(held, blocks, block));
        inverse.pairs(blocks, (0..log_lanes).map(|log| 1 << log));
        for (layers, blocks) in passes.iter().rev() {
            (0..*blocks).for_each(|block| inverse.block(*layers, *blocks, block));
        }

        let scales = [[1, inverses[1]], *scale].map(|[sum, difference]| {
            let [u, w] = [sum, difference].map(|value| inverse.factor(value));
            [u[0], u[1], w[0], w[1]]
        });
        Self {
            constants: F::constants(prime),
            forward: Table::new(forward.common, &forward.lanes),
            inverse: Table::new(inverse.common, &inverse.lanes),
            scales,
        }
    }
}

impl<F: Field> Transform<Word<F>> for Vectorised<F> {
    fn bytes(&self) -> usize {
        self.forward.bytes() + self.inverse.bytes()
    }

    fn forward(&self, data: &mut [Word<F>]) {
        // SAFETY: made by `new` only where the processor has the instructions, for as many points as the plan has.
        unsafe { F::I::forward::<F>(&self.constants, &self.forward, None, data) }
    }

    fn forward_signed(&self, signed: &[i32], data: &mut [Word<F>]) {
        assert_eq!(signed.len(), data.len(), "as many numbers as points");
        // SAFETY: as above.
        unsafe { F::I::forward::<F>(&self.constants, &self.forward, Some(signed), data) }
    }

    fn inverse(&self, data: &mut [Word<F>], scaled: bool) {
        // SAFETY: as above.
        unsafe { F::I::inverse::<F>(&self.constants, &self.inverse, &self.scales[usize::from(scaled)], data) }
    }
}
