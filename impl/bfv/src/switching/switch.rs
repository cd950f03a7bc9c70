//! Switching: sums of digits with the rows of keys.

use super::digits::Digits;
use super::gadget::RnsGadget;
use super::key::{KeyHalf, SwitchingKey};
use crate::error::BfvError;
use lattice::Rlwe;
use ring::{Coefficient, Ntt, Poly, Word};

impl<W: Word> RnsGadget<W> {
    /// The sum of digits with rows, divided by P, plus a summand.
    fn sum(
        &self,
        digits: &Digits<W>,
        half: &KeyHalf<W>,
        summand: Option<Poly<W, Coefficient>>,
    ) -> Result<Poly<W, Ntt>, BfvError> {
        let fits =
            |polys: &[Poly<W, Ntt>]| polys.len() == self.rows() && polys.iter().all(|poly| self.key_ring().owns(poly));
        if !fits(&digits.0) || !fits(&half.rows) {
            return Err(BfvError::Mismatch("a gadget and digits or a key of another"));
        }
        let (left, right): (Vec<_>, Vec<_>) = (digits.0.iter().collect(), half.rows.iter().collect());
        let mut sum = self.key_ring().zero();
        self.key_ring().sum_products(&left, &right, &mut [&mut sum]);
        Ok(self.divided(sum, summand))
    }

    /// A polynomial modulo q P divided by P, plus a summand, which no transform of its own takes there.
    pub(super) fn divided(&self, mut sum: Poly<W, Ntt>, mut summand: Option<Poly<W, Coefficient>>) -> Poly<W, Ntt> {
        let Some(division) = self.division() else {
            summand.into_iter().for_each(|summand| self.ring().add_assign(&mut sum, &self.ring().forward(summand)));
            return sum;
        };
        let (n, kept) = (self.ring().n(), self.ring().primes().len());
        let (first, dropped) = sum.as_mut_slice().split_at_mut(kept * n);
        let plans = self.key_ring().limbs()[kept..].iter();
        dropped.chunks_exact_mut(n).zip(plans).for_each(|(limb, (_, plan))| plan.inverse(limb));
        let mut out = self.ring().zero();
        out.as_mut_slice().copy_from_slice(first);
        if let Some(summand) = &mut summand {
            let special = &self.key_ring().primes()[kept..];
            special.iter().for_each(|prime| self.ring().mul_scalar_assign(summand, u128::from(*prime)));
        }
        division.divide(self.ring(), dropped, out.as_mut_slice(), |i, limb| {
            let (modulus, plan) = &self.ring().limbs()[i];
            summand.iter().for_each(|summand| self.ring().vectors().sub(modulus, limb, summand.limb(i)));
            plan.forward(limb);
        });
        out
    }

    /// The mask of a ciphertext switched by a key, from the digits of its mask and the key's masks.
    ///
    /// # Errors
    /// Digits or a key of another gadget.
    pub fn switch_mask(&self, digits: &Digits<W>, masks: &KeyHalf<W>) -> Result<Poly<W, Ntt>, BfvError> {
        Ok(masks.permute(self.ring(), self.sum(digits, masks, None)?))
    }

    /// The body of a ciphertext switched by a key, from the digits of its mask, its body and the key's bodies.
    ///
    /// # Errors
    /// Digits, a body or a key of another gadget.
    pub fn switch_body(
        &self,
        digits: &Digits<W>,
        body: &Poly<W, Ntt>,
        bodies: &KeyHalf<W>,
    ) -> Result<Poly<W, Ntt>, BfvError> {
        if !self.ring().owns(body) {
            return Err(BfvError::Mismatch("a gadget and a ciphertext of another ring"));
        }
        let mut sum = self.sum(digits, bodies, None)?;
        self.ring().add_assign(&mut sum, body);
        Ok(bodies.permute(self.ring(), sum))
    }

    /// The ciphertext of that body, and a mask of those digits, mapped and switched by a key.
    ///
    /// # Errors
    /// Digits, a body or a key of another gadget.
    pub fn switch(
        &self,
        digits: &Digits<W>,
        body: &Poly<W, Ntt>,
        key: &SwitchingKey<W>,
    ) -> Result<Rlwe<W, Ntt>, BfvError> {
        Ok(Rlwe { a: self.switch_mask(digits, key.masks())?, b: self.switch_body(digits, body, key.bodies())? })
    }

    /// The phase mapped by the key's automorphism, under the same secret.
    ///
    /// # Errors
    /// A ciphertext or a key of another gadget.
    pub fn automorphism(&self, input: &Rlwe<W, Ntt>, key: &SwitchingKey<W>) -> Result<Rlwe<W, Ntt>, BfvError> {
        if !self.ring().owns(&input.a) {
            return Err(BfvError::Mismatch("a gadget and a ciphertext of another ring"));
        }
        self.switch(&self.digits(&input.a), &input.b, key)
    }

    /// (a, b) of degree two, phase b - a s + c s^2, as a ciphertext of degree one: `key` from [`SeededKey::relinearisation`].
    ///
    /// # Errors
    /// A ciphertext or a key of another gadget, a key of an automorphism.
    ///
    /// [`SeededKey::relinearisation`]: super::SeededKey::relinearisation
    pub fn relinearise(
        &self,
        [b, a, c]: [Poly<W, Coefficient>; 3],
        key: &SwitchingKey<W>,
    ) -> Result<Rlwe<W, Ntt>, BfvError> {
        if ![&a, &b, &c].into_iter().all(|part| self.ring().owns(part)) || key.exponent() != 1 {
            return Err(BfvError::Mismatch("a gadget and a product or a key of another kind"));
        }
        let digits = self.digits_of_coefficients(&c);
        Ok(Rlwe { a: self.sum(&digits, key.masks(), Some(a))?, b: self.sum(&digits, key.bodies(), Some(b))? })
    }
}
