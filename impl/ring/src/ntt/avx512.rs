//! Registers of AVX-512 (F, BW, VL, DQ, VBMI, VNNI, and IFMA where said).

use super::field32::Isa32;
use super::field64::Isa64;
use super::lanes::{Constants, Field, Isa};
use super::passes;
use super::tables::Table;
use std::arch::asm;
use std::arch::x86_64::*;

/// The functions of [`Isa`] that only differ in their instructions and features.
macro_rules! entry {
    ($features:literal, $forward:ident, $inverse:ident) => {
        #[target_feature(enable = $features)]
        unsafe fn $forward<F: Field>(
            constants: &Constants<super::lanes::Word<F>>,
            table: &Table<super::lanes::Word<F>>,
            signed: Option<&[i32]>,
            data: &mut [super::lanes::Word<F>],
        ) {
            // SAFETY: the caller's promise; the instructions are enabled here.
            unsafe { passes::forward::<F>(constants, table, signed, data) }
        }

        #[target_feature(enable = $features)]
        unsafe fn $inverse<F: Field>(
            constants: &Constants<super::lanes::Word<F>>,
            table: &Table<super::lanes::Word<F>>,
            scale: &[super::lanes::Word<F>; 4],
            data: &mut [super::lanes::Word<F>],
        ) {
            // SAFETY: as above.
            unsafe { passes::inverse::<F>(constants, table, scale, data) }
        }
    };
}
pub(super) use entry;

entry!("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni", forward, inverse);
entry!("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,avx512ifma", forward_ifma, inverse_ifma);

/// Sixteen lanes of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512x32;

#[inline(always)]
unsafe fn permute32(a: __m512i, b: __m512i, index: &'static [u32; 16]) -> __m512i {
    // SAFETY: the caller's promise; 64 bytes of index.
    unsafe { _mm512_permutex2var_epi32(a, _mm512_loadu_si512(index.as_ptr().cast()), b) }
}

#[inline(always)]
unsafe fn permute64(a: __m512i, b: __m512i, index: &'static [u64; 8]) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_permutex2var_epi64(a, _mm512_loadu_si512(index.as_ptr().cast()), b) }
}

/// The quarters 0 and 2, or 1 and 3, of both registers.
const QUARTERS: [[u64; 8]; 2] = [[0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]];
const ZIP32: [[u32; 16]; 2] = [
    [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23],
    [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31],
];
const UNZIP32: [[u32; 16]; 2] = [
    [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30],
    [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31],
];
const ZIP64: [[u64; 8]; 2] = [[0, 8, 1, 9, 2, 10, 3, 11], [4, 12, 5, 13, 6, 14, 7, 15]];
const UNZIP64: [[u64; 8]; 2] = [[0, 2, 4, 6, 8, 10, 12, 14], [1, 3, 5, 7, 9, 11, 13, 15]];

/// [`Isa::exchange`] of `bytes` 32, 16 or 8 between whole registers.
#[inline(always)]
unsafe fn exchange_bytes(bytes: usize, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            32 => (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xEE>(a, b)),
            16 => (permute64(a, b, &QUARTERS[0]), permute64(a, b, &QUARTERS[1])),
            _ => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
        }
    }
}

#[inline(always)]
unsafe fn odd_halves(a: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_castps_si512(_mm512_movehdup_ps(_mm512_castsi512_ps(a))) }
}

