//! A gadget for the modulus of a ring: the digits of a polynomial and their weights.

use crate::error::LatticeError;
use gadget::{Coins, Family, Gadget, Moments, Residue, new_gadget};
use ring::{Coefficient, Kind, Poly, Ring, RingShape, Seed, Word, Work};
use std::sync::Arc;

/// A digit decomposition of the coefficients of a ring, of any family.
///
/// Coefficients are composed to integers in [0, q) first: words for q < 2^62, double words for q < 2^126.
#[derive(Clone, Debug)]
pub struct RingGadget<W> {
    ring: Arc<Ring<W>>,
    gadget: Composed,
    modulus: u128,
    weights: Vec<u128>,
    scale: Scale,
}

/// The weights of a gadget, on which keys depend: digit t < length has the weight base^(dropped + t). Keys serve every gadget of their
/// scale and modulus, of any family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    base: u64,
    dropped: usize,
    length: usize,
}

impl Scale {
    /// The scale of a gadget.
    pub(crate) fn of<R: Residue>(gadget: &dyn Gadget<R>) -> Self {
        Self { base: gadget.base(), dropped: gadget.dropped(), length: gadget.length() }
    }

    /// Number of digits.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Base, dropped digits, digits.
    pub(crate) fn parts(&self) -> (u64, usize, usize) {
        (self.base, self.dropped, self.length)
    }
}

/// The shape of a gadget, on which the cost of its products depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GadgetShape {
    /// The ring.
    pub ring: RingShape,
    /// The base of the digits.
    pub base: u64,
    /// Number of digits.
    pub length: usize,
}

impl GadgetShape {
    /// The work of cutting polynomials into digits.
    pub fn digits_work(self, polynomials: u64) -> Work {
        let kind = if self.base.is_power_of_two() { Kind::Digits } else { Kind::DividedDigits };
        Work::of(kind, &[polynomials, self.length as u64, self.ring.degree as u64])
    }
}

#[derive(Clone, Debug)]
enum Composed {
    Word(Arc<dyn Gadget<u64>>),
    Double(Arc<dyn Gadget<u128>>),
}

/// Calls a method of the gadget in either variant.
macro_rules! either {
    ($gadget:expr, $g:ident => $call:expr) => {
        match $gadget {
            Composed::Word($g) => $call,
            Composed::Double($g) => $call,
        }
    };
}

impl<W: Word> RingGadget<W> {
    /// The decomposition of that family, base and number of dropped low digits, for the modulus of `ring`.
    ///
    /// # Errors
    /// q at 2^126 or above, what the gadget refuses, digits that reach a prime of the ring.
    pub fn new(ring: &Arc<Ring<W>>, family: Family, base: u64, dropped: usize) -> Result<Self, LatticeError> {
        let modulus = ring
            .modulus_u128()
            .filter(|q| *q < 1 << 126)
            .ok_or_else(|| LatticeError::Parameter("gadgets serve moduli below 2^126".to_owned()))?;
        let gadget = match u64::try_from(modulus).ok().filter(|q| *q < 1 << 62) {
            Some(q) => Composed::Word(new_gadget(family, q, base, dropped, ring.kernel())?.into()),
            None => Composed::Double(new_gadget(family, modulus, base, dropped, ring.kernel())?.into()),
        };
        let (scale, bound) = either!(&gadget, g => (Scale::of(g.as_ref()), g.bound()));
        if let Some(prime) = ring.primes().iter().find(|p| **p <= bound) {
            return Err(LatticeError::Parameter(format!("digits up to {bound} do not fit the prime {prime}")));
        }
        let mut weight = (0..dropped).fold(1, |weight, _| mul_mod(weight, base, modulus));
        let weights = (0..scale.length)
            .map(|_| {
                let this = weight;
                weight = mul_mod(weight, base, modulus);
                this
            })
            .collect();
        Ok(Self { ring: ring.clone(), gadget, modulus, weights, scale })
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring<W>> {
        &self.ring
    }

    /// The ring's modulus q.
    pub fn modulus(&self) -> u128 {
        self.modulus
    }

    /// The weights base^(dropped + t) modulo q, by digit.
    pub fn weights(&self) -> &[u128] {
        &self.weights
    }

    /// Number of digits.
    pub fn length(&self) -> usize {
        self.weights.len()
    }

    /// Its shape, on which the cost of its products depends.
    pub fn shape(&self) -> GadgetShape {
        GadgetShape { ring: self.ring.shape(), base: self.scale.base, length: self.length() }
    }

    /// Its scale, on which its keys depend.
    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }

    /// Largest absolute value of a digit.
    pub fn bound(&self) -> u64 {
        either!(&self.gadget, g => g.bound())
    }

    /// Largest distance modulo q of a recomposed coefficient from the coefficient; 0 if nothing is dropped.
    pub fn error_bound(&self) -> u128 {
        match &self.gadget {
            Composed::Word(g) => g.error_bound().into(),
            Composed::Double(g) => g.error_bound(),
        }
    }

    /// Moments of the digits over uniform coefficients and coins, by digit.
    pub fn moments(&self) -> Vec<Moments> {
        either!(&self.gadget, g => g.moments())
    }

    /// The same with buffers of its own, for a gadget that draws no coins.
    ///
    /// # Panics
    /// If there are not [`Self::length`] digits for every coefficient, or the polynomial is of another ring.
    pub fn cut(&self, input: &Poly<W, Coefficient>, digits: &mut [i32]) {
        self.digits(input, &mut Integers::default(), digits, &mut Coins::from_seed(Seed([0; 16])));
    }

    /// Writes the digits of every coefficient, digit-major: digit t of coefficient j at t N + j.
    pub(crate) fn digits(
        &self,
        input: &Poly<W, Coefficient>,
        composed: &mut Integers,
        digits: &mut [i32],
        coins: &mut Coins,
    ) {
        let n = self.ring.n();
        match &self.gadget {
            Composed::Word(g) => {
                composed.words.resize(n, 0);
                self.ring.compose_u64(input, &mut composed.words);
                g.decompose(&composed.words, digits, coins);
            }
            Composed::Double(g) => {
                composed.doubles.resize(n, 0);
                self.ring.compose_u128(input, &mut composed.doubles);
                g.decompose(&composed.doubles, digits, coins);
            }
        }
    }
}

/// A buffer for composed coefficients.
#[derive(Default)]
pub(crate) struct Integers {
    words: Vec<u64>,
    doubles: Vec<u128>,
}

/// a b modulo q for a < q < 2^126, by doubling and adding.
fn mul_mod(a: u128, b: u64, q: u128) -> u128 {
    let reduce = |x: u128| if x >= q { x - q } else { x };
    (0..u64::BITS).rev().fold(0, |product, bit| {
        let doubled = reduce(product << 1);
        if b >> bit & 1 == 1 { reduce(doubled + a) } else { doubled }
    })
}

#[cfg(test)]
mod tests;
