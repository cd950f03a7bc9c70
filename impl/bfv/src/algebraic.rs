//! Algebraic (BV) encryption: ciphertexts are polynomials in the secret, and sums and products are those of polynomials.
//!
//! The phase of a fresh ciphertext c_0 + c_1 Y at Y = s is m + t e, its plaintext the phase modulo t. Nothing is scaled or
//! relinearised: a polynomial evaluated at ciphertexts of degree one has the polynomial's degree.

use crate::base::{Conversion, Division};
use crate::error::{BfvError, parameter};
use lattice::{Masks, RlweKey, SeededRlwe};
use rand::RngCore;
use ring::{Coefficient, DiscreteGaussian, Modulus, Ntt, Poly, Ring, RingShape, Word, Work};
use std::sync::Arc;

/// BV over a ring, for plaintexts modulo an integer t.
#[derive(Clone, Debug)]
pub struct Algebraic<W: Word> {
    ring: Arc<Ring<W>>,
    t: Modulus<W>,
    /// 1 / t modulo q.
    t_inverse: Vec<W>,
    /// From q to t.
    reduction: Conversion<W>,
}

/// A ciphertext c_0 + c_1 Y + c_2 Y^2 + ..., an encryption of what it is at Y = s.
#[derive(Clone, Debug)]
pub struct AlgebraicCiphertext<W: Word> {
    /// The coefficients, that of Y^0 first.
    pub parts: Vec<Poly<W, Ntt>>,
}

