//! What server and clients derive from the public seed: the LWE matrix, and the masks of the encrypted secret and of the rotation key.

use std::sync::Arc;

use bfv::{KeyHalf, RnsGadget, Scheme};
use lattice::Masks;
use lattice::lwe::PublicMatrix;
use ring::{Kernel, Modulus, Ring, Seed};

use super::Set;
use crate::core::Result;
use crate::parts::bfv::RingTable;

/// The expansion of the public seed. Each use has a seed of its own.
pub struct Public {
    /// A.
    pub matrix: PublicMatrix,
    /// The ring of ciphertexts.
    pub ring: Arc<Ring<u32>>,
    /// The decomposition of masks.
    pub gadget: RnsGadget<u32>,
    /// The scheme of each modulus of slots.
    pub schemes: Vec<Scheme<u32>>,
    /// t1 and t2.
    pub moduli: Vec<Modulus<u64>>,
    seed: Seed,
}

impl Public {
    pub fn new(set: &Set, seed: Seed, kernel: Kernel) -> Result<Self> {
        let gadget = set.ring.gadget(kernel)?;
        let ring = gadget.ring().clone();
        Ok(Self {
            matrix: PublicMatrix::new(seed.derive("matrix"), set.lwe.dimension),
            gadget,
            schemes: set.ring.schemes(&ring)?,
            moduli: set.ring.slot_moduli.iter().map(|t| Modulus::new(*t)).collect::<std::result::Result<_, _>>()?,
            ring,
            seed,
        })
    }

    /// The automorphism that turns both rows of slots by one place.
    pub fn exponent(&self) -> u64 {
        self.schemes.first().map_or(1, |scheme| scheme.modulus().id().rotation(1))
    }

    /// The masks of the encrypted secrets, one for each modulus of slots.
    pub fn secret_masks(&self) -> Masks {
        Masks::new(self.seed.derive("secret"))
    }

    /// The masks of the rotation key.
    pub fn key_masks(&self) -> Masks {
        Masks::new(self.seed.derive("rotation"))
    }

    /// The masks of the rotation key, as the server uses them.
    pub fn key_half(&self) -> Result<KeyHalf<u32>> {
        Ok(KeyHalf::of_seed(&self.gadget, self.exponent(), self.seed.derive("rotation"), 0)?)
    }

    /// The mask of the secret that is encrypted for the slot modulus of that number.
    pub fn secret_mask(&self, number: usize) -> ring::Poly<u32, ring::Ntt> {
        self.ring.expand(&self.seed.derive("secret").prg(), number as u64)
    }
}
