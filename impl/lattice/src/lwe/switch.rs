//! Key switching between LWE keys: every coordinate of the mask is decomposed into digits, which multiply encryptions of
//! the old key's coefficients times the gadget's weights.

use super::LweKey;
use super::switcher::LweSwitchKey;
use crate::decompose::Scale;
use crate::error::LatticeError;
use crate::wire;
use gadget::Gadget;
use rand::RngCore;
use ring::secret::uniform_below;
use ring::{DiscreteGaussian, Modulus, Seed};

/// A key that switches from dimension `from` to dimension `to`, on the wire: a seed for the masks, and the bodies.
///
/// Row (i, t) encrypts -s_i * base^(dropped + t) under the new key, i-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeededLweSwitchKey {
    seed: Seed,
    modulus: Modulus<u64>,
    scale: Scale,
    to: usize,
    bodies: Vec<u64>,
}

impl SeededLweSwitchKey {
    /// A fresh key from `from` to `to`. The seed must serve no other ciphertext under `to`.
    pub fn new(
        from: &LweKey,
        to: &LweKey,
        gadget: &dyn Gadget<u64>,
        error: &DiscreteGaussian,
        seed: Seed,
        rng: &mut impl RngCore,
    ) -> Result<Self, LatticeError> {
        let (modulus, scale) = identity(gadget)?;
        let weights = weights(gadget, &modulus);
        let mut masks = seed.prg().rng();
        let mut a = vec![0; to.coefficients().len()];
        let mut bodies = Vec::with_capacity(from.coefficients().len() * weights.len());
        for &s in from.coefficients() {
            let s = modulus.from_signed(-i64::from(s));
            for &weight in &weights {
                a.fill_with(|| uniform_below(&mut masks, modulus.value()));
                bodies.push(to.body(&modulus, &a, modulus.mul(s, weight), error, rng));
            }
        }
        Ok(Self { seed, modulus, scale, to: a.len(), bodies })
    }

    /// The rows in full, with their masks.
    ///
    /// # Errors
    /// No memory.
    pub fn expand(&self) -> Result<LweSwitchKey, LatticeError> {
        let mut masks = self.seed.prg().rng();
        let mut row = vec![0; self.to + 1];
        let mut key = LweSwitchKey::zero(self.modulus, self.scale, self.to, self.bodies.len())?;
        for (r, &body) in self.bodies.iter().enumerate() {
            row[..self.to].fill_with(|| uniform_below(&mut masks, self.modulus.value()));
            row[self.to] = body;
            key.set_row(r, &row);
        }
        Ok(key)
    }

    /// Bytes of [`Self::to_bytes`] for a key from dimension `from` with `length` digits: the seed, then the bodies.
    pub fn wire_bytes(modulus: Modulus<u64>, from: usize, length: usize) -> usize {
        wire::SEED_BYTES + wire::packed_bytes(from * length, wire::residue_bits(modulus.value()))
    }

    /// The seed, then the bodies bit-packed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = wire::Writer::with_capacity(wire::SEED_BYTES + 8 * self.bodies.len());
        out.write_seed(&self.seed);
        out.write_all(&self.bodies, wire::residue_bits(self.modulus.value()));
        out.finish()
    }

    /// Inverse of [`Self::to_bytes`], for a key made with that gadget between those dimensions, which the bytes do not state.
    ///
    /// # Errors
    /// A wrong number of bytes, a residue not below q, padding that is not zero.
    pub fn from_bytes(
        gadget: &dyn Gadget<u64>,
        (from, to): (usize, usize),
        bytes: &[u8],
    ) -> Result<Self, LatticeError> {
        let (modulus, scale) = identity(gadget)?;
        let mut input = wire::Reader::new(bytes, Self::wire_bytes(modulus, from, scale.length()))?;
        let seed = input.seed();
        let bodies = input.residues(from * scale.length(), modulus.value())?;
        input.finish()?;
        Ok(Self { seed, modulus, scale, to, bodies })
    }
}

/// The scale of a gadget, on which keys depend.
fn identity(gadget: &dyn Gadget<u64>) -> Result<(Modulus<u64>, Scale), LatticeError> {
    let modulus = Modulus::new(gadget.modulus()).map_err(|e| LatticeError::Parameter(e.to_string()))?;
    Ok((modulus, Scale::of(gadget)))
}

/// The gadget's weights base^(dropped + t) modulo q.
fn weights(gadget: &dyn Gadget<u64>, modulus: &Modulus<u64>) -> Vec<u64> {
    let base = modulus.reduce_u64(gadget.base());
    (0..gadget.length()).map(|t| modulus.pow(base, (gadget.dropped() + t) as u64)).collect()
}
