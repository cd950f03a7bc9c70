//! Reductions on registers of 32-bit residues.

use super::lanes::{Constants, Factor, Field, Isa, KEEP, REDUCE};
use std::fmt::Debug;

/// What 32-bit lanes need beyond [`Isa`].
///
/// # Safety
/// As [`Isa`].
pub(super) trait Isa32: Isa<W = u32> + Debug + Send + Sync + 'static {
    /// High halves of the signed products.
    unsafe fn mul_high_signed(a: Self::V, b: Self::V) -> Self::V;
    /// High halves of the unsigned products.
    unsafe fn mul_high(a: Self::V, b: Self::V) -> Self::V;
    /// `sum` plus the products of the signed 16-bit halves.
    unsafe fn dot16(sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Arithmetic shift right.
    unsafe fn shift_right_signed(a: Self::V, bits: Self::V) -> Self::V;
}

/// Primes from 2^20 to 2^28: signed values within eight times p, so that sums and differences need no correction.
///
/// With |w'- w 2^32 / p| <= 1/2 and q = floor(y w' / 2^32), w y - q p lies in [-e, 1 + e] p, e = |y| / 2^33 <= 1/4. From
/// inputs in [0, 2p) or a reduction to |x| <= 0.6 p, values grow by at most 1.25 p a layer: to 7.7 p after five more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lazy32<I>(I);

/// The primes [`Lazy32`] is for.
pub(super) fn lazy32(prime: u32) -> bool {
    (20..28).contains(&prime.ilog2())
}

#[derive(Clone, Copy)]
pub(super) struct Lazy32Registers<V> {
    p: V,
    /// 2^(16 + shift) / p for the high half, and the rounding terms of the quotient: to the nearest, and down.
    reciprocal: V,
    nearest: V,
    down: V,
    shift: V,
}

impl<I: Isa32> Lazy32<I> {
    #[inline(always)]
    unsafe fn mul(r: Lazy32Registers<I::V>, y: I::V, w: Factor<Self>) -> I::V {
        // SAFETY: the caller's promise.
        unsafe { I::sub(I::mul_low(y, w.0), I::mul_low(I::mul_high_signed(y, w.1), r.p)) }
    }

    /// x - q p, where q is x / p rounded as `rounding` says, off by less than 1/16.
    #[inline(always)]
    unsafe fn reduce(r: Lazy32Registers<I::V>, x: I::V, rounding: I::V) -> I::V {
        // SAFETY: as above.
        unsafe {
            let quotient = I::shift_right_signed(I::dot16(rounding, x, r.reciprocal), r.shift);
            I::sub(x, I::mul_low(quotient, r.p))
        }
    }
}

impl<I: Isa32> Field for Lazy32<I> {
    type I = I;
    const LAZY: bool = true;
    const START_LEVEL: usize = 1;
    // Inputs below 2p or 1.25 p: sums below 4p, then below 8p, where they are reduced.
    const PERIOD: usize = 2;
    type Registers = Lazy32Registers<I::V>;

    fn constants(prime: u32) -> Constants<u32> {
        let shift = prime.ilog2() - 1;
        let reciprocal = ((1u64 << (16 + shift)) / u64::from(prime)) as u32;
        // Rounding down is not affected by the reciprocal's error, which is below 2^-11 of a quotient.
        let down = (1u32 << shift >> 9).wrapping_neg();
        [prime, reciprocal << 16, 1 << (shift - 1), down, shift, 0, 0, 0]
    }

    fn factor(w: u32, prime: u32) -> [u32; 2] {
        let centred = i64::from(w) - if w > prime / 2 { i64::from(prime) } else { 0 };
        let quotient = ((centred << 33) + i64::from(prime)).div_euclid(2 * i64::from(prime));
        [centred as u32, quotient as u32]
    }

    fn slack(_: &Constants<u32>) -> usize {
        6
    }

    #[inline(always)]
    unsafe fn new(c: &Constants<u32>) -> Self::Registers {
        // SAFETY: the caller's promise.
        unsafe {
            let [p, reciprocal, nearest, down, shift] =
                [I::splat(c[0]), I::splat(c[1]), I::splat(c[2]), I::splat(c[3]), I::splat(c[4])];
            Lazy32Registers { p, reciprocal, nearest, down, shift }
        }
    }

