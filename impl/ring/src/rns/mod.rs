//! Residue number systems: numbers modulo a product Q of pairwise coprime moduli as their residues, composed and decomposed
//! exactly.
//!
//! Polynomials are limb-major: residue i of coefficient j of n is element `i * n + j`. Composition goes through mixed-radix digits
//! v_0 + v_1 p_0 + v_2 p_0 p_1 + ... (Garner), so that comparisons with Q/2 and long divisions are exact without big numbers.
//! Every function panics where the lengths of its slices do not match.

mod limbs;
mod scaling;
#[cfg(test)]
mod tests;

use crate::modulus::{Modulus, ModulusError};
use crate::residues::Vectors;
use crate::residues::Word;
use std::cmp::Ordering;

/// Reasons to refuse a residue number system or a rescaling.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RnsError {
    /// No moduli.
    #[error("a residue number system needs at least one modulus")]
    Empty,
    /// A modulus outside its word.
    #[error(transparent)]
    Modulus(#[from] ModulusError),
    /// Two moduli with a common divisor.
    #[error("moduli {0} and {1} are not coprime")]
    NotCoprime(u64, u64),
    /// The target's moduli are not the first ones of the source.
    #[error("moduli {to:?} are not a proper prefix of {from:?}")]
    NoPrefix {
        /// Moduli of the source.
        from: Vec<u64>,
        /// Moduli of the target.
        to: Vec<u64>,
    },
}

/// A residue and its Shoup quotient.
#[derive(Clone, Copy, Debug)]
struct Factor<W> {
    value: W,
    quotient: W,
}

impl<W: Word> Factor<W> {
    fn new(modulus: &Modulus<W>, value: u64) -> Self {
        let value = modulus.reduce_u64(value);
        Self { value, quotient: modulus.shoup(value) }
    }

    /// x times the factor, for any word x.
    #[inline(always)]
    fn mul(&self, modulus: &Modulus<W>, x: W) -> W {
        modulus.mul_shoup(x, self.value, self.quotient)
    }
}

/// A residue number system.
#[derive(Clone, Debug)]
pub struct Rns<W> {
    moduli: Vec<Modulus<W>>,
    /// For each j, 1 / (p_0 ... p_(j-1)) modulo p_j.
    inverses: Vec<Factor<W>>,
    /// For each j, the earlier moduli modulo p_j.
    radices: Vec<Vec<Factor<W>>>,
    /// For each j, the factor 1 modulo p_j, which reduces any word.
    ones: Vec<Factor<W>>,
    /// Q.
    product: Vec<u64>,
    /// Mixed-radix digits of floor((Q - 1) / 2), the largest number that is not negative when centred.
    half: Vec<W>,
}

impl<W: Word> Rns<W> {
    /// The system of those moduli, in that order.
    pub fn new(moduli: &[u64]) -> Result<Self, RnsError> {
        if moduli.is_empty() {
            return Err(RnsError::Empty);
        }
        let checked = moduli.iter().map(|q| {
            let fits = *q >> W::MAX_MODULUS_BITS == 0;
            let q =
                if fits { Ok(W::from_u64(*q)) } else { Err(ModulusError { modulus: *q, bits: W::MAX_MODULUS_BITS }) };
            Modulus::new(q?)
        });
        let checked: Vec<Modulus<W>> = checked.collect::<Result<_, _>>()?;
        let mut inverses = Vec::new();
        for (j, modulus) in checked.iter().enumerate() {
            let mut inverse = W::from_u64(1 % modulus.value().to_u64());
            for earlier in &moduli[..j] {
                let factor = modulus.inverse(modulus.reduce_u64(*earlier));
                inverse = modulus.mul(inverse, factor.ok_or(RnsError::NotCoprime(*earlier, moduli[j]))?);
            }
            inverses.push(Factor::new(modulus, inverse.to_u64()));
        }
        let mut product = vec![1];
        moduli.iter().for_each(|q| limbs::mul_add_small(&mut product, *q, 0));
        let mut rest = limbs::half_below(&product);
        let half = moduli.iter().map(|q| W::from_u64(limbs::div_small(&mut rest, *q))).collect();
        let radices = checked.iter().enumerate().map(|(j, modulus)| factors(modulus, &moduli[..j])).collect();
        let ones = checked.iter().map(|modulus| Factor::new(modulus, 1)).collect();
        Ok(Self { moduli: checked, inverses, radices, ones, product, half })
    }

