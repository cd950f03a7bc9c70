//! The kernels that differ between 32-bit and 64-bit words.

use super::{Combination, Vectors, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512, ifma};
use crate::kernel::{Kernel, dispatch};
use crate::modulus::Modulus;
use crate::word::Residue;

/// A machine word that holds residues, with its kernels: `u32` (moduli below 2^31) or `u64` (below 2^62). Lengths are checked by [`Vectors`].
pub trait Word: Residue {
    /// See [`Vectors::mul`].
    fn mul(k: Vectors, modulus: &Modulus<Self>, a: &mut [Self], b: &[Self]);
    /// See [`Vectors::mul_add`].
    fn mul_add(k: Vectors, modulus: &Modulus<Self>, acc: &mut [Self], a: &[Self], b: &[Self]);
    /// See [`Vectors::mul_scalar`].
    fn mul_scalar(k: Vectors, modulus: &Modulus<Self>, a: &mut [Self], scalar: Self);
    /// See [`Vectors::sum_products`].
    fn sum_products(k: Vectors, modulus: &Modulus<Self>, left: &[&[Self]], right: &[&[Self]], out: &mut [&mut [Self]]);
    /// See [`Vectors::sum_tiles`].
    fn sum_tiles(k: Vectors, modulus: &Modulus<Self>, n: usize, left: &[Self], right: &[&[Self]], out: &mut [Self]);
    /// See [`Vectors::reduce`].
    fn reduce(k: Vectors, modulus: &Modulus<Self>, x: &[u64], out: &mut [Self]);
    /// See [`Vectors::tensor`].
    fn tensor(
        k: Vectors,
        modulus: &Modulus<Self>,
        left: [&[Self]; 2],
        right: [&[Self]; 2],
        factor: &[Self],
        out: [&mut [Self]; 3],
    );
    /// See [`Vectors::combine`].
    fn combine(k: Vectors, combination: &Combination<Self>, n: usize, rows: &[Self], out: &mut [Self], add: bool);
    /// A vector permuted in aligned blocks of 16.
    fn permute(k: Vectors, slots: &[u32], a: &[Self], out: &mut [Self]);
    /// The numbers below p0 * p1 < 2^64 with those residues, where p0 < p1 and `inverse` = 1 / p0 modulo p1.
    fn compose_pair(k: Vectors, primes: (Self, Self), inverse: Self, residues: (&[Self], &[Self]), out: &mut [u64]);
}

impl Word for u32 {
    fn mul(k: Vectors, modulus: &Modulus<u32>, a: &mut [u32], b: &[u32]) {
        dispatch!(k.kernel, mul(modulus, a, b));
    }

    fn mul_add(k: Vectors, modulus: &Modulus<u32>, acc: &mut [u32], a: &[u32], b: &[u32]) {
        dispatch!(k.kernel, mul_add(modulus, acc, a, b));
    }

    fn mul_scalar(k: Vectors, modulus: &Modulus<u32>, a: &mut [u32], scalar: u32) {
        dispatch!(k.kernel, mul_scalar(modulus, a, scalar));
    }

    fn sum_products(k: Vectors, modulus: &Modulus<u32>, left: &[&[u32]], right: &[&[u32]], out: &mut [&mut [u32]]) {
        dispatch!(k.kernel, sum_products_u32(modulus, left, right, out));
    }

    fn sum_tiles(k: Vectors, modulus: &Modulus<u32>, n: usize, left: &[u32], right: &[&[u32]], out: &mut [u32]) {
        match k.kernel.kernel() {
            // SAFETY: `Vectors` exist only if the processor has every feature that their kernel's functions enable.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => unsafe { avx512::sum_tiles_u32(modulus, n, left, right, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { avx2::sum_tiles_u32(modulus, n, left, right, out) },
            _ => scalar::sum_tiles(n, left, right, out, |left, right, out| {
                Self::sum_products(k, modulus, left, right, out);
            }),
        }
    }

    fn reduce(k: Vectors, modulus: &Modulus<u32>, x: &[u64], out: &mut [u32]) {
        dispatch!(k.kernel, reduce_u32(modulus, x, out));
    }

    fn tensor(
        k: Vectors,
        modulus: &Modulus<u32>,
        left: [&[u32]; 2],
        right: [&[u32]; 2],
        factor: &[u32],
        out: [&mut [u32]; 3],
    ) {
        dispatch!(k.kernel, tensor(modulus, left, right, factor, out));
    }

