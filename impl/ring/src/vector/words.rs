//! The kernels that differ between 32-bit and 64-bit words.

use super::{Vectors, dispatch, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Kernel;
use crate::modulus::Modulus;

/// Implemented for `u32` and `u64` only; lengths are checked by [`Vectors`].
pub trait WordKernels: Sized {
    /// See [`Vectors::sum_products`].
    fn sum_products(k: Vectors, modulus: &Modulus<Self>, left: &[&[Self]], right: &[&[Self]], out: &mut [&mut [Self]]);
    /// See [`Vectors::reduce`].
    fn reduce(k: Vectors, modulus: &Modulus<Self>, x: &[u64], out: &mut [Self]);
    /// A vector permuted in aligned blocks of 16.
    fn permute(k: Vectors, slots: &[u32], a: &[Self], out: &mut [Self]);
    /// The numbers below p0 * p1 < 2^64 with those residues, where p0 < p1 and `inverse` = 1 / p0 modulo p1.
    fn compose_pair(k: Vectors, primes: (Self, Self), inverse: Self, residues: (&[Self], &[Self]), out: &mut [u64]);
}

impl WordKernels for u32 {
    fn sum_products(k: Vectors, modulus: &Modulus<u32>, left: &[&[u32]], right: &[&[u32]], out: &mut [&mut [u32]]) {
        dispatch!(k, sum_products_u32(modulus, left, right, out));
    }

    fn reduce(k: Vectors, modulus: &Modulus<u32>, x: &[u64], out: &mut [u32]) {
        dispatch!(k, reduce_u32(modulus, x, out));
    }

    fn permute(k: Vectors, slots: &[u32], a: &[u32], out: &mut [u32]) {
        dispatch!(k, permute(slots, a, out));
    }

    fn compose_pair(k: Vectors, primes: (u32, u32), inverse: u32, (a, b): (&[u32], &[u32]), out: &mut [u64]) {
        assert!(a.len() == b.len() && b.len() == out.len());
        dispatch!(k, compose_pair(primes, inverse, a, b, out));
    }
}

impl WordKernels for u64 {
    fn sum_products(k: Vectors, modulus: &Modulus<u64>, left: &[&[u64]], right: &[&[u64]], out: &mut [&mut [u64]]) {
        let _ = k;
        scalar::sum_products_u64(modulus, left, right, out);
    }

    fn reduce(_: Vectors, modulus: &Modulus<u64>, x: &[u64], out: &mut [u64]) {
        x.iter().zip(out).for_each(|(x, out)| *out = modulus.reduce_u64(*x));
    }

    fn permute(k: Vectors, slots: &[u32], a: &[u64], out: &mut [u64]) {
        dispatch!(k, permute(slots, a, out));
    }

    fn compose_pair(_: Vectors, (p0, p1): (u64, u64), inverse: u64, (a, b): (&[u64], &[u64]), out: &mut [u64]) {
        use crate::modulus::Barrett;
        assert!(a.len() == b.len() && b.len() == out.len());
        let quotient = u64::shoup_quotient(inverse, p1);
        for ((a, b), out) in a.iter().zip(b).zip(out) {
            let digit = u64::mul_shoup_lazy(u64::sub_mod(*b, *a, p1), inverse, quotient, p1);
            *out = a + p0 * u64::reduce_once(digit, p1);
        }
    }
}
