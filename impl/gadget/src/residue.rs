//! Words that hold residues.

use bytemuck::Pod;
use std::fmt::{Debug, Display};
use std::ops::{Add, BitAnd, Div, Mul, Rem, Shl, Shr, Sub};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

/// A word that holds residues modulo q: `u64` (q at most 2^62) or `u128` (q at most 2^126). The two spare bits hold the sums of
/// the dithered decompositions.
pub trait Residue:
    sealed::Sealed
    + Pod
    + Ord
    + Debug
    + Display
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + BitAnd<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// Bits of the word.
    const BITS: u32;
    /// The largest modulus is two to this power.
    const MAX_MODULUS_BITS: u32;

    /// The word of that value, truncated.
    fn from_u128(value: u128) -> Self;
    /// The value.
    fn to_u128(self) -> u128;
    /// The low 64 bits.
    fn low(self) -> u64;
    /// The quotient by a base, given its inverse: without a division instruction, which vector units lack.
    ///
    /// # Safety
    /// `base` is from 3 to 2^20 and `inverse` the float nearest to 1 / `base`.
    #[doc(hidden)]
    unsafe fn quotient(self, base: Self, inverse: f64) -> Self;
    /// Converts a word read from little-endian bytes.
    fn from_le(word: Self) -> Self;
    /// The slice as `u64`, for the vectorised paths.
    fn as_u64(slice: &[Self]) -> Option<&[u64]>;
}

impl Residue for u64 {
    const BITS: u32 = 64;
    const MAX_MODULUS_BITS: u32 = 62;

    #[inline]
    fn from_u128(value: u128) -> Self {
        value as u64
    }

    #[inline]
    fn to_u128(self) -> u128 {
        u128::from(self)
    }

    #[inline]
    fn low(self) -> u64 {
        self
    }

    #[inline(always)]
    unsafe fn quotient(self, base: Self, inverse: f64) -> Self {
        // Off by less than 2^12, since three roundings change a product below 2^64 / 3 by less than 2^-51 of itself. Then the rest is
        // below 2^33 in magnitude, exact as a float, and the second estimate off by one at most.
        // SAFETY: both products are finite, the first between 0 and 2^63, the second below 2^33 in magnitude.
        let (first, rest, second) = unsafe {
            let first: u64 = (self as f64 * inverse).to_int_unchecked();
            let rest = self.wrapping_sub(first.wrapping_mul(base)) as i64;
            let second: i64 = (rest as f64 * inverse).to_int_unchecked();
            (first, rest, second)
        };
        let (base, rest) = (base as i64, rest - second * base as i64);
        let correction = i64::from(rest >= base) - i64::from(rest < 0);
        first.wrapping_add((second + correction) as u64)
    }

    #[inline]
    fn from_le(word: Self) -> Self {
        Self::from_le(word)
    }

    #[inline]
    fn as_u64(slice: &[Self]) -> Option<&[u64]> {
        Some(slice)
    }
}

impl Residue for u128 {
    const BITS: u32 = 128;
    const MAX_MODULUS_BITS: u32 = 126;

    #[inline]
    fn from_u128(value: u128) -> Self {
        value
    }

    #[inline]
    fn to_u128(self) -> u128 {
        self
    }

    #[inline]
    fn low(self) -> u64 {
        self as u64
    }

    #[inline(always)]
    unsafe fn quotient(self, base: Self, _: f64) -> Self {
        self / base
    }

    #[inline]
    fn from_le(word: Self) -> Self {
        Self::from_le(word)
    }

    #[inline]
    fn as_u64(_: &[Self]) -> Option<&[u64]> {
        None
    }
}

#[cfg(test)]
mod tests;
