//! Ciphertexts that carry their plaintext modulus, which automorphisms change.

use crate::error::BfvError;
use crate::multiply::Multiplier;
use crate::plain::ModulusId;
use crate::scheme::Scheme;
use crate::switching::{RnsGadget, SwitchingKey};
use lattice::{Rlwe, RlweKey};
use ring::{Ntt, Ring, Word};

/// A ciphertext and the modulus its plaintext is under. What combines ciphertexts of different moduli is refused.
#[derive(Clone, Debug)]
pub struct Ciphertext<W: Word> {
    /// The ciphertext.
    pub rlwe: Rlwe<W, Ntt>,
    /// Its plaintext modulus.
    pub modulus: ModulusId,
}

impl<W: Word> Ciphertext<W> {
    /// Refuses another modulus.
    fn check(&self, modulus: ModulusId) -> Result<(), BfvError> {
        if self.modulus == modulus {
            return Ok(());
        }
        Err(BfvError::Mismatch("ciphertexts or schemes of different plaintext moduli"))
    }

    /// Adds another: plaintexts add.
    ///
    /// # Errors
    /// Another plaintext modulus.
    pub fn add_assign(&mut self, ring: &Ring<W>, other: &Self) -> Result<(), BfvError> {
        self.check(other.modulus)?;
        self.rlwe.add_assign(ring, &other.rlwe);
        Ok(())
    }

    /// The image under X -> X^k, k the key's exponent: of the plaintext's image, under t(X^k).
    ///
    /// # Errors
    /// A ciphertext or a key of another gadget.
    pub fn automorphism(&self, gadget: &RnsGadget<W>, key: &SwitchingKey<W>) -> Result<Self, BfvError> {
        let modulus = self.modulus.image(key.exponent())?;
        Ok(Self { rlwe: gadget.automorphism(&self.rlwe, key)?, modulus })
    }

    /// The product with another.
    ///
    /// # Errors
    /// Another plaintext modulus than the multiplier's, a gadget or a key of another ring.
    pub fn multiply(
        &self,
        other: &Self,
        multiplier: &Multiplier<W>,
        gadget: &RnsGadget<W>,
        key: &SwitchingKey<W>,
    ) -> Result<Self, BfvError> {
        self.check(multiplier.modulus())?;
        other.check(multiplier.modulus())?;
        let [left, right] = [multiplier.lift(&self.rlwe)?, multiplier.lift(&other.rlwe)?];
        Ok(Self { rlwe: multiplier.multiply(&left, &right, gadget, key)?, modulus: self.modulus })
    }

    /// The short plaintext.
    ///
    /// # Errors
    /// A scheme of another plaintext modulus, a key of another ring.
    pub fn decrypt(&self, scheme: &Scheme<W>, key: &RlweKey<W>) -> Result<Vec<i64>, BfvError> {
        self.check(scheme.modulus().id())?;
        scheme.decrypt(key, &self.rlwe)
    }
}
