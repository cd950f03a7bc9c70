//! Arithmetic modulo one odd prime of any length, in Montgomery's form.
//!
//! An [`Element`] is a residue. A product takes one factor in Montgomery's form (times 2^B) and one as it is, so that only
//! constants are ever converted.

use ruint::Uint;
use ruint::aliases::U64;

/// A residue in `L` words of 64 bits, B = 64 L.
pub(super) type Element<const B: usize, const L: usize> = Uint<B, L>;

/// The integers modulo an odd number p < 2^B.
#[derive(Clone, Debug)]
pub(super) struct Field<const B: usize, const L: usize> {
    pub(super) p: Element<B, L>,
    /// floor(p / 2), the largest residue that is not negative when centred.
    half: Element<B, L>,
    /// -1 / p modulo 2^64.
    negative_inverse: u64,
    /// 2^2B modulo p.
    square: Element<B, L>,
}

impl<const B: usize, const L: usize> Field<B, L> {
    /// None if p is even or below 3.
    pub(super) fn new(p: Element<B, L>) -> Option<Self> {
        let inverse = U64::from(p.as_limbs()[0]).inv_ring()?;
        let one = Element::<B, L>::ONE;
        if p <= one {
            return None;
        }
        // 2^2B by doubling 1.
        let square = (0..2 * B).fold(one, |power, _| power.add_mod(power, p));
        Some(Self { p, half: p >> 1, negative_inverse: inverse.wrapping_neg().to(), square })
    }

    /// 1 / p modulo 2^64.
    pub(super) fn word_inverse(&self) -> u64 {
        self.negative_inverse.wrapping_neg()
    }

    /// a b, one of them in Montgomery's form.
    #[inline(always)]
    pub(super) fn mul(&self, a: Element<B, L>, b: Element<B, L>) -> Element<B, L> {
        a.mul_redc(b, self.p, self.negative_inverse)
    }

    /// The residue in Montgomery's form.
    pub(super) fn montgomery(&self, a: Element<B, L>) -> Element<B, L> {
        self.mul(a, self.square)
    }

    /// a + b.
    #[inline(always)]
    pub(super) fn add(&self, a: Element<B, L>, b: Element<B, L>) -> Element<B, L> {
        let (sum, carry) = a.overflowing_add(b);
        let (reduced, borrow) = sum.overflowing_sub(self.p);
        if borrow && !carry { sum } else { reduced }
    }

    /// a - b.
    #[inline(always)]
    pub(super) fn sub(&self, a: Element<B, L>, b: Element<B, L>) -> Element<B, L> {
        let (difference, borrow) = a.overflowing_sub(b);
        if borrow { difference.wrapping_add(self.p) } else { difference }
    }

    /// The residue of a signed number.
    #[inline(always)]
    pub(super) fn signed_residue(&self, x: i64) -> Element<B, L> {
        let mut limbs = [0; L];
        limbs[0] = x.unsigned_abs();
        let mut magnitude = Element::from_limbs(limbs);
        if magnitude >= self.p {
            magnitude = magnitude.reduce_mod(self.p);
        }
        if x < 0 && !magnitude.is_zero() { self.p.wrapping_sub(magnitude) } else { magnitude }
    }

    /// The residue of a number of any length, in little-endian words.
    pub(super) fn reduce(&self, words: &[u64]) -> Element<B, L> {
        // Horner's rule: the factor 2^64 is in Montgomery's form.
        let radix = self.montgomery(self.power_of_two(64));
        words.iter().rev().fold(Element::ZERO, |sum, word| {
            let mut limbs = [0; L];
            limbs[0] = *word;
            self.add(self.mul(sum, radix), Element::from_limbs(limbs).reduce_mod(self.p))
        })
    }

    fn power_of_two(&self, exponent: usize) -> Element<B, L> {
        (0..exponent).fold(Element::ONE, |power, _| self.add(power, power))
    }

    /// The lowest 64 bits of the representative in [-p/2, p/2).
    #[inline(always)]
    pub(super) fn low_word_centred(&self, a: Element<B, L>) -> u64 {
        let low = a.as_limbs()[0];
        if a > self.half { low.wrapping_sub(self.p.as_limbs()[0]) } else { low }
    }

