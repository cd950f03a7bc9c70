//! How masks are cut into digits, and the rings of ciphertexts and keys.

use crate::base::{Division, division_work};
use crate::error::{BfvError, parameter};
use lattice::RingGadget;
use ring::{Kind, Modulus, Ring, RingShape, Word, Work};
use std::sync::Arc;

/// Digits of masks: of their residues modulo each prime of q, balanced, in a base that is a power of two; or of the integers modulo q, as
/// a gadget of the ciphertexts' ring cuts them, which may drop the lowest.
///
/// With special primes, the last ones of the keys' ring, keys are modulo q P, where P is their product; sums are divided by P,
/// which divides the noise of the keys too.
#[derive(Clone, Debug)]
pub struct RnsGadget<W: Word> {
    ring: Arc<Ring<W>>,
    key_ring: Arc<Ring<W>>,
    cut: Cut<W>,
    /// The division by P, if there is one.
    division: Option<Division<W>>,
}

/// How a mask is cut into digits.
#[derive(Clone, Debug)]
pub(super) enum Cut<W: Word> {
    /// Residues modulo each prime.
    Residues {
        base_log2: u32,
        /// Digits of a residue, by prime of q.
        counts: Vec<usize>,
        /// No digit is above it in magnitude.
        bound: u64,
    },
    /// Integers modulo q.
    Integers(RingGadget<W>),
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
    pub fn keys(self) -> RingShape {
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

    /// The work of a sum of digits times half of a key, and of its division by P.
    fn sum_work(self) -> Work {
        let division = if self.special > 0 {
            let dropped = RingShape { primes: self.special, ..self.ring };
            self.keys().transforms(1) + division_work(dropped, self.ring.primes, 1)
        } else {
            Work::default()
        };
        self.keys().products(self.rows as u64) + division
    }

    /// The work of [`RnsGadget::switch_mask`].
    pub fn switch_mask_work(self) -> Work {
        self.sum_work() + self.ring.moves(1)
    }

    /// The work of [`RnsGadget::switch_body`].
    pub fn switch_body_work(self) -> Work {
        self.switch_mask_work() + self.ring.moves(1)
    }

    /// The work of [`RnsGadget::switch`].
    pub fn switch_work(self) -> Work {
        self.switch_mask_work() + self.switch_body_work()
    }

    /// The work of [`RnsGadget::relinearise`].
    pub fn relinearise_work(self) -> Work {
        let added =
            if self.special > 0 { self.ring.products(2 * self.special as u64) } else { self.ring.transforms(2) };
        self.coefficient_digits_work() + self.sum_work() * 2 + added
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
        if !(1..=61).contains(&base_log2) {
            return Err(parameter(format!("digits have 1 to 61 bits, not {base_log2}")));
        }
        let kept = key_ring.primes().len().saturating_sub(special);
        let counts = key_ring.rns().moduli()[..kept].iter().map(|q| q.bits().div_ceil(base_log2) as usize).collect();
        // A digit is at most half of the base; a whole residue at most half of its prime.
        let bits = key_ring.rns().moduli()[..kept].iter().map(|q| q.bits().min(base_log2) - 1).max().unwrap_or(0);
        Self::with(key_ring, special, Cut::Residues { base_log2, counts, bound: 1 << bits })
    }

    /// The gadget of keys modulo the primes of `key_ring`, the last `special` of which are special, and digits of integers modulo q.
    ///
    /// # Errors
    /// No prime left for ciphertexts, a gadget of another ring than that of the first primes, digits that reach a prime of keys.
    pub fn of_integers(key_ring: &Arc<Ring<W>>, special: usize, digits: RingGadget<W>) -> Result<Self, BfvError> {
        if let Some(prime) = key_ring.primes().iter().find(|prime| **prime <= digits.bound()) {
            return Err(parameter(format!("digits up to {} do not fit the prime {prime}", digits.bound())));
        }
        let gadget = Self::with(key_ring, special, Cut::Integers(digits))?;
        match &gadget.cut {
            Cut::Integers(digits) if !digits.ring().is_same(&gadget.ring) => {
                Err(BfvError::Mismatch("digits of another ring than that of ciphertexts"))
            }
            _ => Ok(gadget),
        }
    }

    fn with(key_ring: &Arc<Ring<W>>, special: usize, cut: Cut<W>) -> Result<Self, BfvError> {
        let primes = key_ring.primes().len();
        let ring = match special {
            0 => Some(key_ring.clone()),
            _ => key_ring.prefix(primes.saturating_sub(special)),
        };
        let ring =
            ring.ok_or_else(|| parameter(format!("{special} special primes of {primes} leave none for ciphertexts")))?;
        let (kept, dropped) = key_ring.rns().moduli().split_at(primes - special);
        let division = (special > 0).then(|| Division::new(key_ring.vectors(), dropped, kept));
        Ok(Self { ring, key_ring: key_ring.clone(), cut, division })
    }

    /// The ring of ciphertexts.
    pub fn ring(&self) -> &Arc<Ring<W>> {
        &self.ring
    }

    /// The ring of keys.
    pub fn key_ring(&self) -> &Arc<Ring<W>> {
        &self.key_ring
    }

    /// How masks are cut into digits.
    pub(super) fn cut(&self) -> &Cut<W> {
        &self.cut
    }

    /// The division by P, if there is one.
    pub(super) fn division(&self) -> Option<&Division<W>> {
        self.division.as_ref()
    }

    /// Rows of a key.
    pub fn rows(&self) -> usize {
        match &self.cut {
            Cut::Residues { counts, .. } => counts.iter().sum(),
            Cut::Integers(digits) => digits.length(),
        }
    }

    /// What the cost of its operations depends on.
    pub fn shape(&self) -> SwitchShape {
        let special = self.key_ring.primes().len() - self.ring.primes().len();
        SwitchShape { ring: self.ring.shape(), special, rows: self.rows() }
    }

    /// The weights of the rows, in their order, each by prime of q; a special prime, which divides P, has none. Digit t of a residue
    /// modulo prime i weighs P 2^(base t) there and 0 modulo all other primes; a digit of integers weighs P times its own weight.
    pub(super) fn weights(&self) -> Vec<Vec<W>> {
        let moduli = self.ring.rns().moduli();
        let special = &self.key_ring.primes()[self.ring.primes().len()..];
        let residues = |scale: &dyn Fn(usize) -> W| -> Vec<W> {
            let of_prime = |(i, modulus): (usize, &Modulus<W>)| {
                special.iter().fold(scale(i), |weight, prime| modulus.mul(weight, modulus.reduce_u64(*prime)))
            };
            moduli.iter().enumerate().map(of_prime).collect()
        };
        match &self.cut {
            Cut::Residues { base_log2, counts, .. } => {
                let digits = counts.iter().enumerate().flat_map(|(i, count)| (0..*count as u64).map(move |t| (i, t)));
                let weight = |(i, t): (usize, u64)| {
                    let power = moduli[i].pow(moduli[i].reduce_u64(2), u64::from(*base_log2) * t);
                    residues(&|prime| if prime == i { power } else { W::default() })
                };
                digits.map(weight).collect()
            }
            Cut::Integers(digits) => {
                digits.weights().iter().map(|weight| residues(&|prime| moduli[prime].reduce_u128(*weight))).collect()
            }
        }
    }
}
