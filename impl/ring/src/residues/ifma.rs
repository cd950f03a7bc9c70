//! Residues below 2^51 with the 52-bit multiply-add (AVX-512 IFMA). Called only through [`super::Vectors`] that found it.

use super::scalar;
use crate::modulus::Modulus;
use std::arch::x86_64::*;

/// Longest q - 1: twice q, the bound of lazy residues, must not exceed 2^52.
pub(super) const MAX_BITS: u32 = 51;

/// Residues in a register, and registers summed side by side.
const LANES: usize = 8;
const REGISTERS: usize = 4;

/// Factors w and floor(w * 2^52 / q) by which 52-bit numbers are multiplied modulo q.
#[derive(Clone, Copy)]
struct Factor {
    value: __m512i,
    quotient: __m512i,
}

/// What the reduction of sums below 2^104 needs.
#[derive(Clone, Copy)]
struct Constants {
    q: __m512i,
    one: Factor,
    /// 2^52 mod q.
    radix: Factor,
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn factor(modulus: &Modulus<u64>, w: u64) -> Factor {
    let quotient = ((u128::from(w) << 52) / u128::from(modulus.value())) as i64;
    Factor { value: _mm512_set1_epi64(w as i64), quotient: _mm512_set1_epi64(quotient) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn constants(modulus: &Modulus<u64>) -> Constants {
    Constants {
        q: _mm512_set1_epi64(modulus.value() as i64),
        one: factor(modulus, 1),
        radix: factor(modulus, modulus.reduce_u64(1 << 52)),
    }
}

/// x * w mod q in [0, 2q) for x < 2^52 (Shoup).
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn mul_lazy(x: __m512i, w: Factor, q: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let estimate = _mm512_madd52hi_epu64(zero, x, w.quotient);
    let (product, multiple) = (_mm512_madd52lo_epu64(zero, x, w.value), _mm512_madd52lo_epu64(zero, estimate, q));
    _mm512_and_si512(_mm512_sub_epi64(product, multiple), _mm512_set1_epi64((1 << 52) - 1))
}

/// x - bound if that is not negative, else x.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce_once(x: __m512i, bound: __m512i) -> __m512i {
    _mm512_min_epu64(x, _mm512_sub_epi64(x, bound))
}

/// low + 2^52 * high mod q, for sums below 2^104.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce(c: Constants, [low, high]: [__m512i; 2]) -> __m512i {
    let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
    let low = _mm512_and_si512(low, _mm512_set1_epi64((1 << 52) - 1));
    let sum = _mm512_add_epi64(mul_lazy(high, c.radix, c.q), mul_lazy(low, c.one, c.q));
    reduce_once(reduce_once(sum, _mm512_slli_epi64::<1>(c.q)), c.q)
}

/// The sum's halves, with the product added.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate([low, high]: [__m512i; 2], a: __m512i, b: __m512i) -> [__m512i; 2] {
    [_mm512_madd52lo_epu64(low, a, b), _mm512_madd52hi_epu64(high, a, b)]
}