    /// base^exponent; both sides as they are.
    pub(super) fn pow(&self, base: Element<B, L>, exponent: Element<B, L>) -> Element<B, L> {
        let mut square = self.montgomery(base);
        let mut power = Element::<B, L>::ONE;
        for bit in 0..exponent.bit_len() {
            if exponent.bit(bit) {
                power = self.mul(power, square);
            }
            square = self.mul(square, square);
        }
        power
    }

    /// 1 / a, of p prime.
    pub(super) fn inverse(&self, a: Element<B, L>) -> Element<B, L> {
        self.pow(a, self.p.wrapping_sub(Element::from(2)))
    }

    /// Whether p, with p - 1 a product of powers of those primes, is prime: Lucas' proof, by an element of order p - 1 made up of
    /// one a prime.
    pub(super) fn is_prime(&self, divisors: &[u64]) -> bool {
        let order = self.p.wrapping_sub(Element::ONE);
        let one = Element::<B, L>::ONE;
        let bases = || (2..200).map(Element::<B, L>::from).filter(|base| *base < self.p);
        self.pow(Element::from(2), order) == one
            && divisors.iter().all(|divisor| {
                let part = order.wrapping_div(Element::from(*divisor));
                // A composite p fails Fermat's test or has no witness.
                bases().any(|base| self.pow(base, order) == one && self.pow(base, part) != one)
            })
    }

    /// An element of order exactly 2^log2, a divisor of p - 1.
    pub(super) fn root_of_unity(&self, log2: usize) -> Option<Element<B, L>> {
        let order = self.p.wrapping_sub(Element::ONE);
        if order.trailing_zeros() < log2 || log2 == 0 {
            return None;
        }
        let bases = (2..200).map(Element::<B, L>::from).filter(|base| *base < self.p);
        bases.map(|base| self.pow(base, order >> log2)).find(|root| {
            let half = (1..log2).fold(*root, |power, _| self.mul(self.montgomery(power), power));
            half == order
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn big<const B: usize, const L: usize>(x: Element<B, L>) -> BigUint {
        x.as_limbs().iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb)
    }

    fn check<const B: usize, const L: usize>(p: Element<B, L>, words: [u64; L], other: [u64; L], signed: i64) {
        let field = Field::new(p).unwrap();
        let [a, b] = [words, other].map(|words| Element::from_limbs(words).reduce_mod(p));
        let [wide_p, wide_a, wide_b] = [p, a, b].map(big);
        assert_eq!(big(field.add(a, b)), (&wide_a + &wide_b) % &wide_p);
        assert_eq!(big(field.sub(a, b)), (&wide_p + &wide_a - &wide_b) % &wide_p);
        assert_eq!(big(field.mul(field.montgomery(a), b)), &wide_a * &wide_b % &wide_p);
        assert_eq!(big(field.pow(a, b)), wide_a.modpow(&wide_b, &wide_p));
        let magnitude = BigUint::from(signed.unsigned_abs()) % &wide_p;
        let expected = if signed < 0 { (&wide_p - magnitude) % &wide_p } else { magnitude };
        assert_eq!(big(field.signed_residue(signed)), expected);
        let long: Vec<u64> = words.iter().chain(&other).copied().collect();
        let expected = long.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb) % &wide_p;
        assert_eq!(big(field.reduce(&long)), expected);
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_big_integers(a: [u64; 3], b: [u64; 3], p: [u64; 3], signed: i64) {
            let odd = |p: u64| (p | 1).max(3);
            check(Element::<64, 1>::from_limbs([odd(p[0])]), [a[0]], [b[0]], signed);
            check(Element::<192, 3>::from_limbs([odd(p[0]), p[1], p[2]]), a, b, signed);
            check(Element::<192, 3>::from_limbs([odd(p[0]), p[1], 0]), a, b, signed);
        }
    }

    #[test]
    fn primes_are_proved_and_composites_are_not() {
        let prime = |p: u64, divisors: &[u64]| Field::new(Element::<64, 1>::from(p)).unwrap().is_prime(divisors);
        assert!(prime(65537, &[2]));
        assert!(prime(288u64.pow(4) + 1, &[2, 3]));
        assert!(prime(0xffff_ffff_0000_0001, &[2, 3, 5, 17, 257, 65537]));
        // 2^32 + 1 = 641 * 6700417 passes Fermat's test to the base 2.
        assert!(!prime((1 << 32) + 1, &[2]));
        assert!(!prime(561, &[2, 5, 7]));
        // 73 * 137.
        assert!(!prime(10_001, &[2, 5]));
    }
}
