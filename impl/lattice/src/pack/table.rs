//! A server's table for one packed output, and packing with it.

use super::keys::PackingKeys;
use super::packing::Packing;
use crate::error::LatticeError;
use crate::rlwe::{Rlwe, check};
use ring::{BlockDiagonal, Coefficient, Ntt, Poly};

/// A row of keys that is multiplied by its digits slot by slot.
#[derive(Debug)]
pub(super) struct Pointwise {
    pub(super) role: usize,
    pub(super) row: usize,
    pub(super) factor: Poly<u32, Ntt>,
}

/// The part of one output that does not depend on the client: the packed mask, and the slots of the packed body as linear forms in
/// the slots of the keys.
#[derive(Debug)]
pub struct PackingTable {
    packing: Packing,
    /// A matrix for each prime; its bands are the roles and rows that are not pointwise, in this order.
    matrices: Vec<BlockDiagonal>,
    last: Vec<Pointwise>,
    mask: Poly<u32, Coefficient>,
}

impl PackingTable {
    pub(super) fn new(
        packing: &Packing,
        matrices: Vec<BlockDiagonal>,
        last: Vec<Pointwise>,
        mask: Poly<u32, Coefficient>,
    ) -> Self {
        Self { packing: packing.clone(), matrices, last, mask }
    }

    /// The packing.
    pub fn packing(&self) -> &Packing {
        &self.packing
    }

    /// The packed mask, the same for every client.
    pub fn mask(&self) -> &Poly<u32, Coefficient> {
        &self.mask
    }

    /// Bytes that packing reads; see [`Packing::table_bytes`].
    pub fn bytes(&self) -> usize {
        self.matrices.iter().map(BlockDiagonal::bytes).sum()
    }

    /// Bytes in memory of the part that packing reads, of the factors of pointwise rows and of the packed mask.
    pub fn held_bytes(&self) -> usize {
        let factors: usize = self.last.iter().map(|row| row.factor.bytes()).sum();
        self.bytes() + factors + self.mask.bytes()
    }

    /// Packs with a client's keys. Coefficient j of `bodies` is b_j; its coefficients from gamma on are ignored.
    ///
    /// # Errors
    /// Keys of another packing, bodies of another ring.
    pub fn pack(
        &self,
        keys: &PackingKeys,
        bodies: &Poly<u32, Coefficient>,
    ) -> Result<Rlwe<u32, Coefficient>, LatticeError> {
        let mut packed = self.pack_batch(&[(keys, bodies)])?;
        packed.pop().ok_or(LatticeError::Mismatch("a batch and its outputs"))
    }

    /// Packs for several clients, or several vectors of bodies; the table is read once for up to eight of them.
    ///
    /// # Errors
    /// Keys of another packing, bodies of another ring.
    pub fn pack_batch(
        &self,
        batch: &[(&PackingKeys, &Poly<u32, Coefficient>)],
    ) -> Result<Vec<Rlwe<u32, Coefficient>>, LatticeError> {
        let bodies = self.pack_bodies(batch)?;
        Ok(bodies.into_iter().map(|b| Rlwe { a: self.mask.clone(), b }).collect())
    }

    /// The bodies of [`Self::pack_batch`] without their mask, [`Self::mask`], which is known without the clients.
    pub fn pack_bodies(
        &self,
        batch: &[(&PackingKeys, &Poly<u32, Coefficient>)],
    ) -> Result<Vec<Poly<u32, Coefficient>>, LatticeError> {
        let ring = self.packing.ring();
        for (keys, bodies) in batch {
            self.packing.check_keys(keys)?;
            check(ring, bodies)?;
        }
        let bands = self.matrices.first().map_or(0, BlockDiagonal::bands);
        let mut sums: Vec<Poly<u32, Ntt>> = batch.iter().map(|_| ring.zero()).collect();
        for (i, matrix) in self.matrices.iter().enumerate() {
            let inputs: Vec<Vec<&[u32]>> =
                batch.iter().map(|(keys, _)| keys.bodies().take(bands).map(|body| body.limb(i)).collect()).collect();
            let mut out: Vec<&mut [u32]> = sums.iter_mut().map(|sum| sum.limb_mut(i)).collect();
            matrix.multiply(ring.vectors(), &inputs, &mut out);
        }
        let mut packed = Vec::with_capacity(batch.len());
        for ((keys, bodies), mut sum) in batch.iter().zip(sums) {
            for Pointwise { role, row, factor } in &self.last {
                ring.mul_add_assign(&mut sum, factor, keys.row(*role, *row));
            }
            let mut b = ring.inverse(sum);
            self.packing.add_bodies(&mut b, bodies);
            packed.push(b);
        }
        Ok(packed)
    }
}
