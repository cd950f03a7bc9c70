//! The values that server and clients derive from the public seed: all masks, and the stream that whitens the data. Every use has its own
//! seed, so that no two samples under one secret share a mask.

use std::sync::Arc;

use lattice::pack::{Method, Packing, PackingMasks};
use lattice::{Masks, RingGadget, SeededRgsw};
use ring::{Kernel, Ring, Seed};

use super::layout::Layout;
use super::set::Set;
use super::whitening::Whitening;
use crate::core::seed::SEED_BYTES;
use crate::core::{Error, Result};
use crate::parts::ring_matrix::RingQueries;

/// Bytes of a seed and of the index of its stream, which precede the bodies of a serialised RGSW ciphertext. They are public and not sent.
const ORIGIN_BYTES: usize = SEED_BYTES + 8;

/// Ring, gadgets and masks.
pub struct Public {
    pub ring: Arc<Ring<u32>>,
    /// The masks of queries.
    pub queries: RingQueries,
    pub packing: Packing,
    /// The masks of packing keys.
    pub masks: PackingMasks,
    /// The gadget of the encrypted point.
    pub evaluation: RingGadget<u32>,
    evaluation_seed: Seed,
    /// The streams that whiten the data.
    pub whitening: Whitening,
}

impl Public {
    /// Expands `seed`.
    pub fn new(params: &Set, layout: &Layout, seed: Seed, kernel: Kernel) -> Result<Self> {
        let ring = params.rlwe.ring(kernel)?;
        let packing = Packing::new(Method::Inspiring, &params.packing.of(&ring)?, ring.n())?;
        let masks = packing.masks(seed.derive("packing keys"));
        let queries = RingQueries::new(&ring, seed.derive("query"), layout.rows);
        let evaluation = params.evaluation.gadget().of(&ring)?;
        let whitening = Whitening::new(layout, seed.derive("whitening"));
        Ok(Self { queries, packing, masks, evaluation, evaluation_seed: seed.derive("point"), whitening, ring })
    }

    /// The masks of an encrypted point: stream r is the mask of row r, rows of -s m before rows of m, variable after variable. A secret
    /// encrypts one point.
    pub fn point_masks(&self) -> Masks {
        Masks::new(self.evaluation_seed)
    }

    /// Bytes of the bodies of one variable of an encrypted point.
    pub fn point_bytes(&self) -> usize {
        SeededRgsw::wire_bytes(&self.ring, self.evaluation.length()) - ORIGIN_BYTES
    }

    /// The bodies of an encrypted point.
    pub fn point_bodies(&self, point: &SeededRgsw<u32>) -> Vec<u8> {
        point.to_bytes(&self.ring).split_off(ORIGIN_BYTES)
    }

    /// Variable `variable` of the encrypted point with those bodies.
    pub fn point(&self, variable: usize, bodies: &[u8]) -> Result<SeededRgsw<u32>> {
        let first_stream = (variable * 2 * self.evaluation.length()) as u64;
        let mut bytes = Vec::with_capacity(ORIGIN_BYTES + bodies.len());
        bytes.extend_from_slice(&self.evaluation_seed.0);
        bytes.extend_from_slice(&first_stream.to_le_bytes());
        bytes.extend_from_slice(bodies);
        SeededRgsw::from_bytes(&self.evaluation, &bytes).map_err(Error::in_message("point"))
    }
}
