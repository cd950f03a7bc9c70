//! Words that count the bit operations spent on them, in the papers' schoolbook model: a product or division of m by l bits costs
//! m l, an addition of m bits costs m, shifts and masks nothing. Operations in double precision (sums, products,
//! comparisons with a coin) are counted as such: the papers leave their cost a constant.

use super::word::{StageDigit, StageReal, StageWord};
use std::cell::Cell;
use std::ops::{Add, BitAnd, Div, Mul, Rem, Shl, Shr, Sub};

/// Operations spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Additions and subtractions.
    pub additions: u64,
    /// Products.
    pub multiplications: u64,
    /// Divisions, a remainder being one of its own.
    pub divisions: u64,
    /// The cost of all these operations.
    pub bit_operations: u64,
    /// Sums, products and comparisons in double precision.
    pub real_operations: u64,
}

impl Operations {
    const NONE: Self = Self { additions: 0, multiplications: 0, divisions: 0, bit_operations: 0, real_operations: 0 };
}

impl Add for Operations {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            additions: self.additions + other.additions,
            multiplications: self.multiplications + other.multiplications,
            divisions: self.divisions + other.divisions,
            bit_operations: self.bit_operations + other.bit_operations,
            real_operations: self.real_operations + other.real_operations,
        }
    }
}

thread_local! {
    static SPENT: Cell<Operations> = const { Cell::new(Operations::NONE) };
}

fn spend(count: impl FnOnce(&mut Operations), bits: u32) {
    let mut spent = SPENT.get();
    count(&mut spent);
    spent.bit_operations += u64::from(bits);
    SPENT.set(spent);
}

fn add(bits: u32) {
    spend(|spent| spent.additions += 1, bits);
}

fn multiply(bits: u32) {
    spend(|spent| spent.multiplications += 1, bits);
}

fn divide(bits: u32) {
    spend(|spent| spent.divisions += 1, bits);
}

/// The operations that `work` spends on counted words.
pub fn count(work: impl FnOnce()) -> Operations {
    let outside = SPENT.replace(Operations::NONE);
    work();
    let spent = SPENT.get();
    SPENT.set(outside + spent);
    spent
}

/// A residue that counts. Its width is its bit length; a divisor b = 2^l has l bits.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Counted(u128);

/// A digit that counts: a digit has as many bits as the base says, a product the sum of its factors'.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountedDigit {
    value: i64,
    bits: u32,
}

/// A probability that counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountedReal(f64);

fn spend_real() {
    spend(|spent| spent.real_operations += 1, 0);
}

impl Add for CountedReal {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        spend_real();
        Self(self.0 + other.0)
    }
}

impl Mul for CountedReal {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        spend_real();
        Self(self.0 * other.0)
    }
}

impl StageReal for CountedReal {
    fn constant(value: f64) -> Self {
        Self(value)
    }

    fn exceeds(self, coin: u64) -> bool {
        spend_real();
        self.0.exceeds(coin)
    }
}

fn bits(value: u128) -> u32 {
    (128 - value.leading_zeros()).max(1)
}

fn divisor_bits(value: u128) -> u32 {
    bits(value.saturating_sub(1))
}

impl Add for Counted {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        add(bits(self.0).max(bits(other.0)));
        Self(self.0.wrapping_add(other.0))
    }
}

impl Sub for Counted {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        add(bits(self.0).max(bits(other.0)));
        Self(self.0.wrapping_sub(other.0))
    }
}

impl Mul for Counted {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        multiply(bits(self.0) * divisor_bits(other.0));
        Self(self.0.wrapping_mul(other.0))
    }
}

impl Div for Counted {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        divide(bits(self.0) * divisor_bits(other.0));
        Self(self.0 / other.0)
    }
}

impl Rem for Counted {
    type Output = Self;
    fn rem(self, other: Self) -> Self {
        divide(bits(self.0) * divisor_bits(other.0));
        Self(self.0 % other.0)
    }
}

impl BitAnd for Counted {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Shl<u32> for Counted {
    type Output = Self;
    fn shl(self, bits: u32) -> Self {
        Self(self.0 << bits)
    }
}

impl Shr<u32> for Counted {
    type Output = Self;
    fn shr(self, bits: u32) -> Self {
        Self(self.0 >> bits)
    }
}

impl StageWord for Counted {
    type Small = CountedDigit;
    type Real = CountedReal;

    fn constant(value: u128) -> Self {
        Self(value)
    }

    fn value(self) -> u128 {
        self.0
    }

    fn digit(self, base_bits: u32) -> CountedDigit {
        CountedDigit { value: self.0 as i64, bits: base_bits }
    }

    fn append(self, base: Self, digit: CountedDigit) -> Self {
        add(digit.bits);
        Self(self.0.wrapping_mul(base.0).wrapping_add(digit.value as u128))
    }

    fn float(self) -> CountedReal {
        CountedReal(self.0 as f64)
    }
}

impl Add for CountedDigit {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let bits = self.bits.max(other.bits);
        add(bits);
        Self { value: self.value + other.value, bits }
    }
}

impl Sub for CountedDigit {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        let bits = self.bits.max(other.bits);
        add(bits);
        Self { value: self.value - other.value, bits }
    }
}

impl Mul for CountedDigit {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        multiply(self.bits * other.bits);
        Self { value: self.value * other.value, bits: self.bits + other.bits }
    }
}

impl StageDigit for CountedDigit {
    fn constant(value: i64, base_bits: u32) -> Self {
        Self { value, bits: base_bits }
    }

    fn value(self) -> i64 {
        self.value
    }
}
