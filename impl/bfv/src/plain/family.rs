//! The families of plaintext moduli, in numbers.

use crate::error::{BfvError, parameter};
use ring::modulus::inverse_of_odd;
use ring::primes::prime_divisors;
use ruint::Uint;

/// What a plaintext modulus t(X) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// BFV: the integer t, 2 <= t < 2^60. Its plaintexts have slots if it is a prime = 1 mod 2N.
    Integer {
        /// t.
        t: u64,
    },
    /// GBFV: X^k - b, where k divides N and is below it, b <= 2^32 is even, b^(N/k) + 1 is prime and 1 mod 2N.
    Binomial {
        /// k, the number of slots.
        k: usize,
        /// b.
        b: u64,
    },
    /// GBFV: X^22k - 2 X^11k + 4 with k = N/32 slots modulo 2^64 - 2^32 + 1; N <= 2^16.
    Goldilocks,
}

/// The largest integer modulus: short plaintexts and their sums fit words.
const MAX_INTEGER: u64 = (1 << 60) - 1;

/// The largest number that p may be, in bits: b^e + 1 for the toy rings of the thesis.
const MAX_PRIME_BITS: usize = 2112;

impl Family {
    /// k: columns of a plaintext in degree `n`, and slots where all of them split.
    pub fn slots(&self, n: usize) -> usize {
        match *self {
            Self::Integer { .. } => n,
            Self::Binomial { k, .. } => k,
            Self::Goldilocks => n / 32,
        }
    }

    /// Rows of slots in degree `n`, which rotations turn each on its own: two of N/2 for integers, else one.
    pub fn rows(&self, n: usize) -> usize {
        if self.slots(n) == n { 2 } else { 1 }
    }

    /// Bits of p in degree `n`.
    ///
    /// # Errors
    /// A p that is too long.
    pub fn prime_bits(&self, n: usize) -> Result<u32, BfvError> {
        let prime = self.prime(n)?;
        let last = prime.last().map_or(0, |word| u64::BITS - word.leading_zeros());
        Ok((prime.len() as u32 - 1) * u64::BITS + last)
    }

    /// The sum of the magnitudes of the coefficients of t(X) in degree `n`.
    ///
    /// # Errors
    /// What the family asks of its numbers.
    pub fn sum_norm(&self, n: usize) -> Result<f64, BfvError> {
        Ok(self.terms(n)?.iter().map(|(_, coefficient)| coefficient.unsigned_abs() as f64).sum())
    }

    /// tau, of which t(X) is tau(X^k): exponents with their coefficients, for the constant e = N/k.
    pub(super) fn terms(&self, n: usize) -> Result<Vec<(usize, i64)>, BfvError> {
        match *self {
            Self::Integer { t } => match t {
                2..=MAX_INTEGER => Ok(vec![(0, t as i64)]),
                _ => Err(parameter(format!("an integer plaintext modulus is from 2 to 2^60 - 1, not {t}"))),
            },
            Self::Binomial { k, b } => {
                if k == 0 || k >= n || !n.is_multiple_of(k) {
                    return Err(parameter(format!(
                        "t(X) = X^{k} - {b} needs an exponent that divides N = {n}, below it"
                    )));
                }
                if !b.is_multiple_of(2) || !(2..=1 << 32).contains(&b) {
                    return Err(parameter(format!(
                        "t(X) = X^{k} - {b} needs an even number from 2 to 2^32 in place of {b}"
                    )));
                }
                Ok(vec![(0, -(b as i64)), (1, 1)])
            }
            Self::Goldilocks => Ok(vec![(0, 4), (11, -2), (22, 1)]),
        }
    }

    /// The words of p.
    pub(super) fn prime(&self, n: usize) -> Result<Vec<u64>, BfvError> {
        match *self {
            Self::Integer { t } => Ok(vec![t]),
            Self::Goldilocks => Ok(vec![GOLDILOCKS]),
            Self::Binomial { k, b } => {
                let e = n / k;
                if (b as f64).log2() * e as f64 >= (MAX_PRIME_BITS - 1) as f64 {
                    return Err(parameter(format!(
                        "{b}^{e} + 1 is beyond {MAX_PRIME_BITS} bits, the longest modulus of a slot"
                    )));
                }
                let power = (0..e).fold(Uint::<MAX_PRIME_BITS, 33>::ONE, |power, _| power.wrapping_mul(Uint::from(b)));
                let prime = power.wrapping_add(Uint::ONE);
                Ok(prime.as_limbs()[..prime.bit_len().div_ceil(64)].to_vec())
            }
        }
    }

    /// The primes that divide p - 1.
    pub(super) fn order_divisors(&self) -> Vec<u64> {
        match *self {
            Self::Binomial { b, .. } => prime_divisors(b),
            Self::Goldilocks | Self::Integer { .. } => prime_divisors(GOLDILOCKS - 1),
        }
    }
}

/// 2^64 - 2^32 + 1.
const GOLDILOCKS: u64 = 0xffff_ffff_0000_0001;

/// 1 / x modulo a power of two, x odd.
pub(super) fn inverse(x: u64, power_of_two: u64) -> u64 {
    inverse_of_odd(x) & (power_of_two - 1)
}

/// The generator of the exponents that are 1 modulo 2e, up to sign where e = 1: 5^(e/2) modulo 2N.
pub(super) fn generator(n: usize, k: usize) -> u64 {
    let order = 2 * n as u64;
    (0..(n / k / 2).max(1)).fold(1, |power, _| power * 5 % order)
}

/// tau(Y^class) modulo Y^e + 1.
pub(super) fn substitute(terms: &[(usize, i64)], class: u64, e: usize) -> Vec<(usize, i64)> {
    let image = |&(exponent, coefficient): &(usize, i64)| {
        let place = exponent * class as usize % (2 * e);
        (place % e, if place < e { coefficient } else { -coefficient })
    };
    terms.iter().map(image).collect()
}
