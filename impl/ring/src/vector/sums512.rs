//! Sums of products of 32-bit residues on the AVX-512 path. Every function enables the features of that kernel and is called only
//! through [`super::Vectors`], which exist only where they were found.
//!
//! What binds them on Zen 5, whose core multiplies 16 pairs a cycle and has four vector pipes: a term of 16 slots for G left sides and C
//! columns is 2GC products, 2GC additions, and G + C shifts that bring odd residues down to where the multiplier reads. So the pipes
//! allow 4GC / (4GC + G + C) of what the multiply port does: 73 % for an external product (G = 1, C = 2), 80 % for two that
//! share a key, 84 % for GC = 8, more than which registers do not hold (71, 79 and 82 % measured, without reduction). The reduction
//! is 13 operations for 16 sums, which leaves 52 % for 6 terms alone and 60 % for 8 terms in pairs.
//!
//! What comes from the second-level cache in more than a few streams takes two cycles a line, in any order, with or without
//! prefetching: at N = 2048 an external product moves 80 lines for 64 slots, 160 cycles against 48 of products (30 %). One stream
//! takes 1 to 1.4 cycles a line: the order of tiles.

use super::scalar::{self, Reduction};
use super::{TILE, Tiles};
use crate::modulus::Modulus;
use std::arch::x86_64::*;
use std::ops::Range;

/// Residues in a register.
const LANES: usize = 16;

/// How a sum of products modulo one q is reduced.
#[derive(Clone, Copy)]
struct Plan {
    reduction: Reduction,
    /// Terms after which a sum must be reduced.
    terms: usize,
    /// 2^[`FOLD`] modulo q.
    power: u64,
}

/// Where wide sums are folded: for k >= 8, the upper 28 bits times a residue and the lower 36 bits make less than 2^(k + 29).
const FOLD: u32 = 36;

/// How wide sums get: below 2^(k + 31) where 3q < 2^32; any 64 bits where 3q < 2^32; any 64 bits.
const SHORT: u8 = 0;
const FOLDED: u8 = 1;
const LONG: u8 = 2;

impl Plan {
    /// For sums of so many terms, with their width; None if the modulus is too short.
    fn new(modulus: &Modulus<u32>, count: usize) -> Option<(Self, u8)> {
        let reduction = Reduction::new(modulus)?;
        let (terms, square) = (scalar::terms_u32(modulus), (reduction.q - 1).pow(2));
        let width = match reduction.bits {
            31.. => LONG,
            bits if count <= terms && (count as u64 * square) >> (bits + 31) == 0 => SHORT,
            _ => FOLDED,
        };
        Some((Self { reduction, terms, power: (1 << FOLD) % reduction.q }, width))
    }
}

/// Sums of the even and of the odd slots of `R` registers for `G` left sides and `C` columns.
type Sums<const G: usize, const C: usize, const R: usize> = [[[[__m512i; 2]; R]; C]; G];

/// Sums of so many products for `R` registers of slots of `G` left sides times `C` columns, which stay in registers: each line is read
/// once. The even and the odd elements are multiplied apart: the multiplier takes the lower half of each 64-bit lane, so the odd ones
/// are shifted down, those of a left side once for all columns, those of a column once for all left sides.
///
/// # Safety
/// `left` of each side and term and `right` of each term and column give places where `LANES * R` elements may be read; as many may be
/// written at each of `out`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
#[allow(clippy::needless_range_loop, reason = "loops over constants unroll, and the sums stay in registers")]
unsafe fn pass<const W: u8, const G: usize, const C: usize, const R: usize>(
    plan: Plan,
    terms: usize,
    left: impl Fn(usize, usize) -> *const u32,
    right: impl Fn(usize, usize) -> *const u32,
    out: [[*mut u32; C]; G],
) {
    // SAFETY: the caller's promise.
    let add = |sums, terms| unsafe { accumulate(sums, terms, &left, &right) };
    let mut sums = add([[[[_mm512_setzero_si512(); 2]; R]; C]; G], 0..terms.min(plan.terms));
    if W != SHORT {
        for done in (plan.terms..terms).step_by(plan.terms) {
            let reduced = sums.map(|sums| sums.map(|sums| sums.map(|sum| sum.map(|x| reduce(plan.reduction, x)))));
            sums = add(reduced, done..terms.min(done.saturating_add(plan.terms)));
        }
    }
    for g in 0..G {
        for c in 0..C {
            for register in 0..R {
                let sum = sums[g][c][register];
                let residues = match W {
                    SHORT => merge_short(plan.reduction, sum),
                    FOLDED => merge_short(plan.reduction, fold(plan.power, sum)),
                    _ => merge(plan.reduction, sum),
                };
                // SAFETY: as above.
                unsafe { _mm512_storeu_si512(out[g][c].add(register * LANES).cast(), residues) };
            }
        }
    }
}

/// Adds the products of these terms.
///
/// # Safety
/// As for [`pass`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
#[allow(clippy::needless_range_loop, reason = "as for `pass`")]
unsafe fn accumulate<const G: usize, const C: usize, const R: usize>(
    mut sums: Sums<G, C, R>,
    terms: Range<usize>,
    left: &impl Fn(usize, usize) -> *const u32,
    right: &impl Fn(usize, usize) -> *const u32,
) -> Sums<G, C, R> {
    for term in terms {
        let lefts: [_; G] = std::array::from_fn(|g| left(g, term));
        let rights: [_; C] = std::array::from_fn(|c| right(term, c));
        for register in 0..R {
            // SAFETY: the caller's promise.
            let read = |place: *const u32| unsafe { _mm512_loadu_si512(place.add(register * LANES).cast()) };
            let (lefts, rights) = (lefts.map(read), rights.map(read));
            let odd = lefts.map(|left| _mm512_srli_epi64::<32>(left));
            for c in 0..C {
                let odd_right = _mm512_srli_epi64::<32>(rights[c]);
                for g in 0..G {
                    let sum = &mut sums[g][c][register];
                    sum[0] = _mm512_add_epi64(sum[0], _mm512_mul_epu32(lefts[g], rights[c]));
                    sum[1] = _mm512_add_epi64(sum[1], _mm512_mul_epu32(odd[g], odd_right));
                }
            }
        }
    }
    sums
}

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

