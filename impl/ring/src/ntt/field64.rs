//! Reductions on registers of 64-bit residues.

use super::lanes::{Constants, Factor, Field, Isa, KEEP, instructions};
use std::fmt::Debug;

/// What 64-bit lanes need beyond [`Isa`].
///
/// # Safety
/// As [`Isa`].
pub(super) trait Isa64: Isa<W = u64> + Debug + Send + Sync + 'static {
    /// Products of the low halves.
    unsafe fn mul32(a: Self::V, b: Self::V) -> Self::V;
    /// Shift right by 32.
    unsafe fn high32(a: Self::V) -> Self::V;
    unsafe fn shift_right(a: Self::V, bits: Self::V) -> Self::V;
    unsafe fn and(a: Self::V, b: Self::V) -> Self::V;
}

fn quotient(w: u64, prime: u64) -> u64 {
    ((u128::from(w) << 64) / u128::from(prime)) as u64
}

/// Primes from 2^34 to 2^58: values up to 2^64, and quotients of which the product of the low halves is left out.
///
/// With w' = floor(w 2^64 / p), q is at most three below w y / p for any word y: the product w y - q p lies in [0, 4p).
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide64<I>(I);

/// The primes [`Wide64`] is for.
pub(super) fn wide64(prime: u64) -> bool {
    (34..58).contains(&prime.ilog2())
}

#[derive(Clone, Copy)]
pub(super) struct Wide64Registers<V> {
    p: V,
    twice: V,
    /// 2^(32 + shift) / p.
    reciprocal: V,
    shift: V,
    /// A multiple of p above all products of the layers to come.
    above: V,
    /// Multiples of p above all second operands of the inverse layers, by level.
    bounds: [V; 3],
}

impl<I: Isa64> Wide64<I> {
    #[inline(always)]
    unsafe fn mul(r: Wide64Registers<I::V>, y: I::V, w: Factor<Self>) -> I::V {
        // SAFETY: the caller's promise.
        unsafe {
            let (y_high, q_high) = (I::high32(y), I::high32(w.1));
            let middle = I::add(I::high32(I::mul32(y_high, w.1)), I::high32(I::mul32(y, q_high)));
            let quotient = I::add(I::mul32(y_high, q_high), middle);
            I::sub(I::mul_low(y, w.0), I::mul_low(quotient, r.p))
        }
    }

    /// From any word to [0, 2p).
    #[inline(always)]
    unsafe fn reduce(r: Wide64Registers<I::V>, x: I::V) -> I::V {
        // SAFETY: as above.
        unsafe {
            let quotient = I::shift_right(I::mul32(I::high32(x), r.reciprocal), r.shift);
            I::sub(x, I::mul_low(quotient, r.p))
        }
    }

    /// From [0, 4p) to [0, p).
    #[inline(always)]
    unsafe fn canonical(r: Wide64Registers<I::V>, x: I::V) -> I::V {
        // SAFETY: as above.
        unsafe { I::below(I::below(x, r.twice), r.p) }
    }
}

impl<I: Isa64> Field for Wide64<I> {
    type I = I;
    const LAZY: bool = true;
    const START_LEVEL: usize = 0;
    // From 4p: sums below 8p, 16p, 32p, there reduced.
    const PERIOD: usize = 3;
    type Registers = Wide64Registers<I::V>;

    fn constants(prime: u64) -> Constants<u64> {
        let shift = u64::from(prime.ilog2());
        let reciprocal = ((1u128 << (32 + shift)) / u128::from(prime)) as u64;
        // Each layer widens the range by 4p on both sides; it begins 2p wide and must fit a word.
        let layers = ((u64::MAX / prime - 2) / 8).min(16);
        [prime, reciprocal, shift, layers, 0, 0, 0, 0]
    }

    fn factor(w: u64, prime: u64) -> [u64; 2] {
        [w, quotient(w, prime)]
    }

    fn slack(c: &Constants<u64>) -> usize {
        c[3] as usize
    }

    #[inline(always)]
    unsafe fn new(c: &Constants<u64>) -> Self::Registers {
        // SAFETY: the caller's promise.
        unsafe {
            let times = |factor| I::splat(c[0] * factor);
            Wide64Registers {
                p: times(1),
                twice: times(2),
                reciprocal: I::splat(c[1]),
                shift: I::splat(c[2]),
                above: times(4 * c[3]),
                bounds: [times(4), times(8), times(16)],
            }
        }
    }

