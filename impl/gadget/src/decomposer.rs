//! The decompositions behind one trait.

use crate::coins::Coins;
use crate::digit::Digit;
use crate::draws::Precomputed;
use crate::family::Family;
use crate::kernel;
use crate::moments::{Moments, moments};
use crate::plan::{GadgetError, Plan};
use crate::residue::Residue;
use crate::tile::{Rows, tile};
use ring::Kernel;
use ring::kernel::Checked;

/// A gadget g = (b^L, .., b^(L+k-1)) with a decomposition of every residue u modulo q into digits x, <g, x> = u modulo q up to
/// [`Self::error_bound`].
pub trait Gadget<W: Residue>: Send + Sync + std::fmt::Debug {
    /// The family of the digits.
    fn family(&self) -> Family;
    /// q.
    fn modulus(&self) -> W;
    /// b.
    fn base(&self) -> u64;
    /// k, the number of digits produced.
    fn length(&self) -> usize;
    /// L, the number of low digits dropped.
    fn dropped(&self) -> usize;
    /// b^(L+t), the weight of digit `t` < k.
    fn weight(&self, digit: usize) -> W;
    /// The least and the greatest value of each digit.
    fn ranges(&self) -> Vec<(i64, i64)>;
    /// The greatest absolute value of a digit.
    fn bound(&self) -> u64 {
        self.ranges().iter().map(|(least, most)| least.unsigned_abs().max(most.unsigned_abs())).max().unwrap_or(0)
    }
    /// The greatest distance modulo q of <g, x> from u: floor(b^L / 2) if digits are dropped, else 0.
    fn error_bound(&self) -> W;
    /// The moments of each digit over uniform u and the coins (closed forms).
    fn moments(&self) -> Vec<Moments>;
    /// Random bits that an exact sampler takes for a coefficient; 0 if digits are a function of u.
    fn random_bits(&self) -> f64;
    /// The kernel in use.
    fn kernel(&self) -> Kernel;
    /// Writes digit t of `input[j]`, a residue in [0, q), to `digits[t * input.len() + j]`. Takes fresh coins for every
    /// coefficient (none for the deterministic families).
    ///
    /// # Panics
    /// If `digits` does not hold k times as many elements as `input`.
    fn decompose(&self, input: &[W], digits: &mut [i32], coins: &mut Coins);
}

/// The decomposition of that family modulo `modulus` in base `base` without its `dropped` low digits, on that kernel.
pub fn new_gadget<W: Residue>(
    family: Family,
    modulus: W,
    base: u64,
    dropped: usize,
    kernel: Kernel,
) -> Result<Box<dyn Gadget<W>>, GadgetError> {
    Ok(Box::new(Decomposer::new(family, modulus, base, dropped, kernel)?))
}

/// [`Gadget`] for every family; digits of any width, and coins drawn ahead.
#[derive(Clone, Debug)]
pub struct Decomposer<W> {
    plan: Plan<W>,
    kernel: Checked,
}

impl<W: Residue> Decomposer<W> {
    /// See [`new_gadget`].
    pub fn new(family: Family, modulus: W, base: u64, dropped: usize, kernel: Kernel) -> Result<Self, GadgetError> {
        Ok(Self { plan: Plan::new(family, modulus, base, dropped)?, kernel: Checked::new(kernel)? })
    }

    /// Writes one digit to the whole output of a decomposition, with the kernel's widest stores: this is the bound set by memory.
    pub fn store_only<D: Digit>(&self, digits: &mut [D]) {
        kernel::store(self.kernel, digits);
    }

    /// Whether every digit fits `D`.
    pub fn fits<D: Digit>(&self) -> bool {
        self.plan
            .ranges()
            .iter()
            .all(|&(least, most)| D::from_i64(least).to_i64() == least && D::from_i64(most).to_i64() == most)
    }

    /// Draws the coins for `coefficients` residues: Algorithm 1, the offline phase.
    pub fn precompute(&self, coefficients: usize, coins: &mut Coins) -> Precomputed<W> {
        let mut drawn = Precomputed::default();
        self.precompute_into(coefficients, coins, &mut drawn);
        drawn
    }

