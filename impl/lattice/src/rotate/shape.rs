//! The steps of a blind rotation.

use super::buffers::MAX_SELECTORS;
use crate::decompose::GadgetShape;
use crate::error::LatticeError;
use crate::product::product_ntts;
use ring::Work;
use serde::{Deserialize, Serialize};

/// The coefficients of the small LWE key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallSecret {
    /// Coefficients 0 and 1.
    #[default]
    Binary,
    /// Coefficients -1, 0 and 1: each is two bits, of which at most one is 1.
    Ternary,
}

/// The number of key bits in a step; see [`crate::rotate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// One bit in each step, for the least noise.
    Cmux,
    /// Two bits in each step with one decomposition, for the fewest transforms.
    Joint,
}

/// The small key of a blind rotation, and its form. Keys and their sizes depend on these and on the gadget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RotationShape {
    /// Dimension n of the small key.
    pub dimension: usize,
    /// Its coefficients.
    pub secret: SmallSecret,
    /// The form.
    pub form: Form,
}

/// One step, named by its coefficients of the small key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Whether z_i is 1 (or -1, if negated).
    One { index: usize, negated: bool },
    /// The bits z_i and z_(i + 1).
    Pair { first: usize },
    /// Whether z_i is 1, or -1.
    Signed { index: usize },
}

impl Step {
    /// Number of indicators.
    pub(super) fn selectors(self) -> usize {
        match self {
            Self::One { .. } => 1,
            Self::Pair { .. } => 3,
            Self::Signed { .. } => 2,
        }
    }

    /// The indicators for a small key.
    pub(super) fn indicators(self, key: &[i32]) -> impl Iterator<Item = bool> {
        let all = match self {
            Self::One { index, negated } => [key[index] == if negated { -1 } else { 1 }, false, false],
            Self::Pair { first } => {
                let [y, z] = [key[first] == 1, key[first + 1] == 1];
                [y && !z, z && !y, y && z]
            }
            Self::Signed { index } => [key[index] == 1, key[index] == -1, false],
        };
        all.into_iter().take(self.selectors())
    }

    /// The exponents of the monomials modulo `order` = 2N, for a mask with entries below it; unused ones are 0.
    pub(super) fn exponents(self, mask: &[u64], order: u64) -> [usize; MAX_SELECTORS] {
        let negative = |x: u64| if x == 0 { 0 } else { order - x };
        match self {
            Self::One { index, negated } => [if negated { negative(mask[index]) } else { mask[index] }, 0, 0],
            Self::Pair { first } => {
                let [a, b] = [mask[first], mask[first + 1]];
                [a, b, (a + b) % order]
            }
            Self::Signed { index } => [mask[index], negative(mask[index]), 0],
        }
        .map(|exponent| exponent as usize)
    }
}

impl RotationShape {
    /// Refuses a small key that is not of this shape.
    pub(super) fn check_key(&self, key: &[i32]) -> Result<(), LatticeError> {
        let least = match self.secret {
            SmallSecret::Binary => 0,
            SmallSecret::Ternary => -1,
        };
        if key.len() != self.dimension || key.iter().any(|z| !(least..=1).contains(z)) {
            return Err(LatticeError::Mismatch(
                "a blind rotation and a small key of another dimension or distribution",
            ));
        }
        Ok(())
    }

    /// The steps, in order.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step> {
        let (n, secret, form) = (self.dimension, self.secret, self.form);
        (0..self.step_count()).map(move |i| match (secret, form) {
            (SmallSecret::Binary, Form::Cmux) => Step::One { index: i, negated: false },
            (SmallSecret::Binary, Form::Joint) if 2 * i + 1 == n => Step::One { index: 2 * i, negated: false },
            (SmallSecret::Binary, Form::Joint) => Step::Pair { first: 2 * i },
            (SmallSecret::Ternary, Form::Cmux) => Step::One { index: i / 2, negated: i % 2 == 1 },
            (SmallSecret::Ternary, Form::Joint) => Step::Signed { index: i },
        })
    }

    /// Number of steps: each decomposes once.
    pub fn step_count(&self) -> usize {
        match (self.secret, self.form) {
            (SmallSecret::Binary, Form::Cmux) | (SmallSecret::Ternary, Form::Joint) => self.dimension,
            (SmallSecret::Binary, Form::Joint) => self.dimension.div_ceil(2),
            (SmallSecret::Ternary, Form::Cmux) => 2 * self.dimension,
        }
    }

    /// Number of RGSW ciphertexts of a key.
    pub fn selectors(&self) -> usize {
        match (self.secret, self.form) {
            (SmallSecret::Binary, Form::Cmux) => self.dimension,
            (SmallSecret::Binary, Form::Joint) => 3 * (self.dimension / 2) + self.dimension % 2,
            (SmallSecret::Ternary, _) => 2 * self.dimension,
        }
    }

    /// Most NTTs of size N modulo one prime in a rotation, forward and inverse, with a gadget of `length` digits. A step whose exponents are
    /// all 0 has none.
    pub fn ntts(&self, length: usize, primes: usize) -> (usize, usize) {
        let (forward, inverse) = product_ntts(2, length, primes);
        (self.step_count() * forward, self.step_count() * inverse)
    }

    /// The work of a rotation with a key of that gadget, without reading the key: digits of mask and body are multiplied by every indicator of
    /// a step, and each indicator's two sums by its factor X^c - 1.
    pub fn work(&self, gadget: GadgetShape) -> Work {
        let (forward, inverse) = self.ntts(gadget.length, gadget.ring.primes);
        let products = (self.selectors() * (4 * gadget.length + 2)) as u64;
        gadget.ring.ntts((forward + inverse) as u64)
            + gadget.digits_work(2 * self.step_count() as u64)
            + gadget.ring.products(products)
    }
}