    #[inline(always)]
    unsafe fn lift(_: Self::Registers, v: I::V) -> I::V {
        v
    }

    #[inline(always)]
    unsafe fn forward<const MODE: u8>(r: Self::Registers, x: I::V, y: I::V, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe {
            let x = if MODE == REDUCE { Self::reduce(r, x, r.nearest) } else { x };
            let product = Self::mul(r, y, w);
            (I::add(x, product), I::sub(x, product))
        }
    }

    #[inline(always)]
    unsafe fn inverse(r: Self::Registers, level: usize, x: I::V, y: I::V, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe {
            let sum = I::add(x, y);
            let sum = if level + 1 == Self::PERIOD { Self::reduce(r, sum, r.nearest) } else { sum };
            (sum, Self::mul(r, I::sub(x, y), w))
        }
    }

    #[inline(always)]
    unsafe fn last(r: Self::Registers, _: usize, x: I::V, y: I::V, u: Factor<Self>, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above. From [-e, 1 + e] p, a negative value being the larger word.
        unsafe {
            let canonical = |v| I::below(I::min(v, I::add(v, r.p)), r.p);
            (canonical(Self::mul(r, I::add(x, y), u)), canonical(Self::mul(r, I::sub(x, y), w)))
        }
    }

    #[inline(always)]
    unsafe fn finish(r: Self::Registers, v: I::V) -> I::V {
        // SAFETY: as above.
        unsafe { I::below(Self::reduce(r, v, r.down), r.p) }
    }
}

/// Any prime below 2^31: values in [0, p).
#[derive(Clone, Copy, Debug)]
pub(super) struct Strict32<I>(I);

impl<I: Isa32> Strict32<I> {
    #[inline(always)]
    unsafe fn mul(p: I::V, y: I::V, w: Factor<Self>) -> I::V {
        // SAFETY: the caller's promise.
        unsafe { I::below(I::sub(I::mul_low(y, w.0), I::mul_low(I::mul_high(y, w.1), p)), p) }
    }

    #[inline(always)]
    unsafe fn add(p: I::V, x: I::V, y: I::V) -> I::V {
        // SAFETY: as above.
        unsafe { I::below(I::add(x, y), p) }
    }

    #[inline(always)]
    unsafe fn sub(p: I::V, x: I::V, y: I::V) -> I::V {
        // SAFETY: as above. A negative difference is the larger word.
        unsafe {
            let difference = I::sub(x, y);
            I::min(difference, I::add(difference, p))
        }
    }
}

impl<I: Isa32> Field for Strict32<I> {
    type I = I;
    const LAZY: bool = false;
    const START_LEVEL: usize = 0;
    const PERIOD: usize = 1;
    type Registers = I::V;

    fn constants(prime: u32) -> Constants<u32> {
        [prime, 0, 0, 0, 0, 0, 0, 0]
    }

    fn factor(w: u32, prime: u32) -> [u32; 2] {
        [w, ((u64::from(w) << 32) / u64::from(prime)) as u32]
    }

    fn slack(_: &Constants<u32>) -> usize {
        usize::MAX
    }

    #[inline(always)]
    unsafe fn new(c: &Constants<u32>) -> I::V {
        // SAFETY: the caller's promise.
        unsafe { I::splat(c[0]) }
    }

    #[inline(always)]
    unsafe fn lift(p: I::V, v: I::V) -> I::V {
        // SAFETY: as above.
        unsafe { I::add(v, p) }
    }

    #[inline(always)]
    unsafe fn forward<const MODE: u8>(p: I::V, x: I::V, y: I::V, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe {
            let x = if MODE == KEEP { x } else { I::below(x, p) };
            let product = Self::mul(p, y, w);
            (Self::add(p, x, product), Self::sub(p, x, product))
        }
    }

    #[inline(always)]
    unsafe fn inverse(p: I::V, _: usize, x: I::V, y: I::V, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe { (Self::add(p, x, y), Self::mul(p, Self::sub(p, x, y), w)) }
    }

    #[inline(always)]
    unsafe fn last(p: I::V, _: usize, x: I::V, y: I::V, u: Factor<Self>, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe { (Self::mul(p, Self::add(p, x, y), u), Self::mul(p, Self::sub(p, x, y), w)) }
    }

    #[inline(always)]
    unsafe fn finish(_: I::V, v: I::V) -> I::V {
        v
    }
}
