//! The values that server and clients derive from the public seed.

use std::sync::Arc;

use lattice::pack::{Method, Packing, PackingMasks};
use ring::{Kernel, Ring, Seed};

use super::layout::Layers;
use super::set::Set;
use crate::core::Result;
use crate::parts::lwe_matrix::NegacyclicMatrix;
use crate::parts::ring_matrix::RingQueries;

/// The set, the layout, and what server and clients derive from the public seed.
pub struct Public {
    pub params: Set,
    pub layers: Layers,
    /// The ring of the second layer.
    pub ring: Arc<Ring<u32>>,
    /// The matrix A of the first layer.
    pub first: NegacyclicMatrix,
    /// The masks of the second query.
    pub second: RingQueries,
    /// The packing of the second layer's answers.
    pub packing: Packing,
    /// The packing of a single sample with the same keys, which CDKS has: its keys serve trees of every width.
    pub trace: Packing,
    /// The packing of the samples that depend on the query, with the same keys.
    pub bodies: Packing,
    /// The masks of packing keys.
    pub masks: PackingMasks,
}

impl Public {
    /// Each use has its own seed, derived from the public one: under one secret no mask is used twice.
    pub fn new(params: &Set, layers: &Layers, seed: Seed, kernel: Kernel) -> Result<Self> {
        let ring = params.rlwe.ring(kernel)?;
        let packing = Packing::new(params.method(), &params.packing.of(&ring)?, ring.n())?;
        Ok(Self {
            params: params.clone(),
            layers: *layers,
            first: NegacyclicMatrix::new(seed.derive("first layer"), params.lwe.dimension, kernel)?,
            second: RingQueries::new(&ring, seed.derive("second layer"), layers.second_entries()),
            masks: packing.masks(seed.derive("packing")),
            trace: Packing::new(Method::Cdks, packing.gadget(), 1)?,
            bodies: Packing::new(params.method(), packing.gadget(), layers.body_gamma(params.method()))?,
            packing,
            ring,
        })
    }
}
