//! The errors of the intermediate ciphertexts between a query and its response.

use std::sync::Arc;

use lattice::lwe::Lwe;
use lattice::{Rgsw, RingGadget, Rlwe};
use ring::{Coefficient, Ntt, Poly, Ring};

use super::carrier::{Asker, Carried};
use super::keys::{Secrets, ServerKeys};
use super::query::centred_error;
use super::set::{Set, index_bits};
use crate::core::{NoiseLog, Result};
use crate::parts::folding::{Layout, Place, cell_errors, constant, errors, selector_errors};
use crate::parts::ring_matrix::workspace;

/// An LWE ciphertext of a stage, with the bound of its error.
pub struct Decision {
    /// Name of the stage.
    pub stage: &'static str,
    /// The ciphertext.
    pub ciphertext: Lwe,
    /// Whether it is encrypted under the small key, else under the coefficients of the ring key.
    pub small: bool,
    /// The expected phase.
    pub expected: u64,
    /// An error of this size or more is decided wrongly.
    pub threshold: f64,
}

/// Opens the ciphertexts of an answer to one query as they are made, with the client's secrets, and logs their errors. It keeps none of
/// them, because the leaves of all rows, for example, would take up to twice the bytes of the vector made of them.
pub struct Trace<'a, F: Carried> {
    pub params: &'a Set<F>,
    pub layout: &'a Layout,
    pub secrets: &'a Secrets,
    /// What the client asks with.
    pub asker: &'a Asker<F>,
    /// The place of the requested item.
    pub place: Place,
    /// The plaintext polynomials of the requested cell, by part.
    pub cell: Vec<Vec<i64>>,
    /// Number of the client's key in the log.
    pub key: u64,
    pub noise: &'a mut NoiseLog,
}

