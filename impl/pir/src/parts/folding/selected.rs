//! The ciphertexts that are selected: pairs, or vectors that share a mask.

use lattice::{Rgsw, RingGadget, Rlwe, VectorRgsw, VectorRlwe, Workspace};
use ring::{Coefficient, Ring};

use crate::core::{Error, Result};

/// A ciphertext of a column.
pub trait Selected: Clone + Send + Sync + Sized {
    /// The encryption of a bit that selects between two.
    type Selector: Sync;

    /// An encryption of zero of the same shape.
    fn zero_like(&self, ring: &Ring<u32>) -> Self;

    /// `out` becomes the first or the second of a pair, as the selector says.
    fn cmux(
        gadget: &RingGadget<u32>,
        selector: &Self::Selector,
        pair: (&Self, &Self),
        workspace: &mut Workspace<u32>,
        out: &mut Self,
    ) -> Result<()>;
}

impl Selected for Rlwe<u32, Coefficient> {
    type Selector = Rgsw<u32>;

    fn zero_like(&self, ring: &Ring<u32>) -> Self {
        Self::zero(ring)
    }

    fn cmux(
        gadget: &RingGadget<u32>,
        selector: &Rgsw<u32>,
        (zero, one): (&Self, &Self),
        workspace: &mut Workspace<u32>,
        out: &mut Self,
    ) -> Result<()> {
        gadget.cmux(selector, zero, one, workspace, out).map_err(Error::from)
    }
}

impl Selected for VectorRlwe<u32, Coefficient> {
    type Selector = VectorRgsw<u32>;

    fn zero_like(&self, ring: &Ring<u32>) -> Self {
        Self::zero(ring, self.bodies.len())
    }

    fn cmux(
        gadget: &RingGadget<u32>,
        selector: &VectorRgsw<u32>,
        (zero, one): (&Self, &Self),
        workspace: &mut Workspace<u32>,
        out: &mut Self,
    ) -> Result<()> {
        gadget.vector_cmux(selector, zero, one, workspace, out).map_err(Error::from)
    }
}
