//! RLWE ciphertexts and the operations that need no key.

use crate::error::LatticeError;
use crate::wire;
use ring::{Automorphism, Coefficient, Ntt, Poly, Ring, Word};

/// An RLWE ciphertext (a, b) with phase b - a s, both parts in domain `D`.
#[derive(Clone, Debug)]
pub struct Rlwe<W: Word, D> {
    /// The mask.
    pub a: Poly<W, D>,
    /// The body.
    pub b: Poly<W, D>,
}

/// Refuses a polynomial of another ring.
pub(crate) fn check<W: Word, D>(ring: &Ring<W>, poly: &Poly<W, D>) -> Result<(), LatticeError> {
    if ring.owns(poly) {
        Ok(())
    } else {
        Err(LatticeError::Mismatch("a ring and a polynomial or ciphertext of another"))
    }
}

impl<W: Word, D> Rlwe<W, D> {
    /// Whether both parts are of that ring.
    pub(crate) fn is_of(&self, ring: &Ring<W>) -> bool {
        ring.owns(&self.a) && ring.owns(&self.b)
    }

    /// Refuses a ciphertext of another ring.
    pub(crate) fn check(&self, ring: &Ring<W>) -> Result<(), LatticeError> {
        check(ring, &self.a)?;
        check(ring, &self.b)
    }

    /// (0, 0).
    pub fn zero(ring: &Ring<W>) -> Self {
        Self { a: ring.zero(), b: ring.zero() }
    }

    /// The noiseless encryption (0, message).
    pub fn trivial(ring: &Ring<W>, message: Poly<W, D>) -> Self {
        Self { a: ring.zero(), b: message }
    }

    /// Becomes `other`, a ciphertext of the same ring, without new memory.
    ///
    /// # Panics
    /// If it is of another ring.
    pub fn copy_from(&mut self, other: &Self) {
        self.a.copy_from(&other.a);
        self.b.copy_from(&other.b);
    }

    /// Adds `other`: phases add.
    pub fn add_assign(&mut self, ring: &Ring<W>, other: &Self) {
        ring.add_assign(&mut self.a, &other.a);
        ring.add_assign(&mut self.b, &other.b);
    }

    /// Subtracts `other`: phases subtract.
    pub fn sub_assign(&mut self, ring: &Ring<W>, other: &Self) {
        ring.sub_assign(&mut self.a, &other.a);
        ring.sub_assign(&mut self.b, &other.b);
    }

    /// Negates the phase.
    pub fn neg_assign(&mut self, ring: &Ring<W>) {
        ring.neg_assign(&mut self.a);
        ring.neg_assign(&mut self.b);
    }

    /// Multiplies the phase by an integer.
    pub fn mul_scalar_assign(&mut self, ring: &Ring<W>, scalar: u128) {
        ring.mul_scalar_assign(&mut self.a, scalar);
        ring.mul_scalar_assign(&mut self.b, scalar);
    }

    /// Bytes of [`Self::to_bytes`]: 2 N residues of each prime.
    pub fn wire_bytes(ring: &Ring<W>) -> usize {
        (2 * wire::poly_bits(ring)).div_ceil(8)
    }

    /// The residues of a, then of b, bit-packed.
    pub fn to_bytes(&self, ring: &Ring<W>) -> Vec<u8> {
        let mut out = wire::Writer::with_capacity(Self::wire_bytes(ring));
        out.write_poly(ring, &self.a);
        out.write_poly(ring, &self.b);
        out.finish()
    }

    /// Inverse of [`Self::to_bytes`].
    ///
    /// # Errors
    /// A wrong number of bytes, a residue not below its prime, padding that is not zero.
    pub fn from_bytes(ring: &Ring<W>, bytes: &[u8]) -> Result<Self, LatticeError> {
        let mut input = wire::Reader::new(bytes, Self::wire_bytes(ring))?;
        let (a, b) = (input.poly(ring)?, input.poly(ring)?);
        input.finish()?;
        Ok(Self { a, b })
    }
}

impl<W: Word> Rlwe<W, Coefficient> {
    /// The ciphertext in the NTT domain.
    pub fn forward(self, ring: &Ring<W>) -> Rlwe<W, Ntt> {
        Rlwe { a: ring.forward(self.a), b: ring.forward(self.b) }
    }

    /// Multiplies the phase by X^exponent, 0 <= exponent < 2 N.
    #[must_use]
    pub fn mul_monomial(&self, ring: &Ring<W>, exponent: usize) -> Self {
        Self { a: ring.mul_monomial(&self.a, exponent), b: ring.mul_monomial(&self.b, exponent) }
    }

    /// Like [`Self::mul_monomial`], into a ciphertext that exists.
    pub fn mul_monomial_into(&self, ring: &Ring<W>, exponent: usize, out: &mut Self) {
        ring.mul_monomial_into(&self.a, exponent, &mut out.a);
        ring.mul_monomial_into(&self.b, exponent, &mut out.b);
    }

    /// Applies an automorphism to both parts: the phase is mapped too, but under the mapped key.
    #[must_use]
    pub fn automorphism(&self, ring: &Ring<W>, map: &Automorphism) -> Self {
        Self { a: ring.automorphism_coefficient(&self.a, map), b: ring.automorphism_coefficient(&self.b, map) }
    }

    /// Like [`Self::automorphism`], into a ciphertext that exists.
    pub fn automorphism_into(&self, ring: &Ring<W>, map: &Automorphism, out: &mut Self) {
        ring.automorphism_coefficient_into(&self.a, map, &mut out.a);
        ring.automorphism_coefficient_into(&self.b, map, &mut out.b);
    }
}

impl<W: Word> Rlwe<W, Ntt> {
    /// The ciphertext in the coefficient domain.
    pub fn inverse(self, ring: &Ring<W>) -> Rlwe<W, Coefficient> {
        Rlwe { a: ring.inverse(self.a), b: ring.inverse(self.b) }
    }

    /// Multiplies the phase by a plaintext polynomial.
    pub fn mul_plain_assign(&mut self, ring: &Ring<W>, plaintext: &Poly<W, Ntt>) {
        ring.mul_assign(&mut self.a, plaintext);
        ring.mul_assign(&mut self.b, plaintext);
    }
}
