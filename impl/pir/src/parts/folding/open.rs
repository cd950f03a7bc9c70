//! Errors of the intermediate ciphertexts of a response, computed with the client's secrets.

use lattice::{Rgsw, RingGadget, Rlwe, RlweKey, noise};
use ring::{Coefficient, Ntt, Poly, Ring};

use crate::core::{Error, Result};

/// Number of ciphertexts of a kind that are opened: their errors have one distribution.
pub const OPENED: usize = 4;

/// A constant polynomial.
pub fn constant(ring: &Ring<u32>, number: u128) -> Poly<u32, Coefficient> {
    let mut poly = ring.zero();
    for ((modulus, _), limb) in ring.limbs().iter().zip(poly.limbs_mut()) {
        limb[0] = modulus.reduce_u128(number);
    }
    poly
}

/// The error of a ciphertext: its phase less a message.
pub fn errors(key: &RlweKey<u32>, ciphertext: &Rlwe<u32, Ntt>, message: &Poly<u32, Coefficient>) -> Result<Vec<f64>> {
    noise::errors(key.ring(), &key.phase(ciphertext), message).map_err(Error::from)
}

/// The error of a ciphertext: its phase less `scale` times a cell's coefficients, rotated back by some.
pub fn cell_errors(
    key: &RlweKey<u32>,
    ciphertext: &Rlwe<u32, Coefficient>,
    (coefficients, scale): (&[i64], u64),
    turned: usize,
) -> Result<Vec<f64>> {
    let ring = key.ring();
    let scaled: Vec<i64> = coefficients.iter().map(|digit| digit * scale as i64).collect();
    let message = ring.mul_monomial(&ring.from_signed(&scaled), 2 * ring.n() - turned);
    noise::errors(ring, &key.phase_coefficient(ciphertext), &message).map_err(Error::from)
}

/// The errors of each row of a bit's RGSW encryption: rows of the bit, and rows of the bit times -s.
pub fn selector_errors(
    key: &RlweKey<u32>,
    gadget: &RingGadget<u32>,
    selector: &Rgsw<u32>,
    bit: bool,
) -> Result<Vec<[Vec<f64>; 2]>> {
    let ring = key.ring();
    let rows = selector.body.rows().iter().zip(selector.mask.rows()).zip(gadget.weights());
    rows.map(|((body, mask), &weight)| {
        let message = constant(ring, u128::from(bit) * weight);
        let mut masked: Poly<u32, Ntt> = ring.forward(message.clone());
        ring.mul_assign(&mut masked, key.ntt());
        ring.neg_assign(&mut masked);
        Ok([errors(key, body, &message)?, errors(key, mask, &ring.inverse(masked))?])
    })
    .collect()
}
