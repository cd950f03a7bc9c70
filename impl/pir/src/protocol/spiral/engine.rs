//! The common objects of client and server: the layout, the ring, the gadget of each step, and the places of a query's coefficients.

use std::ops::RangeInclusive;
use std::sync::Arc;

use lattice::RingGadget;
use ring::{Kernel, Ring};

use super::set::{Places, Set, gadget};
use crate::core::{FINGERPRINT_BYTES, Result, Shape, fingerprint};
use crate::parts::folding::Layout;

/// What client and server make of a set and a shape.
#[derive(Clone)]
pub struct Engine {
    pub params: Set,
    pub layout: Layout,
    pub places: Places,
    pub ring: Arc<Ring<u32>>,
    pub selector: RingGadget<u32>,
    pub conversion: RingGadget<u32>,
    /// Of the keys that expand leaves, and of those that expand selectors' rows.
    pub expansion: Option<[RingGadget<u32>; 2]>,
}

impl Engine {
    pub fn new(params: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        let (ring, layout) = (params.rlwe.ring(kernel)?, params.layout(shape)?);
        let of = |base| gadget(&ring, base);
        let expansion = match params.expansion {
            Some(bases) => Some([of(bases.leaf)?, of(bases.selector)?]),
            None => None,
        };
        Ok(Self {
            params: params.clone(),
            layout,
            places: params.places(&layout),
            selector: of(params.bases.selector)?,
            conversion: of(params.bases.conversion)?,
            expansion,
            ring,
        })
    }

    /// Levels of the automorphism keys of a tree of that depth, X -> X^(2^level + 1).
    pub fn levels(&self, depth: u32) -> RangeInclusive<u32> {
        let log_n = self.ring.n().ilog2();
        log_n - depth + 1..=log_n
    }

    /// The gadget and the depth of each tree that expands a query: leaves, selectors' rows.
    pub fn trees(&self) -> impl Iterator<Item = (&RingGadget<u32>, u32)> {
        self.expansion.iter().flatten().zip([self.places.leaf_depth, self.places.row_depth])
    }

    /// Whether the server makes selectors of their rows.
    pub fn converts(&self) -> bool {
        self.params.variant.converts() && self.layout.column_bits > 0
    }

    /// A hash of the parameters.
    pub fn fingerprint(&self) -> Result<[u8; FINGERPRINT_BYTES]> {
        fingerprint(&self.params, &["matrix_primes"])
    }
}
