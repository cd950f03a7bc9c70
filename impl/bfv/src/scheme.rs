//! Encryption, decryption and exact noise.
//!
//! A plaintext z travels as the phase (q z + r) / t, where r is the short representative of -q z: q z / t rounded coefficient by
//! coefficient. Modulo q that is r / t, so scaling takes one product modulo p a column and one by the constant 1/t.

use crate::error::{BfvError, parameter};
use crate::noise::centred;
use crate::plain::PlainModulus;
use lattice::{Masks, Rlwe, RlweKey, SeededRlwe, SplitKey, SplitRlwe};
use rand::RngCore;
use ring::modulus::inverse_of_odd;
use ring::{Coefficient, DiscreteGaussian, Ntt, Poly, Ring, RingShape, Word, Work};
use std::sync::Arc;

/// BFV over a ring for one plaintext modulus.
#[derive(Clone, Debug)]
pub struct Scheme<W: Word> {
    ring: Arc<Ring<W>>,
    modulus: PlainModulus,
    /// t(X) and 1 / t(X) modulo q.
    t: Poly<W, Ntt>,
    t_inverse: Poly<W, Ntt>,
    /// -q modulo p.
    negated_q: Vec<u64>,
    /// 1 / q modulo 2^64.
    q_inverse: u64,
}

