//! The AVX2 path: the plain loops of [`super::scalar`] compiled with its vectors. Every function enables
//! the features of that kernel and is called only through [`super::Vectors`], which exist only where they were found.

use super::scalar;
use crate::modulus::Modulus;
use crate::word::Residue;

pub(super) use super::sums::avx2::{sum_products_u32, sum_tiles_u32};

/// The loop of that name with this file's features.
macro_rules! recompile {
    ($($name:ident $(<$word:ident>)? ($($argument:ident: $type:ty),*);)*) => {
        $(
            #[target_feature(enable = "avx2")]
            pub(super) fn $name $(<$word: Residue>)? ($($argument: $type),*) {
                scalar::$name($($argument),*);
            }
        )*
    };
}

recompile! {
    add<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
    sub<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
    neg<W>(modulus: &Modulus<W>, a: &mut [W]);
    mul<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
    mul_add<W>(modulus: &Modulus<W>, acc: &mut [W], a: &[W], b: &[W]);
    mul_scalar<W>(modulus: &Modulus<W>, a: &mut [W], scalar: W);
    reduce_signed<W>(modulus: &Modulus<W>, x: &[i32], out: &mut [W]);
    centred_residues<W>(p: &Modulus<W>, x: &[W], modulus: &Modulus<W>, out: &mut [W]);
    reduce_u32(modulus: &Modulus<u32>, x: &[u64], out: &mut [u32]);
    compose_pair(primes: (u32, u32), inverse: u32, a: &[u32], b: &[u32], out: &mut [u64]);
    add_multiples(digits: &[i32], rows: &[u32], sums: &mut [u32]);
    add_wide_multiples(digits: &[i32], rows: &[u32], sums: &mut [i64]);
    permute<W>(slots: &[u32], a: &[W], out: &mut [W]);
}
