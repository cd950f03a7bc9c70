//! Sums of products of 32-bit residues on the AVX-512 path. Every function enables the features of that kernel and is called only
//! through [`crate::residues::Vectors`], which exist only where they were found.
//!
//! Their bounds on Zen 5, whose core multiplies 16 pairs a cycle and has four vector pipes: a term of 16 slots for G left sides and C
//! columns is 2GC products, 2GC additions, and G + C shifts that bring odd residues down to where the multiplier reads. So the pipes
//! allow 4GC / (4GC + G + C) of what the multiply port does: 73 % for an external product (G = 1, C = 2), 80 % for two that
//! share a key, 84 % for GC = 8, more than which registers do not hold (71, 79 and 82 % measured, without reduction). The reduction
//! is 13 operations for 16 sums, which leaves 52 % for 6 terms alone and 60 % for 8 terms in pairs.
//!
//! Reading the second-level cache in more than a few streams takes two cycles a line, in any order, with or without
//! prefetching: at N = 2048 an external product moves 80 lines for 64 slots, 160 cycles against 48 of products (30 %). One stream
//! takes 1 to 1.4 cycles a line: in tiles, a column is one.

use super::super::TILE;
use super::super::combination::{Combination, Target};
use super::super::scalar::{self, Reduction};
use super::{FOLD, FOLDED, LINE, LONG, Plan, SHORT, for_width, registers, sums};
use crate::modulus::Modulus;
use std::arch::x86_64::*;
use std::ops::Range;

/// Residues in a register.
const LANES: usize = 16;

type Register = __m512i;

sums!("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni", 2, 4, 4);

registers!(
    "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni",
    _mm512_setzero_si512,
    _mm512_set1_epi32,
    _mm512_set1_epi64,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_srli_epi64,
    _mm512_srl_epi64,
    _mm512_add_epi64,
    _mm512_add_epi32,
    _mm512_sub_epi32,
    _mm512_or_si512,
    _mm512_min_epu32,
    _mm512_mul_epu32,
    multiply
);

/// Products of the lower halves of 64-bit lanes. The intrinsic becomes a product of whole lanes where the compiler finds that upper
/// halves are zero, which takes three times as long.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn multiply(a: __m512i, b: __m512i) -> __m512i {
    let product: __m512i;
    // SAFETY: the processor has the instruction, as the feature says; nothing but registers is touched.
    unsafe {
        std::arch::asm!(
            "vpmuludq {0}, {1}, {2}",
            lateout(zmm_reg) product, in(zmm_reg) a, in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    product
}

/// [`Reduction::apply`] in 64-bit lanes, without the last conditional subtraction: in [0, 2q).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn reduce_lanes(reduction: Reduction, x: __m512i) -> __m512i {
    let (q, ratio) = (_mm512_set1_epi64(reduction.q as i64), _mm512_set1_epi64(reduction.ratio as i64));
    let count = |bits: u32| _mm_cvtsi32_si128(bits as i32);
    let high = multiply(_mm512_srli_epi64::<32>(x), ratio);
    let estimate = _mm512_srl_epi64(high, count(reduction.bits - 1));
    let rest = _mm512_sub_epi64(x, _mm512_mullo_epi64(estimate, q));
    let upper = multiply(_mm512_srli_epi64::<3>(rest), ratio);
    let estimate = _mm512_srl_epi64(upper, count(reduction.bits + 28));
    _mm512_sub_epi64(rest, multiply(estimate, q))
}

/// [`Reduction::apply`] in 64-bit lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn reduce(reduction: Reduction, x: __m512i) -> __m512i {
    let rest = reduce_lanes(reduction, x);
    _mm512_min_epu64(rest, _mm512_sub_epi64(rest, _mm512_set1_epi64(reduction.q as i64)))
}

/// The lower halves of the even and of the odd sums, two of each in turn; of the upper halves if `UPPER`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn halves<const UPPER: bool>(even: __m512i, odd: __m512i) -> __m512i {
    let (even, odd) = (_mm512_castsi512_ps(even), _mm512_castsi512_ps(odd));
    _mm512_castps_si512(if UPPER { _mm512_shuffle_ps::<0xdd>(even, odd) } else { _mm512_shuffle_ps::<0x88>(even, odd) })
}

/// In the order of the slots.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn ordered(residues: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<0xd8>(residues)
}

/// The residues of the even and the odd sums, in order.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn merge(reduction: Reduction, [even, odd]: [__m512i; 2]) -> __m512i {
    let both = halves::<false>(reduce_lanes(reduction, even), reduce_lanes(reduction, odd));
    ordered(_mm512_min_epu32(both, _mm512_sub_epi32(both, _mm512_set1_epi32(reduction.q as i32))))
}

/// The same modulo q, below 2^(k + 29): see [`FOLD`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn fold(power: u64, sums: [__m512i; 2]) -> [__m512i; 2] {
    let (power, mask) = (_mm512_set1_epi64(power as i64), _mm512_set1_epi64((1 << FOLD) - 1));
    sums.map(|x| _mm512_add_epi64(_mm512_and_epi64(x, mask), multiply(_mm512_srli_epi64::<FOLD>(x), power)))
}

/// The residues of [`SHORT`] sums: one estimate, short of the quotient by less than 3, suffices, and all
/// after it happens in 32-bit lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn merge_short(reduction: Reduction, [even, odd]: [__m512i; 2]) -> __m512i {
    let (ratio, count) = (_mm512_set1_epi64(reduction.ratio as i64), _mm_cvtsi32_si128(reduction.bits as i32 - 1));
    let product = |x| multiply(_mm512_srl_epi64(x, count), ratio);
    // The upper halves of the products are the estimates.
    let estimates = halves::<true>(product(even), product(odd));
    let q = _mm512_set1_epi32(reduction.q as i32);
    let rest = _mm512_sub_epi32(halves::<false>(even, odd), _mm512_mullo_epi32(estimates, q));
    let rest = _mm512_min_epu32(rest, _mm512_sub_epi32(rest, q));
    ordered(_mm512_min_epu32(rest, _mm512_sub_epi32(rest, q)))
}