/// The register at the beginning of `values`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn load(values: &[u64; LANES]) -> __m512i {
    // SAFETY: the array is a register's bytes.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn store(values: &mut [u64; LANES], register: __m512i) {
    // SAFETY: the array is a register's bytes.
    unsafe { _mm512_storeu_si512(values.as_mut_ptr().cast(), register) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn mul(modulus: &Modulus<u64>, a: &mut [u64], b: &[u64]) {
    let (c, zero) = (constants(modulus), _mm512_setzero_si512());
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks_mut(), b.as_chunks());
    for (a, b) in a.iter_mut().zip(b) {
        let product = accumulate([zero; 2], load(a), load(b));
        store(a, reduce(c, product));
    }
    scalar::mul(modulus, a_rest, b_rest);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn mul_add(modulus: &Modulus<u64>, acc: &mut [u64], a: &[u64], b: &[u64]) {
    let (c, zero) = (constants(modulus), _mm512_setzero_si512());
    let ((acc, acc_rest), (a, a_rest), (b, b_rest)) = (acc.as_chunks_mut(), a.as_chunks(), b.as_chunks());
    for ((acc, a), b) in acc.iter_mut().zip(a).zip(b) {
        let sum = accumulate([load(acc), zero], load(a), load(b));
        store(acc, reduce(c, sum));
    }
    scalar::mul_add(modulus, acc_rest, a_rest, b_rest);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn mul_scalar(modulus: &Modulus<u64>, a: &mut [u64], scalar: u64) {
    let (q, factor) = (_mm512_set1_epi64(modulus.value() as i64), factor(modulus, scalar));
    let (a, rest) = a.as_chunks_mut();
    for a in a {
        let product = mul_lazy(load(a), factor, q);
        store(a, reduce_once(product, q));
    }
    scalar::mul_scalar(modulus, rest, scalar);
}

/// Sums of products for the columns of `right` from `first` on, one for each of `out`.
///
/// # Safety
/// Every vector of `left` and `right` holds `at + LANES * REGISTERS` elements; `right` holds `columns` vectors for each term, of
/// which `first + C` are at most all; as many elements as a block has may be written at each of `out`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[allow(clippy::needless_range_loop, reason = "loops over constants unroll, and the sums stay in registers")]
unsafe fn block<const C: usize>(
    (constants, terms): (Constants, usize),
    left: &[&[u64]],
    right: &[&[u64]],
    (first, columns): (usize, usize),
    at: usize,
    out: [*mut u64; C],
) {
    let zero = _mm512_setzero_si512();
    let mut sums = [[[zero; 2]; REGISTERS]; C];
    let mut rows = right.chunks_exact(columns);
    for (chunk, left) in left.chunks(terms).enumerate() {
        if chunk > 0 {
            for sum in sums.as_flattened_mut() {
                *sum = [reduce(constants, *sum), zero];
            }
        }
        for (left, row) in left.iter().zip(&mut rows) {
            for register in 0..REGISTERS {
                let offset = at + register * LANES;
                // SAFETY: the caller's promise.
                let left = unsafe { _mm512_loadu_si512(left.as_ptr().add(offset).cast()) };
                for c in 0..C {
                    // SAFETY: as above.
                    let right = unsafe { _mm512_loadu_si512(row[first + c].as_ptr().add(offset).cast()) };
                    sums[c][register] = accumulate(sums[c][register], left, right);
                }
            }
        }
    }
    for c in 0..C {
        for register in 0..REGISTERS {
            let residues = reduce(constants, sums[c][register]);
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(out[c].add(register * LANES).cast(), residues) };
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn sum_products(modulus: &Modulus<u64>, left: &[&[u64]], right: &[&[u64]], out: &mut [&mut [u64]]) {
    const BLOCK: usize = LANES * REGISTERS;
    let (columns, n) = (out.len(), out.first().map_or(0, |column| column.len()));
    if !n.is_multiple_of(BLOCK) {
        return scalar::sum_products_u64(modulus, left, right, out);
    }
    // Sums stay below 2^104, a reduced one included, and their low halves below 2^64.
    let square = (u128::from(modulus.value()) - 1).pow(2);
    let terms = (((1 << 104) - (1 << 52)) / square).min(1 << 11) as usize;
    let plan = (constants(modulus), terms);
    for at in (0..n).step_by(BLOCK) {
        for first in (0..columns).step_by(2) {
            // SAFETY: `Vectors::sum_products` asserts that all vectors hold n elements, and as many columns for each term.
            unsafe {
                let a = out[first].as_mut_ptr().add(at);
                if first + 1 < columns {
                    let b = out[first + 1].as_mut_ptr().add(at);
                    block::<2>(plan, left, right, (first, columns), at, [a, b]);
                } else {
                    block::<1>(plan, left, right, (first, columns), at, [a]);
                }
            }
        }
    }
}
