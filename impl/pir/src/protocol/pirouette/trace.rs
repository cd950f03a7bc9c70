//! The ciphertexts on the way from a query to its response, kept where both parties are at hand, and their errors.

use lattice::lwe::Lwe;
use lattice::{Rgsw, Rlwe};
use ring::{Coefficient, Ntt, Poly, Ring};

use super::keys::Secrets;
use super::params::Params;
use super::query::centred_error;
use crate::error::Result;
use crate::folded::{Layout, Place};
use crate::noise::NoiseLog;
use crate::rlwe::internal;

/// An LWE ciphertext of a stage, with what an error may be.
pub struct Decision {
    /// Name of the stage.
    pub stage: &'static str,
    /// The ciphertext.
    pub ciphertext: Lwe,
    /// Whether it is under the small key; else under the coefficients of the ring key.
    pub small: bool,
    /// What its phase should be.
    pub expected: u64,
    /// An error of this size or more is decided wrongly.
    pub threshold: f64,
}

/// What an answer to one query went through.
#[derive(Default)]
pub struct Trace {
    /// LWE ciphertexts that are rounded somewhere, before the bits.
    pub decisions: Vec<Decision>,
    /// The bits' encryptions modulo 2N.
    pub bits: Vec<Lwe>,
    /// The accumulators of LWE to RGSW.
    pub accumulators: Vec<Rlwe<u32, Coefficient>>,
    /// The bits' RGSW encryptions.
    pub selectors: Vec<Rgsw<u32>>,
    /// The leaves of the rows stored.
    pub leaves: Vec<Rlwe<u32, Ntt>>,
    /// For each part, the column asked for after the first dimension.
    pub products: Vec<Rlwe<u32, Coefficient>>,
    /// For each part, the cell after folding.
    pub folded: Vec<Rlwe<u32, Coefficient>>,
    /// For each part, the cell after rotation.
    pub rotated: Vec<Rlwe<u32, Coefficient>>,
}

/// What the ciphertexts of a trace should hold.
pub(super) struct Expected<'a, F> {
    pub params: &'a Params<F>,
    pub layout: &'a Layout,
    pub place: Place,
    /// The plaintext polynomials of the cell asked for, by part.
    pub cell: Vec<Vec<i64>>,
}

impl Trace {
    /// Logs the errors of every stage, under the key of that number.
    pub(super) fn log<F>(
        &self,
        secrets: &Secrets,
        expected: &Expected<F>,
        key: u64,
        noise: &mut NoiseLog,
    ) -> Result<()> {
        for Decision { stage, ciphertext, small, expected, threshold } in &self.decisions {
            let key_of = if *small { &secrets.small } else { &secrets.large };
            noise.add_under(Some(key), stage, *threshold, [centred_error(key_of, ciphertext, *expected)?]);
        }
        self.log_bits(secrets, expected, key, noise)?;
        self.log_selection(secrets, expected, key, noise)
    }

    fn log_bits<F>(&self, secrets: &Secrets, expected: &Expected<F>, key: u64, noise: &mut NoiseLog) -> Result<()> {
        let Expected { params, layout, place, .. } = expected;
        let ring = &**secrets.ring.ring();
        let half = ring.n() as u64;
        let modulus = params.rlwe.modulus() as f64;
        let bits = index_bits(layout);
        let bit_of = |i: usize| place.item >> (bits - 1 - i as u32) & 1;
        let window = (params.spacing / 2) as f64;
        for (i, ciphertext) in self.bits.iter().enumerate() {
            let error = centred_error(&secrets.small, ciphertext, bit_of(i) * half)?;
            noise.add_under(Some(key), "rgsw_input", window, [error]);
        }
        let gadget = params.rgsw.of(secrets.ring.ring()).map_err(internal)?;
        for (i, accumulator) in self.accumulators.iter().enumerate() {
            let phase = secrets.ring.phase_coefficient(accumulator);
            let mut known: Poly<u32, Coefficient> = ring.zero();
            for (row, &weight) in gadget.weights().iter().enumerate() {
                // -(-1)^bit g / 2.
                for ((modulus, _), limb) in ring.limbs().iter().zip(known.limbs_mut()) {
                    let inverse = modulus.inverse(2).unwrap_or(1);
                    let half = modulus.mul(modulus.reduce_u128(weight), inverse);
                    limb[row * params.spacing] = if bit_of(i) == 1 { half } else { modulus.neg(half) };
                }
            }
            let errors = lattice::noise::errors(ring, &phase, &known).map_err(internal)?;
            let rows = (0..gadget.length()).map(|row| errors[row * params.spacing]);
            noise.add_under(Some(key), "rotation", modulus / 2.0, rows);
        }
        for (i, selector) in self.selectors.iter().enumerate() {
            for (row, &weight) in gadget.weights().iter().enumerate() {
                let mut message: Poly<u32, Ntt> = ring.forward(constant(ring, u128::from(bit_of(i)) * weight));
                let body = errors(secrets, &selector.body.rows()[row], message.clone())?;
                noise.add_under(Some(key), "row", modulus / 2.0, body);
                ring.mul_assign(&mut message, secrets.ring.ntt());
                ring.neg_assign(&mut message);
                let mask = errors(secrets, &selector.mask.rows()[row], message)?;
                noise.add_under(Some(key), "row_secret", modulus / 2.0, mask);
            }
        }
        Ok(())
    }

    fn log_selection<F>(
        &self,
        secrets: &Secrets,
        expected: &Expected<F>,
        key: u64,
        noise: &mut NoiseLog,
    ) -> Result<()> {
        let Expected { params, layout, place, cell } = expected;
        let ring = &**secrets.ring.ring();
        let scale = params.scale();
        let half_step = scale as f64 / 2.0;
        for (row, leaf) in self.leaves.iter().enumerate() {
            let message = if row == place.row { u128::from(scale) } else { 0 };
            let errors = errors(secrets, leaf, ring.forward(constant(ring, message)))?;
            noise.add_under(Some(key), "selector", half_step, errors);
        }
        let stages = [("first_product", &self.products, 0), ("folded", &self.folded, 0)];
        for (stage, ciphertexts, turned) in stages.into_iter().chain([("rotated", &self.rotated, place.position)]) {
            for (ciphertext, digits) in ciphertexts.iter().zip(cell) {
                let scaled: Vec<i64> = digits.iter().map(|digit| digit * scale as i64).collect();
                let known = ring.mul_monomial(&ring.from_signed(&scaled), 2 * layout.dimensions.degree - turned);
                let phase = secrets.ring.phase_coefficient(ciphertext);
                let errors = lattice::noise::errors(ring, &phase, &known).map_err(internal)?;
                noise.add_under(Some(key), stage, half_step, errors);
            }
        }
        Ok(())
    }
}

/// Bits of an index: row, column, position.
pub(super) fn index_bits(layout: &Layout) -> u32 {
    layout.row_bits + layout.column_bits + layout.position_bits
}

fn constant(ring: &Ring<u32>, value: u128) -> Poly<u32, Coefficient> {
    let mut poly = ring.zero();
    for ((modulus, _), limb) in ring.limbs().iter().zip(poly.limbs_mut()) {
        limb[0] = modulus.reduce_u128(value);
    }
    poly
}

fn errors(secrets: &Secrets, ciphertext: &Rlwe<u32, Ntt>, message: Poly<u32, Ntt>) -> Result<Vec<f64>> {
    let ring = secrets.ring.ring();
    let known = ring.inverse(message);
    lattice::noise::errors(ring, &secrets.ring.phase(ciphertext), &known).map_err(internal)
}
