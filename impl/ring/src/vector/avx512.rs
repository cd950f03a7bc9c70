//! The AVX-512 path: the plain loops of [`super::scalar`] compiled with its vectors. Every function enables
//! the features of that kernel and is called only through [`super::Vectors`], which exist only where they were found.

use super::scalar::{self, Reduction};
use crate::modulus::Modulus;
use crate::word::Word;
use std::arch::x86_64::*;

/// The loop of that name with this file's features.
macro_rules! recompile {
    ($($name:ident $(<$word:ident>)? ($($argument:ident: $type:ty),*);)*) => {
        $(
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
            pub(super) fn $name $(<$word: Word>)? ($($argument: $type),*) {
                scalar::$name($($argument),*);
            }
        )*
    };
}

recompile! {
    add<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
    sub<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
    neg<W>(modulus: &Modulus<W>, a: &mut [W]);
    mul<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
    mul_add<W>(modulus: &Modulus<W>, acc: &mut [W], a: &[W], b: &[W]);
    mul_scalar<W>(modulus: &Modulus<W>, a: &mut [W], scalar: W);
    reduce_signed<W>(modulus: &Modulus<W>, x: &[i32], out: &mut [W]);
    centred_residues<W>(p: &Modulus<W>, x: &[W], modulus: &Modulus<W>, out: &mut [W]);
    reduce_u32(modulus: &Modulus<u32>, x: &[u64], out: &mut [u32]);
    compose_pair(primes: (u32, u32), inverse: u32, a: &[u32], b: &[u32], out: &mut [u64]);
}

/// Residues in a register, and registers of them that are summed side by side: four lines of each vector, so that vectors whose
/// addresses agree modulo 4096, which share the sets of the first-level cache, are read a few lines at a time.
const LANES: usize = 16;
const REGISTERS: usize = 4;

/// Sums of products with `C` columns. The even and the odd elements of a register are multiplied apart: the multiplier takes the
/// lower half of each 64-bit lane, so the odd ones are shifted down, those of `left` once for all columns.
///
/// # Safety
/// Every vector of `left` and `right` holds `at + LANES * REGISTERS` elements; `right` holds a vector for each term and column of
/// `columns`, of which the first here is `first`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
unsafe fn sums<const C: usize>(
    modulus: &Modulus<u32>,
    reduction: Reduction,
    left: &[&[u32]],
    right: &[&[u32]],
    (first, columns): (usize, usize),
    at: usize,
) -> [[__m512i; REGISTERS]; C] {
    let mut sums = [[[_mm512_setzero_si512(); 2]; REGISTERS]; C];
    let terms = scalar::terms_u32(modulus);
    for (t, left) in left.iter().enumerate() {
        if t > 0 && t % terms == 0 {
            for sum in sums.as_flattened_mut().as_flattened_mut() {
                let (low, q) = (reduce_lanes(reduction, *sum), _mm512_set1_epi64(reduction.q as i64));
                *sum = _mm512_min_epu64(low, _mm512_sub_epi64(low, q));
            }
        }
        for register in 0..REGISTERS {
            // SAFETY: the caller's promise.
            let load = |vector: &[u32]| unsafe {
                let even = _mm512_loadu_si512(vector.as_ptr().add(at + register * LANES).cast());
                (even, _mm512_srli_epi64::<32>(even))
            };
            let (even, odd) = load(left);
            for (c, sums) in sums.iter_mut().enumerate() {
                let (right_even, right_odd) = load(right[t * columns + first + c]);
                let sum = &mut sums[register];
                sum[0] = _mm512_add_epi64(sum[0], _mm512_mul_epu32(even, right_even));
                sum[1] = _mm512_add_epi64(sum[1], _mm512_mul_epu32(odd, right_odd));
            }
        }
    }
    sums.map(|column| column.map(|sum| merge(reduction, sum)))
}

