//! Repeated rotations with one key, the masks of which are known ahead.
//!
//! The masks of all rotations follow from the mask of the input, those that are added on the way and the masks of the key alone. Where they
//! are public, they and their digits are made once; a query's bodies then take no transform, only products with the digits and permutations. The
//! digits are many and are read once for all queries, so they lie in the order in which products read them. Products do not depend on the
//! bodies: those of several rotations are made side by side, and a row of a key serves them all.

use super::digits::Digits;
use super::gadget::{RnsGadget, SwitchShape};
use super::key::KeyHalf;
use crate::error::{BfvError, parameter};
use ring::residues::TILE;
use ring::{Buffer, Ntt, Poly, Word, Work};

/// The digits of the masks of a ciphertext mapped 0, 1, 2, ... times by one automorphism, where another ciphertext may be added each time.
pub struct RotationChain<W: Word> {
    length: usize,
    /// Step after step, prime after prime of the keys, tile after tile of slots, digit after digit.
    digits: Buffer<W>,
}

/// The bodies of the keys of several inputs, which turn side by side.
pub struct ChainKeys<W: Word> {
    halves: Vec<KeyHalf<W>>,
    /// Prime after prime, key after key, row after row, a tile apart.
    rows: Buffer<W>,
}

fn zeroed<W: Word>(words: usize) -> Result<Buffer<W>, BfvError> {
    Buffer::zeroed(words).map_err(|error| parameter(error.to_string()))
}

impl<W: Word> ChainKeys<W> {
    /// The keys of that gadget, one for each input.
    ///
    /// # Errors
    /// A key of another gadget, no memory.
    pub fn new(gadget: &RnsGadget<W>, halves: Vec<KeyHalf<W>>) -> Result<Self, BfvError> {
        let (ring, n) = (gadget.key_ring(), gadget.ring().n());
        if !halves.iter().all(|half| half.rows.len() == gadget.rows() && half.rows.iter().all(|row| ring.owns(row))) {
            return Err(BfvError::Mismatch("a gadget and a key of another"));
        }
        let mut rows = zeroed(ring.limbs().len() * halves.len() * gadget.rows() * (n + TILE))?;
        let of_halves = || halves.iter().flat_map(|half| &half.rows);
        let limbs = (0..ring.limbs().len()).flat_map(|limb| of_halves().map(move |row| row.limb(limb)));
        rows.chunks_exact_mut(n + TILE).zip(limbs).for_each(|(place, limb)| place[..n].copy_from_slice(limb));
        Ok(Self { halves, rows })
    }
}

impl<W: Word> RotationChain<W> {
    /// Rotations that are made together.
    pub const TOGETHER: usize = 4;

    /// The chain of `length` ciphertexts from that mask on, and their masks, with a key of these masks, which has no special primes: a sum
    /// then needs no division, and a prime of the bodies is turned apart from the others.
    ///
    /// # Errors
    /// A gadget with special primes, a mask or a key of another gadget, no memory.
    pub fn new(
        gadget: &RnsGadget<W>,
        mask: Poly<W, Ntt>,
        key: &KeyHalf<W>,
        length: usize,
    ) -> Result<(Self, Vec<Poly<W, Ntt>>), BfvError> {
        Self::with(gadget, mask, (1..length).map(|_| None), key)
    }

    /// The chain in which ciphertexts of these masks are added up, and the mask of their sum: the first is turned as often as others follow.
    ///
    /// # Errors
    /// As [`Self::new`]; no mask.
    pub fn of_sum(
        gadget: &RnsGadget<W>,
        masks: Vec<Poly<W, Ntt>>,
        key: &KeyHalf<W>,
    ) -> Result<(Self, Poly<W, Ntt>), BfvError> {
        let none = || parameter("a sum has a mask at least");
        let mut masks = masks.into_iter();
        let (chain, mut sums) = Self::with(gadget, masks.next().ok_or_else(none)?, masks.map(Some), key)?;
        Ok((chain, sums.pop().ok_or_else(none)?))
    }

    fn with(
        gadget: &RnsGadget<W>,
        mask: Poly<W, Ntt>,
        added: impl ExactSizeIterator<Item = Option<Poly<W, Ntt>>>,
        key: &KeyHalf<W>,
    ) -> Result<(Self, Vec<Poly<W, Ntt>>), BfvError> {
        if gadget.division().is_some() {
            return Err(parameter("chains of rotations take keys without special primes"));
        }
        let (ring, words, length) = (gadget.ring(), Self::words(gadget), added.len() + 1);
        let owned = |mask: &Poly<W, Ntt>| match ring.owns(mask) {
            true => Ok(()),
            false => Err(BfvError::Mismatch("a gadget and a mask of another ring")),
        };
        owned(&mask)?;
        let (mut masks, mut all) = (vec![mask], zeroed(words * added.len())?);
        for (place, added) in all.chunks_exact_mut(words).zip(added) {
            let digits = gadget.digits(&masks[masks.len() - 1]);
            store(gadget, &digits, place);
            let mut turned = gadget.switch_mask(&digits, key)?;
            if let Some(added) = added {
                owned(&added)?;
                ring.add_assign(&mut turned, &added);
            }
            masks.push(turned);
        }
        Ok((Self { length, digits: all }, masks))
    }

    /// Words of the digits of one mask.
    fn words(gadget: &RnsGadget<W>) -> usize {
        gadget.rows() * gadget.key_ring().limbs().len() * gadget.ring().n()
    }

