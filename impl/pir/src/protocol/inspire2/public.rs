//! The values that server and clients derive from the public seed.

use std::sync::Arc;

use lattice::RlweKey;
use lattice::pack::{Method, Packing, PackingKeys, PackingMasks};
use ring::{DiscreteGaussian, Kernel, Ring, Seed};

use super::layout::Layout;
use super::set::Set;
use crate::core::Result;
use crate::parts::ring_matrix::{self, RingQueries};

/// The set, the layout, ring, masks and packings.
pub struct Public {
    pub params: Set,
    pub layout: Layout,
    pub ring: Arc<Ring<u32>>,
    /// Masks of the first query.
    pub first: RingQueries,
    /// Masks of the second query.
    pub second: RingQueries,
    /// A packing with its key masks for each different gamma, by gamma.
    packings: Vec<(Packing, PackingMasks)>,
    /// The packings for gamma_0, gamma_1 and gamma_2.
    serving: [usize; 3],
}

impl Public {
    /// Each use has its own seed, derived from the public one, and packings derive theirs from their gamma: under one
    /// secret no mask is used twice.
    pub fn new(params: &Set, layout: &Layout, seed: Seed, kernel: Kernel) -> Result<Self> {
        let ring = params.rlwe.ring(kernel)?;
        let gadget = params.packing.of(&ring)?;
        let gammas = layout.key_gammas(params);
        let packings = gammas.iter().map(|&gamma| {
            let packing = Packing::new(Method::Inspiring, &gadget, gamma)?;
            let masks = packing.masks(seed.derive("packing"));
            Ok((packing, masks))
        });
        Ok(Self {
            params: params.clone(),
            layout: *layout,
            first: RingQueries::new(&ring, seed.derive("first query"), layout.rows),
            second: RingQueries::new(&ring, seed.derive("second query"), layout.second_entries()),
            packings: packings.collect::<Result<_>>()?,
            // If polynomials are selected whole, gamma_1 and gamma_2 pack nothing and have no keys.
            serving: params.gammas().map(|gamma| gammas.iter().position(|other| *other == gamma).unwrap_or(0)),
            ring,
        })
    }

    /// The packing of gamma_i and its key masks.
    pub fn packing(&self, i: usize) -> (&Packing, &PackingMasks) {
        let (packing, masks) = &self.packings[self.serving[i]];
        (packing, masks)
    }

    /// The packings of all different gammas.
    pub fn packings(&self) -> impl Iterator<Item = &(Packing, PackingMasks)> {
        self.packings.iter()
    }

    /// Bytes of the keys of all packings.
    pub fn key_bytes(&self) -> usize {
        self.packings.iter().map(|(packing, _)| packing.key_bytes()).sum()
    }

    /// The bytes of fresh keys of all packings.
    pub fn keys(&self, key: &RlweKey<u32>, error: &DiscreteGaussian, rng: &mut impl rand::RngCore) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.key_bytes());
        for (packing, masks) in &self.packings {
            bytes.extend(packing.keys(key, masks, error, rng)?.to_bytes(packing));
        }
        Ok(bytes)
    }

    /// Inverse of [`Self::keys`].
    pub fn read_keys(&self, bytes: &[u8]) -> Result<Keys> {
        let mut rest = bytes;
        let mut all = Vec::with_capacity(self.packings.len());
        for (packing, _) in &self.packings {
            all.push(ring_matrix::read_keys(packing, rest.split_off(..packing.key_bytes()).unwrap_or_default())?);
        }
        Ok(Keys { all, serving: self.serving })
    }
}

/// A client's keys of all packings.
pub struct Keys {
    all: Vec<PackingKeys>,
    serving: [usize; 3],
}

impl Keys {
    /// The keys for gamma_i.
    pub fn of(&self, i: usize) -> &PackingKeys {
        &self.all[self.serving[i]]
    }
}
