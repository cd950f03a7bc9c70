//! Sums of products of 32-bit residues on the AVX2 path. Every function enables its features and is called only through
//! [`crate::residues::Vectors`], which exist only where they were found.
//!
//! Eight of the sixteen registers hold sums; as on AVX-512 a term costs 4GC + G + C operations for each register of slots, and the
//! reduction 13 for 8 sums where one estimate suffices.

use super::super::TILE;
use super::super::combination::{Combination, Target};
use super::super::scalar::{self, Reduction};
use super::{FOLD, FOLDED, LINE, LONG, Plan, SHORT, for_width, registers, sums};
use crate::modulus::Modulus;
use std::arch::x86_64::*;
use std::ops::Range;

/// Residues in a register.
const LANES: usize = 8;

type Register = __m256i;

sums!("avx2", 1, 2, 4);

registers!(
    "avx2",
    _mm256_setzero_si256,
    _mm256_set1_epi32,
    _mm256_set1_epi64x,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_srli_epi64,
    _mm256_srl_epi64,
    _mm256_add_epi64,
    _mm256_add_epi32,
    _mm256_sub_epi32,
    _mm256_or_si256,
    _mm256_min_epu32,
    _mm256_mul_epu32,
    _mm256_mul_epu32
);

/// [`Reduction::apply`] in 64-bit lanes, without the last conditional subtraction: in [0, 2q).
#[target_feature(enable = "avx2")]
#[inline]
fn reduce_lanes(reduction: Reduction, x: Register) -> Register {
    let (q, ratio) = (_mm256_set1_epi64x(reduction.q as i64), _mm256_set1_epi64x(reduction.ratio as i64));
    let count = |bits: u32| _mm_cvtsi32_si128(bits as i32);
    let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(x), ratio);
    let estimate = _mm256_srl_epi64(high, count(reduction.bits - 1));
    // The estimate may have more than 32 bits, of whose product those above 64 do not matter.
    let above = _mm256_slli_epi64::<32>(_mm256_mul_epu32(upper(estimate), q));
    let rest = _mm256_sub_epi64(_mm256_sub_epi64(x, _mm256_mul_epu32(estimate, q)), above);
    let high = _mm256_mul_epu32(_mm256_srli_epi64::<3>(rest), ratio);
    let estimate = _mm256_srl_epi64(high, count(reduction.bits + 28));
    _mm256_sub_epi64(rest, _mm256_mul_epu32(estimate, q))
}

/// [`Reduction::apply`] in 64-bit lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn reduce(reduction: Reduction, x: Register) -> Register {
    let rest = reduce_lanes(reduction, x);
    // Both have nothing above 32 bits, or all bits.
    _mm256_min_epu32(rest, _mm256_sub_epi64(rest, _mm256_set1_epi64x(reduction.q as i64)))
}

/// The lower halves of the even and of the odd sums, two of each in turn; of the upper halves if `UPPER`.
#[target_feature(enable = "avx2")]
#[inline]
fn halves<const UPPER: bool>(even: Register, odd: Register) -> Register {
    let (even, odd) = (_mm256_castsi256_ps(even), _mm256_castsi256_ps(odd));
    _mm256_castps_si256(if UPPER { _mm256_shuffle_ps::<0xdd>(even, odd) } else { _mm256_shuffle_ps::<0x88>(even, odd) })
}

/// In the order of the slots.
#[target_feature(enable = "avx2")]
#[inline]
fn ordered(residues: Register) -> Register {
    _mm256_shuffle_epi32::<0xd8>(residues)
}

/// The residues of the even and the odd sums, in order.
#[target_feature(enable = "avx2")]
#[inline]
fn merge(reduction: Reduction, [even, odd]: [Register; 2]) -> Register {
    let both = halves::<false>(reduce_lanes(reduction, even), reduce_lanes(reduction, odd));
    ordered(_mm256_min_epu32(both, _mm256_sub_epi32(both, _mm256_set1_epi32(reduction.q as i32))))
}

/// The same modulo q, below 2^(k + 29): see [`FOLD`].
#[target_feature(enable = "avx2")]
#[inline]
fn fold(power: u64, sums: [Register; 2]) -> [Register; 2] {
    let (power, mask) = (_mm256_set1_epi64x(power as i64), _mm256_set1_epi64x((1 << FOLD) - 1));
    sums.map(|x| {
        _mm256_add_epi64(_mm256_and_si256(x, mask), _mm256_mul_epu32(_mm256_srli_epi64::<{ FOLD as i32 }>(x), power))
    })
}

/// The residues of [`SHORT`] sums: one estimate, short of the quotient by less than 3, suffices, and all
/// after it happens in 32-bit lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn merge_short(reduction: Reduction, [even, odd]: [Register; 2]) -> Register {
    let (ratio, count) = (_mm256_set1_epi64x(reduction.ratio as i64), _mm_cvtsi32_si128(reduction.bits as i32 - 1));
    let product = |x| _mm256_mul_epu32(_mm256_srl_epi64(x, count), ratio);
    // The upper halves of the products are the estimates.
    let estimates = halves::<true>(product(even), product(odd));
    let q = _mm256_set1_epi32(reduction.q as i32);
    let rest = _mm256_sub_epi32(halves::<false>(even, odd), _mm256_mullo_epi32(estimates, q));
    let rest = _mm256_min_epu32(rest, _mm256_sub_epi32(rest, q));
    ordered(_mm256_min_epu32(rest, _mm256_sub_epi32(rest, q)))
}
