//! Buffers of rotations.

use crate::error::LatticeError;
use ring::residues::TILE;
use ring::{Buffer, Word};

/// Most indicators of a step.
pub(super) const MAX_SELECTORS: usize = 3;

/// Buffers of rotations. Vectors of residues are padded to whole tiles.
#[derive(Default)]
pub(crate) struct Buffers<W> {
    /// The transformed digits, modulo one prime, of both parts of every active accumulator.
    pub(super) left: Aligned<W>,
    /// Their products with each selector: mask, then body.
    pub(super) sums: Aligned<W>,
    /// X^c - 1 for each selector.
    pub(super) factors: Aligned<W>,
    /// A product to be transformed back: mask, then body.
    pub(super) product: Aligned<W>,
    /// The digits of both parts of every active accumulator.
    pub(super) digits: Vec<i32>,
    /// The accumulators that a step changes, and their exponents.
    pub(super) active: Vec<(usize, [usize; MAX_SELECTORS])>,
}

/// Words that begin at a cache line; the buffer grows to the largest length needed so far.
pub(super) struct Aligned<W>(Option<Buffer<W>>);

impl<W> Default for Aligned<W> {
    fn default() -> Self {
        Self(None)
    }
}

impl<W: Word> Aligned<W> {
    fn fit(&mut self, len: usize) -> Result<(), LatticeError> {
        if self.0.as_ref().is_none_or(|buffer| buffer.len() < len) {
            let no_memory = |error| LatticeError::Parameter(format!("blind rotation: {error}"));
            self.0 = Some(Buffer::zeroed(len).map_err(no_memory)?);
        }
        Ok(())
    }

    /// The first `len` words, for which the buffer must have been resized.
    pub(super) fn first(&mut self, len: usize) -> &mut [W] {
        self.0.as_mut().map_or(&mut [], |buffer| &mut buffer[..len])
    }
}

impl<W: Word> Buffers<W> {
    pub(super) fn fit(&mut self, n: usize, length: usize, accumulators: usize) -> Result<(), LatticeError> {
        let pitch = n + TILE;
        self.left.fit(accumulators * 2 * length * pitch)?;
        self.sums.fit(accumulators * 2 * MAX_SELECTORS * pitch)?;
        self.factors.fit(MAX_SELECTORS * pitch)?;
        self.product.fit(2 * pitch)?;
        self.digits.resize(accumulators * 2 * length * n, 0);
        self.active.reserve(accumulators);
        Ok(())
    }
}
