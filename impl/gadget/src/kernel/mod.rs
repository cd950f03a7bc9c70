//! Run-time choice of the instruction set, on top of [`ring::Kernel`]. One file per path, same functions, same bits.

mod scalar;

use crate::digit::Digit;
use crate::draws::{BLOCK, Draws, TILE};
use crate::family::Family;
use crate::plan::Plan;
use crate::residue::Residue;
use ring::{Kernel, KernelError};

/// A kernel the processor was seen to support.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked(Kernel);

impl Checked {
    pub(crate) fn new(kernel: Kernel) -> Result<Self, KernelError> {
        kernel.check().map(Self)
    }

    pub(crate) fn kernel(self) -> Kernel {
        self.0
    }
}

/// The digits of a tile: digit t of coefficient j goes to `digits[t * stride + start + j]`.
pub(crate) struct Rows<'a, D> {
    pub(crate) digits: &'a mut [D],
    pub(crate) stride: usize,
    pub(crate) start: usize,
}

impl<D> Rows<'_, D> {
    /// The part of row `t` that `coefficients` of the tile take.
    fn row(&mut self, t: usize, coefficients: usize) -> &mut [D] {
        let start = t * self.stride + self.start;
        &mut self.digits[start..start + coefficients]
    }
}

/// Decomposes at most a tile of residues below q.
pub(crate) fn decompose<W: Residue, D: Digit>(
    _kernel: Checked,
    plan: &Plan<W>,
    input: &[W],
    draws: Draws<'_, W>,
    mut rows: Rows<'_, D>,
) {
    let n = input.len();
    let blocks = n.div_ceil(BLOCK);
    let (carries, thresholds, dither) = match plan.family {
        Family::Unsigned | Family::Balanced => (0, 0, 0),
        Family::Jlp21 | Family::Jlp24 => (blocks * plan.length, 0, 0),
        Family::Zy22 => (0, n, n),
        Family::DitherQ => (0, 0, n),
        Family::Gmp19 => (0, n, blocks * BLOCK * (plan.length - 1)),
    };
    assert!(n <= TILE && rows.start + n <= rows.stride && rows.digits.len() == plan.length * rows.stride);
    assert!(draws.carries.len() >= carries && draws.thresholds.len() >= thresholds && draws.dither.len() >= dither);
    scalar::decompose(plan, input, draws, &mut rows);
}
