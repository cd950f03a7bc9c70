//! The AVX-512 path: the plain loops of [`super::scalar`] compiled with its vectors. Every function enables
//! the features of that kernel and is called only through [`super::Vectors`], which exist only where they were found.

use super::scalar::{self, Reduction};
use super::{TILE, Tiles};
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
    add_multiples(digits: &[i32], rows: &[u32], sums: &mut [u32]);
    add_wide_multiples(digits: &[i32], rows: &[u32], sums: &mut [i64]);
}

/// Residues in a register, and registers of them that are summed side by side: four lines of each vector, so that vectors whose
/// addresses agree modulo 4096, which share the sets of the first-level cache, are read a few lines at a time.
const LANES: usize = 16;
const REGISTERS: usize = 4;

/// How a sum of products modulo one q is reduced.
#[derive(Clone, Copy)]
struct Plan {
    reduction: Reduction,
    /// Terms after which a sum must be reduced.
    terms: usize,
    /// Whether one quotient estimate suffices for the sum of all terms.
    is_short: bool,
}

impl Plan {
    /// For sums of so many terms; None if the modulus is too short.
    fn new(modulus: &Modulus<u32>, count: usize) -> Option<Self> {
        let reduction = Reduction::new(modulus)?;
        let (terms, square) = (scalar::terms_u32(modulus), (reduction.q - 1).pow(2));
        let is_short = reduction.bits <= 30 && count <= terms && (count as u64 * square) >> (reduction.bits + 31) == 0;
        Some(Self { reduction, terms, is_short })
    }
}

/// Sums of products for the columns of `right` from `first` on, one for each of `out`. The even and the odd elements of a register
/// are multiplied apart: the multiplier takes the lower half of each 64-bit lane, so the odd ones are shifted down, those of
/// `left` once for all columns.
///
/// What binds it, for a term of a block of two columns on Zen 5: 16 products take 8 cycles of the multiply port; with 16 additions
/// and 12 shifts they fill four pipes for 11; its 12 lines take 28 when they come from the second-level cache in 18 streams (27 bytes
/// a cycle, measured). At N = 2048 it takes 31. Shuffles instead of shifts, loads at odd offsets (which cross lines), prefetching and
/// bursts of up to 2 KiB a vector gained nothing; only sharing a key among inputs would, which moves fewer lines.
///
/// # Safety
/// Every vector of `left` and `right` holds `at + LANES * REGISTERS` elements; `right` holds `columns` vectors for each term, of
/// which `first + C` are at most all; as many elements as a block has may be written at each of `out`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[allow(clippy::needless_range_loop, reason = "loops over constants unroll, and the sums stay in registers")]
unsafe fn block<const C: usize>(
    plan: Plan,
    left: &[&[u32]],
    right: &[&[u32]],
    (first, columns): (usize, usize),
    at: usize,
    out: [*mut u32; C],
) {
    let mut sums = [[[_mm512_setzero_si512(); 2]; REGISTERS]; C];
    let mut rows = right.chunks_exact(columns);
    for (chunk, left) in left.chunks(plan.terms).enumerate() {
        if chunk > 0 {
            let q = _mm512_set1_epi64(plan.reduction.q as i64);
            for sum in sums.as_flattened_mut().as_flattened_mut() {
                let rest = reduce_lanes(plan.reduction, *sum);
                *sum = _mm512_min_epu64(rest, _mm512_sub_epi64(rest, q));
            }
        }
        for (left, row) in left.iter().zip(&mut rows) {
            for register in 0..REGISTERS {
                let offset = at + register * LANES;
                // SAFETY: the caller's promise.
                let even = unsafe { _mm512_loadu_si512(left.as_ptr().add(offset).cast()) };
                let odd = _mm512_srli_epi64::<32>(even);
                for c in 0..C {
                    // SAFETY: as above.
                    let right = unsafe { _mm512_loadu_si512(row[first + c].as_ptr().add(offset).cast()) };
                    let sum = &mut sums[c][register];
                    sum[0] = _mm512_add_epi64(sum[0], _mm512_mul_epu32(even, right));
                    sum[1] = _mm512_add_epi64(sum[1], _mm512_mul_epu32(odd, _mm512_srli_epi64::<32>(right)));
                }
            }
        }
    }
    for c in 0..C {
        for register in 0..REGISTERS {
            let sum = sums[c][register];
            let residues = if plan.is_short { merge_short(plan.reduction, sum) } else { merge(plan.reduction, sum) };
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(out[c].add(register * LANES).cast(), residues) };
        }
    }
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
    let both = _mm512_mask_blend_epi32(ODD, even, _mm512_slli_epi64::<32>(odd));
    _mm512_min_epu32(both, _mm512_sub_epi32(both, _mm512_set1_epi32(reduction.q as i32)))
}

