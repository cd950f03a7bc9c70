//! Words that count the bit operations spent on them, in the papers' schoolbook model: a product or division of m by l bits costs
//! m l, an addition of m bits costs m, shifts and masks nothing.

use super::word::{StageDigit, StageWord};
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
    /// What all of them cost.
    pub bit_operations: u64,
}

thread_local! {
    static SPENT: Cell<Operations> = const { Cell::new(Operations { additions: 0, multiplications: 0, divisions: 0, bit_operations: 0 }) };
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

/// What `work` spends on counted words.
pub fn count(work: impl FnOnce()) -> Operations {
    let outside = SPENT.replace(Operations::default());
    work();
    let spent = SPENT.get();
    SPENT.set(Operations {
        additions: outside.additions + spent.additions,
        multiplications: outside.multiplications + spent.multiplications,
        divisions: outside.divisions + spent.divisions,
        bit_operations: outside.bit_operations + spent.bit_operations,
    });
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

    fn float(self) -> f64 {
        self.0 as f64
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
