//! The automorphism keys of an oblivious expansion (Angel, Chen, Laine, Setty, IEEE S&P 2018), which [`CoefficientTree`] makes.
//!
//! [`CoefficientTree`]: lattice::convert::CoefficientTree

use super::gadget::{RnsGadget, SwitchShape};
use super::key::SwitchingKey;
use crate::error::BfvError;
use lattice::convert::Levels;
use lattice::{LatticeError, Rlwe, Workspace};
use ring::{Coefficient, Ring, Word, Work};

/// Keys among which those of an expansion's levels are, and the gadget that they were made with.
#[derive(Clone, Copy, Debug)]
pub struct LevelKeys<'a, W: Word>(pub &'a RnsGadget<W>, pub &'a [SwitchingKey<W>]);

/// The exponents of the keys that an expansion of `depth` levels takes in a ring of degree `n`, from the first level: N / 2^i + 1.
pub fn expansion_exponents(n: usize, depth: u32) -> impl DoubleEndedIterator<Item = u64> {
    (0..depth).map(move |level| (n as u64 >> level) + 1)
}

impl SwitchShape {
    /// The work of an automorphism by [`LevelKeys`], in the coefficient domain: mask and body of the key, each summed, divided and
    /// transformed back; the body is mapped and added.
    pub fn level_work(self) -> Work {
        self.coefficient_digits_work() + self.switch_mask_work() * 2 + self.ring.transforms(2) + self.ring.moves(2)
    }
}

impl<W: Word> Levels<W> for LevelKeys<'_, W> {
    fn ring(&self) -> &Ring<W> {
        self.0.ring()
    }

    fn map(
        &self,
        level: u32,
        input: &Rlwe<W, Coefficient>,
        _: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        let (Self(gadget, keys), ring) = (self, self.ring());
        if ![&input.a, &input.b, &out.a, &out.b].into_iter().all(|poly| ring.owns(poly)) {
            return Err(LatticeError::Mismatch("keys and a ciphertext of another ring"));
        }
        let key = keys.iter().find(|key| key.exponent() == (1 << level) + 1);
        let missing = || LatticeError::Parameter(format!("no automorphism key for the exponent 2^{level} + 1"));
        let key = key.ok_or_else(missing)?;
        let digits = gadget.digits_of_coefficients(&input.a);
        let refused = |error: BfvError| LatticeError::Parameter(error.to_string());
        ring.automorphism_coefficient_into(&input.b, &key.bodies().map, &mut out.b);
        let sum = |half| gadget.switch_mask(&digits, half).map(|sum| ring.inverse(sum)).map_err(refused);
        out.a.copy_from(&sum(key.masks())?);
        ring.add_assign(&mut out.b, &sum(key.bodies())?);
        Ok(())
    }
}
