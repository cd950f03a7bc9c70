//! Sums of two `f64` (about 106 bits), enough to round cumulative probabilities to 64 bits correctly.

/// high + low, with |low| at most half a unit in the last place of high.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl From<f64> for DoubleDouble {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl DoubleDouble {
    /// ln 2 to 106 bits.
    const LN_2: Self = Self { high: std::f64::consts::LN_2, low: 2.319_046_813_846_3e-17 };

    /// high + low when |high| is at least |low|.
    fn normalised(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self { high: sum, low: low - (sum - high) }
    }

    /// The exact product of two numbers.
    pub(super) fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: a.mul_add(b, -high) }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (other.high - part);
        Self::normalised(sum, error + self.low + other.low)
    }

    /// Times a number.
    pub(super) fn times(self, factor: f64) -> Self {
        let exact = Self::product(self.high, factor);
        Self::normalised(exact.high, exact.low + self.low * factor)
    }

    fn multiplied_by(self, other: Self) -> Self {
        let exact = Self::product(self.high, other.high);
        Self::normalised(exact.high, exact.low + (self.high * other.low + self.low * other.high))
    }

    /// Long division with two digits of quotient and a correction.
    pub(super) fn divided_by(self, divisor: Self) -> Self {
        let first = self.high / divisor.high;
        let rest = self.plus(divisor.times(-first));
        let second = rest.high / divisor.high;
        let rest = rest.plus(divisor.times(-second));
        Self::normalised(first, second).plus(Self::from(rest.high / divisor.high))
    }

    /// exp(-self) for a non-negative self.
    pub(super) fn exp_of_negative(self) -> Self {
        // exp(-x) = 2^-m * exp(r)^(2^8) with x = m * ln 2 - 2^8 * r and |r| below 2^-9.
        let m = (self.high / Self::LN_2.high).round();
        let rest = Self::LN_2.times(m).plus(self.times(-1.0));
        let r = rest.times(1.0 / 256.0);
        // exp(r) - 1, so that the squarings keep the digits that a sum with 1 would lose; the 12th term is below 2^-130.
        let mut result = Self::from(0.0);
        for k in (1..=12).rev() {
            result = result.plus(Self::from(1.0)).multiplied_by(r).divided_by(Self::from(f64::from(k)));
        }
        for _ in 0..8 {
            result = result.times(2.0).plus(result.multiplied_by(result));
        }
        result.plus(Self::from(1.0)).times((-m).exp2())
    }

    /// 2^64 times a number in [0, 1], rounded down, at most 2^64 - 1.
    pub(super) fn scaled_to_u64(self) -> u64 {
        let high = self.high * 18_446_744_073_709_551_616.0;
        let low = self.low * 18_446_744_073_709_551_616.0;
        // An integer part of at most 2^64 in each half, and a fraction that may carry.
        let whole = high.floor() as i128 + low.floor() as i128;
        let carry = ((high - high.floor()) + (low - low.floor())).floor() as i128;
        (whole + carry).clamp(0, i128::from(u64::MAX)) as u64
    }
}

#[cfg(test)]
mod tests;