impl<F: Carried> Trace<'_, F> {
    /// Logs LWE ciphertexts that are rounded, before the bits.
    pub fn decisions(&mut self, decisions: impl IntoIterator<Item = Decision>) -> Result<()> {
        decisions.into_iter().try_for_each(|Decision { stage, ciphertext, small, expected, threshold }| {
            let key_of = if small { &self.secrets.small } else { &self.secrets.large };
            let error = centred_error(key_of, &ciphertext, expected)?;
            self.add(stage, threshold, [error]);
            Ok(())
        })
    }

    /// Logs the bits' encryptions modulo 2N, the most significant first, and the tables of LWE to RGSW that they rotate.
    pub fn bits(&mut self, bits: &[Lwe], keys: &ServerKeys) -> Result<()> {
        let half = self.ring().n() as u64;
        let window = (self.params.spacing() / 2) as f64;
        for (i, ciphertext) in bits.iter().enumerate() {
            let error = centred_error(&self.secrets.small, ciphertext, self.bit(i) * half)?;
            self.add("rgsw_input", window, [error]);
        }
        let mut accumulators = vec![Rlwe::trivial(self.ring(), keys.converter.table()); bits.len()];
        keys.rotation().rotate_all(&mut accumulators, bits, &mut workspace())?;
        self.accumulators(&accumulators)
    }

    fn accumulators(&mut self, accumulators: &[Rlwe<u32, Coefficient>]) -> Result<()> {
        let ring = self.ring();
        let gadget = self.params.rgsw.gadget().of(ring)?;
        for (i, accumulator) in accumulators.iter().enumerate() {
            let phase = self.secrets.ring.phase_coefficient(accumulator);
            let mut known: Poly<u32, Coefficient> = ring.zero();
            for (row, &weight) in gadget.weights().iter().enumerate() {
                // -(-1)^bit g / 2.
                for ((modulus, _), limb) in ring.limbs().iter().zip(known.limbs_mut()) {
                    let inverse = modulus.inverse(2).unwrap_or(1);
                    let half = modulus.mul(modulus.reduce_u128(weight), inverse);
                    limb[row * self.params.spacing()] = if self.bit(i) == 1 { half } else { modulus.neg(half) };
                }
            }
            let errors = lattice::noise::errors(ring, &phase, &known)?;
            let rows = (0..gadget.length()).map(|row| errors[row * self.params.spacing()]);
            self.add("rotation", self.half_modulus(), rows);
        }
        Ok(())
    }

    /// Logs the bits' RGSW encryptions.
    pub fn selectors(&mut self, selectors: &[Rgsw<u32>]) -> Result<()> {
        let ring = self.ring();
        let gadget = self.params.rgsw.gadget().of(ring)?;
        for (i, selector) in selectors.iter().enumerate() {
            self.rows(["row", "row_secret"], &gadget, selector, self.bit(i) == 1)?;
        }
        Ok(())
    }

    /// Logs the rows of an RGSW encryption of `bit`, those of the body and those of the mask under these names.
    pub fn rows(
        &mut self,
        [of_body, of_mask]: [&str; 2],
        gadget: &RingGadget<u32>,
        selector: &Rgsw<u32>,
        bit: bool,
    ) -> Result<()> {
        for [body, mask] in selector_errors(&self.secrets.ring, gadget, selector, bit)? {
            self.add(of_body, self.half_modulus(), body);
            self.add(of_mask, self.half_modulus(), mask);
        }
        Ok(())
    }

    /// Logs the leaves of rows from number `first` on. Leaves beyond the last stored row select nothing.
    pub fn leaves(&mut self, first: usize, leaves: &[Rlwe<u32, Ntt>]) -> Result<()> {
        let (ring, scale) = (self.ring(), self.params.scale());
        for (row, leaf) in (first..self.layout.rows).zip(leaves) {
            let message = if row == self.place.row { u128::from(scale) } else { 0 };
            let errors = errors(&self.secrets.ring, leaf, &constant(ring, message))?;
            self.add("selector", scale as f64 / 2.0, errors);
        }
        Ok(())
    }

    /// Opens, among the columns from number `first` on after the first dimension, those of the requested cell, one for each part.
    pub fn products(&mut self, first: usize, products: &[Rlwe<u32, Coefficient>]) -> Result<()> {
        (first..).zip(products).try_for_each(|(column, product)| {
            let (part, column) = (column / self.layout.columns, column % self.layout.columns);
            if column == self.place.column { self.cell_part("first_product", part, product, 0) } else { Ok(()) }
        })
    }

    /// Logs, for each part, the cell after folding.
    pub fn folded(&mut self, folded: &[Rlwe<u32, Coefficient>]) -> Result<()> {
        folded.iter().enumerate().try_for_each(|(part, cell)| self.cell_part("folded", part, cell, 0))
    }

    /// Logs, for each part, the cell after rotation.
    pub fn rotated(&mut self, rotated: &[Rlwe<u32, Coefficient>]) -> Result<()> {
        let turned = self.place.position;
        rotated.iter().enumerate().try_for_each(|(part, cell)| self.cell_part("rotated", part, cell, turned))
    }

    /// Logs an encryption of a part of the requested cell, rotated back by `rotation` coefficients.
    fn cell_part(
        &mut self,
        stage: &str,
        part: usize,
        ciphertext: &Rlwe<u32, Coefficient>,
        turned: usize,
    ) -> Result<()> {
        let scale = self.params.scale();
        let errors = cell_errors(&self.secrets.ring, ciphertext, (&self.cell[part], scale), turned)?;
        self.add(stage, scale as f64 / 2.0, errors);
        Ok(())
    }

    fn add(&mut self, stage: &str, threshold: f64, errors: impl IntoIterator<Item = f64>) {
        self.noise.add_under(Some(self.key), stage, threshold, errors);
    }

    /// Bit number `i` of the requested item, counted from the most significant one.
    fn bit(&self, i: usize) -> u64 {
        self.place.item >> (index_bits(self.layout) - 1 - i as u32) & 1
    }

    fn half_modulus(&self) -> f64 {
        self.params.rlwe.modulus() as f64 / 2.0
    }
}

impl<'a, F: Carried> Trace<'a, F> {
    fn ring(&self) -> &'a Arc<Ring<u32>> {
        self.secrets.ring.ring()
    }
}
