//! Blind-rotation keys on the wire.

use super::shape::RotationShape;
use crate::decompose::{RingGadget, Scale};
use crate::error::LatticeError;
use crate::lwe::LweKey;
use crate::rlwe::{Masks, RlweKey, SeededRgsw, SeededRlwe, SeededRlwePrime, read_rows, write_rows};
use rand::RngCore;
use ring::{DiscreteGaussian, Ring, Word};

/// RGSW encryptions of the indicators of a small key under a ring key, seeded: row t of an RGSW encrypts -s y g_t, row `length` + t
/// encrypts y g_t; RGSW after RGSW in the order of the steps.
#[derive(Clone, Debug)]
pub struct SeededBlindRotationKey<W: Word> {
    pub(super) shape: RotationShape,
    pub(super) scale: Scale,
    pub(super) rows: Vec<SeededRlwe<W>>,
}

impl<W: Word> SeededBlindRotationKey<W> {
    /// A fresh key that rotates by phases under `small`, under `key`.
    ///
    /// # Errors
    /// A small key of another dimension or with a coefficient that the shape excludes; a gadget of another ring than the key's.
    pub fn new(
        shape: RotationShape,
        small: &LweKey,
        key: &RlweKey<W>,
        gadget: &RingGadget<W>,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<Self, LatticeError> {
        shape.check_key(small.coefficients())?;
        let ring = key.ring();
        let bits = [ring.zero(), ring.monomial_ntt(0)];
        let mut rows = Vec::with_capacity(shape.selectors() * 2 * gadget.length());
        for step in shape.steps() {
            for bit in step.indicators(small.coefficients()) {
                let rgsw = SeededRgsw::new(key, &bits[usize::from(bit)], gadget, error, masks, rng)?;
                rows.extend(rgsw.into_rows());
            }
        }
        Ok(Self { shape, scale: gadget.scale(), rows })
    }

    /// The shape it was made for.
    pub fn shape(&self) -> RotationShape {
        self.shape
    }

    /// Bytes of [`Self::to_bytes`] with a gadget of `length` digits: seed, first stream index (8), then 2 `length` bodies an RGSW.
    pub fn wire_bytes(ring: &Ring<W>, shape: RotationShape, length: usize) -> usize {
        SeededRlwePrime::wire_bytes(ring, shape.selectors() * 2 * length)
    }

    /// Seed, first stream index and bit-packed bodies.
    pub fn to_bytes(&self, ring: &Ring<W>) -> Vec<u8> {
        write_rows(ring, &self.rows)
    }

    /// Inverse of [`Self::to_bytes`], for a key of that shape made with that gadget, which the bytes do not state.
    ///
    /// # Errors
    /// A wrong number of bytes, a residue not below its prime, padding that is not zero.
    pub fn from_bytes(shape: RotationShape, gadget: &RingGadget<W>, bytes: &[u8]) -> Result<Self, LatticeError> {
        let rows = read_rows(gadget.ring(), shape.selectors() * 2 * gadget.length(), bytes)?;
        Ok(Self { shape, scale: gadget.scale(), rows })
    }
}
