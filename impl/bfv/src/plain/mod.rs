//! Plaintexts: polynomials modulo X^N + 1 and a plaintext modulus t(X), and their slots.
//!
//! A plaintext is held as its *short* representative, the one with coefficients t [m / t]_1: N small signed numbers, at most
//! half of the sum of t's coefficients in magnitude. It is what products by plaintexts multiply with, and what encryption scales.
//!
//! All moduli are t(X) = tau(X^k) with k e = N, so that a plaintext falls into k columns, column j its coefficients k i + j, each a
//! residue modulo one number p: Y = X^k is a number b modulo p, and 1/t is sum_i c b^-i Y^i / p for a number c. No polynomial is
//! ever divided.
//!
//! | modulus | t(X) | k | p | b | c |
//! |---|---|---|---|---|---|
//! | integer (BFV) | t | N | t | -1 | 1 |
//! | binomial (GBFV; CLPX where k = 1) | X^k - b | k | b^e + 1 | b | 1/b |
//! | Goldilocks | X^22k - 2 X^11k + 4, k = N/32 | k | 2^64 - 2^32 + 1 | 8 | 2^62 - 2^30 |

mod arithmetic;
mod columns;
mod dft;
mod family;
mod field;
mod id;
mod integer;
mod work;

pub use family::Family;
pub use id::ModulusId;

use crate::error::{BfvError, parameter};
use arithmetic::Arithmetic;
use columns::Columns;
use ring::{Kernel, Ntt, Poly, Ring, Word, Work};
use std::sync::Arc;

/// A plaintext modulus t(X) of a ring of degree N. Cloning shares its tables.
#[derive(Clone, Debug)]
pub struct PlainModulus {
    id: ModulusId,
    /// tau: exponents of Y = X^k, below e, with their coefficients.
    terms: Arc<[(usize, i64)]>,
    /// Little-endian words of p, the last not zero.
    prime: Arc<[u64]>,
    arithmetic: Arc<dyn Arithmetic>,
}

impl PartialEq for PlainModulus {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for PlainModulus {}

impl PlainModulus {
    /// The modulus of that family in degree `n`.
    ///
    /// # Errors
    /// A degree that is not a power of two from 64 to 2^16; numbers that [`Family`] does not allow.
    pub fn new(family: Family, n: usize) -> Result<Self, BfvError> {
        if !n.is_power_of_two() || !(6..=16).contains(&n.trailing_zeros()) {
            return Err(parameter(format!("plaintexts have 2^6 to 2^16 coefficients, a power of two, not {n}")));
        }
        let (terms, prime) = (family.terms(n)?, family.prime(n)?);
        let arithmetic: Arc<dyn Arithmetic> = match family {
            Family::Integer { t } => Arc::new(integer::Integer::new(n, t, Kernel::best())?),
            _ => Columns::dispatch(&family, n, 1, &terms, &prime)?,
        };
        let id = ModulusId { family, n, class: 1 };
        Ok(Self { id, terms: terms.into(), prime: prime.into(), arithmetic })
    }

    /// Which it is.
    pub fn id(&self) -> ModulusId {
        self.id
    }

    /// N.
    pub fn n(&self) -> usize {
        self.id.n
    }

    /// k: columns of a plaintext, and slots where all of them split.
    pub fn slots(&self) -> usize {
        self.id.slots()
    }

    /// Little-endian words of p, the modulus of a slot.
    pub fn prime(&self) -> &[u64] {
        &self.prime
    }

    /// Words of the value of a slot.
    pub fn words(&self) -> usize {
        self.prime.len()
    }

    /// t(X): exponents of X with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (usize, i64)> {
        self.terms.iter().map(|(exponent, coefficient)| (exponent * self.slots(), *coefficient))
    }

    /// t(X) in a ring of degree N.
    pub(crate) fn in_ring<W: Word>(&self, ring: &Ring<W>) -> Poly<W, Ntt> {
        let mut coefficients = vec![0; self.n()];
        self.terms().for_each(|(exponent, coefficient)| coefficients[exponent] = coefficient);
        ring.forward(ring.from_signed(&coefficients))
    }

    /// The sum of the magnitudes of t(X)'s coefficients: short plaintexts are at most half of it.
    pub fn sum_norm(&self) -> f64 {
        self.terms.iter().map(|(_, coefficient)| coefficient.unsigned_abs() as f64).sum()
    }

