//! The cyclic transform of a power of two of points modulo a prime of any length.

use super::field::{Element, Field};

/// Powers of a primitive k-th root of unity, in Montgomery's form.
#[derive(Debug)]
pub(super) struct Dft<const B: usize, const L: usize> {
    /// omega^j for j < k/2.
    forward: Vec<Element<B, L>>,
    /// omega^-j for j < k/2.
    inverse: Vec<Element<B, L>>,
}

impl<const B: usize, const L: usize> Dft<B, L> {
    /// The transform of `k` points to the values at the powers of `root`, of order k.
    pub(super) fn new(field: &Field<B, L>, k: usize, root: Element<B, L>) -> Self {
        let powers = |root| {
            let root = field.montgomery(root);
            let one = field.montgomery(Element::ONE);
            std::iter::successors(Some(one), |power| Some(field.mul(*power, root))).take(k / 2).collect()
        };
        Self { forward: powers(root), inverse: powers(field.inverse(root)) }
    }

    /// Coefficients in natural order to values f(omega^j), value j at place [`reverse`]`(j)`.
    pub(super) fn forward(&self, field: &Field<B, L>, data: &mut [Element<B, L>]) {
        let mut half = data.len() / 2;
        while half > 0 {
            let stride = self.forward.len() / half;
            for block in data.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for ((low, high), root) in low.iter_mut().zip(high).zip(self.forward.iter().step_by(stride)) {
                    let difference = field.sub(*low, *high);
                    *low = field.add(*low, *high);
                    *high = field.mul(difference, *root);
                }
            }
            half /= 2;
        }
    }

    /// k times the inverse of [`Self::forward`].
    pub(super) fn inverse_unscaled(&self, field: &Field<B, L>, data: &mut [Element<B, L>]) {
        let mut half = 1;
        while half < data.len() {
            let stride = self.inverse.len() / half;
            for block in data.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for ((low, high), root) in low.iter_mut().zip(high).zip(self.inverse.iter().step_by(stride)) {
                    let turned = field.mul(*high, *root);
                    *high = field.sub(*low, turned);
                    *low = field.add(*low, turned);
                }
            }
            half *= 2;
        }
    }
}

/// The place of value j of k, a power of two.
pub(super) fn reverse(j: usize, k: usize) -> usize {
    if k == 1 { 0 } else { j.reverse_bits() >> (usize::BITS - k.trailing_zeros()) }
}
