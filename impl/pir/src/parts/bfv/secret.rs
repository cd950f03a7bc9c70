//! A secret modulo q and modulo q P.

use bfv::RnsGadget;
use lattice::RlweKey;
use rand::RngCore;
use ring::DiscreteGaussian;

use crate::core::{ErrorSize, Result, SecretKind};

/// A secret that encrypts, and that keys of a gadget are of.
pub struct BfvSecret {
    /// Modulo q.
    pub key: RlweKey<u32>,
    /// Modulo q P.
    pub wide: RlweKey<u32>,
    /// The errors of both.
    pub error: DiscreteGaussian,
}

impl BfvSecret {
    /// A fresh secret for the ciphertexts and the keys of a gadget.
    pub fn sample(
        gadget: &RnsGadget<u32>,
        secret: SecretKind,
        error: ErrorSize,
        rng: &mut impl RngCore,
    ) -> Result<Self> {
        let key = RlweKey::sample(gadget.ring(), &secret.distribution(), rng)?;
        Ok(Self {
            wide: RlweKey::from_coefficients(gadget.key_ring(), key.coefficients().to_vec())?,
            key,
            error: error.sampler()?,
        })
    }
}
