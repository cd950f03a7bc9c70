//! The ciphertexts that are selected: pairs, or vectors that share a mask; by bits, or by unit vectors.

use lattice::{Rgsw, RingGadget, Rlwe, VectorRgsw, VectorRlwe, Workspace};
use ring::{Coefficient, Ring};

use crate::core::{Error, Result};

/// A ciphertext of a column.
pub trait Selected: Clone + Send + Sync + Sized {
    /// What selects one of several.
    type Selector: Sync;

    /// An encryption of zero of the same shape.
    fn zero_like(&self, ring: &Ring<u32>) -> Self;

    /// Bits of the number of ciphertexts that a selector selects from.
    fn bits(_: &Self::Selector) -> u32 {
        1
    }

    /// `out` becomes the candidate whose number the selector encrypts. Candidates that are left out are zero.
    fn select(
        gadget: &RingGadget<u32>,
        selector: &Self::Selector,
        candidates: &[Self],
        workspace: &mut Workspace<u32>,
        out: &mut Self,
    ) -> Result<()>;
}

/// Calls `cmux` with two candidates, or with one and a zero.
fn of_two<C: Selected>(ring: &Ring<u32>, candidates: &[C], cmux: impl FnOnce(&C, &C) -> Result<()>) -> Result<()> {
    match candidates {
        [zero, one] => cmux(zero, one),
        [zero] => cmux(zero, &zero.zero_like(ring)),
        _ => Err(Error::Workload(format!("a bit selects from two ciphertexts, not from {}.", candidates.len()))),
    }
}

impl Selected for Rlwe<u32, Coefficient> {
    type Selector = Rgsw<u32>;

    fn zero_like(&self, ring: &Ring<u32>) -> Self {
        Self::zero(ring)
    }

    fn select(
        gadget: &RingGadget<u32>,
        selector: &Rgsw<u32>,
        candidates: &[Self],
        workspace: &mut Workspace<u32>,
        out: &mut Self,
    ) -> Result<()> {
        of_two(gadget.ring(), candidates, |zero, one| Ok(gadget.cmux(selector, zero, one, workspace, out)?))
    }
}

impl Selected for VectorRlwe<u32, Coefficient> {
    type Selector = VectorRgsw<u32>;

    fn zero_like(&self, ring: &Ring<u32>) -> Self {
        Self::zero(ring, self.bodies.len())
    }

    fn select(
        gadget: &RingGadget<u32>,
        selector: &VectorRgsw<u32>,
        candidates: &[Self],
        workspace: &mut Workspace<u32>,
        out: &mut Self,
    ) -> Result<()> {
        of_two(gadget.ring(), candidates, |zero, one| Ok(gadget.vector_cmux(selector, zero, one, workspace, out)?))
    }
}

/// A pair that is selected by a unit vector of RGSW ciphertexts as long as there are candidates, or by one RGSW ciphertext of a bit.
#[derive(Clone, Debug)]
pub struct OneOf(pub Rlwe<u32, Coefficient>);

impl Selected for OneOf {
    type Selector = Vec<Rgsw<u32>>;

    fn zero_like(&self, ring: &Ring<u32>) -> Self {
        Self(Rlwe::zero(ring))
    }

    fn bits(selector: &Vec<Rgsw<u32>>) -> u32 {
        selector.len().max(2).ilog2()
    }

    /// The sum over the unit vector of RGSW ciphertext times candidate; by one ciphertext, a CMUX.
    fn select(
        gadget: &RingGadget<u32>,
        selector: &Vec<Rgsw<u32>>,
        candidates: &[Self],
        workspace: &mut Workspace<u32>,
        out: &mut Self,
    ) -> Result<()> {
        let ring = gadget.ring();
        if let [bit] = &selector[..] {
            return of_two(ring, candidates, |zero, one| Ok(gadget.cmux(bit, &zero.0, &one.0, workspace, &mut out.0)?));
        }
        let mut sum = Rlwe::zero(ring);
        for (selector, candidate) in selector.iter().zip(candidates) {
            gadget.external_product(&candidate.0, selector, workspace, &mut out.0)?;
            sum.add_assign(ring, &out.0);
        }
        out.0 = sum;
        Ok(())
    }
}