impl<W: Word> Algebraic<W> {
    /// The scheme of that ring and plaintext modulus.
    ///
    /// # Errors
    /// A t that is out of range or has a common divisor with q, more than 15 primes in words of 64 bits.
    pub fn new(ring: &Arc<Ring<W>>, t: u64) -> Result<Self, BfvError> {
        let fits = t >> W::MAX_MODULUS_BITS == 0;
        let modulus = Modulus::new(W::from_u64(t)).ok().filter(|_| fits);
        let modulus = modulus.ok_or_else(|| {
            parameter(format!("a plaintext modulus is from 2 to 2^{} - 1, not {t}", W::MAX_MODULUS_BITS))
        })?;
        // Sums of as many products of two residues must fit 128 bits.
        if W::BITS == 64 && ring.primes().len() > 15 {
            return Err(parameter(format!(
                "{} primes are above 15, the most in words of 64 bits",
                ring.primes().len()
            )));
        }
        let inverse = |prime: &Modulus<W>| {
            prime.inverse(prime.reduce_u64(t)).filter(|_| !t.is_multiple_of(prime.value().to_u64())).ok_or_else(|| {
                parameter(format!(
                    "the plaintext modulus {t} has a common divisor with the prime {}",
                    prime.value().to_u64()
                ))
            })
        };
        let moduli = ring.rns().moduli();
        let t_inverse = moduli.iter().map(inverse).collect::<Result<_, _>>()?;
        Ok(Self {
            ring: ring.clone(),
            reduction: Conversion::new(ring.vectors(), moduli, &[modulus]),
            t: modulus,
            t_inverse,
        })
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring<W>> {
        &self.ring
    }

    /// A fresh encryption as it travels, of m / t with an error as it is: [`Self::expand`] multiplies by t.
    ///
    /// # Errors
    /// A key of another ring, not N coefficients.
    pub fn encrypt(
        &self,
        key: &RlweKey<W>,
        m: &[i64],
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<SeededRlwe<W>, BfvError> {
        self.check(key)?;
        if m.len() != self.ring.n() {
            return Err(parameter(format!("a plaintext has {} coefficients, not {}", self.ring.n(), m.len())));
        }
        let mut message: Poly<W, Coefficient> = self.ring.from_signed(m);
        for ((modulus, _), (limb, inverse)) in self.ring.limbs().iter().zip(message.limbs_mut().zip(&self.t_inverse)) {
            self.ring.vectors().mul_scalar(modulus, limb, *inverse);
        }
        Ok(key.encrypt(&message, error, masks, rng))
    }

    /// The ciphertext of degree one.
    pub fn expand(&self, seeded: &SeededRlwe<W>) -> AlgebraicCiphertext<W> {
        let ciphertext = seeded.expand(&self.ring);
        let (mut constant, mut linear) = (ciphertext.b, ciphertext.a);
        self.ring.mul_scalar_assign(&mut constant, u128::from(self.t.value().to_u64()));
        self.ring.mul_scalar_assign(&mut linear, u128::from(self.t.value().to_u64()));
        self.ring.neg_assign(&mut linear);
        AlgebraicCiphertext { parts: vec![constant, linear] }
    }

    /// The sum.
    ///
    /// # Errors
    /// A ciphertext of another ring.
    pub fn add_assign(&self, sum: &mut AlgebraicCiphertext<W>, other: &AlgebraicCiphertext<W>) -> Result<(), BfvError> {
        self.check_parts(sum)?;
        self.check_parts(other)?;
        let degree = sum.parts.len().max(other.parts.len());
        sum.parts.resize_with(degree, || self.ring.zero());
        sum.parts.iter_mut().zip(&other.parts).for_each(|(sum, part)| self.ring.add_assign(sum, part));
        Ok(())
    }

    /// The product, of the sum of the degrees.
    ///
    /// # Errors
    /// A ciphertext of another ring or without parts.
    pub fn multiply(
        &self,
        left: &AlgebraicCiphertext<W>,
        right: &AlgebraicCiphertext<W>,
    ) -> Result<AlgebraicCiphertext<W>, BfvError> {
        self.check_parts(left)?;
        self.check_parts(right)?;
        let degree = (left.parts.len() + right.parts.len()).saturating_sub(1);
        let mut parts: Vec<_> = (0..degree).map(|_| self.ring.zero()).collect();
        for (i, left) in left.parts.iter().enumerate() {
            for (j, right) in right.parts.iter().enumerate() {
                self.ring.mul_add_assign(&mut parts[i + j], left, right);
            }
        }
        Ok(AlgebraicCiphertext { parts })
    }

    /// The work of [`Self::multiply`], by the numbers of parts of the ciphertexts.
    pub fn multiply_work(ring: RingShape, left: u64, right: u64) -> Work {
        ring.products(left.saturating_mul(right))
    }

    /// The phase, the ciphertext at Y = s.
    ///
    /// # Errors
    /// A key or a ciphertext of another ring.
    pub fn phase(
        &self,
        key: &RlweKey<W>,
        ciphertext: &AlgebraicCiphertext<W>,
    ) -> Result<Poly<W, Coefficient>, BfvError> {
        self.check(key)?;
        self.check_parts(ciphertext)?;
        let mut phase = self.ring.zero();
        for part in ciphertext.parts.iter().rev() {
            self.ring.mul_assign(&mut phase, key.ntt());
            self.ring.add_assign(&mut phase, part);
        }
        Ok(self.ring.inverse(phase))
    }

    /// The plaintext, in [-t/2, t/2), of a ciphertext whose phase is below q/2.
    ///
    /// # Errors
    /// A key or a ciphertext of another ring.
    pub fn decrypt(&self, key: &RlweKey<W>, ciphertext: &AlgebraicCiphertext<W>) -> Result<Vec<i64>, BfvError> {
        let mut residues = vec![W::default(); self.ring.n()];
        self.reduction.convert(self.ring.n(), self.phase(key, ciphertext)?.as_slice(), &mut residues);
        Ok(residues.into_iter().map(|x| self.t.centred(x)).collect())
    }

    /// The work of [`Self::decrypt`], by the number of parts.
    pub fn decrypt_work(ring: RingShape, parts: u64) -> Work {
        ring.products(parts.saturating_add(1)) + ring.transforms(1)
    }

    /// The ciphertext modulo the first primes only, and the number b^-1 modulo t by which that multiplies its plaintext, where b is
    /// the product of the other primes: a phase x becomes (x - d) / b with d = x modulo b and d = 0 modulo t.
    ///
    /// # Errors
    /// A target that does not have the ring's first primes or another t, a ciphertext of another ring.
    pub fn switch(
        &self,
        ciphertext: &AlgebraicCiphertext<W>,
        to: &Self,
    ) -> Result<(AlgebraicCiphertext<W>, u64), BfvError> {
        self.check_parts(ciphertext)?;
        let (n, kept) = (self.ring.n(), to.ring.primes().len());
        if to.t != self.t || to.ring.n() != n || !self.ring.primes().starts_with(to.ring.primes()) {
            return Err(BfvError::Mismatch("a scheme and one that does not have its first primes"));
        }
        let (first, dropped) = self.ring.rns().moduli().split_at(kept);
        let vectors = self.ring.vectors();
        let (division, remainder) =
            (Division::new(vectors, dropped, first), Conversion::new(vectors, dropped, &[self.t]));
        let t = &self.t;
        let b = dropped.iter().fold(W::from_u64(1), |b, q| t.mul(b, t.reduce_u64(q.value().to_u64())));
        let inverse = t.inverse(b).ok_or(BfvError::Mismatch("a plaintext modulus and a prime that divides it"))?;
        let part = |part: &Poly<W, Ntt>| {
            let coefficients = self.ring.inverse(part.clone());
            let (first, dropped) = coefficients.as_slice().split_at(kept * n);
            // d = d_0 + b k with d_0 the centred remainder modulo b and k = -d_0 / b modulo t, centred.
            let mut residues = vec![W::default(); n];
            remainder.convert(n, dropped, &mut residues);
            let k: Vec<i64> = residues.into_iter().map(|d| t.centred(t.neg(t.mul(d, inverse)))).collect();
            let mut out: Poly<W, Coefficient> = to.ring.zero();
            out.as_mut_slice().copy_from_slice(first);
            division.divide(&to.ring, dropped, out.as_mut_slice(), |_, _| ());
            to.ring.sub_assign(&mut out, &to.ring.from_signed(&k));
            to.ring.forward(out)
        };
        let parts = ciphertext.parts.iter().map(part).collect();
        Ok((AlgebraicCiphertext { parts }, inverse.to_u64()))
    }

    /// The work of [`Self::switch`] to the first `kept` primes, by the number of parts.
    pub fn switch_work(ring: RingShape, kept: usize, parts: u64) -> Work {
        let (to, dropped) = (RingShape { primes: kept, ..ring }, ring.primes.saturating_sub(kept) as u64);
        // A residue modulo each prime that is kept, and one modulo t, takes a product with one of each dropped prime.
        let residues = to.products(dropped + 1) + RingShape { primes: 1, ..ring }.products(dropped + 1) + to.moves(1);
        (ring.transforms(1) + residues + to.transforms(1)) * parts
    }

    fn check(&self, key: &RlweKey<W>) -> Result<(), BfvError> {
        if self.ring.is_same(key.ring()) {
            Ok(())
        } else {
            Err(BfvError::Mismatch("a scheme and a key of another ring"))
        }
    }

    fn check_parts(&self, ciphertext: &AlgebraicCiphertext<W>) -> Result<(), BfvError> {
        if ciphertext.parts.iter().all(|part| self.ring.owns(part)) {
            return Ok(());
        }
        Err(BfvError::Mismatch("a scheme and a ciphertext of another ring"))
    }
}
