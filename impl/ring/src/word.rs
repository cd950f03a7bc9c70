//! The machine words that hold residues.

use std::fmt::{Debug, Display};
use std::hash::Hash;

mod sealed {
    use crate::modulus::Barrett;
    use crate::residues::WordKernels;

    /// What the words do inside this crate: keeps [`super::Word`] closed.
    pub trait Sealed: Barrett + WordKernels {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A machine word that holds residues: `u32` (moduli below 2^31) or `u64` (below 2^62).
pub trait Word:
    sealed::Sealed + Copy + Eq + Ord + Hash + Debug + Display + Default + Send + Sync + bytemuck::Pod + 'static
{
    /// Bits of the word.
    const BITS: u32;
    /// Bits of the largest modulus: moduli are below 2^`MAX_MODULUS_BITS`.
    const MAX_MODULUS_BITS: u32;

    /// The low bits of `value`.
    fn from_u64(value: u64) -> Self;

    /// The word as an integer.
    fn to_u64(self) -> u64;
}

impl Word for u32 {
    const BITS: u32 = 32;
    const MAX_MODULUS_BITS: u32 = 31;

    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn to_u64(self) -> u64 {
        self.into()
    }
}

impl Word for u64 {
    const BITS: u32 = 64;
    const MAX_MODULUS_BITS: u32 = 62;

    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value
    }

    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }
}
