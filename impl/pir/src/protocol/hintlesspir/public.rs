//! What server and clients derive from the public seed: the LWE matrix, and the masks of the encrypted secret and of the rotation keys.

use std::sync::Arc;

use bfv::{KeyHalf, RnsGadget, Scheme};
use lattice::Masks;
use lattice::lwe::PublicMatrix;
use ring::{Kernel, Modulus, Ring, Seed};

use super::{Layout, Set};
use crate::core::Result;
use crate::parts::bfv::RingTable;

/// The expansion of the public seed. Each use has a seed of its own.
pub struct Public {
    /// A.
    pub matrix: PublicMatrix,
    /// The ring of ciphertexts.
    pub ring: Arc<Ring<u32>>,
    /// The rotations: of the secret, and of sums where they are rotated.
    pub rotations: Vec<Rotation>,
    /// The scheme of each modulus of slots.
    pub schemes: Vec<Scheme<u32>>,
    /// t1 and t2.
    pub moduli: Vec<Modulus<u64>>,
    seed: Seed,
}

/// A rotation of slots, the masks of whose key come from a seed.
pub struct Rotation {
    /// The decomposition of masks.
    pub gadget: RnsGadget<u32>,
    /// The exponent of its automorphism.
    pub exponent: u64,
    seed: Seed,
}

impl Rotation {
    /// The masks of its key.
    pub fn masks(&self) -> Masks {
        Masks::new(self.seed)
    }

    /// The masks of its key, as the server uses them.
    pub fn key_half(&self) -> Result<KeyHalf<u32>> {
        Ok(KeyHalf::of_seed(&self.gadget, self.exponent, self.seed, 0)?)
    }
}

impl Public {
    pub fn new(set: &Set, layout: &Layout, seed: Seed, kernel: Kernel) -> Result<Self> {
        let ring = set.ring.ring(kernel)?;
        let schemes = set.ring.schemes(&ring)?;
        let rotation = |((places, digit_bits), purpose)| -> Result<Rotation> {
            Ok(Rotation {
                gadget: RnsGadget::new(&ring, 0, digit_bits)?,
                exponent: schemes.first().map_or(1, |scheme| scheme.modulus().id().rotation(places)),
                seed: seed.derive(purpose),
            })
        };
        let rotations =
            set.rotations(layout).into_iter().zip(["rotation", "giant step"]).map(rotation).collect::<Result<_>>()?;
        Ok(Self {
            matrix: PublicMatrix::new(seed.derive("matrix"), set.lwe.dimension),
            rotations,
            schemes,
            moduli: set.ring.slot_moduli.iter().map(|t| Modulus::new(*t)).collect::<std::result::Result<_, _>>()?,
            ring,
            seed,
        })
    }

    /// The rotation of sums; without giant steps none is rotated, and that of the secret stands for it.
    pub fn of_sums(&self) -> &Rotation {
        &self.rotations[self.rotations.len() - 1]
    }

    /// The masks of the encrypted secrets, one for each modulus of slots.
    pub fn secret_masks(&self) -> Masks {
        Masks::new(self.seed.derive("secret"))
    }

    /// The mask of the secret that is encrypted for the slot modulus of that number.
    pub fn secret_mask(&self, number: usize) -> ring::Poly<u32, ring::Ntt> {
        self.ring.expand(&self.seed.derive("secret").prg(), number as u64)
    }
}