/// [`Reduction::apply`] in 64-bit lanes, without the last conditional subtraction: in [0, 2q).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn reduce_lanes(reduction: Reduction, x: __m512i) -> __m512i {
    let (q, ratio) = (_mm512_set1_epi64(reduction.q as i64), _mm512_set1_epi64(reduction.ratio as i64));
    let count = |bits: u32| _mm_cvtsi32_si128(bits as i32);
    let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(x), ratio);
    let estimate = _mm512_srl_epi64(high, count(reduction.bits - 1));
    let rest = _mm512_sub_epi64(x, _mm512_mullo_epi64(estimate, q));
    let upper = _mm512_mul_epu32(_mm512_srli_epi64::<3>(rest), ratio);
    let estimate = _mm512_srl_epi64(upper, count(reduction.bits + 28));
    _mm512_sub_epi64(rest, _mm512_mul_epu32(estimate, q))
}

/// The residues of the even and the odd sums, in order.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn merge(reduction: Reduction, [even, odd]: [__m512i; 2]) -> __m512i {
    let (even, odd) = (reduce_lanes(reduction, even), reduce_lanes(reduction, odd));
    let both = _mm512_or_si512(even, _mm512_slli_epi64::<32>(odd));
    _mm512_min_epu32(both, _mm512_sub_epi32(both, _mm512_set1_epi32(reduction.q as i32)))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn sum_products_u32(modulus: &Modulus<u32>, left: &[&[u32]], right: &[&[u32]], out: &mut [&mut [u32]]) {
    const BLOCK: usize = LANES * REGISTERS;
    let (columns, n) = (out.len(), out.first().map_or(0, |column| column.len()));
    let Some(reduction) = Reduction::new(modulus).filter(|_| n.is_multiple_of(BLOCK)) else {
        return scalar::sum_products_u32(modulus, left, right, out);
    };
    for at in (0..n).step_by(BLOCK) {
        let mut store = |column: usize, registers: [__m512i; REGISTERS]| {
            for (register, block) in registers.iter().zip(out[column][at..at + BLOCK].chunks_exact_mut(LANES)) {
                // SAFETY: the chunk holds a register's elements.
                unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), *register) };
            }
        };
        for first in (0..columns).step_by(2) {
            // SAFETY: `Vectors::sum_products` asserts that all vectors hold n elements, and one for each term and column.
            unsafe {
                if first + 1 < columns {
                    let [a, b] = sums::<2>(modulus, reduction, left, right, (first, columns), at);
                    store(first, a);
                    store(first + 1, b);
                } else {
                    let [a] = sums::<1>(modulus, reduction, left, right, (first, columns), at);
                    store(first, a);
                }
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn permute<W: Word>(slots: &[u32], a: &[W], out: &mut [W]) {
    for (slots, out) in slots.chunks_exact(LANES).zip(out.chunks_exact_mut(LANES)) {
        let block = slots[0] as usize & !(LANES - 1);
        let source = &a[block..block + LANES];
        // SAFETY: slots, source and out are 16 elements each; the permutations take the slots modulo 16 or 8.
        unsafe {
            let slots = _mm512_loadu_si512(slots.as_ptr().cast());
            if W::BITS == 32 {
                let source = _mm512_loadu_si512(source.as_ptr().cast());
                _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_permutexvar_epi32(slots, source));
            } else {
                let low = _mm512_loadu_si512(source.as_ptr().cast());
                let high = _mm512_loadu_si512(source.as_ptr().add(8).cast());
                let halves = [_mm512_castsi512_si256(slots), _mm512_extracti64x4_epi64::<1>(slots)];
                for (half, slots) in halves.into_iter().enumerate() {
                    let permuted = _mm512_permutex2var_epi64(low, _mm512_cvtepu32_epi64(slots), high);
                    _mm512_storeu_si512(out.as_mut_ptr().add(8 * half).cast(), permuted);
                }
            }
        }
    }
}
