//! Rings, scheme and decompositions, as both parties use them.

use bfv::{RnsGadget, Scheme};
use lattice::wire::{Reader, Writer};
use lattice::{RingGadget, Rlwe, RlweKey, SplitRing};
use ring::{Kernel, Ntt, Ring};
use std::sync::Arc;

use super::{Layout, Set};
use crate::core::{Error, Result, Shape};

/// What a set and a shape determine.
pub struct Engine {
    pub set: Set,
    pub layout: Layout,
    /// The ring of ciphertexts.
    pub ring: Arc<Ring<u32>>,
    /// Slots modulo t.
    pub scheme: Scheme<u32>,
    /// Baby steps, with keys modulo q P.
    pub baby: RnsGadget<u32>,
    /// Giant steps.
    pub giant: RnsGadget<u32>,
    pub selector: RingGadget<u32>,
    pub packing: RingGadget<u32>,
    /// The ring in which switched ciphertexts are opened.
    opener: SplitRing,
}

impl Engine {
    pub fn new(set: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        let baby = set.baby(&set.key_ring(kernel)?)?;
        let ring = Arc::clone(baby.ring());
        Ok(Self {
            layout: set.layout(shape)?,
            scheme: set.scheme(&ring)?,
            baby,
            giant: RnsGadget::of_integers(&ring, 0, set.giant_gadget.of(&ring)?)?,
            selector: set.selector_gadget.of(&ring)?,
            packing: set.packing_gadget.of(&ring)?,
            opener: SplitRing::new(set.rlwe.degree)?,
            ring,
            set: set.clone(),
        })
    }

    /// The exponents of the automorphisms of baby steps.
    pub fn baby_exponents(&self) -> Vec<u64> {
        self.layout.baby_places(self.set.baby_keys).map(|places| self.rotation(places)).collect()
    }

    /// The exponents of the automorphisms of giant steps: B, 2 B, ... places.
    pub fn giant_exponents(&self) -> Vec<u64> {
        (1..self.layout.giants()).map(|giant| self.rotation(giant * self.layout.baby)).collect()
    }

    /// The levels of the packing keys.
    pub fn packing_levels(&self) -> std::ops::RangeInclusive<u32> {
        let degree = self.ring.n().ilog2();
        degree - self.layout.levels() + 1..=degree
    }

    fn rotation(&self, places: usize) -> u64 {
        self.scheme.modulus().id().rotation(places)
    }

    /// The bytes of a ciphertext of an answer.
    pub fn write(&self, ciphertext: Rlwe<u32, ring::Coefficient>) -> Result<Vec<u8>> {
        let Some(switch) = self.set.switch else {
            let (mut out, ciphertext) = (Writer::default(), ciphertext.forward(&self.ring));
            [&ciphertext.a, &ciphertext.b].into_iter().for_each(|half| out.write_poly(&self.ring, half));
            return Ok(out.finish());
        };
        switch.write(&self.ring, &ciphertext, self.ring.n())
    }

    /// The ciphertext in the bytes of an answer that is not switched.
    fn whole(&self, bytes: &[u8]) -> Result<Rlwe<u32, Ntt>> {
        let mut input = Reader::of(bytes);
        let mut half = || input.poly(&self.ring).map_err(Error::in_message("answer"));
        Ok(Rlwe { a: half()?, b: half()? })
    }

    /// The entries modulo t in a ciphertext of an answer.
    pub fn open(&self, key: &RlweKey<u32>, bytes: &[u8]) -> Result<Vec<u64>> {
        let (n, t) = (self.ring.n(), self.set.slot_modulus);
        let Some(switch) = self.set.switch else {
            let message = self.scheme.decrypt(key, &self.whole(bytes)?)?;
            return Ok(message.into_iter().map(|x| x.rem_euclid(t as i64) as u64).collect());
        };
        Ok(self.opener.key(key)?.decode(&switch.read(n, n, bytes)?, t)?)
    }

    /// The errors of a ciphertext of an answer with those entries, as fractions of the distance of messages.
    pub fn errors(&self, key: &RlweKey<u32>, bytes: &[u8], entries: &[u16]) -> Result<Vec<f64>> {
        let message: Vec<i64> = entries.iter().map(|entry| i64::from(*entry)).collect();
        let Some(switch) = self.set.switch else {
            return Ok(self.scheme.noise(key, &self.whole(bytes)?, &message)?);
        };
        let (n, t) = (self.ring.n(), self.set.slot_modulus);
        let (threshold, errors) = switch.errors(&self.opener.key(key)?, &switch.read(n, n, bytes)?, t, message)?;
        Ok(errors.into_iter().map(|error| f64::from(error) / (2.0 * threshold)).collect())
    }
}
