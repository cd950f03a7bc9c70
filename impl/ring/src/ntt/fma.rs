//! Primes below 2^50 by multiply-add of doubles (AVX2 with FMA), where no instruction multiplies lanes of 64 bits.
//!
//! Between input and output, values are integers of either sign, held as doubles. A factor w, at most p/2 from zero, carries
//! w/p rounded to a double. For a value y of size b p, where b p / 2 < 2^51, the quotient q is y w/p rounded to an integer: its
//! error is at most 1/2 and 2^-53 of itself. With h the double nearest to w y, both w y - h and h - q p are doubles, and their
//! sum w y - q p lies within (1/2 + b p 2^-54) p of zero.

use super::avx2::Avx2x64;
use super::lanes::{Constants, Factor, Field, Isa, KEEP, START, instructions};
use std::arch::x86_64::*;

type Lanes = Avx2x64;

/// Added to an integer below 2^51 in size, leaves it in the low bits of the sum.
const MAGIC: f64 = 3.0 * (1u64 << 51) as f64;
/// Its bits with those of an integer below 2^52 in place of the lowest are that integer more.
const TWO52: f64 = (1u64 << 52) as f64;

/// Values of either sign that grow from layer to layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fma;

#[derive(Clone, Copy)]
pub(super) struct Registers {
    word: __m256i,
    p: __m256d,
    /// 1/p.
    inverse: __m256d,
    magic: __m256d,
}

/// Layers until a value is too large to be multiplied, from the sizes of both operands of the first one, in units of p.
fn layers(prime: f64, kept: f64, multiplied: f64) -> usize {
    let error = prime / TWO52 / 4.0;
    let next = |kept: f64, multiplied: f64| kept + 0.5 + multiplied * error;
    let sizes = std::iter::successors(Some(next(kept, multiplied)), |size| Some(next(*size, *size)));
    sizes.take(16).take_while(|size| *size <= largest(prime)).count()
}

/// The largest value that can be multiplied, in units of p.
fn largest(prime: f64) -> f64 {
    (TWO52 - 16.0) / prime
}

impl Fma {
    /// w y, nearly as small as can be.
    #[inline(always)]
    unsafe fn mul(r: Registers, y: __m256d, w: Factor<Self>) -> __m256d {
        // SAFETY: the caller's promise.
        unsafe {
            let (w, ratio) = (_mm256_castsi256_pd(w.0), _mm256_castsi256_pd(w.1));
            let high = _mm256_mul_pd(y, w);
            let low = _mm256_fmsub_pd(y, w, high);
            let quotient = _mm256_sub_pd(_mm256_fmadd_pd(y, ratio, r.magic), r.magic);
            _mm256_add_pd(_mm256_fnmadd_pd(quotient, r.p, high), low)
        }
    }

    /// To at most p/2, a little more by rounding.
    #[inline(always)]
    unsafe fn reduce(r: Registers, x: __m256d) -> __m256d {
        // SAFETY: as above.
        unsafe {
            let quotient = _mm256_sub_pd(_mm256_fmadd_pd(x, r.inverse, r.magic), r.magic);
            _mm256_fnmadd_pd(quotient, r.p, x)
        }
    }

    /// The residue of a value between -p and p.
    #[inline(always)]
    unsafe fn residue(r: Registers, x: __m256d) -> __m256i {
        // SAFETY: as above.
        unsafe {
            let signed = Lanes::sub(_mm256_castpd_si256(_mm256_add_pd(x, r.magic)), _mm256_castpd_si256(r.magic));
            let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), signed);
            Lanes::add(signed, _mm256_and_si256(negative, r.word))
        }
    }

    /// A word below 2^52 as a double.
    #[inline(always)]
    unsafe fn double(x: __m256i) -> __m256d {
        // SAFETY: as above.
        unsafe {
            let two52 = _mm256_set1_pd(TWO52);
            _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(x, _mm256_castpd_si256(two52))), two52)
        }
    }
}