    /// The bodies of the [`Self::TOGETHER`] ciphertexts after number `done` of the chain, or of those that it still has, of every input, from
    /// the bodies of that number. All inputs share one pass over the digits.
    ///
    /// # Errors
    /// A number beyond the chain, a chain or keys of other lengths than the gadget's, bodies of another ring, other numbers of bodies and keys.
    pub fn turns(
        &self,
        gadget: &RnsGadget<W>,
        done: usize,
        bodies: &[Poly<W, Ntt>],
        keys: &ChainKeys<W>,
    ) -> Result<Vec<Vec<Poly<W, Ntt>>>, BfvError> {
        self.turns_and(gadget, done, bodies, &[], keys)
    }

    /// The bodies of the sum of a chain made by [`Self::of_sum`], of every input, from the bodies of its ciphertexts: one of every input
    /// each. All inputs share one pass over the digits.
    ///
    /// # Errors
    /// As [`Self::turns`]; not a body for each mask.
    pub fn sum(
        &self,
        gadget: &RnsGadget<W>,
        mut bodies: Vec<Vec<Poly<W, Ntt>>>,
        keys: &ChainKeys<W>,
    ) -> Result<Vec<Poly<W, Ntt>>, BfvError> {
        if bodies.len() != self.length {
            return Err(BfvError::Mismatch("a chain and bodies of another"));
        }
        let added = bodies.split_off(1);
        let mut sum = bodies.pop().unwrap_or_default();
        for (step, added) in added.chunks(Self::TOGETHER).enumerate() {
            let turned = self.turns_and(gadget, step * Self::TOGETHER, &sum, added, keys)?;
            sum = turned.into_iter().next_back().unwrap_or_default();
        }
        Ok(sum)
    }

    /// The bodies after number `done`, with `added` added to them one after the other where they are given.
    fn turns_and(
        &self,
        gadget: &RnsGadget<W>,
        done: usize,
        bodies: &[Poly<W, Ntt>],
        added: &[Vec<Poly<W, Ntt>>],
        keys: &ChainKeys<W>,
    ) -> Result<Vec<Vec<Poly<W, Ntt>>>, BfvError> {
        let (ring, n, words) = (gadget.ring(), gadget.ring().n(), Self::words(gadget));
        let each = keys.rows.len() / ring.limbs().len();
        let fits = done < self.length && self.digits.len() == words * (self.length - 1);
        if !fits || each != bodies.len() * gadget.rows() * (n + TILE) {
            return Err(BfvError::Mismatch("a chain and bodies or keys of another"));
        }
        if !added.iter().all(|added| added.len() == bodies.len()) {
            return Err(BfvError::Mismatch("bodies and others for them"));
        }
        if !bodies.iter().chain(added.iter().flatten()).all(|body| ring.owns(body)) {
            return Err(BfvError::Mismatch("a gadget and ciphertexts of another ring"));
        }
        let columns = Self::TOGETHER.min(self.length - 1 - done);
        if bodies.is_empty() || columns == 0 {
            return Ok(vec![Vec::new(); columns]);
        }
        let zeros = || bodies.iter().map(|_| ring.zero()).collect();
        let mut turned: Vec<Vec<Poly<W, Ntt>>> = (0..columns).map(|_| zeros()).collect();
        let mut sums = vec![W::default(); bodies.len() * columns * (n + TILE)];
        let (digits, limb_words) = (&self.digits[done * words..][..columns * words], gadget.rows() * n);
        for (limb, ((modulus, _), rows)) in ring.limbs().iter().zip(keys.rows.chunks_exact(each)).enumerate() {
            let steps = digits.chunks_exact(words);
            let digits: Vec<&[W]> = steps.map(|step| &step[limb * limb_words..][..limb_words]).collect();
            ring.vectors().sum_tiles(modulus, n, rows, &digits, &mut sums);
            for (place, sum) in sums.chunks_exact_mut(n + TILE).enumerate() {
                let (input, step, sum) = (place / columns, place % columns, &mut sum[..n]);
                let body = if step == 0 { &bodies[input] } else { &turned[step - 1][input] };
                ring.vectors().add(modulus, sum, body.limb(limb));
                let turned = turned[step][input].limb_mut(limb);
                ring.automorphism_limb(sum, &keys.halves[input].map, turned);
                if let Some(added) = added.get(step) {
                    ring.vectors().add(modulus, turned, added[input].limb(limb));
                }
            }
        }
        Ok(turned)
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val::<[W]>(&self.digits)
    }
}

/// Stores the digits of a step prime after prime, tile after tile, digit after digit.
fn store<W: Word>(gadget: &RnsGadget<W>, digits: &Digits<W>, out: &mut [W]) {
    let (rows, n) = (gadget.rows(), gadget.ring().n());
    for (limb, out) in out.chunks_exact_mut(rows * n).enumerate() {
        for (tile, out) in out.chunks_exact_mut(rows * TILE).enumerate() {
            for (out, digit) in out.chunks_exact_mut(TILE).zip(&digits.0) {
                out.copy_from_slice(&digit.limb(limb)[tile * TILE..][..TILE]);
            }
        }
    }
}

impl SwitchShape {
    /// The work of [`RotationChain::new`] or [`RotationChain::of_sum`] for `length` ciphertexts, without additions.
    pub fn chain_work(self, length: u64) -> Work {
        (self.digits_work() + self.switch_mask_work()) * length.saturating_sub(1)
    }

    /// The work of all calls of [`RotationChain::turns`], or of [`RotationChain::sum`], for `length` ciphertexts of one input, without
    /// additions.
    pub fn chain_bodies_work(self, length: u64) -> Work {
        self.switch_body_work() * length.saturating_sub(1)
    }
}
