//! Words that hold residues.

use crate::coins::Coins;
use crate::draws::Precomputed;
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
    /// Converts a word read from little-endian bytes.
    fn from_le(word: Self) -> Self;
    /// The slice as `u64`, for the vectorised paths.
    fn as_u64(slice: &[Self]) -> Option<&[u64]>;
    /// The buffers of this word that a stream of coins keeps between calls.
    fn spare(coins: &mut Coins) -> &mut Precomputed<Self>;
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

    #[inline]
    fn from_le(word: Self) -> Self {
        Self::from_le(word)
    }

    #[inline]
    fn as_u64(slice: &[Self]) -> Option<&[u64]> {
        Some(slice)
    }

    fn spare(coins: &mut Coins) -> &mut Precomputed<Self> {
        &mut coins.spare64
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

    #[inline]
    fn from_le(word: Self) -> Self {
        Self::from_le(word)
    }

    #[inline]
    fn as_u64(_: &[Self]) -> Option<&[u64]> {
        None
    }

    fn spare(coins: &mut Coins) -> &mut Precomputed<Self> {
        &mut coins.spare128
    }
}
