//! Switching: sums of digits with the rows of keys.

use super::digits::Digits;
use super::gadget::RnsGadget;
use super::key::{KeyHalf, SwitchingKey};
use crate::error::BfvError;
use lattice::Rlwe;
use ring::{Coefficient, Ntt, Poly, Word};

impl<W: Word> RnsGadget<W> {
    /// The sums of digits with the rows of several halves, divided by P.
    fn sums(&self, digits: &Digits<W>, halves: &[&KeyHalf<W>]) -> Result<Vec<Poly<W, Ntt>>, BfvError> {
        let fits =
            |polys: &[Poly<W, Ntt>]| polys.len() == self.rows() && polys.iter().all(|poly| self.key_ring().owns(poly));
        if !fits(&digits.0) || !halves.iter().all(|half| fits(&half.rows)) {
            return Err(BfvError::Mismatch("a gadget and digits or a key of another"));
        }
        let left: Vec<_> = digits.0.iter().collect();
        let right: Vec<_> = (0..left.len()).flat_map(|row| halves.iter().map(move |half| &half.rows[row])).collect();
        let mut sums: Vec<_> = halves.iter().map(|_| self.key_ring().zero()).collect();
        self.key_ring().sum_products(&left, &right, &mut sums.iter_mut().collect::<Vec<_>>());
        Ok(sums.into_iter().map(|sum| self.divided(sum)).collect())
    }

    /// A polynomial modulo q P divided by P.
    fn divided(&self, mut sum: Poly<W, Ntt>) -> Poly<W, Ntt> {
        let Some(division) = self.division() else { return sum };
        let (n, kept) = (self.ring().n(), self.ring().primes().len());
        let (first, dropped) = sum.as_mut_slice().split_at_mut(kept * n);
        let plans = self.key_ring().limbs()[kept..].iter();
        dropped.chunks_exact_mut(n).zip(plans).for_each(|(limb, (_, plan))| plan.inverse(limb));
        let mut out = self.ring().zero();
        out.as_mut_slice().copy_from_slice(first);
        division.divide(self.ring(), dropped, out.as_mut_slice(), |i, limb| self.ring().limbs()[i].1.forward(limb));
        out
    }

    /// The sum of digits with the rows of one half.
    fn sum(&self, digits: &Digits<W>, half: &KeyHalf<W>) -> Result<Poly<W, Ntt>, BfvError> {
        Ok(self.sums(digits, &[half])?.swap_remove(0))
    }

    /// The mask of a ciphertext switched by a key, from the digits of its mask and the key's masks.
    ///
    /// # Errors
    /// Digits or a key of another gadget.
    pub fn switch_mask(&self, digits: &Digits<W>, masks: &KeyHalf<W>) -> Result<Poly<W, Ntt>, BfvError> {
        Ok(masks.permute(self.ring(), self.sum(digits, masks)?))
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
        Ok(self.switch_bodies(digits, std::slice::from_ref(body), &[bodies])?.swap_remove(0))
    }

    /// The same of several ciphertexts with one mask, hence the same digits, each under a key of its own.
    ///
    /// # Errors
    /// Digits, a body or a key of another gadget, other numbers of bodies and keys.
    pub fn switch_bodies(
        &self,
        digits: &Digits<W>,
        bodies: &[Poly<W, Ntt>],
        keys: &[&KeyHalf<W>],
    ) -> Result<Vec<Poly<W, Ntt>>, BfvError> {
        if bodies.len() != keys.len() || !bodies.iter().all(|body| self.ring().owns(body)) {
            return Err(BfvError::Mismatch("a gadget and ciphertexts of another ring or number"));
        }
        let sums = self.sums(digits, keys)?.into_iter().zip(bodies).zip(keys);
        let switched = sums.map(|((mut sum, body), key)| {
            self.ring().add_assign(&mut sum, body);
            key.permute(self.ring(), sum)
        });
        Ok(switched.collect())
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
        let mut out = self.switch(&self.digits_of_coefficients(&c), &self.ring().forward(b), key)?;
        self.ring().add_assign(&mut out.a, &self.ring().forward(a));
        Ok(out)
    }
}