/// The same for sums below 2^(k + 31) where 3q < 2^32: one estimate, short of the quotient by less than 3, suffices, and all
/// after it happens in 32-bit lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn merge_short(reduction: Reduction, [even, odd]: [__m512i; 2]) -> __m512i {
    let (ratio, count) = (_mm512_set1_epi64(reduction.ratio as i64), _mm_cvtsi32_si128(reduction.bits as i32 - 1));
    let product = |x| _mm512_mul_epu32(_mm512_srl_epi64(x, count), ratio);
    // The upper halves of the products are the estimates.
    let estimates = _mm512_mask_blend_epi32(ODD, _mm512_srli_epi64::<32>(product(even)), product(odd));
    let sums = _mm512_mask_blend_epi32(ODD, even, _mm512_slli_epi64::<32>(odd));
    let q = _mm512_set1_epi32(reduction.q as i32);
    let rest = _mm512_sub_epi32(sums, _mm512_mullo_epi32(estimates, q));
    let rest = _mm512_min_epu32(rest, _mm512_sub_epi32(rest, q));
    _mm512_min_epu32(rest, _mm512_sub_epi32(rest, q))
}

/// The odd ones of 16 lanes.
const ODD: __mmask16 = 0xaaaa;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn sum_products_u32(modulus: &Modulus<u32>, left: &[&[u32]], right: &[&[u32]], out: &mut [&mut [u32]]) {
    const BLOCK: usize = LANES * REGISTERS;
    let (columns, n) = (out.len(), out.first().map_or(0, |column| column.len()));
    let Some(plan) = Plan::new(modulus, left.len()).filter(|_| n.is_multiple_of(BLOCK)) else {
        return scalar::sum_products_u32(modulus, left, right, out);
    };
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

/// Sums of products for one tile and `C` columns, no more terms than need no reduction: `left` is the tile of the first of as many
/// vectors as terms, `right` the tile of the first term and the first of the columns, `out` that of the first sum. Vectors lie `pitch`
/// elements apart, terms of `right` `columns` tiles.
///
/// # Safety
/// All these tiles may be read and those of `out` written.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[allow(clippy::needless_range_loop, reason = "loops over constants unroll, and the sums stay in registers")]
unsafe fn tile<const C: usize>(
    plan: Plan,
    (terms, columns, pitch): (usize, usize, usize),
    left: *const u32,
    right: *const u32,
    out: *mut u32,
) {
    let mut sums = [[[_mm512_setzero_si512(); 2]; REGISTERS]; C];
    for term in 0..terms {
        for register in 0..REGISTERS {
            // SAFETY: the caller's promise.
            let even = unsafe { _mm512_loadu_si512(left.add(term * pitch + register * LANES).cast()) };
            let odd = _mm512_srli_epi64::<32>(even);
            for c in 0..C {
                // SAFETY: as above.
                let right =
                    unsafe { _mm512_loadu_si512(right.add((term * columns + c) * TILE + register * LANES).cast()) };
                let sum = &mut sums[c][register];
                sum[0] = _mm512_add_epi64(sum[0], _mm512_mul_epu32(even, right));
                sum[1] = _mm512_add_epi64(sum[1], _mm512_mul_epu32(odd, _mm512_srli_epi64::<32>(right)));
            }
        }
    }
    for c in 0..C {
        for register in 0..REGISTERS {
            let sum = sums[c][register];
            let residues = if plan.is_short { merge_short(plan.reduction, sum) } else { merge(plan.reduction, sum) };
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(out.add(c * pitch + register * LANES).cast(), residues) };
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn sum_tiles_u32(modulus: &Modulus<u32>, sizes: Tiles, left: &[u32], right: &[u32], out: &mut [u32]) {
    const { assert!(TILE == LANES * REGISTERS) };
    let Some(plan) = Plan::new(modulus, sizes.terms).filter(|plan| sizes.terms <= plan.terms) else {
        return scalar::sum_tiles(sizes, left, right, out, |left, right, out| {
            sum_products_u32(modulus, left, right, out);
        });
    };
    let Tiles { n, terms, columns } = sizes;
    let pitch = n + TILE;
    let groups = out.len() / (columns * pitch).max(1);
    for at in (0..n).step_by(TILE) {
        for group in 0..groups {
            for first in (0..columns).step_by(2) {
                if group == 0 {
                    // The pass's share of the tiles that come next: those of keys come from memory, and passes read them in strides.
                    let next = right.as_ptr().wrapping_add((at + TILE) * terms * columns + first * terms * TILE);
                    for line in 0..terms * TILE * (columns - first).min(2) / LANES {
                        _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add(line * LANES).cast());
                    }
                }
                // SAFETY: `Vectors::sum_tiles` asserts that there are `groups` times `terms` and `columns` vectors of n elements `pitch`
                // apart on either side, and tiles for each term and column: `terms * columns` for each TILE of n.
                unsafe {
                    let left = left.as_ptr().add(group * terms * pitch + at);
                    let right = right.as_ptr().add(at * terms * columns + first * TILE);
                    let out = out.as_mut_ptr().add((group * columns + first) * pitch + at);
                    if first + 1 < columns {
                        tile::<2>(plan, (terms, columns, pitch), left, right, out);
                    } else {
                        tile::<1>(plan, (terms, columns, pitch), left, right, out);
                    }
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
