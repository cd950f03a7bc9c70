//! The exact balanced decomposition of 32-bit residues in a base that need not be a power of two: DoublePIR's second layer.

/// Exact balanced digits of residues modulo 2^32 in base `base`.
///
/// A residue u stands for its representative v in [-2^31, 2^31); v = sum_t digit_t * base^t with every digit in
/// [-floor(base/2), ceil(base/2) - 1]. The top digit is short: |digit| <= 2^31 / base^(length-1) + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balanced32 {
    base: i64,
    length: usize,
}

impl Balanced32 {
    /// The decomposition in base `base` (2 <= base <= 2^15) with the smallest length that represents every residue.
    ///
    /// Returns `None` for a base outside that range.
    pub fn new(base: u32) -> Option<Self> {
        if !(2..=1 << 15).contains(&base) {
            return None;
        }
        let base = i64::from(base);
        let mut length = 0;
        let (mut low, mut high, mut power) = (0i64, 0i64, 1i64);
        while high < i64::from(i32::MAX) || low > i64::from(i32::MIN) {
            low -= (base / 2) * power;
            high += ((base + 1) / 2 - 1) * power;
            power *= base;
            length += 1;
            // Base 2 has digits -1 and 0 only: it never reaches the positive half.
            if length > 40 {
                return None;
            }
        }
        Some(Self { base, length })
    }

    /// The number of digits of every residue.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The base.
    pub fn base(&self) -> u32 {
        self.base as u32
    }

    /// The largest absolute value of a digit, floor(base/2).
    pub fn bound(&self) -> u32 {
        (self.base / 2) as u32
    }

    /// Writes the digits of `residue`, least significant first; `digits.len()` must be [`Self::length`].
    pub fn decompose(&self, residue: u32, digits: &mut [i16]) {
        debug_assert_eq!(digits.len(), self.length);
        let mut rest = i64::from(residue as i32);
        let half = self.base / 2;
        for digit in digits.iter_mut() {
            let d = (rest + half).rem_euclid(self.base) - half;
            *digit = d as i16;
            rest = (rest - d) / self.base;
        }
        debug_assert_eq!(rest, 0);
    }

    /// The residue whose digits, least significant first, are `digits`. Exact inverse of [`Self::decompose`].
    pub fn recompose(&self, digits: impl DoubleEndedIterator<Item = i32>) -> u32 {
        digits.rev().fold(0u32, |value, digit| value.wrapping_mul(self.base as u32).wrapping_add(digit as u32))
    }
}

#[cfg(test)]
mod tests;