/// The high halves of `even` in the even lanes, those of `odd` in the odd ones.
#[target_feature(enable = "avx512f")]
#[inline]
fn high_halves(even: __m512i, odd: __m512i) -> __m512i {
    let mut high = odd;
    // SAFETY: the caller's promise; changes nothing but `high`. In assembly because the compiler makes two shuffles of the
    // intrinsic, and beside its products the 32-bit butterfly consists mostly of shuffles.
    unsafe {
        asm!(
            "vmovshdup {high}{{{even_lanes}}}, {even}",
            high = inout(zmm_reg) high,
            even = in(zmm_reg) even,
            even_lanes = in(kreg) 0x5555u16,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    high
}

impl Isa for Avx512x32 {
    type W = u32;
    type V = __m512i;
    const LOG_LANES: usize = 4;
    const LOG_BLOCK: usize = 3;
    const LOG_RADIX: usize = 3;
    const MANY_REGISTERS: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_signed(from: *const i32) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut u32, v: __m512i) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(to.cast(), v) }
    }

    #[inline(always)]
    unsafe fn splat(value: u32) -> __m512i {
        // SAFETY: the caller's promise, as in the rest of this file.
        unsafe { _mm512_set1_epi32(value as i32) }
    }

    #[inline(always)]
    unsafe fn add(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn sub(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn min(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_min_epu32(a, b) }
    }

    #[inline(always)]
    unsafe fn mul_low(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_mullo_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn exchange(distance: usize, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        unsafe {
            if distance > 1 {
                return exchange_bytes(4 * distance, a, b);
            }
            let (a, b) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
            let (even, odd) = (_mm512_mask_moveldup_ps(a, 0xAAAA, b), _mm512_mask_movehdup_ps(b, 0x5555, a));
            (_mm512_castps_si512(even), _mm512_castps_si512(odd))
        }
    }

    #[inline(always)]
    unsafe fn zip(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        unsafe { (permute32(a, b, &ZIP32[0]), permute32(a, b, &ZIP32[1])) }
    }

    #[inline(always)]
    unsafe fn unzip(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        unsafe { (permute32(a, b, &UNZIP32[0]), permute32(a, b, &UNZIP32[1])) }
    }

    #[inline(always)]
    unsafe fn forward<F: Field<I = Self>>(
        constants: &Constants<u32>,
        table: &Table<u32>,
        signed: Option<&[i32]>,
        data: &mut [u32],
    ) {
        unsafe { forward::<F>(constants, table, signed, data) }
    }

    #[inline(always)]
    unsafe fn inverse<F: Field<I = Self>>(
        constants: &Constants<u32>,
        table: &Table<u32>,
        scale: &[u32; 4],
        data: &mut [u32],
    ) {
        unsafe { inverse::<F>(constants, table, scale, data) }
    }
}

impl Isa32 for Avx512x32 {
    #[inline(always)]
    unsafe fn mul_high_signed(a: __m512i, b: __m512i) -> __m512i {
        unsafe { high_halves(_mm512_mul_epi32(a, b), _mm512_mul_epi32(odd_halves(a), odd_halves(b))) }
    }

    #[inline(always)]
    unsafe fn mul_high(a: __m512i, b: __m512i) -> __m512i {
        unsafe { high_halves(_mm512_mul_epu32(a, b), _mm512_mul_epu32(odd_halves(a), odd_halves(b))) }
    }

    #[inline(always)]
    unsafe fn dot16(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_dpwssd_epi32(sum, a, b) }
    }

    #[inline(always)]
    unsafe fn shift_right_signed(a: __m512i, bits: __m512i) -> __m512i {
        unsafe { _mm512_srav_epi32(a, bits) }
    }
}

/// Eight lanes of 64 bits; compiled for IFMA too or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512x64<const IFMA: bool>;

impl<const IFMA: bool> Isa for Avx512x64<IFMA> {
    type W = u64;
    type V = __m512i;
    const LOG_LANES: usize = 3;
    const LOG_BLOCK: usize = 4;
    const LOG_RADIX: usize = 4;
    const MANY_REGISTERS: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> __m512i {
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_signed(from: *const i32) -> __m512i {
        unsafe { _mm512_cvtepi32_epi64(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut u64, v: __m512i) {
        unsafe { _mm512_storeu_si512(to.cast(), v) }
    }

    #[inline(always)]
    unsafe fn splat(value: u64) -> __m512i {
        unsafe { _mm512_set1_epi64(value as i64) }
    }

    #[inline(always)]
    unsafe fn add(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi64(a, b) }
    }

    #[inline(always)]
    unsafe fn sub(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi64(a, b) }
    }

    #[inline(always)]
    unsafe fn min(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_min_epu64(a, b) }
    }

    #[inline(always)]
    unsafe fn mul_low(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_mullo_epi64(a, b) }
    }

    #[inline(always)]
    unsafe fn exchange(distance: usize, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        unsafe { exchange_bytes(8 * distance, a, b) }
    }

    #[inline(always)]
    unsafe fn zip(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        unsafe { (permute64(a, b, &ZIP64[0]), permute64(a, b, &ZIP64[1])) }
    }

    #[inline(always)]
    unsafe fn unzip(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        unsafe { (permute64(a, b, &UNZIP64[0]), permute64(a, b, &UNZIP64[1])) }
    }

    #[inline(always)]
    unsafe fn forward<F: Field<I = Self>>(
        constants: &Constants<u64>,
        table: &Table<u64>,
        signed: Option<&[i32]>,
        data: &mut [u64],
    ) {
        unsafe {
            if IFMA {
                forward_ifma::<F>(constants, table, signed, data)
            } else {
                forward::<F>(constants, table, signed, data)
            }
        }
    }

    #[inline(always)]
    unsafe fn inverse<F: Field<I = Self>>(
        constants: &Constants<u64>,
        table: &Table<u64>,
        scale: &[u64; 4],
        data: &mut [u64],
    ) {
        unsafe {
            if IFMA {
                inverse_ifma::<F>(constants, table, scale, data)
            } else {
                inverse::<F>(constants, table, scale, data)
            }
        }
    }
}

impl Isa64 for Avx512x64<false> {
    #[inline(always)]
    unsafe fn mul32(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_mul_epu32(a, b) }
    }

    #[inline(always)]
    unsafe fn high32(a: __m512i) -> __m512i {
        unsafe { _mm512_srli_epi64::<32>(a) }
    }

    #[inline(always)]
    unsafe fn shift_right(a: __m512i, bits: __m512i) -> __m512i {
        unsafe { _mm512_srlv_epi64(a, bits) }
    }

    #[inline(always)]
    unsafe fn and(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_and_si512(a, b) }
    }
}
