//! The machine words that hold residues.

use std::fmt::{Debug, Display};
use std::hash::Hash;

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A machine word that holds residues: `u32` (moduli below 2^31) or `u64` (below 2^62).
pub trait Residue:
    sealed::Sealed + Barrett + Copy + Eq + Ord + Hash + Debug + Display + Default + Send + Sync + bytemuck::Pod + 'static
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

impl Residue for u32 {
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

impl Residue for u64 {
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

/// The products of residues that differ between the words; implemented for `u32` and `u64` only.
pub trait Barrett: Sized {
    /// a * b mod q for a * b < 2^2k, from q, k and floor(2^2k / q).
    fn mul_mod(a: Self, b: Self, q: Self, bits: u32, ratio: Self) -> Self;
    /// floor(w * 2^BITS / q), for w < q.
    fn shoup_quotient(w: Self, q: Self) -> Self;
    /// x * w mod q in [0, 2q) for any x, from the quotient of w.
    fn mul_shoup_lazy(x: Self, w: Self, quotient: Self, q: Self) -> Self;
    /// A sum below 2^BITS q, over 2^BITS, mod an odd q, from -1/q modulo 2^BITS (Montgomery).
    fn montgomery(sum: u128, q: Self, inverse: Self) -> Self;
    /// a + b mod q.
    fn add_mod(a: Self, b: Self, q: Self) -> Self;
    /// a - b mod q.
    fn sub_mod(a: Self, b: Self, q: Self) -> Self;
    /// a mod q for a < 2q.
    fn reduce_once(a: Self, q: Self) -> Self;
}

macro_rules! barrett {
    ($word:ty, $wide:ty) => {
        impl Barrett for $word {
            #[inline(always)]
            fn mul_mod(a: Self, b: Self, q: Self, bits: u32, ratio: Self) -> Self {
                // The estimate falls short of the quotient by at most 2 (Handbook of Applied Cryptography, 14.42).
                let product = <$wide>::from(a) * <$wide>::from(b);
                let estimate = ((product >> (bits - 1)) * <$wide>::from(ratio)) >> (bits + 1);
                let (q, rest) = (<$wide>::from(q), product - estimate * <$wide>::from(q));
                let rest = rest.min(rest.wrapping_sub(q));
                rest.min(rest.wrapping_sub(q)) as Self
            }

            #[inline(always)]
            fn shoup_quotient(w: Self, q: Self) -> Self {
                ((<$wide>::from(w) << Self::BITS) / <$wide>::from(q)) as Self
            }

            #[inline(always)]
            fn mul_shoup_lazy(x: Self, w: Self, quotient: Self, q: Self) -> Self {
                let estimate = ((<$wide>::from(x) * <$wide>::from(quotient)) >> Self::BITS) as Self;
                x.wrapping_mul(w).wrapping_sub(estimate.wrapping_mul(q))
            }

            #[inline(always)]
            fn montgomery(sum: u128, q: Self, inverse: Self) -> Self {
                let multiple = (sum as Self).wrapping_mul(inverse);
                let whole = sum as $wide + <$wide>::from(multiple) * <$wide>::from(q);
                Self::reduce_once((whole >> Self::BITS) as Self, q)
            }

            // Of a number and that number one q away, modulo the word, the smaller is the residue: no comparison is needed.
            #[inline(always)]
            fn add_mod(a: Self, b: Self, q: Self) -> Self {
                Self::reduce_once(a + b, q)
            }

            #[inline(always)]
            fn sub_mod(a: Self, b: Self, q: Self) -> Self {
                let difference = a.wrapping_sub(b);
                difference.min(difference.wrapping_add(q))
            }

            #[inline(always)]
            fn reduce_once(a: Self, q: Self) -> Self {
                a.min(a.wrapping_sub(q))
            }
        }
    };
}
barrett!(u32, u64);
barrett!(u64, u128);
