//! A decomposition by primes.

use crate::base::Division;
use crate::error::{BfvError, parameter};
use ring::{Kind, Ring, RingShape, Word, Work};
use std::sync::Arc;

/// Digits of residues modulo each prime of q, balanced, in a base that is a power of two.
///
/// With special primes, the last ones of the keys' ring, keys are modulo q P, where P is their product; sums are divided by P,
/// which divides the noise of the keys too.
#[derive(Clone, Debug)]
pub struct RnsGadget<W: Word> {
    ring: Arc<Ring<W>>,
    key_ring: Arc<Ring<W>>,
    base_log2: u32,
    /// Digits of a residue, by prime of q.
    counts: Vec<usize>,
    /// Whether all digits are below all primes of keys in magnitude.
    below_primes: bool,
    /// The division by P, if there is one.
    division: Option<Division<W>>,
}

/// What the cost of a gadget's operations depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchShape {
    /// N and the primes of q.
    pub ring: RingShape,
    /// Special primes.
    pub special: usize,
    /// Rows of a key: digits of a polynomial.
    pub rows: usize,
}

impl SwitchShape {
    /// The keys' ring.
    fn keys(self) -> RingShape {
        RingShape { primes: self.ring.primes + self.special, ..self.ring }
    }

    /// The work of [`RnsGadget::digits_of_coefficients`].
    pub fn coefficient_digits_work(self) -> Work {
        Work::of(Kind::Digits, &[self.rows as u64, self.ring.degree as u64]) + self.keys().transforms(self.rows as u64)
    }

    /// The work of [`RnsGadget::digits`].
    pub fn digits_work(self) -> Work {
        self.ring.transforms(1) + self.coefficient_digits_work()
    }

    /// The work of [`RnsGadget::switch_mask`]: the sum, its division by P, the automorphism.
    pub fn switch_mask_work(self) -> Work {
        let division = if self.special > 0 {
            // A residue of each prime of q takes a product with one of each special prime.
            self.keys().transforms(1) + self.ring.products(self.special as u64 + 1)
        } else {
            Work::default()
        };
        self.keys().products(self.rows as u64) + division + self.ring.moves(1)
    }

    /// The work of [`RnsGadget::switch_body`].
    pub fn switch_body_work(self) -> Work {
        self.switch_mask_work() + self.ring.moves(1)
    }

    /// The work of [`RnsGadget::switch`].
    pub fn switch_work(self) -> Work {
        self.switch_mask_work() + self.switch_body_work()
    }

    /// The work of [`RnsGadget::automorphism`].
    pub fn automorphism_work(self) -> Work {
        self.digits_work() + self.switch_work()
    }
}

impl<W: Word> RnsGadget<W> {
    /// The gadget of keys modulo the primes of `key_ring`, the last `special` of which are special; digits have `base_log2` bits.
    ///
    /// # Errors
    /// No prime left for ciphertexts, a base outside 2 to 2^61.
    pub fn new(key_ring: &Arc<Ring<W>>, special: usize, base_log2: u32) -> Result<Self, BfvError> {
        let primes = key_ring.primes().len();
        let ring = match special {
            0 => Some(key_ring.clone()),
            _ => key_ring.prefix(primes.saturating_sub(special)),
        };
        let ring =
            ring.ok_or_else(|| parameter(format!("{special} special primes of {primes} leave none for ciphertexts")))?;
        if !(1..=61).contains(&base_log2) {
            return Err(parameter(format!("digits have 1 to 61 bits, not {base_log2}")));
        }
        let moduli = key_ring.rns().moduli();
        let (kept, dropped) = moduli.split_at(primes - special);
        let counts = kept.iter().map(|q| q.bits().div_ceil(base_log2) as usize).collect();
        // A digit is at most half of the base; a whole residue at most half of its prime.
        let digit_bits = kept.iter().map(|q| q.bits().min(base_log2) - 1).max().unwrap_or(0);
        let below_primes = key_ring.primes().iter().all(|p| *p > 1 << digit_bits);
        let division = (special > 0).then(|| Division::new(dropped, kept));
        Ok(Self { ring, key_ring: key_ring.clone(), base_log2, counts, below_primes, division })
    }

    /// The ring of ciphertexts.
    pub fn ring(&self) -> &Arc<Ring<W>> {
        &self.ring
    }

    /// The ring of keys.
    pub fn key_ring(&self) -> &Arc<Ring<W>> {
        &self.key_ring
    }

    /// Bits of a digit.
    pub fn base_log2(&self) -> u32 {
        self.base_log2
    }

    /// Digits of a residue, by prime of q.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The division by P, if there is one.
    pub(super) fn division(&self) -> Option<&Division<W>> {
        self.division.as_ref()
    }

    /// Whether all digits are below all primes of keys in magnitude.
    pub(super) fn below_primes(&self) -> bool {
        self.below_primes
    }

    /// Rows of a key.
    pub fn rows(&self) -> usize {
        self.counts.iter().sum()
    }

    /// What the cost of its operations depends on.
    pub fn shape(&self) -> SwitchShape {
        let special = self.key_ring.primes().len() - self.ring.primes().len();
        SwitchShape { ring: self.ring.shape(), special, rows: self.rows() }
    }

    /// The weights of the rows, in their order: digit t of prime i weighs P 2^(base t) modulo q_i and 0 modulo all other primes.
    pub(super) fn weights(&self) -> impl Iterator<Item = (usize, W)> {
        let special = &self.key_ring.primes()[self.ring.primes().len()..];
        self.ring.rns().moduli().iter().zip(&self.counts).enumerate().flat_map(move |(i, (modulus, count))| {
            let p = special.iter().fold(W::from_u64(1), |p, prime| modulus.mul(p, modulus.reduce_u64(*prime)));
            let base = modulus.pow(modulus.reduce_u64(2), u64::from(self.base_log2));
            std::iter::successors(Some(p), move |weight| Some(modulus.mul(*weight, base)))
                .take(*count)
                .map(move |w| (i, w))
        })
    }
}
