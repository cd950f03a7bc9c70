//! What client and server compute with: the ring, the gadget of each step, the responder, and where a query's coefficients stand.

use std::sync::Arc;

use lattice::RingGadget;
use ring::{Kernel, Ring};

use super::Params;
use super::params::gadget;
use crate::core::error::Result;
use crate::core::params::{FINGERPRINT_BYTES, fingerprint};
use crate::parts::folding::{Layout, Responder};

/// Rings and gadgets of a set.
#[derive(Clone)]
pub struct Engine {
    pub params: Params,
    pub ring: Arc<Ring<u32>>,
    pub selector: RingGadget<u32>,
    pub leaf_expansion: RingGadget<u32>,
    pub selector_expansion: RingGadget<u32>,
    pub conversion: RingGadget<u32>,
    pub vector: RingGadget<u32>,
    pub responder: Responder,
}

impl Engine {
    pub fn new(params: &Params, kernel: Kernel) -> Result<Self> {
        let ring = params.rlwe.ring(kernel)?;
        let bases = params.bases;
        Ok(Self {
            params: params.clone(),
            selector: gadget(&ring, bases.selector)?,
            leaf_expansion: gadget(&ring, bases.leaf_expansion)?,
            selector_expansion: gadget(&ring, bases.selector_expansion)?,
            conversion: gadget(&ring, bases.conversion)?,
            vector: gadget(&ring, bases.vector)?,
            responder: Responder::new(params.response, &ring)?,
            ring,
        })
    }

    /// Levels of the automorphism keys, X -> X^(2^level + 1).
    pub fn levels(&self) -> std::ops::RangeInclusive<u32> {
        1..=self.ring.n().ilog2()
    }

    /// Tells sets apart: keys of another set with the same number of bytes are refused.
    pub fn fingerprint(&self) -> [u8; FINGERPRINT_BYTES] {
        let Params {
            dimensions,
            rlwe,
            bases,
            vector_length,
            vector,
            response,
            response_small,
            lengths: _,
            source: _,
            row_bits: _,
            matrix_primes: _,
            batch: _,
        } = &self.params;
        fingerprint(&format!(
            "{dimensions:?} {rlwe:?} {bases:?} {vector_length} {vector:?} {response:?} {response_small:?}"
        ))
    }
}

/// Where a query's values stand: number k at coefficient bitrev(k), so that numbers below `count` share the most automorphisms.
pub fn positions(n: usize, count: usize) -> Vec<usize> {
    (0..count).map(|k| k.reverse_bits() >> (usize::BITS - n.ilog2())).collect()
}

/// Coefficients of a query's two ciphertexts: one for each row, one for each digit of a selector.
pub fn coefficients(layout: &Layout, digits: usize) -> [usize; 2] {
    [layout.rows, (layout.column_bits + layout.position_bits) as usize * digits]
}
