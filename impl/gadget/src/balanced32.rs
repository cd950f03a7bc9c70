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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(base: u32, residue: u32) {
        let gadget = Balanced32::new(base).unwrap();
        let mut digits = vec![0i16; gadget.length()];
        gadget.decompose(residue, &mut digits);
        let (low, high) = (-(base as i32 / 2), (base as i32 + 1) / 2 - 1);
        assert!(digits.iter().all(|&d| (low..=high).contains(&i32::from(d))));
        // Independent reference: the integer sum itself, not modular arithmetic.
        let sum: i128 = digits.iter().rev().fold(0, |v, &d| v * i128::from(base) + i128::from(d));
        assert_eq!(sum, i128::from(residue as i32));
        assert_eq!(gadget.recompose(digits.iter().map(|&d| i32::from(d))), residue);
    }

    #[test]
    fn edge_values_recompose() {
        for base in [3, 4, 231, 256, 512, 552, 929, 1024, 1 << 15] {
            for residue in [0, 1, u32::MAX, i32::MAX as u32, i32::MIN as u32, base, base / 2] {
                check(base, residue);
            }
        }
    }

    #[test]
    fn published_bases_take_as_many_digits_as_unsigned_ones() {
        for base in [231u32, 276, 328, 390, 464, 552, 657, 781, 929] {
            let unsigned = (32.0 / f64::from(base).log2()).ceil() as usize;
            assert_eq!(Balanced32::new(base).unwrap().length(), unsigned);
        }
        assert!(Balanced32::new(1).is_none());
        assert!(Balanced32::new((1 << 15) + 1).is_none());
    }

    proptest! {
        #[test]
        fn every_residue_recomposes(base in 3u32..=1 << 15, residue: u32) {
            check(base, residue);
        }
    }
}
