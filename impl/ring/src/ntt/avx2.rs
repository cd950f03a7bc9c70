//! Registers of AVX2, beside multiply-add of doubles.

use super::avx512::compiled;
use super::field32::Isa32;
use super::field64::Isa64;
use super::lanes::{Constants, Field, Isa, instructions};
use super::tables::Table;
use std::arch::x86_64::*;

/// Eight lanes of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2x32;

/// Four lanes of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2x64;

/// The low and the high halves of both registers.
#[inline(always)]
unsafe fn halves(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller's promise, as in the rest of this file.
    unsafe { (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)) }
}

#[inline(always)]
unsafe fn odd_halves(a: __m256i) -> __m256i {
    unsafe { _mm256_castps_si256(_mm256_movehdup_ps(_mm256_castsi256_ps(a))) }
}

#[inline(always)]
unsafe fn even_halves(a: __m256i) -> __m256i {
    unsafe { _mm256_castps_si256(_mm256_moveldup_ps(_mm256_castsi256_ps(a))) }
}

impl Isa for Avx2x32 {
    type W = u32;
    type V = __m256i;
    const LOG_LANES: usize = 3;
    const LOG_BLOCK: usize = 2;
    const LOG_RADIX: usize = 2;
    const MANY_REGISTERS: bool = false;

    instructions! {
        fn load(from: *const u32) -> __m256i = _mm256_loadu_si256(from.cast());
        fn load_signed(from: *const i32) -> __m256i = _mm256_loadu_si256(from.cast());
        fn store(to: *mut u32, v: __m256i) = _mm256_storeu_si256(to.cast(), v);
        fn splat(value: u32) -> __m256i = _mm256_set1_epi32(value as i32);
        fn add(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
        fn sub(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi32(a, b);
        fn min(a: __m256i, b: __m256i) -> __m256i = _mm256_min_epu32(a, b);
        fn mul_low(a: __m256i, b: __m256i) -> __m256i = _mm256_mullo_epi32(a, b);
        fn zip(a: __m256i, b: __m256i) -> (__m256i, __m256i) =
            halves(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    }

    #[inline(always)]
    unsafe fn exchange(distance: usize, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        unsafe {
            match distance {
                4 => halves(a, b),
                2 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                _ => (_mm256_blend_epi32::<0xAA>(a, even_halves(b)), _mm256_blend_epi32::<0xAA>(odd_halves(a), b)),
            }
        }
    }

    #[inline(always)]
    unsafe fn unzip(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        unsafe {
            let (low, high) = halves(a, b);
            let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
            let (even, odd) = (_mm256_shuffle_ps::<0x88>(low, high), _mm256_shuffle_ps::<0xDD>(low, high));
            (_mm256_castps_si256(even), _mm256_castps_si256(odd))
        }
    }

    compiled!("avx2", forward, inverse);
}

/// The high halves of `even` in the even lanes, those of `odd` in the odd ones.
#[inline(always)]
unsafe fn high_halves(even: __m256i, odd: __m256i) -> __m256i {
    unsafe { _mm256_blend_epi32::<0xAA>(odd_halves(even), odd) }
}

impl Isa32 for Avx2x32 {
    instructions! {
        fn mul_high_signed(a: __m256i, b: __m256i) -> __m256i =
            high_halves(_mm256_mul_epi32(a, b), _mm256_mul_epi32(odd_halves(a), odd_halves(b)));
        fn mul_high(a: __m256i, b: __m256i) -> __m256i =
            high_halves(_mm256_mul_epu32(a, b), _mm256_mul_epu32(odd_halves(a), odd_halves(b)));
        fn dot16(sum: __m256i, a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
        fn shift_right_signed(a: __m256i, bits: __m256i) -> __m256i = _mm256_srav_epi32(a, bits);
    }
}

impl Isa for Avx2x64 {
    type W = u64;
    type V = __m256i;
    const LOG_LANES: usize = 2;
    const LOG_BLOCK: usize = 2;
    const LOG_RADIX: usize = 2;
    const MANY_REGISTERS: bool = false;

    instructions! {
        fn load(from: *const u64) -> __m256i = _mm256_loadu_si256(from.cast());
        fn load_signed(from: *const i32) -> __m256i = _mm256_cvtepi32_epi64(_mm_loadu_si128(from.cast()));
        fn store(to: *mut u64, v: __m256i) = _mm256_storeu_si256(to.cast(), v);
        fn splat(value: u64) -> __m256i = _mm256_set1_epi64x(value as i64);
        fn add(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi64(a, b);
        fn sub(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi64(a, b);
        fn zip(a: __m256i, b: __m256i) -> (__m256i, __m256i) =
            halves(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    }

    // The set compares signed words only.
    #[inline(always)]
    unsafe fn min(a: __m256i, b: __m256i) -> __m256i {
        unsafe {
            let sign = _mm256_set1_epi64x(i64::MIN);
            let greater = _mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign));
            _mm256_blendv_epi8(a, b, greater)
        }
    }

    #[inline(always)]
    unsafe fn mul_low(a: __m256i, b: __m256i) -> __m256i {
        unsafe {
            // Both mixed products, of which the low halves count, side by side.
            let mixed = _mm256_mullo_epi32(a, _mm256_shuffle_epi32::<0xB1>(b));
            let upper = _mm256_add_epi32(mixed, _mm256_slli_epi64::<32>(mixed));
            let upper = _mm256_blend_epi32::<0xAA>(_mm256_setzero_si256(), upper);
            _mm256_add_epi64(_mm256_mul_epu32(a, b), upper)
        }
    }

    #[inline(always)]
    unsafe fn exchange(distance: usize, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        unsafe {
            match distance {
                2 => halves(a, b),
                _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
            }
        }
    }

    #[inline(always)]
    unsafe fn unzip(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        unsafe {
            let (low, high) = halves(a, b);
            (_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high))
        }
    }

    compiled!("avx2,fma", forward, inverse);
}

impl Isa64 for Avx2x64 {
    instructions! {
        fn mul32(a: __m256i, b: __m256i) -> __m256i = _mm256_mul_epu32(a, b);
        fn high32(a: __m256i) -> __m256i = _mm256_srli_epi64::<32>(a);
        fn shift_right(a: __m256i, bits: __m256i) -> __m256i = _mm256_srlv_epi64(a, bits);
        fn and(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
    }
}
