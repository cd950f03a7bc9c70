//! Conversion of bit strings to digits in any base, and back.

/// Divisions of a number that are made side by side.
const SIDE_BY_SIDE: usize = 4;

/// Converts numbers below 2^(64 limbs) to digits in one base.
///
/// Digits in a base that is a power of two are bits of the number. In any other base the number is divided by the
/// largest power of the base below 2^64, with the reciprocal of Moeller and Granlund (IEEE Transactions on Computers
/// 2011, Algorithm 4), which costs two multiplications a limb instead of a division.
#[derive(Clone, Copy, Debug)]
pub(super) struct Radix {
    base: u64,
    /// base^group, the largest power below 2^64, and its exponent.
    power: u64,
    group: usize,
    /// The power shifted left until its top bit is set, the shift, and the reciprocal floor((2^128 - 1)/normal) - 2^64.
    normal: u64,
    shift: u32,
    reciprocal: u64,
    /// floor(2^64 / base) + 1: the high word of n times it is floor(n / base) for every n < 2^64 / base.
    inverse: u64,
}

impl Radix {
    /// The converter for `base` >= 2.
    pub fn new(base: u32) -> Self {
        let base = u64::from(base);
        let (mut power, mut group) = (base, 1);
        while let Some(next) = power.checked_mul(base) {
            power = next;
            group += 1;
        }
        let shift = power.leading_zeros();
        let normal = power << shift;
        let reciprocal = (u128::MAX / u128::from(normal) - (1 << 64)) as u64;
        let inverse = ((1u128 << 64) / u128::from(base) + 1) as u64;
        Self { base, power, group, normal, shift, reciprocal, inverse }
    }

    /// The smallest number of digits that represents every number of `bits` bits: ceil(bits / log2 base).
    pub fn digits(self, bits: u64) -> u64 {
        (bits as f64 / (self.base as f64).log2()).ceil() as u64
    }

    /// (high, low) / normal for high < normal: quotient and remainder.
    #[inline]
    fn divide(self, high: u64, low: u64) -> (u64, u64) {
        let estimate = u128::from(self.reciprocal) * u128::from(high) + (u128::from(high) << 64 | u128::from(low));
        let mut quotient = ((estimate >> 64) as u64).wrapping_add(1);
        let mut remainder = low.wrapping_sub(quotient.wrapping_mul(self.normal));
        if remainder > estimate as u64 {
            quotient = quotient.wrapping_sub(1);
            remainder = remainder.wrapping_add(self.normal);
        }
        if remainder >= self.normal {
            quotient = quotient.wrapping_add(1);
            remainder -= self.normal;
        }
        (quotient, remainder)
    }

    /// Divides the number in place by the power, several times; returns the remainders.
    ///
    /// A division goes from the highest limb to the lowest and waits for each remainder. So the next division follows one limb behind, and
    /// the processor works on all of them at a time.
    fn divide_number(self, limbs: &mut [u64]) -> [u64; SIDE_BY_SIDE] {
        // Shifted left as the power is.
        let mut remainders = [0; SIDE_BY_SIDE];
        for step in 1..limbs.len() + SIDE_BY_SIDE {
            for (behind, remainder) in remainders.iter_mut().enumerate() {
                if let Some(limb) = limbs.get_mut((limbs.len() + behind).wrapping_sub(step)) {
                    let high = *remainder | *limb >> 1 >> (63 - self.shift);
                    (*limb, *remainder) = self.divide(high, *limb << self.shift);
                }
            }
        }
        remainders.map(|remainder| remainder >> self.shift)
    }

    /// Whether digits take divisions: the base is no power of two.
    pub fn divides(self) -> bool {
        !self.base.is_power_of_two()
    }

    /// Writes the digits of the number, least significant first; the number may be destroyed.
    pub fn to_digits(self, limbs: &mut [u64], digits: &mut [u16]) {
        if !self.divides() {
            let bits = self.base.trailing_zeros() as usize;
            for (i, digit) in digits.iter_mut().enumerate() {
                let (limb, shift) = (i * bits / 64, i * bits % 64);
                let [low, high] = [limb, limb + 1].map(|at| u128::from(limbs.get(at).copied().unwrap_or(0)));
                *digit = (((high << 64 | low) >> shift) as u64 & (self.base - 1)) as u16;
            }
            return;
        }
        let mut used = limbs.len();
        for groups in digits.chunks_mut(self.group * SIDE_BY_SIDE) {
            let remainders = self.divide_number(&mut limbs[..used]);
            while used > 0 && limbs[used - 1] == 0 {
                used -= 1;
            }
            for (group, mut rest) in groups.chunks_mut(self.group).zip(remainders) {
                // After one exact division the rest is below 2^64 / base, as the inverse requires.
                if let Some((first, others)) = group.split_first_mut() {
                    *first = (rest % self.base) as u16;
                    rest /= self.base;
                    for digit in others {
                        let quotient = ((u128::from(rest) * u128::from(self.inverse)) >> 64) as u64;
                        *digit = (rest - quotient * self.base) as u16;
                        rest = quotient;
                    }
                }
            }
        }
        debug_assert_eq!(used, 0, "the digits do not hold the number");
    }

    /// The number whose digits, least significant first, are given; overflow beyond `limbs` is dropped.
    pub fn compose(self, digits: &[u16], limbs: &mut [u64]) {
        limbs.fill(0);
        for group in digits.chunks(self.group).rev() {
            let chunk = group.iter().rev().fold(0u64, |value, &digit| value * self.base + u64::from(digit));
            let factor = if group.len() == self.group { self.power } else { self.base.pow(group.len() as u32) };
            let mut carry = u128::from(chunk);
            for limb in limbs.iter_mut() {
                carry += u128::from(*limb) * u128::from(factor);
                *limb = carry as u64;
                carry >>= 64;
            }
        }
    }
}

#[cfg(test)]
mod tests;
