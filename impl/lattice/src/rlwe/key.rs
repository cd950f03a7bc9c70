//! RLWE secret keys: encryption, phase.

use super::{Masks, Rlwe, SeededRlwe};
use crate::error::LatticeError;
use crate::secret::Secret;
use rand::RngCore;
use ring::{Automorphism, Coefficient, DiscreteGaussian, Ntt, Poly, Ring, Word};
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// An RLWE secret key: N small integers, kept as integers and in the NTT domain, and wiped when dropped.
#[derive(Clone)]
pub struct RlweKey<W: Word> {
    ring: Arc<Ring<W>>,
    coefficients: Zeroizing<Vec<i32>>,
    ntt: Poly<W, Ntt>,
}

impl<W: Word> Drop for RlweKey<W> {
    fn drop(&mut self) {
        self.ntt.zeroize();
    }
}

impl<W: Word> RlweKey<W> {
    /// A fresh key.
    pub fn sample(ring: &Arc<Ring<W>>, distribution: &Secret, rng: &mut impl RngCore) -> Result<Self, LatticeError> {
        Self::from_coefficients(ring, distribution.sample_small(ring.n(), rng)?)
    }

    /// The key with those N coefficients.
    ///
    /// # Errors
    /// Another number of coefficients than N.
    pub fn from_coefficients(
        ring: &Arc<Ring<W>>,
        coefficients: impl Into<Zeroizing<Vec<i32>>>,
    ) -> Result<Self, LatticeError> {
        let coefficients = coefficients.into();
        if coefficients.len() != ring.n() {
            return Err(LatticeError::Mismatch("a key and a ring of different dimensions"));
        }
        let ntt = ring.forward(ring.from_signed_i32(&coefficients));
        Ok(Self { ring: ring.clone(), coefficients, ntt })
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring<W>> {
        &self.ring
    }

    /// The coefficients.
    pub fn coefficients(&self) -> &[i32] {
        &self.coefficients
    }

    /// The key in the NTT domain.
    pub fn ntt(&self) -> &Poly<W, Ntt> {
        &self.ntt
    }

    /// The key s(X^k), k the map's exponent: the one under which mapped ciphertexts are encrypted.
    pub fn automorphism(&self, map: &Automorphism) -> Poly<W, Ntt> {
        self.ring.automorphism_ntt(&self.ntt, map)
    }

    /// A fresh encryption of a message in the coefficient domain: b = a s + e + message.
    pub fn encrypt(
        &self,
        message: &Poly<W, Coefficient>,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> SeededRlwe<W> {
        self.encrypt_with(masks, |ring| {
            let mut noisy = noise(ring, error, rng);
            ring.add_assign(&mut noisy, message);
            ring.forward(noisy)
        })
    }

    /// A fresh encryption of a message in the NTT domain.
    pub fn encrypt_ntt(
        &self,
        message: &Poly<W, Ntt>,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> SeededRlwe<W> {
        self.encrypt_with(masks, |ring| {
            let mut noisy = ring.forward(noise(ring, error, rng));
            ring.add_assign(&mut noisy, message);
            noisy
        })
    }

    fn encrypt_with(&self, masks: &mut Masks, noisy: impl FnOnce(&Ring<W>) -> Poly<W, Ntt>) -> SeededRlwe<W> {
        let (stream, a) = masks.next(&self.ring);
        let mut b = noisy(&self.ring);
        self.ring.mul_add_assign(&mut b, &a, &self.ntt);
        SeededRlwe { seed: masks.seed(), stream, b }
    }

    /// The phase b - a s.
    pub fn phase(&self, ciphertext: &Rlwe<W, Ntt>) -> Poly<W, Coefficient> {
        let mut phase = ciphertext.a.clone();
        self.ring.mul_assign(&mut phase, &self.ntt);
        self.ring.neg_assign(&mut phase);
        self.ring.add_assign(&mut phase, &ciphertext.b);
        self.ring.inverse(phase)
    }

    /// The phase of a ciphertext in the coefficient domain.
    pub fn phase_coefficient(&self, ciphertext: &Rlwe<W, Coefficient>) -> Poly<W, Coefficient> {
        self.phase(&ciphertext.clone().forward(&self.ring))
    }
}

/// A fresh error polynomial.
fn noise<W: Word>(ring: &Ring<W>, error: &DiscreteGaussian, rng: &mut impl RngCore) -> Poly<W, Coefficient> {
    let mut samples = vec![0; ring.n()];
    error.fill(rng, &mut samples);
    ring.from_signed_i32(&samples)
}