    /// The square root of the sum of the squares of t(X)'s coefficients.
    pub fn norm(&self) -> f64 {
        self.terms.iter().map(|(_, coefficient)| (*coefficient as f64).powi(2)).sum::<f64>().sqrt()
    }

    /// The modulus t(X^exponent), under which the image of a plaintext by X -> X^exponent is. Integers keep theirs.
    ///
    /// # Errors
    /// An even exponent.
    pub fn image(&self, exponent: u64) -> Result<Self, BfvError> {
        let id = self.id.image(exponent)?;
        if id == self.id {
            return Ok(self.clone());
        }
        let terms = family::substitute(&id.family.terms(id.n)?, id.class, id.n / id.slots());
        let arithmetic = Columns::dispatch(&id.family, id.n, id.class, &terms, &self.prime)?;
        Ok(Self { id, terms: terms.into(), arithmetic, prime: self.prime.clone() })
    }

    /// The short representative of z.
    ///
    /// # Errors
    /// Not N coefficients.
    pub fn shorten(&self, z: &[i64]) -> Result<Vec<i64>, BfvError> {
        let mut one = vec![0; self.words()];
        one[0] = 1;
        self.multiple(z, &one)
    }

    /// The short representative of `factor` z, the factor below p.
    pub(crate) fn multiple(&self, z: &[i64], factor: &[u64]) -> Result<Vec<i64>, BfvError> {
        self.check(z.len())?;
        let mut out = vec![0; self.n()];
        self.arithmetic.shorten(z, factor, &mut out);
        Ok(out)
    }

    /// -q modulo p, of the words of q.
    pub(crate) fn negated_residue(&self, words: &[u64]) -> Vec<u64> {
        self.arithmetic.negated_residue(words)
    }

    /// The short plaintext with those values in its slots: [`Self::words`] words a slot, a number below p.
    ///
    /// # Errors
    /// Another number of words, a value not below p, a modulus whose plaintexts do not split into slots.
    pub fn encode(&self, values: &[u64]) -> Result<Vec<i64>, BfvError> {
        self.check_slots(values.len())?;
        if let Some(slot) = values.chunks_exact(self.words()).position(|value| !self.is_residue(value)) {
            return Err(parameter(format!("the value of slot {slot} is not below the modulus of slots")));
        }
        let mut out = vec![0; self.n()];
        self.arithmetic.encode(values, &mut out)?;
        Ok(out)
    }

    /// The values in the slots of a plaintext, short or not.
    ///
    /// # Errors
    /// Not N coefficients, a modulus whose plaintexts do not split into slots.
    pub fn decode(&self, z: &[i64]) -> Result<Vec<u64>, BfvError> {
        self.check(z.len())?;
        let mut values = vec![0; self.slots() * self.words()];
        self.arithmetic.decode(z, &mut values)?;
        Ok(values)
    }

    /// The work of [`Self::encode`] or of [`Self::decode`] of integers in degree `n`.
    pub fn integer_slots_work(n: usize) -> Work {
        integer::slots_work(n)
    }

    /// z(X^exponent), a plaintext modulo t(X^exponent).
    ///
    /// # Errors
    /// Not N coefficients, an even exponent.
    pub fn substitute(&self, z: &[i64], exponent: u64) -> Result<Vec<i64>, BfvError> {
        self.check(z.len())?;
        if exponent.is_multiple_of(2) {
            return Err(ring::poly::AutomorphismError::Even(exponent).into());
        }
        let (n, mut out) = (self.n(), vec![0; self.n()]);
        for (i, z) in z.iter().enumerate() {
            let place = (i as u64 * (exponent % (2 * n as u64)) % (2 * n as u64)) as usize;
            out[place % n] = if place < n { *z } else { -z };
        }
        Ok(out)
    }

    fn is_residue(&self, value: &[u64]) -> bool {
        value.iter().rev().lt(self.prime.iter().rev())
    }

    fn check(&self, coefficients: usize) -> Result<(), BfvError> {
        if coefficients == self.n() {
            return Ok(());
        }
        Err(parameter(format!("a plaintext has {} coefficients, not {coefficients}", self.n())))
    }

    fn check_slots(&self, words: usize) -> Result<(), BfvError> {
        let expected = self.slots() * self.words();
        if words == expected {
            return Ok(());
        }
        Err(parameter(format!("the slots of a plaintext have {expected} words, not {words}")))
    }
}