    instructions! {
        fn lift(r: Self::Registers, v: I::V) -> I::V = I::add(v, r.p);
        fn finish(r: Self::Registers, v: I::V) -> I::V = I::below(Self::reduce(r, v), r.p);
    }

    #[inline(always)]
    unsafe fn forward<const MODE: u8>(r: Self::Registers, x: I::V, y: I::V, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe {
            let x = match MODE {
                KEEP => x,
                super::lanes::START => I::add(x, r.above),
                _ => I::add(Self::reduce(r, x), r.above),
            };
            let product = Self::mul(r, y, w);
            (I::add(x, product), I::sub(x, product))
        }
    }

    #[inline(always)]
    unsafe fn inverse(r: Self::Registers, level: usize, x: I::V, y: I::V, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe {
            let sum = I::add(x, y);
            let sum = if level + 1 == Self::PERIOD { Self::reduce(r, sum) } else { sum };
            (sum, Self::mul(r, I::sub(I::add(x, r.bounds[level]), y), w))
        }
    }

    #[inline(always)]
    unsafe fn last(
        r: Self::Registers,
        level: usize,
        x: I::V,
        y: I::V,
        u: Factor<Self>,
        w: Factor<Self>,
    ) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe {
            let difference = I::sub(I::add(x, r.bounds[level]), y);
            (Self::canonical(r, Self::mul(r, I::add(x, y), u)), Self::canonical(r, Self::mul(r, difference, w)))
        }
    }
}

/// Any prime below 2^62: Harvey's ranges, below 4p going forward and below 2p going back, with exact quotients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Narrow64<I>(I);

#[derive(Clone, Copy)]
pub(super) struct Narrow64Registers<V> {
    p: V,
    twice: V,
    low32: V,
}

impl<I: Isa64> Narrow64<I> {
    /// In [0, 2p), for any word y.
    #[inline(always)]
    unsafe fn mul(r: Narrow64Registers<I::V>, y: I::V, w: Factor<Self>) -> I::V {
        // SAFETY: the caller's promise.
        unsafe {
            let (y_high, q_high) = (I::high32(y), I::high32(w.1));
            let first = I::add(I::mul32(y, q_high), I::high32(I::mul32(y, w.1)));
            let second = I::add(I::mul32(y_high, w.1), I::and(first, r.low32));
            let middle = I::add(I::high32(first), I::high32(second));
            let quotient = I::add(I::mul32(y_high, q_high), middle);
            I::sub(I::mul_low(y, w.0), I::mul_low(quotient, r.p))
        }
    }
}

impl<I: Isa64> Field for Narrow64<I> {
    type I = I;
    const LAZY: bool = false;
    const START_LEVEL: usize = 0;
    const PERIOD: usize = 1;
    type Registers = Narrow64Registers<I::V>;

    fn constants(prime: u64) -> Constants<u64> {
        [prime, 0, 0, 0, 0, 0, 0, 0]
    }

    fn factor(w: u64, prime: u64) -> [u64; 2] {
        [w, quotient(w, prime)]
    }

    fn slack(_: &Constants<u64>) -> usize {
        usize::MAX
    }

    instructions! {
        fn new(c: &Constants<u64>) -> Self::Registers =
            Narrow64Registers { p: I::splat(c[0]), twice: I::splat(2 * c[0]), low32: I::splat(u32::MAX.into()) };
        fn lift(r: Self::Registers, v: I::V) -> I::V = I::add(v, r.p);
        fn inverse(r: Self::Registers, _: usize, x: I::V, y: I::V, w: Factor<Self>) -> (I::V, I::V) =
            (I::below(I::add(x, y), r.twice), Self::mul(r, I::sub(I::add(x, r.twice), y), w));
        fn finish(r: Self::Registers, v: I::V) -> I::V = I::below(I::below(v, r.twice), r.p);
    }

    #[inline(always)]
    unsafe fn forward<const MODE: u8>(r: Self::Registers, x: I::V, y: I::V, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe {
            let (x, product) = (I::below(x, r.twice), Self::mul(r, y, w));
            (I::add(x, product), I::sub(I::add(x, r.twice), product))
        }
    }

    #[inline(always)]
    unsafe fn last(r: Self::Registers, _: usize, x: I::V, y: I::V, u: Factor<Self>, w: Factor<Self>) -> (I::V, I::V) {
        // SAFETY: as above.
        unsafe {
            let difference = I::sub(I::add(x, r.twice), y);
            (I::below(Self::mul(r, I::add(x, y), u), r.p), I::below(Self::mul(r, difference, w), r.p))
        }
    }
}