/// Calls the function for the width.
macro_rules! for_width {
    ($width:expr, $function:ident::<$($constant:literal),*>($($argument:expr),*)) => {
        match $width {
            SHORT => $function::<SHORT, $($constant),*>($($argument),*),
            FOLDED => $function::<FOLDED, $($constant),*>($($argument),*),
            _ => $function::<LONG, $($constant),*>($($argument),*),
        }
    };
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn sum_products_u32(modulus: &Modulus<u32>, left: &[&[u32]], right: &[&[u32]], out: &mut [&mut [u32]]) {
    let (columns, n) = (out.len(), out.first().map_or(0, |column| column.len()));
    let Some((plan, width)) = Plan::new(modulus, left.len()).filter(|_| n.is_multiple_of(TILE)) else {
        return scalar::sum_products_u32(modulus, left, right, out);
    };
    let mut first = 0;
    while first < columns {
        // SAFETY: `Vectors::sum_products` asserts that all vectors hold n elements, and as many columns for each term.
        first += unsafe {
            match columns - first {
                4.. => for_width!(width, slices::<4, 2>(plan, left, right, (first, columns, n), out)),
                2.. => for_width!(width, slices::<2, 4>(plan, left, right, (first, columns, n), out)),
                _ => for_width!(width, slices::<1, 4>(plan, left, right, (first, columns, n), out)),
            }
        };
    }
}

/// Sums for `C` columns from `first` on, `R` registers of slots at a time: how many columns they were.
///
/// # Safety
/// Every vector holds n elements, a multiple of `LANES * R`; `right` holds `columns` of them for each term, `out` as many.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
unsafe fn slices<const W: u8, const C: usize, const R: usize>(
    plan: Plan,
    left: &[&[u32]],
    right: &[&[u32]],
    (first, columns, n): (usize, usize, usize),
    out: &mut [&mut [u32]],
) -> usize {
    for at in (0..n).step_by(LANES * R) {
        // SAFETY: the caller's promise; terms are below `left.len()`, columns below `C`.
        unsafe {
            let of_left = |_: usize, term: usize| left.get_unchecked(term).as_ptr().add(at);
            let of_right = |term: usize, c: usize| right.get_unchecked(term * columns + first + c).as_ptr().add(at);
            let out = std::array::from_fn(|c| out[first + c].as_mut_ptr().add(at));
            pass::<W, 1, C, R>(plan, left.len(), of_left, of_right, [out]);
        }
    }
    C
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn sum_tiles_u32(modulus: &Modulus<u32>, sizes: Tiles, left: &[u32], right: &[u32], out: &mut [u32]) {
    let Tiles { n, terms, columns } = sizes;
    let Some((plan, width)) = Plan::new(modulus, terms) else {
        return scalar::sum_tiles(sizes, left, right, out, |left, right, out| {
            sum_products_u32(modulus, left, right, out);
        });
    };
    let groups = out.len() / (columns * (n + TILE)).max(1);
    for at in (0..n).step_by(TILE) {
        let mut group = 0;
        while group < groups {
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
                    let (left, right, out) = (left.as_ptr(), right.as_ptr(), out.as_mut_ptr());
                    match (groups - group, columns - first) {
                        (2.., 2..) => {
                            for_width!(width, tiles::<2, 2, 2>(plan, sizes, (at, group, first), left, right, out))
                        }
                        (2.., _) => {
                            for_width!(width, tiles::<2, 1, 4>(plan, sizes, (at, group, first), left, right, out))
                        }
                        (_, 2..) => {
                            for_width!(width, tiles::<1, 2, 4>(plan, sizes, (at, group, first), left, right, out))
                        }
                        _ => for_width!(width, tiles::<1, 1, 4>(plan, sizes, (at, group, first), left, right, out)),
                    }
                }
            }
            group += 2;
        }
    }
}

/// Sums for the tile from slot `at` on of `G` groups from `group` on and `C` columns from `first` on, `R` registers at a time.
///
/// # Safety
/// There are these groups and columns; lengths are as [`super::Vectors::sum_tiles`] demands.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
unsafe fn tiles<const W: u8, const G: usize, const C: usize, const R: usize>(
    plan: Plan,
    Tiles { n, terms, columns }: Tiles,
    (at, group, first): (usize, usize, usize),
    left: *const u32,
    right: *const u32,
    out: *mut u32,
) {
    let pitch = n + TILE;
    // SAFETY: the caller's promise.
    unsafe {
        let left = left.add(group * terms * pitch + at);
        let right = right.add(at * terms * columns + first * TILE);
        let out = out.add((group * columns + first) * pitch + at);
        for slot in (0..TILE).step_by(LANES * R) {
            let of_left = |g: usize, term: usize| left.add((g * terms + term) * pitch + slot);
            let of_right = |term: usize, c: usize| right.add((term * columns + c) * TILE + slot);
            let out = std::array::from_fn(|g| std::array::from_fn(|c| out.add((g * columns + c) * pitch + slot)));
            pass::<W, G, C, R>(plan, terms, of_left, of_right, out);
        }
    }
}
