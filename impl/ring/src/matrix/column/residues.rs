//! Vectors of residues in the form that products read.

use super::LINE;
use crate::matrix::lanes::Lanes;
use crate::modulus::Modulus;

/// Radix of the digits of a residue. Three balanced digits cover its cube of numbers, which is more than 2^28, and the largest
/// magnitude, 323, leaves room in 32-bit sums: a lane adds, for each of the 64 lines of 2048 rows, two products below
/// 2^15 * 323 in magnitude, in all at most 64 * 2 * 2^15 * 323 = 1.35e9 < 2^31.
pub(super) const RADIX: i64 = 646;
const HALF: i64 = RADIX / 2;

/// Digits of a residue.
pub(super) const DIGITS: usize = 3;

/// The least of the numbers that have three digits, negated.
const LOWEST: i64 = HALF * (1 + RADIX + RADIX * RADIX);

/// The largest prime (or any modulus) whose residues have three digits.
pub const MAX_PRIME: u32 = (RADIX * RADIX * RADIX) as u32;

/// Lines after which sums in 32-bit lanes must be widened.
pub(super) const LINES_PER_SUM: usize = 64;

const _: () = assert!(LINES_PER_SUM as i64 * 2 * (1 << 15) * HALF < 1 << 31 && MAX_PRIME > 1 << 28);

/// Reasons to refuse a vector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResidueVectorError {
    /// Neither one nor two primes.
    #[error("vectors modulo {0} primes: products take one prime or two")]
    Primes(usize),
    /// A prime whose residues need more digits.
    #[error("prime {0} is above {MAX_PRIME}: its residues have more than three digits")]
    TooLarge(u32),
    /// The numbers of residues modulo the primes differ.
    #[error("{given} residues are not a whole number of elements modulo {primes} primes")]
    Length {
        /// Residues given.
        given: usize,
        /// Number of primes.
        primes: usize,
    },
}

/// A vector modulo one prime or two: each residue as the number d_0 + 646 d_1 + 646^2 d_2 it is congruent to, with digits from
/// -323 to 322; per line of 32 elements and prime the digits 0, then 1, then 2; completed to a whole line by zeros.
pub struct ResidueVector {
    digits: Vec<Lanes>,
    len: usize,
    primes: Vec<Modulus<u32>>,
}

impl ResidueVector {
    /// The vector with those residues: all elements modulo the first prime, then all modulo the second.
    ///
    /// # Errors
    /// Not one or two primes, a prime above [`MAX_PRIME`], another number of residues than elements times primes.
    pub fn new(primes: &[Modulus<u32>], residues: &[u32]) -> Result<Self, ResidueVectorError> {
        if !(1..=2).contains(&primes.len()) {
            return Err(ResidueVectorError::Primes(primes.len()));
        }
        if let Some(large) = primes.iter().find(|prime| prime.value() > MAX_PRIME) {
            return Err(ResidueVectorError::TooLarge(large.value()));
        }
        if !residues.len().is_multiple_of(primes.len()) {
            return Err(ResidueVectorError::Length { given: residues.len(), primes: primes.len() });
        }
        let len = residues.len() / primes.len();
        let width = DIGITS * primes.len();
        let mut digits = vec![Lanes::ZERO; len.div_ceil(LINE) * width];
        for (i, prime) in primes.iter().enumerate() {
            let residues = residues[i * len..(i + 1) * len].chunks(LINE);
            for (line, residues) in digits.chunks_exact_mut(width).zip(residues) {
                let [low, middle, high] = &mut line[DIGITS * i..][..DIGITS] else { continue };
                for (lane, residue) in residues.iter().enumerate() {
                    [low.0[lane], middle.0[lane], high.0[lane]] = split(prime.value(), *residue);
                }
            }
        }
        Ok(Self { digits, len, primes: primes.to_vec() })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The primes.
    pub fn primes(&self) -> &[Modulus<u32>] {
        &self.primes
    }

    /// Bytes a vector of `len` elements modulo `primes` primes takes.
    pub const fn stored_bytes_for(len: usize, primes: usize) -> u64 {
        (len.div_ceil(LINE) * DIGITS * primes * size_of::<Lanes>()) as u64
    }

    /// The residue of element `index` modulo prime `prime`.
    pub(super) fn residue(&self, index: usize, prime: usize) -> u32 {
        let line = &self.digits[(index / LINE * self.primes.len() + prime) * DIGITS..][..DIGITS];
        let number = line.iter().rev().fold(0, |all, digits| all * RADIX + i64::from(digits.0[index % LINE]));
        self.primes[prime].from_signed(number)
    }

    /// The digits of the lines of `rows` rows from row `first_row`, a multiple of 32, on.
    pub(super) fn lines(&self, first_row: usize, rows: usize) -> &[Lanes] {
        let width = DIGITS * self.primes.len();
        &self.digits[first_row / LINE * width..][..rows.div_ceil(LINE) * width]
    }
}

/// The digits of a residue modulo `prime`.
fn split(prime: u32, residue: u32) -> [i16; DIGITS] {
    let (prime, residue) = (i64::from(prime), i64::from(residue));
    // The numbers with three digits are -LOWEST to MAX_PRIME - 1 - LOWEST: one of a residue and that less the prime is among them.
    let number = if residue + LOWEST < i64::from(MAX_PRIME) { residue } else { residue - prime };
    let shifted = number + LOWEST;
    [shifted % RADIX, shifted / RADIX % RADIX, shifted / (RADIX * RADIX)].map(|digit| (digit - HALF) as i16)
}

#[cfg(test)]
mod tests;
