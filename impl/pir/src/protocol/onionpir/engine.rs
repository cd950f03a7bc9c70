//! The common objects of client and server: the layout, the rings, the gadget of each step, and the places of a query's coefficients.

use std::sync::Arc;

use bfv::{RnsGadget, expansion_exponents};
use lattice::RingGadget;
use ring::{Coefficient, Kernel, Poly, Ring};

use super::set::Set;
use crate::core::{Error, FINGERPRINT_BYTES, Result, Shape, fingerprint};
use crate::parts::bfv::RingTable;
use crate::parts::folding::{Layout, Place, positions};

/// What client and server make of a set and a shape.
#[derive(Clone)]
pub struct Engine {
    pub params: Set,
    pub layout: Layout,
    pub ring: Arc<Ring<u32>>,
    /// Of automorphisms.
    pub switch: RnsGadget<u32>,
    pub selector: RingGadget<u32>,
    pub conversion: RingGadget<u32>,
    /// q B^k / t, rounded: what one stands for in the digit of that number.
    pub scales: Vec<u128>,
    /// Bits of each further dimension, most significant first.
    pub widths: Vec<u32>,
    /// Coefficients of a query for each row of the matrix, and for each row of selectors.
    pub places: [Vec<usize>; 2],
    /// log2 of the number of coefficients of which they are the first.
    pub depth: u32,
}

impl Engine {
    pub fn new(params: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        let (layout, switch) = (params.layout(shape)?, params.ring.gadget(kernel)?);
        let ring = Arc::clone(switch.ring());
        let selector = params.gadgets.selector.of(&ring)?;
        let widths = params.widths(layout.column_bits);
        let selectors: usize = widths.iter().map(|&width| params.selectors_of(width)).sum();
        let (leaves, rows) = (layout.matrix_rows(), selectors * selector.length());
        if leaves + rows > ring.n() {
            return Err(Error::Workload(format!(
                "a query has {leaves} coefficients for the first dimension and {rows} for the further ones, which a ciphertext of \
                 {} has not. Give fewer records, or a set with another row_bits.",
                ring.n()
            )));
        }
        let depth = (leaves + rows).next_power_of_two().ilog2();
        let mut places = positions(depth, leaves + rows);
        let of_rows = places.split_off(leaves);
        let q = selector.modulus();
        let scale = |digit: usize| {
            let shift = params.message_bits() - params.plain_bits * digit as u32;
            (q >> shift) + (q >> (shift - 1) & 1)
        };
        Ok(Self {
            layout,
            switch,
            conversion: params.gadgets.conversion.of(&ring)?,
            selector,
            scales: (0..params.plain_digits).map(scale).collect(),
            widths,
            places: [places, of_rows],
            depth,
            ring,
            params: params.clone(),
        })
    }

    /// The exponents of the automorphism keys, in the order in which they travel.
    pub fn exponents(&self) -> Vec<u64> {
        expansion_exponents(self.ring.n(), self.depth).rev().collect()
    }

    /// For each further dimension, most significant first, what its selectors encrypt for a column.
    pub fn units(&self, place: &Place) -> Vec<Vec<bool>> {
        let mut left = self.layout.column_bits;
        let unit = |&width: &u32| {
            left -= width;
            let number = place.column >> left & ((1 << width) - 1);
            match self.params.selectors_of(width) {
                1 => vec![number == 1],
                selectors => (0..selectors).map(|selector| selector == number).collect(),
            }
        };
        self.widths.iter().map(unit).collect()
    }

    /// The phase of a plaintext with these digits, each given by its coefficients.
    pub fn phase(&self, digits: &[Vec<i64>]) -> Poly<u32, Coefficient> {
        let mut phase = self.ring.zero();
        for (digit, &scale) in digits.iter().zip(&self.scales) {
            let mut part = self.ring.from_signed(digit);
            self.ring.mul_scalar_assign(&mut part, scale);
            self.ring.add_assign(&mut phase, &part);
        }
        phase
    }

    /// A hash of the parameters.
    pub fn fingerprint(&self) -> Result<[u8; FINGERPRINT_BYTES]> {
        fingerprint(&self.params, &[])
    }

    /// The coefficients of the plaintext with these digits.
    pub fn messages(&self, digits: &[Vec<i64>]) -> Vec<i64> {
        let width = self.params.plain_bits;
        let message = |j: usize| digits.iter().rev().fold(0, |sum, digit| (sum << width) + digit[j]);
        (0..self.ring.n()).map(message).collect()
    }

    /// The digits of a plaintext's coefficients, modulo their base. A digit of half of the base or more stands for itself less the base.
    pub fn digits(&self, mut messages: Vec<u64>) -> Vec<Vec<u64>> {
        let width = self.params.plain_bits;
        let (mask, half) = ((1 << width) - 1, 1 << (width - 1));
        let digit = |_| {
            let digits = messages.iter().map(|message| message & mask).collect::<Vec<_>>();
            messages.iter_mut().zip(&digits).for_each(|(m, digit)| *m = (*m >> width) + u64::from(*digit >= half));
            digits
        };
        (0..self.params.plain_digits).map(digit).collect()
    }
}
