//! Ring switching: from dimension N to N' < N, both powers of two, at the same modulus.
//!
//! The target key s' of the small ring is embedded as s'(X^(N / N')); after a key switch to it, projection to the coefficients at
//! multiples of N / N' commutes with the multiplication by the key, so that the projected pair is a ciphertext under s'.

use crate::error::LatticeError;
use crate::rlwe::{Rlwe, RlweKey};
use ring::{Coefficient, Poly, Ring, Word};
use std::sync::Arc;

/// The key s'(X^(N / N')) of `ring` for the key s' of a smaller ring.
///
/// # Errors
/// A key of a ring that is not smaller.
pub fn embed_key<W: Word>(small: &RlweKey<W>, ring: &Arc<Ring<W>>) -> Result<RlweKey<W>, LatticeError> {
    let stride = stride(ring, small.ring())?;
    let mut coefficients = vec![0; ring.n()];
    for (slot, &s) in coefficients.iter_mut().step_by(stride).zip(small.coefficients()) {
        *slot = s;
    }
    RlweKey::from_coefficients(ring, coefficients)
}

/// The coefficients at multiples of N / N' of a ciphertext under an embedded key, as a ciphertext of the small ring.
///
/// # Errors
/// Rings of different primes, a target that is not smaller, a ciphertext of another ring.
pub fn project<W: Word>(
    ring: &Ring<W>,
    small: &Ring<W>,
    input: &Rlwe<W, Coefficient>,
) -> Result<Rlwe<W, Coefficient>, LatticeError> {
    let stride = stride(ring, small)?;
    input.check(ring)?;
    let part = |poly: &Poly<W, Coefficient>| {
        let mut out = small.zero();
        for limb in 0..small.primes().len() {
            let source = poly.limb(limb).iter().step_by(stride);
            out.limb_mut(limb).iter_mut().zip(source).for_each(|(slot, value)| *slot = *value);
        }
        out
    };
    Ok(Rlwe { a: part(&input.a), b: part(&input.b) })
}

fn stride<W: Word>(ring: &Ring<W>, small: &Ring<W>) -> Result<usize, LatticeError> {
    if small.n() >= ring.n() || small.primes() != ring.primes() {
        return Err(LatticeError::Mismatch("rings that are not a ring and a smaller one of the same primes"));
    }
    Ok(ring.n() / small.n())
}
