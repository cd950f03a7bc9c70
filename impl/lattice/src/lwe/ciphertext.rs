//! Single LWE ciphertexts modulo any 2 <= q < 2^62.

use super::LweError;
use crate::error::LatticeError;
use crate::secret::Secret;
use rand::RngCore;
use ring::secret::uniform_below;
use ring::{DiscreteGaussian, Modulus};
use zeroize::Zeroizing;

/// An LWE ciphertext (a, b) with phase b - <a, s> modulo q.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lwe {
    /// Modulus q of all residues.
    pub modulus: Modulus<u64>,
    /// The mask a, residues below q.
    pub a: Vec<u64>,
    /// The body b, a residue below q.
    pub b: u64,
}

impl Lwe {
    /// The noiseless encryption (0, message) in that dimension.
    pub fn trivial(modulus: Modulus<u64>, dimension: usize, message: u64) -> Self {
        Self { modulus, a: vec![0; dimension], b: modulus.reduce_u64(message) }
    }

    /// Subtracts `other`: phases subtract.
    pub fn sub_assign(&mut self, other: &Self) -> Result<(), LatticeError> {
        if self.a.len() != other.a.len() || self.modulus != other.modulus {
            return Err(LatticeError::Mismatch("LWE ciphertexts of different dimensions or moduli"));
        }
        for (x, y) in self.a.iter_mut().zip(&other.a) {
            *x = self.modulus.sub(*x, *y);
        }
        self.b = self.modulus.sub(self.b, other.b);
        Ok(())
    }

    /// The same ciphertext modulo q', every residue x replaced by the integer nearest to x * q' / q.
    pub fn switch_modulus(&self, to: Modulus<u64>) -> Self {
        let (from, to_value) = (u128::from(self.modulus.value()), u128::from(to.value()));
        let round = |x: u64| to.reduce_u128((u128::from(x) * to_value + from / 2) / from);
        Self { modulus: to, a: self.a.iter().map(|&x| round(x)).collect(), b: round(self.b) }
    }

    /// Like [`Self::switch_modulus`], for a binary secret: half the sum of the rounding errors of the mask is added to the body, so that a
    /// rounding error is multiplied by z_i - 1/2 instead of z_i. For uniform masks the phase gains an error of mean 0 and standard deviation
    /// sqrt(n / 48 + 1 / 12) instead of sqrt(n / 24 + 1 / 12) (de Ruijter, D'Anvers, Verbauwhede, 2025, "Don't be mean").
    pub fn switch_modulus_compensated(&self, to: Modulus<u64>) -> Self {
        let (from, to_value) = (u128::from(self.modulus.value()), u128::from(to.value()));
        // The sum over the mask of from * (rounded - exact), each at most from / 2 in magnitude.
        let mut errors = 0;
        let mut round = |x: u64| {
            let exact = u128::from(x) * to_value;
            let rounded = (exact + from / 2) / from;
            errors += (rounded * from) as i128 - exact as i128;
            to.reduce_u128(rounded)
        };
        let a = self.a.iter().map(|&x| round(x)).collect();
        let (twice, body) = (2 * from as i128, 2 * (u128::from(self.b) * to_value) as i128);
        let b = (body + errors + from as i128).div_euclid(twice).rem_euclid(to_value as i128);
        Self { modulus: to, a, b: b as u64 }
    }

    /// The ciphertext modulo a divisor of its modulus: the phase modulo that divisor, exactly.
    ///
    /// # Errors
    /// A modulus that does not divide.
    pub fn reduce_modulus(&self, to: Modulus<u64>) -> Result<Self, LatticeError> {
        if !self.modulus.value().is_multiple_of(to.value()) {
            return Err(LatticeError::Mismatch("an LWE ciphertext and a modulus that does not divide its own"));
        }
        Ok(Self { modulus: to, a: self.a.iter().map(|&x| to.reduce_u64(x)).collect(), b: to.reduce_u64(self.b) })
    }
}

/// An LWE secret key: small integers, for any modulus, wiped when dropped.
#[derive(Clone)]
pub struct LweKey {
    coefficients: Zeroizing<Vec<i32>>,
}

impl LweKey {
    /// A fresh key.
    pub fn sample(distribution: &Secret, dimension: usize, rng: &mut impl RngCore) -> Result<Self, LweError> {
        Ok(Self { coefficients: distribution.sample_small(dimension, rng)? })
    }

    /// The key with those coefficients.
    pub fn from_coefficients(coefficients: impl Into<Zeroizing<Vec<i32>>>) -> Self {
        Self { coefficients: coefficients.into() }
    }

    /// The coefficients.
    pub fn coefficients(&self) -> &[i32] {
        &self.coefficients
    }

    /// The inner product <a, s> modulo q; `a` has the key's dimension.
    fn mask(&self, modulus: &Modulus<u64>, a: &[u64]) -> u64 {
        debug_assert_eq!(a.len(), self.coefficients.len());
        a.iter().zip(&*self.coefficients).fold(0, |sum, (&a, &s)| {
            let product = modulus.mul(a, modulus.from_signed(i64::from(s)));
            modulus.add(sum, product)
        })
    }

    /// A fresh encryption: uniform a, b = <a, s> + e + message.
    pub fn encrypt(
        &self,
        modulus: Modulus<u64>,
        message: u64,
        error: &DiscreteGaussian,
        rng: &mut impl RngCore,
    ) -> Lwe {
        let a: Vec<u64> = self.coefficients.iter().map(|_| uniform_below(rng, modulus.value())).collect();
        let b = self.body(&modulus, &a, message, error, rng);
        Lwe { modulus, a, b }
    }

    /// The body <a, s> + e + message for a given mask.
    pub(super) fn body(
        &self,
        modulus: &Modulus<u64>,
        a: &[u64],
        message: u64,
        error: &DiscreteGaussian,
        rng: &mut impl RngCore,
    ) -> u64 {
        let noise = modulus.from_signed(i64::from(error.sample(rng)));
        modulus.add(modulus.add(self.mask(modulus, a), noise), modulus.reduce_u64(message))
    }

    /// The phase b - <a, s> modulo q.
    pub fn phase(&self, ciphertext: &Lwe) -> Result<u64, LatticeError> {
        if ciphertext.a.len() != self.coefficients.len() {
            return Err(LatticeError::Mismatch("an LWE ciphertext and a key of different dimensions"));
        }
        let modulus = &ciphertext.modulus;
        Ok(modulus.sub(ciphertext.b, self.mask(modulus, &ciphertext.a)))
    }
}
