//! The common objects of client and server: the ring, the gadget of each step, the responder, and the number of a query's coefficients.

use std::sync::Arc;

use lattice::RingGadget;
use ring::{Kernel, Ring};

use super::set::{Set, Steps, gadget};
use crate::core::{FINGERPRINT_BYTES, Result, fingerprint};
use crate::parts::folding::{Layout, Responder};

/// Rings and gadgets of a set.
#[derive(Clone)]
pub struct Engine {
    pub params: Set,
    pub ring: Arc<Ring<u32>>,
    pub gadgets: Steps<RingGadget<u32>>,
    pub responder: Responder,
}

impl Engine {
    pub fn new(params: &Set, kernel: Kernel) -> Result<Self> {
        let ring = params.rlwe.ring(kernel)?;
        Ok(Self {
            params: params.clone(),
            gadgets: params.bases.try_map(|_, base| gadget(&ring, base))?,
            responder: Responder::new(params.response.params(), &ring)?,
            ring,
        })
    }

    /// Levels of the automorphism keys, X -> X^(2^level + 1).
    pub fn levels(&self) -> std::ops::RangeInclusive<u32> {
        1..=self.ring.n().ilog2()
    }

    /// A hash of the parameters of the keys, without the layout, which only the server has.
    pub fn fingerprint(&self) -> Result<[u8; FINGERPRINT_BYTES]> {
        fingerprint(&self.params, &["row_bits", "matrix_primes", "batch"])
    }
}

/// Coefficients of a query's two ciphertexts: one for each row, one for each digit of a selector.
pub fn coefficients(layout: &Layout, digits: usize) -> [usize; 2] {
    [layout.rows, (layout.column_bits + layout.position_bits) as usize * digits]
}
