//! Two layers over one database, as YPIR has them: an LWE product modulo 2^32 selects a row, and the hint and the answer of
//! that layer, in digits, are the database of a second layer over a ring, which selects a column. Packing turns the second
//! layer's answers into ring ciphertexts, so that no hint travels. YPIR packs by CDKS, InsPIRe_0 by InspiRING. Of long records, of
//! which packing tables would fill the memory, the second layer selects whole polynomials ([`Layers`]).
//!
//! Letters (docs/ypir.md): N1 rows and G columns of records, ne entries a record, n the LWE dimension, d the ring degree, q the
//! ring's modulus, p = 2^b the plaintext modulus of digits, q1 the modulus to which values of the first layer are switched.

mod client;
mod describe;
mod layout;
mod params;
mod second;
mod server;
mod whole;

pub use client::Client;
pub use describe::describe;
pub use layout::Layers;
pub use params::{Body, LayersLiteral, Literals, Params};
pub use server::Server;

use lattice::pack::{Method, Packing, PackingMasks};
use ring::{Kernel, Ring, Seed};
use std::sync::Arc;

use crate::core::error::Result;
use crate::parts::lwe_matrix::NegacyclicMatrix;
use crate::parts::ring_matrix::RingQueries;

/// What server and clients derive from the public seed.
pub(crate) struct Public {
    /// The ring of the second layer.
    pub ring: Arc<Ring<u32>>,
    /// The matrix A of the first layer.
    pub first: NegacyclicMatrix,
    /// The masks of the second query.
    pub second: RingQueries,
    /// How the second layer's answers are packed.
    pub packing: Packing,
    /// The packing of a single sample, with the keys of the whole: CDKS, whose keys serve trees of every width.
    pub trace: Packing,
    /// The packing of what depends on the query, with the same keys.
    pub bodies: Packing,
    /// The masks of packing keys.
    pub masks: PackingMasks,
}

impl Public {
    /// Each use has a seed of its own, derived from the public one: under one secret no mask is used twice.
    pub fn new(params: &Params, layers: &Layers, seed: Seed, kernel: Kernel) -> Result<Self> {
        let ring = params.rlwe.ring(kernel)?;
        let packing = Packing::new(params.method, &params.packed.gadget(&ring)?, ring.n())?;
        Ok(Self {
            first: NegacyclicMatrix::new(seed.derive("first layer"), params.lwe.dimension, kernel)?,
            second: RingQueries::new(&ring, seed.derive("second layer"), layers.second_entries()),
            masks: packing.masks(seed.derive("packing")),
            trace: Packing::new(Method::Cdks, packing.gadget(), 1)?,
            bodies: Packing::new(params.method, packing.gadget(), layers.body_gamma(params.method))?,
            packing,
            ring,
        })
    }
}