impl Field for Fma {
    type I = Lanes;
    const LAZY: bool = true;
    const START_LEVEL: usize = 0;
    // From p: sums below 2p, then 4p, there reduced.
    const PERIOD: usize = 2;
    type Registers = Registers;

    fn constants(prime: u64) -> Constants<u64> {
        let p = prime as f64;
        // Inputs are made at most p in size; a reduction leaves little more than p/2.
        let layers = layers(p, 1.0, 1.0).min(layers(p, 0.501, largest(p)));
        [prime, p.to_bits(), (1.0 / p).to_bits(), layers as u64, 0, 0, 0, 0]
    }

    fn factor(w: u64, prime: u64) -> [u64; 2] {
        let centred = if w > prime / 2 { w as f64 - prime as f64 } else { w as f64 };
        [centred.to_bits(), (centred / prime as f64).to_bits()]
    }

    fn slack(c: &Constants<u64>) -> usize {
        c[3] as usize
    }

    #[inline(always)]
    unsafe fn new(c: &Constants<u64>) -> Registers {
        // SAFETY: the caller's promise.
        unsafe {
            let splat = |bits| _mm256_castsi256_pd(Lanes::splat(bits));
            Registers { word: Lanes::splat(c[0]), p: splat(c[1]), inverse: splat(c[2]), magic: _mm256_set1_pd(MAGIC) }
        }
    }

    instructions! {
        fn lift(r: Registers, v: __m256i) -> __m256i = Lanes::add(v, r.word);
        fn enter(v: __m256i) -> __m256i = _mm256_castpd_si256(Self::double(v));
        fn finish(r: Registers, v: __m256i) -> __m256i = Self::residue(r, Self::reduce(r, _mm256_castsi256_pd(v)));
    }

    #[inline(always)]
    unsafe fn forward<const MODE: u8>(r: Registers, x: __m256i, y: __m256i, w: Factor<Self>) -> (__m256i, __m256i) {
        // SAFETY: as above.
        unsafe {
            let (x, y) = match MODE {
                // From words below 2p to values between -p and p.
                START => (_mm256_sub_pd(Self::double(x), r.p), _mm256_sub_pd(Self::double(y), r.p)),
                KEEP => (_mm256_castsi256_pd(x), _mm256_castsi256_pd(y)),
                _ => (Self::reduce(r, _mm256_castsi256_pd(x)), _mm256_castsi256_pd(y)),
            };
            let product = Self::mul(r, y, w);
            (_mm256_castpd_si256(_mm256_add_pd(x, product)), _mm256_castpd_si256(_mm256_sub_pd(x, product)))
        }
    }

    #[inline(always)]
    unsafe fn inverse(r: Registers, level: usize, x: __m256i, y: __m256i, w: Factor<Self>) -> (__m256i, __m256i) {
        // SAFETY: as above.
        unsafe {
            let (x, y) = (_mm256_castsi256_pd(x), _mm256_castsi256_pd(y));
            let sum = _mm256_add_pd(x, y);
            let sum = if level + 1 == Self::PERIOD { Self::reduce(r, sum) } else { sum };
            (_mm256_castpd_si256(sum), _mm256_castpd_si256(Self::mul(r, _mm256_sub_pd(x, y), w)))
        }
    }

    #[inline(always)]
    unsafe fn last(
        r: Registers,
        _: usize,
        x: __m256i,
        y: __m256i,
        u: Factor<Self>,
        w: Factor<Self>,
    ) -> (__m256i, __m256i) {
        // SAFETY: as above.
        unsafe {
            let (x, y) = (_mm256_castsi256_pd(x), _mm256_castsi256_pd(y));
            let (sum, difference) = (_mm256_add_pd(x, y), _mm256_sub_pd(x, y));
            (Self::residue(r, Self::mul(r, sum, u)), Self::residue(r, Self::mul(r, difference, w)))
        }
    }
}
