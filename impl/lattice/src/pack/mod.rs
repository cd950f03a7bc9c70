//! Ring packing: up to gamma LWE ciphertexts under the coefficients of an RLWE key become one RLWE ciphertext under that key.
//!
//! LWE ciphertext j, mask vector a_j and body b_j, enters as its *ring mask* ã_j = sum_i a_j[i] X^(-i): the product of ã_j with s has the
//! constant coefficient <a_j, s> ([`ring_mask`]). [`Packing::preprocess`] does the work that depends only on ring masks and on the public
//! masks of the packing keys; [`PackingTable::pack`] then takes a client's keys and the bodies.
//!
//! Two methods. **CDKS** (Chen, Dai, Kim, Song, ACNS 2021, as YPIR uses it) joins ciphertexts in a tree of automorphisms
//! X -> X^(2^k + 1), one key a level. **InspiRING** (InsPIRe, Algorithms 1 and 2) writes every phase as a trace,
//! b_j - 1/gamma sum over sigma of sigma(ã_j) sigma(s), sums over j first, and then switches each key sigma(s) to the next with
//! the images of one key.
//!
//! **Online both are one matrix-vector product.** Every image of a key under an automorphism is a permutation of its NTT slots, and
//! the products with digits are slot by slot: so each slot of the packed body is a fixed linear form in the slots of the key
//! bodies. [`PackingTable`] holds these forms ([`ring::BlockDiagonal`]), gamma ell residues a slot and prime, and reads them once.

mod cdks;
mod evaluate;
mod inspiring;
mod keys;
mod levels;
mod packing;
mod slots;
mod table;
#[cfg(test)]
mod tests;

pub use evaluate::DIRECT_TERMS;
pub use keys::{PackingKeys, PackingMasks};
pub use packing::{Method, Packing};
pub use table::PackingTable;

use crate::decompose::GadgetShape;
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::{Rlwe, check};
use ring::{Coefficient, Ntt, Poly, Ring, RingShape, Work};

impl Method {
    /// The work of one key switch of [`Packing::pack`], without the sums over automorphisms.
    pub fn switch_work(self, gadget: GadgetShape) -> Work {
        let (ring, length) = (gadget.ring, gadget.length as u64);
        let moves = match self {
            // Mask and body.
            Self::Cdks => ring.moves(2),
            // The rows of both keys, a sum, and the list of slots, which serves all primes.
            Self::Inspiring => ring.moves(2 * length + 1) + RingShape { primes: 1, ..ring }.moves(1),
        };
        ring.transforms(length + 1) + gadget.digits_work(1) + ring.products(2 * length) + moves
    }

    /// The work of [`Packing::pack`] for up to gamma ciphertexts. The transform back to coefficients is not counted.
    pub fn pack_work(self, gadget: GadgetShape, gamma: usize, ciphertexts: usize) -> Work {
        let switches = self.switch_work(gadget) * (gamma as u64 - 1);
        match self {
            Self::Cdks => switches,
            Self::Inspiring => switches + evaluate::sums_work(gadget.ring, gamma, ciphertexts),
        }
    }

    /// The work of [`Packing::preprocess`] for gamma ciphertexts (N of them with CDKS).
    pub fn preprocess_work(self, gadget: GadgetShape, gamma: usize) -> Work {
        let (ring, length, switches) = (gadget.ring, gadget.length as u64, gamma as u64 - 1);
        // Each switch takes a mask back to coefficients and its digits forward; at the end the packed mask goes back.
        let switched = ring.transforms(switches * (length + 1) + 1) + gadget.digits_work(switches);
        let tables = match self {
            Self::Inspiring => inspiring::table_work(gadget, gamma),
            Self::Cdks => cdks::table_work(gadget),
        };
        switched + ring.products(switches * length) + tables
    }
}

impl Packing {
    /// Packs without a table, for ring masks that depend on the query. `ring_masks` has up to gamma polynomials in the NTT domain; coefficient
    /// j of `bodies` is b_j, and its coefficients from gamma on are ignored.
    ///
    /// # Errors
    /// Too many ring masks, operands of another ring or packing.
    pub fn pack(
        &self,
        masks: &PackingMasks,
        keys: &PackingKeys,
        ring_masks: &[Poly<u32, Ntt>],
        bodies: &Poly<u32, Coefficient>,
        workspace: &mut Workspace<u32>,
    ) -> Result<Rlwe<u32, Coefficient>, LatticeError> {
        self.check_masks(masks, ring_masks)?;
        self.check_keys(keys)?;
        check(self.ring(), bodies)?;
        let packed = match self.method {
            Method::Inspiring => {
                let mut sum = inspiring::Summed::new(self, keys);
                let a = inspiring::collapse(self, masks, ring_masks, workspace, &mut sum)?;
                Rlwe { a, b: sum.into_sum() }
            }
            Method::Cdks => cdks::pack(self, masks, keys, ring_masks, workspace)?,
        };
        let mut packed = packed.inverse(self.ring());
        self.add_bodies(&mut packed.b, bodies);
        Ok(packed)
    }

    /// Does the work that depends only on ring masks and key masks. `ring_masks` has up to gamma polynomials in the NTT domain; missing ones count as zero.
    ///
    /// # Errors
    /// Too many ring masks, operands of another ring or packing, memory that the system refuses.
    pub fn preprocess(
        &self,
        masks: &PackingMasks,
        ring_masks: &[Poly<u32, Ntt>],
        workspace: &mut Workspace<u32>,
    ) -> Result<PackingTable, LatticeError> {
        self.check_masks(masks, ring_masks)?;
        match self.method {
            Method::Inspiring => inspiring::preprocess(self, masks, ring_masks, workspace),
            Method::Cdks => cdks::preprocess(self, masks, ring_masks, workspace),
        }
    }

    fn check_masks(&self, masks: &PackingMasks, ring_masks: &[Poly<u32, Ntt>]) -> Result<(), LatticeError> {
        if ring_masks.len() > self.gamma {
            return Err(LatticeError::Parameter(format!(
                "{} ciphertexts for a packing of {}",
                ring_masks.len(),
                self.gamma
            )));
        }
        masks.check(self)?;
        ring_masks.iter().try_for_each(|mask| check(self.ring(), mask))
    }

    fn check_keys(&self, keys: &PackingKeys) -> Result<(), LatticeError> {
        keys.check(self)
    }
}

/// sum_i a[i] X^(-i) modulo q for a vector of N residues modulo q: the ring mask of an LWE ciphertext with that mask vector.
///
/// # Errors
/// Another number of elements than N.
pub fn ring_mask(ring: &Ring<u32>, a: &[u64]) -> Result<Poly<u32, Ntt>, LatticeError> {
    let n = ring.n();
    if a.len() != n {
        return Err(LatticeError::Mismatch("a mask vector and a ring of different dimensions"));
    }
    // X^(-i) = -X^(n - i).
    let reversed: Vec<u64> = (0..n).map(|j| a[(n - j) % n]).collect();
    let mut mask: Poly<u32, Coefficient> = ring.from_u64(&reversed);
    for (i, (modulus, _)) in ring.limbs().iter().enumerate() {
        mask.limb_mut(i)[1..].iter_mut().for_each(|x| *x = modulus.neg(*x));
    }
    Ok(ring.forward(mask))
}
