//! Key switching and automorphisms of RLWE ciphertexts.

use crate::decompose::{GadgetShape, RingGadget};
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::{Masks, Rlwe, RlweKey, RlwePrime, SeededRlwePrime, check};
use rand::RngCore;
use ring::{Automorphism, Coefficient, DiscreteGaussian, Ntt, Poly, Ring, Word, Work};

/// The key that switches from the secret `from` (NTT domain, any polynomial) to `to`: RLWE'(-from) under `to`.
///
/// # Errors
/// A `from` or a gadget of another ring than `to`.
pub fn switching_key<W: Word>(
    from: &Poly<W, Ntt>,
    to: &RlweKey<W>,
    gadget: &RingGadget<W>,
    error: &DiscreteGaussian,
    masks: &mut Masks,
    rng: &mut impl RngCore,
) -> Result<SeededRlwePrime<W>, LatticeError> {
    check(to.ring(), from)?;
    let mut message = from.clone();
    to.ring().neg_assign(&mut message);
    SeededRlwePrime::new(to, &message, gadget, error, masks, rng)
}

/// The key for X -> X^exponent (odd): switches from s(X^exponent) back to s.
///
/// # Errors
/// An even exponent, a gadget of another ring than the key's.
pub fn automorphism_key<W: Word>(
    key: &RlweKey<W>,
    exponent: u64,
    gadget: &RingGadget<W>,
    error: &DiscreteGaussian,
    masks: &mut Masks,
    rng: &mut impl RngCore,
) -> Result<SeededRlwePrime<W>, LatticeError> {
    let map = Automorphism::new(key.ring().n(), exponent)?;
    switching_key(&key.automorphism(&map), key, gadget, error, masks, rng)
}

/// An automorphism with its key switch, ready for use.
#[derive(Clone, Debug)]
pub struct AutomorphismKey<W: Word> {
    map: Automorphism,
    key: RlwePrime<W>,
}

impl<W: Word> AutomorphismKey<W> {
    /// Bytes in memory: the key and the tables of the automorphism.
    pub fn bytes(&self) -> usize {
        self.map.bytes() + self.key.bytes()
    }

    /// Expands the key that [`automorphism_key`] made for that exponent.
    ///
    /// # Errors
    /// An even exponent, a key of another ring.
    pub fn new(ring: &Ring<W>, exponent: u64, key: &SeededRlwePrime<W>) -> Result<Self, LatticeError> {
        key.check(ring)?;
        Ok(Self { map: Automorphism::new(ring.n(), exponent)?, key: key.expand(ring) })
    }

    /// Refuses a gadget that the key was not made with.
    pub(crate) fn check(&self, gadget: &RingGadget<W>) -> Result<(), LatticeError> {
        gadget.check_key(&self.key)
    }

    /// The map.
    pub fn map(&self) -> &Automorphism {
        &self.map
    }
}

impl GadgetShape {
    /// The work of [`RingGadget::key_switch`].
    pub fn key_switch_work(self) -> Work {
        self.gadget_product_work()
    }

    /// The work of [`RingGadget::automorphism`]: mask and body are permuted, then switched.
    pub fn automorphism_work(self) -> Work {
        self.key_switch_work() + self.ring.moves(2)
    }
}

impl<W: Word> RingGadget<W> {
    /// Switches `input` from the old key to the new: the phase gains only noise. `key`: from [`switching_key`], with this gadget.
    ///
    /// # Errors
    /// A ciphertext, a key or an `out` of another ring, a key made with another gadget.
    pub fn key_switch(
        &self,
        input: &Rlwe<W, Coefficient>,
        key: &RlwePrime<W>,
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        input.check(self.ring())?;
        self.gadget_product(&input.a, key, workspace, out)?;
        self.ring().add_assign(&mut out.b, &input.b);
        Ok(())
    }

    /// Maps the phase of `input` by X -> X^k, under the same key.
    ///
    /// # Errors
    /// A ciphertext, a key or an `out` of another ring, a key made with another gadget.
    pub fn automorphism(
        &self,
        input: &Rlwe<W, Coefficient>,
        key: &AutomorphismKey<W>,
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        let ring = self.ring();
        input.check(ring)?;
        // The map has the key's dimension.
        self.check_key(&key.key)?;
        workspace.with_scratch(ring, |mapped, workspace| {
            input.automorphism_into(ring, &key.map, mapped);
            self.key_switch(mapped, &key.key, workspace, out)
        })
    }
}
