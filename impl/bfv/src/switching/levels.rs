//! The automorphism keys of an oblivious expansion.

use super::gadget::{RnsGadget, SwitchShape};
use super::key::{SeededKey, SwitchingKey};
use crate::error::BfvError;
use lattice::convert::Levels;
use lattice::{LatticeError, Masks, Rlwe, RlweKey, Workspace};
use rand::RngCore;
use ring::{Automorphism, Coefficient, DiscreteGaussian, Ring, Word, Work};
use std::ops::RangeInclusive;

/// Keys of X -> X^(2^level + 1) for consecutive levels, with the gadget that they were made with.
#[derive(Clone, Debug)]
pub struct LevelKeys<W: Word> {
    gadget: RnsGadget<W>,
    first: u32,
    keys: Vec<(Automorphism, SwitchingKey<W>)>,
}

/// The exponent 2^level + 1.
fn exponent(level: u32) -> u64 {
    (1 << level) + 1
}

impl SwitchShape {
    /// The work of an automorphism by [`LevelKeys`], in the coefficient domain: mask and body of the key, each summed, divided and
    /// transformed back; the body is mapped and added.
    pub fn level_work(self) -> Work {
        self.coefficient_digits_work() + self.switch_mask_work() * 2 + self.ring.transforms(2) + self.ring.moves(2)
    }
}

impl<W: Word> LevelKeys<W> {
    /// Fresh keys of those levels as they travel, by level; `secret` is modulo the primes of keys.
    ///
    /// # Errors
    /// A level 0, whose exponent would be even; a secret of another ring than the gadget's keys.
    pub fn seeded(
        gadget: &RnsGadget<W>,
        secret: &RlweKey<W>,
        levels: RangeInclusive<u32>,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<Vec<SeededKey<W>>, BfvError> {
        levels.map(|level| SeededKey::automorphism(gadget, secret, exponent(level), error, masks, rng)).collect()
    }

    /// The keys that [`SeededKey::to_bytes`] wrote, of consecutive levels from `first` on.
    ///
    /// # Errors
    /// A level 0, a wrong number of bytes, a residue not below its prime, padding that is not zero.
    pub fn read<'a>(
        gadget: &RnsGadget<W>,
        first: u32,
        messages: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, BfvError> {
        let key = |(level, bytes)| {
            let key = SeededKey::from_bytes(gadget, exponent(level), bytes)?.expand(gadget)?;
            Ok((Automorphism::new(gadget.ring().n(), exponent(level))?, key))
        };
        let keys = (first..).zip(messages).map(key).collect::<Result<_, BfvError>>()?;
        Ok(Self { gadget: gadget.clone(), first, keys })
    }

    /// Bytes in memory of the key of a level: masks and bodies, each half with two tables of its automorphism, and two more of it.
    pub fn memory_bytes(shape: SwitchShape) -> u64 {
        let tables = 3 * 2 * size_of::<u32>() * shape.ring.degree;
        2 * shape.rows as u64 * shape.keys().poly_bytes() + tables as u64
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.keys.iter().map(|(map, key)| map.bytes() + key.bytes()).sum()
    }
}

impl<W: Word> Levels<W> for &LevelKeys<W> {
    fn ring(&self) -> &Ring<W> {
        self.gadget.ring()
    }

    fn map(
        &self,
        level: u32,
        input: &Rlwe<W, Coefficient>,
        _: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        let ring = self.gadget.ring();
        if ![&input.a, &input.b, &out.a, &out.b].into_iter().all(|poly| ring.owns(poly)) {
            return Err(LatticeError::Mismatch("keys and a ciphertext of another ring"));
        }
        let key = level.checked_sub(self.first).and_then(|index| self.keys.get(index as usize));
        let missing = || LatticeError::Parameter(format!("no automorphism key for the exponent 2^{level} + 1"));
        let (map, key) = key.ok_or_else(missing)?;
        let digits = self.gadget.digits_of_coefficients(&input.a);
        let refused = |error: BfvError| LatticeError::Parameter(error.to_string());
        ring.automorphism_coefficient_into(&input.b, map, &mut out.b);
        let sum = |half| self.gadget.switch_mask(&digits, half).map(|sum| ring.inverse(sum)).map_err(refused);
        out.a.copy_from(&sum(key.masks())?);
        ring.add_assign(&mut out.b, &sum(key.bodies())?);
        Ok(())
    }
}