impl<W: Word> Scheme<W> {
    /// The scheme of that ring and plaintext modulus.
    ///
    /// # Errors
    /// Different degrees; a t(X) that has a common divisor with q or 4 times whose coefficients reach q.
    pub fn new(ring: &Arc<Ring<W>>, modulus: &PlainModulus) -> Result<Self, BfvError> {
        if ring.n() != modulus.n() {
            return Err(BfvError::Mismatch("a ring and a plaintext modulus of different degrees"));
        }
        if modulus.sum_norm().log2() + 2.0 > ring.modulus_log2() {
            let (q, t) = (ring.modulus_log2(), modulus.sum_norm());
            return Err(parameter(format!(
                "q of {q:.1} bits is not above 4 times {t}, the size of the plaintext modulus"
            )));
        }
        let t = modulus.in_ring(ring);
        let mut t_inverse = t.clone();
        for ((prime, _), limb) in ring.limbs().iter().zip(t_inverse.limbs_mut()) {
            for value in limb {
                let inverse = prime.inverse(*value).filter(|_| *value != W::default());
                *value = inverse.ok_or_else(|| {
                    parameter(format!(
                        "the plaintext modulus has a common divisor with the prime {}",
                        prime.value().to_u64()
                    ))
                })?;
            }
        }
        let q = ring.rns().product();
        Ok(Self {
            ring: ring.clone(),
            t,
            t_inverse,
            negated_q: modulus.negated_residue(q),
            q_inverse: inverse_of_odd(q[0]),
            modulus: modulus.clone(),
        })
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring<W>> {
        &self.ring
    }

    /// The plaintext modulus.
    pub fn modulus(&self) -> &PlainModulus {
        &self.modulus
    }

    /// t(X) modulo q.
    pub(crate) fn t(&self) -> &Poly<W, Ntt> {
        &self.t
    }

    /// q z / t, rounded: the phase of an encryption of z.
    ///
    /// # Errors
    /// Not N coefficients.
    pub fn scale(&self, z: &[i64]) -> Result<Poly<W, Ntt>, BfvError> {
        let rest = self.modulus.multiple(z, &self.negated_q)?;
        let mut scaled = self.ring.forward(self.ring.from_signed(&rest));
        self.ring.mul_assign(&mut scaled, &self.t_inverse);
        Ok(scaled)
    }

    /// A short plaintext as the factor of ciphertexts.
    ///
    /// # Errors
    /// Not N coefficients.
    pub fn prepare(&self, z: &[i64]) -> Result<Poly<W, Ntt>, BfvError> {
        if z.len() != self.ring.n() {
            return Err(parameter(format!("a plaintext has {} coefficients, not {}", self.ring.n(), z.len())));
        }
        // Short plaintexts nearly always fit in 32 bits, for which there is a vector path.
        let narrow: Result<Vec<i32>, _> = z.iter().map(|x| i32::try_from(*x)).collect();
        let poly = narrow.map_or_else(|_| self.ring.from_signed(z), |z| self.ring.from_signed_i32(&z));
        Ok(self.ring.forward(poly))
    }

    /// A fresh encryption of a plaintext.
    ///
    /// # Errors
    /// A key of another ring, not N coefficients.
    pub fn encrypt(
        &self,
        key: &RlweKey<W>,
        z: &[i64],
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<SeededRlwe<W>, BfvError> {
        self.check(key)?;
        Ok(key.encrypt_ntt(&self.scale(z)?, error, masks, rng))
    }

    /// The short plaintext of a ciphertext.
    ///
    /// # Errors
    /// A key or a ciphertext of another ring.
    pub fn decrypt(&self, key: &RlweKey<W>, ciphertext: &Rlwe<W, Ntt>) -> Result<Vec<i64>, BfvError> {
        self.message(&self.phase(key, ciphertext)?)
    }

    fn phase(&self, key: &RlweKey<W>, ciphertext: &Rlwe<W, Ntt>) -> Result<Poly<W, Coefficient>, BfvError> {
        self.check(key)?;
        if !self.ring.owns(&ciphertext.a) || !self.ring.owns(&ciphertext.b) {
            return Err(BfvError::Mismatch("a scheme and a ciphertext of another ring"));
        }
        Ok(key.phase(ciphertext))
    }

    fn check(&self, key: &RlweKey<W>) -> Result<(), BfvError> {
        if self.ring.is_same(key.ring()) {
            Ok(())
        } else {
            Err(BfvError::Mismatch("a scheme and a key of another ring"))
        }
    }

    /// The short plaintext that a phase w is nearest to: z = round(t w / q).
    ///
    /// With y = t w modulo q, centred, z is (t w - y) / q exactly; it is below 2^63, so words modulo 2^64 tell it.
    ///
    /// # Errors
    /// A phase of another ring.
    pub fn message(&self, phase: &Poly<W, Coefficient>) -> Result<Vec<i64>, BfvError> {
        let (ring, n) = (&self.ring, self.ring.n());
        if !ring.owns(phase) {
            return Err(BfvError::Mismatch("a scheme and a phase of another ring"));
        }
        let (mut whole, mut rest) = (vec![0u64; n], vec![0u64; n]);
        ring.rns().compose_centred_wrapping(phase.as_slice(), &mut whole);
        let mut reduced = ring.forward(phase.clone());
        ring.mul_assign(&mut reduced, &self.t);
        ring.rns().compose_centred_wrapping(ring.inverse(reduced).as_slice(), &mut rest);
        let product = self.times_t(&whole, |sum, x, coefficient| sum.wrapping_add(x.wrapping_mul(coefficient as u64)));
        let quotient = |(product, rest): (u64, u64)| product.wrapping_sub(rest).wrapping_mul(self.q_inverse) as i64;
        let nearest: Vec<i64> = product.into_iter().zip(rest).map(quotient).collect();
        self.modulus.shorten(&nearest)
    }

    /// t(X) f, in any numbers that can be multiplied by integers and added.
    fn times_t<T: Copy + Default>(&self, f: &[T], add: impl Fn(T, T, i64) -> T) -> Vec<T> {
        let n = f.len();
        let mut out = vec![T::default(); n];
        for (exponent, coefficient) in self.modulus.terms() {
            for (j, x) in f.iter().enumerate() {
                let (place, sign) = if j + exponent < n { (j + exponent, 1) } else { (j + exponent - n, -1) };
                out[place] = add(out[place], *x, sign * coefficient);
            }
        }
        out
    }

    /// The exact noise v of a ciphertext of a known plaintext z, coefficient by coefficient: t (b - a s) / q = z + v modulo t. It
    /// decrypts while |v| < 1/2, and what is beyond is measured too.
    ///
    /// # Errors
    /// A key or a ciphertext of another ring, not N coefficients.
    pub fn noise(&self, key: &RlweKey<W>, ciphertext: &Rlwe<W, Ntt>, z: &[i64]) -> Result<Vec<f64>, BfvError> {
        let mut error = self.phase(key, ciphertext)?;
        self.ring.sub_assign(&mut error, &self.ring.inverse(self.scale(z)?));
        let rest = self.modulus.multiple(z, &self.negated_q)?;
        let errors = centred(&self.ring, &error);
        let q = self.ring.modulus_log2().exp2();
        let product = self.times_t(&errors, |sum, x, coefficient| sum + x * coefficient as f64);
        Ok(product.into_iter().zip(rest).map(|(x, rest)| (x + rest as f64) / q).collect())
    }

    /// The short plaintext of a ciphertext whose parts were switched to moduli of their own.
    ///
    /// # Errors
    /// A ciphertext of another dimension or with fewer coefficients than N.
    pub fn decrypt_split(&self, key: &SplitKey, ciphertext: &SplitRlwe, modulus_b: u64) -> Result<Vec<i64>, BfvError> {
        let phase = key.phase(ciphertext)?;
        if phase.len() != self.ring.n() {
            return Err(BfvError::Mismatch("a scheme and a switched ciphertext of fewer coefficients"));
        }
        let product = self.times_t(&phase, |sum, x, coefficient| sum + x * coefficient as f64);
        let nearest: Vec<i64> = product.into_iter().map(|x| (x / modulus_b as f64).round() as i64).collect();
        self.modulus.shorten(&nearest)
    }

    /// The exact noise of a ciphertext whose parts were switched to moduli of their own, of a known plaintext z: as [`Self::noise`].
    ///
    /// # Errors
    /// A ciphertext of another dimension or with fewer coefficients than N, not N coefficients.
    pub fn noise_split(
        &self,
        key: &SplitKey,
        ciphertext: &SplitRlwe,
        modulus_b: u64,
        z: &[i64],
    ) -> Result<Vec<f64>, BfvError> {
        let phase = key.phase(ciphertext)?;
        if phase.len() != self.ring.n() {
            return Err(BfvError::Mismatch("a scheme and a switched ciphertext of fewer coefficients"));
        }
        // z / t as fractions of 1, from which the phase differs by the noise over t and whole numbers.
        let q = self.ring.modulus_log2().exp2();
        let fractions = centred(&self.ring, &self.ring.inverse(self.scale(z)?));
        let error = |(phase, scaled): (f64, f64)| {
            let error = phase / modulus_b as f64 - scaled / q;
            error - error.round()
        };
        let errors: Vec<f64> = phase.into_iter().zip(fractions).map(error).collect();
        Ok(self.times_t(&errors, |sum, x, coefficient| sum + x * coefficient as f64))
    }

    /// The work of [`Self::prepare`].
    pub fn prepare_work(ring: RingShape) -> Work {
        ring.transforms(1)
    }
}
