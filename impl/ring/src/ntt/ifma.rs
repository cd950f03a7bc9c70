//! Primes below 2^50 by 52-bit multiply-add (AVX-512 IFMA).
//!
//! Factors carry w' = floor(w 2^52 / p); for y below 2^52, w y - floor(y w' / 2^52) p lies in [0, 2p), so that its low 52
//! bits, all that multiply-add yields, are the whole of it.

use super::avx512::Avx512x64;
use super::lanes::{Constants, Factor, Field, Isa, instructions};
use std::arch::x86_64::*;

type Lanes = Avx512x64<true>;

/// Harvey's ranges: below 4p going forward, below 2p going back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ifma;

#[derive(Clone, Copy)]
pub(super) struct Registers {
    p: __m512i,
    /// -p modulo 2^52.
    minus: __m512i,
    twice: __m512i,
    /// 2^52 - 1.
    mask: __m512i,
}

impl Ifma {
    /// w y in [0, 2p).
    #[inline(always)]
    unsafe fn mul(r: Registers, y: __m512i, w: Factor<Self>) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let zero = _mm512_setzero_si512();
            let quotient = _mm512_madd52hi_epu64(zero, y, w.1);
            let product = _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(zero, y, w.0), quotient, r.minus);
            _mm512_and_si512(product, r.mask)
        }
    }
}

impl Field for Ifma {
    type I = Lanes;
    const LAZY: bool = false;
    const START_LEVEL: usize = 0;
    const PERIOD: usize = 1;
    type Registers = Registers;

    fn constants(prime: u64) -> Constants<u64> {
        [prime, (1 << 52) - prime, 0, 0, 0, 0, 0, 0]
    }

    fn factor(w: u64, prime: u64) -> [u64; 2] {
        [w, ((u128::from(w) << 52) / u128::from(prime)) as u64]
    }

    fn slack(_: &Constants<u64>) -> usize {
        usize::MAX
    }

    #[inline(always)]
    unsafe fn new(c: &Constants<u64>) -> Registers {
        // SAFETY: the caller's promise.
        unsafe {
            Registers {
                p: Lanes::splat(c[0]),
                minus: Lanes::splat(c[1]),
                twice: Lanes::splat(2 * c[0]),
                mask: Lanes::splat((1 << 52) - 1),
            }
        }
    }

    instructions! {
        fn lift(r: Registers, v: __m512i) -> __m512i = Lanes::add(v, r.p);
        fn finish(r: Registers, v: __m512i) -> __m512i = Lanes::below(Lanes::below(v, r.twice), r.p);
    }

    #[inline(always)]
    unsafe fn forward<const MODE: u8>(r: Registers, x: __m512i, y: __m512i, w: Factor<Self>) -> (__m512i, __m512i) {
        // SAFETY: as above.
        unsafe {
            let (x, product) = (Lanes::below(x, r.twice), Self::mul(r, y, w));
            (Lanes::add(x, product), Lanes::sub(Lanes::add(x, r.twice), product))
        }
    }

    #[inline(always)]
    unsafe fn inverse(r: Registers, _: usize, x: __m512i, y: __m512i, w: Factor<Self>) -> (__m512i, __m512i) {
        // SAFETY: as above.
        unsafe {
            let difference = Lanes::sub(Lanes::add(x, r.twice), y);
            (Lanes::below(Lanes::add(x, y), r.twice), Self::mul(r, difference, w))
        }
    }

    #[inline(always)]
    unsafe fn last(
        r: Registers,
        _: usize,
        x: __m512i,
        y: __m512i,
        u: Factor<Self>,
        w: Factor<Self>,
    ) -> (__m512i, __m512i) {
        // SAFETY: as above.
        unsafe {
            let difference = Lanes::sub(Lanes::add(x, r.twice), y);
            (Lanes::below(Self::mul(r, Lanes::add(x, y), u), r.p), Lanes::below(Self::mul(r, difference, w), r.p))
        }
    }
}