    /// [`Self::precompute`] in place of used coins.
    pub fn precompute_into(&self, coefficients: usize, coins: &mut Coins, drawn: &mut Precomputed<W>) {
        drawn.draw(self.kernel, &self.plan, 0, coefficients, coins);
    }

    /// [`Gadget::decompose`] into digits of any width that [`Self::fits`].
    ///
    /// # Panics
    /// If `digits` does not hold k times as many elements as `input`.
    pub fn decompose_fresh<D: Digit>(&self, input: &[W], digits: &mut [D], coins: &mut Coins) {
        let mut drawn: Box<Precomputed<W>> = coins.take_buffer();
        let tile = tile(input.len());
        for (i, part) in input.chunks(tile).enumerate() {
            let rows = Rows { digits, stride: input.len(), start: i * tile };
            kernel::decompose(
                self.kernel,
                &self.plan,
                part,
                drawn.fresh(self.kernel, &self.plan, part.len(), coins),
                rows,
            );
        }
        coins.keep_buffer(drawn);
    }

    /// [`Self::decompose_fresh`] with coins drawn ahead for the same number of residues. They must not be used twice: equal inputs would get
    /// equal digits.
    ///
    /// # Panics
    /// If `digits` does not hold k times as many elements as `input`, or `drawn` holds fewer coins.
    pub fn decompose_with<D: Digit>(&self, input: &[W], digits: &mut [D], drawn: &Precomputed<W>) {
        let tile = tile(input.len());
        for (i, part) in input.chunks(tile).enumerate() {
            let rows = Rows { digits, stride: input.len(), start: i * tile };
            kernel::decompose(self.kernel, &self.plan, part, drawn.from(&self.plan, i * tile), rows);
        }
    }

    /// The residue that digits (least significant first) stand for, <g, x> modulo q.
    pub fn recompose(&self, digits: impl DoubleEndedIterator<Item = i64>) -> W {
        let (q, base) = (self.plan.modulus, self.plan.base);
        let double = |x: W| if x + x >= q { x + x - q } else { x + x };
        let times = |x: W, factor: u64| {
            (0..u64::BITS - factor.leading_zeros()).rev().fold(W::default(), |sum, bit| {
                let sum = double(sum);
                if factor >> bit & 1 == 0 {
                    sum
                } else if sum + x >= q {
                    sum + x - q
                } else {
                    sum + x
                }
            })
        };
        let value = digits.rev().fold(W::default(), |value, digit| {
            let digit = (digit as i128).rem_euclid(q.to_u128() as i128);
            let sum = times(value, base) + W::from_u128(digit as u128);
            if sum >= q { sum - q } else { sum }
        });
        (0..self.plan.dropped).fold(value, |value, _| times(value, base))
    }
}

impl<W: Residue> Gadget<W> for Decomposer<W> {
    fn family(&self) -> Family {
        self.plan.family
    }

    fn modulus(&self) -> W {
        self.plan.modulus
    }

    fn base(&self) -> u64 {
        self.plan.base
    }

    fn length(&self) -> usize {
        self.plan.length
    }

    fn dropped(&self) -> usize {
        self.plan.dropped
    }

    fn weight(&self, digit: usize) -> W {
        self.plan.weight(digit)
    }

    fn ranges(&self) -> Vec<(i64, i64)> {
        self.plan.ranges()
    }

    fn error_bound(&self) -> W {
        self.plan.error_bound()
    }

    fn moments(&self) -> Vec<Moments> {
        moments(&self.plan)
    }

    fn random_bits(&self) -> f64 {
        self.plan.random_bits()
    }

    fn kernel(&self) -> Kernel {
        self.kernel.kernel()
    }

    fn decompose(&self, input: &[W], digits: &mut [i32], coins: &mut Coins) {
        self.decompose_fresh(input, digits, coins);
    }
}
