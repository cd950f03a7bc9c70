//! The arithmetic that the one-coefficient algorithms are written in.

use std::fmt::Debug;
use std::ops::{Add, BitAnd, Div, Mul, Rem, Shl, Shr, Sub};

/// A residue's word.
pub trait StageWord:
    Copy
    + Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + BitAnd<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// A digit, and what is computed from digits.
    type Small: StageDigit;
    /// A probability.
    type Real: StageReal;

    /// A constant.
    fn constant(value: u128) -> Self;
    /// The value.
    fn value(self) -> u128;
    /// The low 64 bits, as a digit in a base of 2^bits.
    fn digit(self, base_bits: u32) -> Self::Small;
    /// `self` * base + `digit`, modulo the word: a step of a sum of digits times powers, which touches the digit's bits only.
    fn append(self, base: Self, digit: Self::Small) -> Self;
    /// In double precision.
    fn float(self) -> Self::Real;
}

/// A probability, or a number on the way to one, in double precision.
pub trait StageReal: Copy + Debug + Default + Add<Output = Self> + Mul<Output = Self> {
    /// The number.
    fn constant(value: f64) -> Self;
    /// Whether it is above a uniform word over 2^64.
    fn exceeds(self, coin: u64) -> bool;
}

/// A digit.
pub trait StageDigit: Copy + Debug + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// A constant as wide as a digit in a base of 2^bits.
    fn constant(value: i64, base_bits: u32) -> Self;
    /// The value.
    fn value(self) -> i64;
}

macro_rules! word {
    ($($word:ty),*) => {$(
        impl StageWord for $word {
            type Small = i64;
            type Real = f64;

            #[inline]
            fn constant(value: u128) -> Self {
                value as $word
            }

            #[inline]
            fn value(self) -> u128 {
                self as u128
            }

            #[inline]
            fn digit(self, _: u32) -> i64 {
                self as i64
            }

            #[inline]
            fn append(self, base: Self, digit: i64) -> Self {
                self.wrapping_mul(base).wrapping_add(digit as Self)
            }

            #[inline]
            fn float(self) -> f64 {
                self as f64
            }
        }
    )*};
}
word!(u64, u128);

impl StageDigit for i64 {
    #[inline]
    fn constant(value: i64, _: u32) -> Self {
        value
    }

    #[inline]
    fn value(self) -> i64 {
        self
    }
}

impl StageReal for f64 {
    #[inline]
    fn constant(value: f64) -> Self {
        value
    }

    #[inline]
    fn exceeds(self, coin: u64) -> bool {
        (coin as f64) * 0.5f64.powi(64) < self
    }
}