    fn combine(k: Vectors, combination: &Combination<u32>, n: usize, rows: &[u32], out: &mut [u32], add: bool) {
        dispatch!(k.kernel, combine(combination, n, rows, out, add));
    }

    fn permute(k: Vectors, slots: &[u32], a: &[u32], out: &mut [u32]) {
        dispatch!(k.kernel, permute(slots, a, out));
    }

    fn compose_pair(k: Vectors, primes: (u32, u32), inverse: u32, (a, b): (&[u32], &[u32]), out: &mut [u64]) {
        assert!(a.len() == b.len() && b.len() == out.len());
        dispatch!(k.kernel, compose_pair(primes, inverse, a, b, out));
    }
}

/// Calls the function on the 52-bit path where processor and modulus allow it, else the expression.
macro_rules! short_or {
    ($k:expr, $modulus:expr, $function:ident($($argument:expr),*), $otherwise:expr) => {
        match $k.ifma && $modulus.bits() <= MAX_SHORT_BITS {
            // SAFETY: the processor was seen to have the instructions.
            #[cfg(target_arch = "x86_64")]
            true => unsafe { ifma::$function($modulus $(, $argument)*) },
            _ => $otherwise,
        }
    };
}

/// Longest q - 1 of the 52-bit path.
#[cfg(target_arch = "x86_64")]
const MAX_SHORT_BITS: u32 = ifma::MAX_BITS;
#[cfg(not(target_arch = "x86_64"))]
const MAX_SHORT_BITS: u32 = 0;

impl Word for u64 {
    fn mul(k: Vectors, modulus: &Modulus<u64>, a: &mut [u64], b: &[u64]) {
        short_or!(k, modulus, mul(a, b), scalar::mul(modulus, a, b));
    }

    fn mul_add(k: Vectors, modulus: &Modulus<u64>, acc: &mut [u64], a: &[u64], b: &[u64]) {
        short_or!(k, modulus, mul_add(acc, a, b), scalar::mul_add(modulus, acc, a, b));
    }

    fn mul_scalar(k: Vectors, modulus: &Modulus<u64>, a: &mut [u64], scalar: u64) {
        short_or!(k, modulus, mul_scalar(a, scalar), dispatch!(k.kernel, mul_scalar(modulus, a, scalar)));
    }

    fn sum_products(k: Vectors, modulus: &Modulus<u64>, left: &[&[u64]], right: &[&[u64]], out: &mut [&mut [u64]]) {
        short_or!(k, modulus, sum_products(left, right, out), scalar::sum_products_u64(modulus, left, right, out));
    }

    fn sum_tiles(k: Vectors, modulus: &Modulus<u64>, n: usize, left: &[u64], right: &[&[u64]], out: &mut [u64]) {
        scalar::sum_tiles(n, left, right, out, |left, right, out| {
            Self::sum_products(k, modulus, left, right, out);
        });
    }

    fn reduce(_: Vectors, modulus: &Modulus<u64>, x: &[u64], out: &mut [u64]) {
        x.iter().zip(out).for_each(|(x, out)| *out = modulus.reduce_u64(*x));
    }

    fn tensor(
        _: Vectors,
        modulus: &Modulus<u64>,
        left: [&[u64]; 2],
        right: [&[u64]; 2],
        factor: &[u64],
        out: [&mut [u64]; 3],
    ) {
        scalar::tensor(modulus, left, right, factor, out);
    }

    fn combine(_: Vectors, combination: &Combination<u64>, n: usize, rows: &[u64], out: &mut [u64], add: bool) {
        scalar::combine(combination, n, rows, out, add);
    }

    fn permute(k: Vectors, slots: &[u32], a: &[u64], out: &mut [u64]) {
        dispatch!(k.kernel, permute(slots, a, out));
    }

    fn compose_pair(_: Vectors, (p0, p1): (u64, u64), inverse: u64, (a, b): (&[u64], &[u64]), out: &mut [u64]) {
        use crate::word::Barrett;
        assert!(a.len() == b.len() && b.len() == out.len());
        let quotient = u64::shoup_quotient(inverse, p1);
        for ((a, b), out) in a.iter().zip(b).zip(out) {
            let digit = u64::mul_shoup_lazy(u64::sub_mod(*b, *a, p1), inverse, quotient, p1);
            *out = a + p0 * u64::reduce_once(digit, p1);
        }
    }
}
