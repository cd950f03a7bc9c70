//! Repeated rotations with one key, the masks of which are known ahead.
//!
//! The masks of all rotations follow from the mask of the input and the masks of the key alone. Where both come from public seeds,
//! they and their digits are made once; a query's bodies then take no transform, only products with the digits and permutations.

use super::digits::Digits;
use super::gadget::{RnsGadget, SwitchShape};
use super::key::KeyHalf;
use crate::error::BfvError;
use ring::{Ntt, Poly, Word, Work};

/// The masks of a ciphertext mapped 0, 1, 2, ... times by one automorphism, and the digits that the bodies need.
#[derive(Clone, Debug)]
pub struct RotationChain<W: Word> {
    masks: Vec<Poly<W, Ntt>>,
    digits: Vec<Digits<W>>,
}

impl<W: Word> RotationChain<W> {
    /// The chain of `length` ciphertexts from that mask on, with a key of those masks.
    ///
    /// # Errors
    /// A mask or a key of another gadget.
    pub fn new(gadget: &RnsGadget<W>, mask: Poly<W, Ntt>, key: &KeyHalf<W>, length: usize) -> Result<Self, BfvError> {
        if !gadget.ring().owns(&mask) {
            return Err(BfvError::Mismatch("a gadget and a mask of another ring"));
        }
        let (mut masks, mut digits) = (vec![mask], Vec::new());
        for step in 1..length {
            digits.push(gadget.digits(&masks[step - 1]));
            masks.push(gadget.switch_mask(&digits[step - 1], key)?);
        }
        Ok(Self { masks, digits })
    }

    /// The masks, that of the input first.
    pub fn masks(&self) -> &[Poly<W, Ntt>] {
        &self.masks
    }

    /// Calls with the number of every ciphertext of the chain and its body for each input, from the inputs' bodies and the bodies of
    /// their keys. All inputs share one pass over the digits.
    ///
    /// # Errors
    /// A body or a key of another gadget, other numbers of bodies and keys, the first error of `each`.
    pub fn for_bodies<E: From<BfvError>>(
        &self,
        gadget: &RnsGadget<W>,
        mut bodies: Vec<Poly<W, Ntt>>,
        keys: &[&KeyHalf<W>],
        mut each: impl FnMut(usize, &[Poly<W, Ntt>]) -> Result<(), E>,
    ) -> Result<(), E> {
        each(0, &bodies)?;
        for (step, digits) in self.digits.iter().enumerate() {
            bodies = gadget.switch_bodies(digits, &bodies, keys)?;
            each(step + 1, &bodies)?;
        }
        Ok(())
    }

    /// Bytes of the digits, which [`Self::for_bodies`] reads.
    pub fn digit_bytes(&self) -> usize {
        self.digits.iter().map(Digits::bytes).sum()
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.masks.iter().map(Poly::bytes).sum::<usize>() + self.digits.iter().map(Digits::bytes).sum::<usize>()
    }
}

impl SwitchShape {
    /// The work of [`RotationChain::new`] for `length` ciphertexts.
    pub fn chain_work(self, length: u64) -> Work {
        (self.digits_work() + self.switch_mask_work()) * length.saturating_sub(1)
    }

    /// The work of [`RotationChain::for_bodies`] for `length` ciphertexts, besides what is done with each.
    pub fn chain_bodies_work(self, length: u64) -> Work {
        self.switch_body_work() * length.saturating_sub(1)
    }
}