    /// The moduli.
    pub fn moduli(&self) -> &[Modulus<W>] {
        &self.moduli
    }

    /// The number of moduli.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.moduli.len()
    }

    /// Q as little-endian 64-bit limbs, the last of which is not zero.
    pub fn product(&self) -> &[u64] {
        &self.product
    }

    /// Q, if it is below 2^128.
    pub fn product_u128(&self) -> Option<u128> {
        limbs::to_u128(&self.product)
    }

    /// log2(Q).
    pub fn product_log2(&self) -> f64 {
        limbs::log2(&self.product)
    }

    /// Mixed-radix digits of coefficient j of n: digit i is below modulus i.
    #[inline(always)]
    fn mixed_radix(&self, residues: &[W], n: usize, j: usize, digits: &mut [W]) {
        digits[0] = residues[j];
        for i in 1..self.len() {
            let modulus = &self.moduli[i];
            let lower = evaluate(modulus, &self.radices[i], &self.ones[i], &digits[..i]);
            digits[i] = self.inverses[i].mul(modulus, modulus.sub(residues[i * n + j], lower));
        }
    }

    /// Whether the number with these mixed-radix digits is above floor((Q - 1) / 2), that is, negative when centred.
    #[inline(always)]
    fn is_negative(&self, digits: &[W]) -> bool {
        digits.iter().rev().cmp(self.half.iter().rev()) == Ordering::Greater
    }

    /// Calls `each` with the index and the mixed-radix digits of every coefficient.
    fn for_each_mixed_radix(&self, residues: &[W], mut each: impl FnMut(usize, &[W])) {
        let n = self.coefficients(residues);
        let mut digits = vec![W::default(); self.len()];
        for j in 0..n {
            self.mixed_radix(residues, n, j, &mut digits);
            each(j, &digits);
        }
    }

    fn coefficients(&self, residues: &[W]) -> usize {
        assert!(residues.len().is_multiple_of(self.len()), "as many residues of each coefficient as moduli");
        residues.len() / self.len()
    }

    /// The numbers in [0, Q) with those residues.
    ///
    /// # Panics
    /// If Q is 2^64 or more or the lengths do not match.
    pub fn compose_u64(&self, vectors: Vectors, residues: &[W], out: &mut [u64]) {
        let n = self.coefficients(residues);
        assert!(n == out.len() && self.product.len() == 1, "as many outputs as coefficients, and a product below 2^64");
        match *self.moduli {
            [_] => out.iter_mut().zip(residues).for_each(|(out, residue)| *out = residue.to_u64()),
            [p0, p1] => {
                let (a, b) = residues.split_at(n);
                if p0.value() < p1.value() {
                    W::compose_pair(vectors, (p0.value(), p1.value()), self.inverses[1].value, (a, b), out);
                } else {
                    // Coprime, hence invertible: checked when the system was made.
                    let inverse = p0.inverse(p1.value()).unwrap_or_default();
                    W::compose_pair(vectors, (p1.value(), p0.value()), inverse, (b, a), out);
                }
            }
            _ => self.for_each_mixed_radix(residues, |j, digits| {
                out[j] = self.horner(digits, 0, |sum, p, digit| sum.wrapping_mul(p).wrapping_add(digit));
            }),
        }
    }

    /// The numbers in [0, Q) with those residues.
    ///
    /// # Panics
    /// If Q is 2^128 or more or the lengths do not match.
    pub fn compose_u128(&self, residues: &[W], out: &mut [u128]) {
        assert!(
            self.coefficients(residues) == out.len() && self.product.len() <= 2,
            "lengths, and a product below 2^128"
        );
        self.for_each_mixed_radix(residues, |j, digits| {
            out[j] = self.horner(digits, 0, |sum: u128, p, digit| sum * u128::from(p) + u128::from(digit));
        });
    }

    /// The numbers in [0, Q) with those residues, each as `self.product().len()` little-endian limbs, one number after the other.
    pub fn compose_limbs(&self, residues: &[W], out: &mut [u64]) {
        let (n, length) = (self.coefficients(residues), self.product.len());
        assert_eq!(out.len(), n * length, "as many limbs of each coefficient as Q has");
        let mut number = Vec::with_capacity(length);
        self.for_each_mixed_radix(residues, |j, digits| {
            number.clear();
            for (digit, modulus) in digits.iter().zip(&self.moduli).rev() {
                limbs::mul_add_small(&mut number, modulus.value().to_u64(), digit.to_u64());
            }
            number.resize(length, 0);
            out[j * length..(j + 1) * length].copy_from_slice(&number);
        });
    }

    /// The centred numbers in [-Q/2, Q/2) with those residues, modulo 2^64: exact if Q is below 2^64.
    pub fn compose_centred_wrapping(&self, residues: &[W], out: &mut [u64]) {
        assert_eq!(self.coefficients(residues), out.len(), "as many outputs as coefficients");
        self.for_each_mixed_radix(residues, |j, digits| {
            let number = self.horner(digits, 0u64, |sum, p, digit| sum.wrapping_mul(p).wrapping_add(digit));
            out[j] = if self.is_negative(digits) { number.wrapping_sub(self.product[0]) } else { number };
        });
    }

    fn horner<T>(&self, digits: &[W], zero: T, step: impl Fn(T, u64, u64) -> T) -> T {
        digits
            .iter()
            .zip(&self.moduli)
            .rev()
            .fold(zero, |sum, (digit, p)| step(sum, p.value().to_u64(), digit.to_u64()))
    }

    /// The residues of any 64-bit numbers.
    pub fn decompose_u64(&self, vectors: Vectors, x: &[u64], residues: &mut [W]) {
        assert_eq!(residues.len(), x.len() * self.len(), "as many residues of each number as moduli");
        if !x.is_empty() {
            self.moduli.iter().zip(residues.chunks_mut(x.len())).for_each(|(q, out)| vectors.reduce(q, x, out));
        }
    }

    /// The residues of any 128-bit numbers.
    pub fn decompose_u128(&self, x: &[u128], residues: &mut [W]) {
        assert_eq!(residues.len(), x.len() * self.len(), "as many residues of each number as moduli");
        for (i, q) in self.moduli.iter().enumerate() {
            let out = &mut residues[i * x.len()..(i + 1) * x.len()];
            out.iter_mut().zip(x).for_each(|(out, x)| *out = q.reduce_u128(*x));
        }
    }
}

/// Numbers as factors modulo `modulus`.
fn factors<W: Word>(modulus: &Modulus<W>, numbers: &[u64]) -> Vec<Factor<W>> {
    numbers.iter().map(|number| Factor::new(modulus, *number)).collect()
}

/// The number with these mixed-radix digits of those radices, modulo `modulus`; `one` is the factor 1 modulo it.
#[inline(always)]
fn evaluate<W: Word>(modulus: &Modulus<W>, radices: &[Factor<W>], one: &Factor<W>, digits: &[W]) -> W {
    let Some((last, digits)) = digits.split_last() else { return W::default() };
    digits.iter().zip(radices).rev().fold(one.mul(modulus, *last), |sum, (digit, radix)| {
        modulus.add(radix.mul(modulus, sum), one.mul(modulus, *digit))
    })
}
