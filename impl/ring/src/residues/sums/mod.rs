//! Sums of products of 32-bit residues, of which external products, key switches and folding consist. Each path has one file.

pub(super) mod avx2;
pub(super) mod avx512;
mod registers;

use registers::registers;

use super::scalar::{self, Reduction};
use crate::modulus::Modulus;

/// The reduction of a sum of products modulo one q.
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

/// Residues in a line of a cache.
const LINE: usize = 16;

/// The width of sums: below 2^(k + 31) with 3q < 2^32; any 64 bits with 3q < 2^32; any 64 bits.
const SHORT: u8 = 0;
const FOLDED: u8 = 1;
const LONG: u8 = 2;

impl Plan {
    /// The reduction of sums of `count` products, with their width; `None` if the modulus is too short.
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

/// Calls the function for the width.
macro_rules! for_width {
    ($width:expr, $function:ident::<$($constant:tt),*>($($argument:expr),*)) => {
        match $width {
            SHORT => $function::<SHORT, $($constant),*>($($argument),*),
            FOLDED => $function::<FOLDED, $($constant),*>($($argument),*),
            _ => $function::<LONG, $($constant),*>($($argument),*),
        }
    };
}

use for_width;

/// The sums of a path with these features, on top of its `Register`, `LANES`, `zero`, `load`, `store`, `upper`, `add_product`, `reduce`,
/// `fold`, `merge` and `merge_short`: registers of slots that are summed side by side for four, two and one chains of products, one
/// for each left side and column.
macro_rules! sums {
    ($features:literal, $four:literal, $two:literal, $one:literal) => {
        /// Sums of the even and of the odd slots of `R` registers for `G` left sides and `C` columns.
        type Sums<const G: usize, const C: usize, const R: usize> = [[[[Register; 2]; R]; C]; G];

        /// Sums of products for `R` registers of slots of `G` left sides times `C` columns, which stay in registers: each
        /// line is read once. The even and the odd elements are multiplied apart: the multiplier takes the lower half of each
        /// 64-bit lane, so the odd ones are shifted down, those of a left side once for all columns, those of a column once for all
        /// left sides.
        ///
        /// # Safety
        /// `left` of each side and term and `right` of each term and column give places where `LANES * R` elements may be read; as
        /// many may be written at each of `out`.
        #[target_feature(enable = $features)]
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
            let mut sums = add([[[[zero(); 2]; R]; C]; G], 0..terms.min(plan.terms));
            if W != SHORT {
                for done in (plan.terms..terms).step_by(plan.terms) {
                    let reduced =
                        sums.map(|sums| sums.map(|sums| sums.map(|sum| sum.map(|x| reduce(plan.reduction, x)))));
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
                        unsafe { store(out[g][c].add(register * LANES), residues) };
                    }
                }
            }
        }

        /// Adds the products of these terms.
        ///
        /// # Safety
        /// As for [`pass`].
        #[target_feature(enable = $features)]
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
                    let read = |place: *const u32| unsafe { load(place.add(register * LANES)) };
                    let (lefts, rights) = (lefts.map(read), rights.map(read));
                    let odd = lefts.map(|left| upper(left));
                    for c in 0..C {
                        let odd_right = upper(rights[c]);
                        for g in 0..G {
                            let sum = &mut sums[g][c][register];
                            sum[0] = add_product(sum[0], lefts[g], rights[c]);
                            sum[1] = add_product(sum[1], odd[g], odd_right);
                        }
                    }
                }
            }
            sums
        }

        #[target_feature(enable = $features)]
        pub(in crate::residues) fn sum_products_u32(
            modulus: &Modulus<u32>,
            left: &[&[u32]],
            right: &[&[u32]],
            out: &mut [&mut [u32]],
        ) {
            let (columns, n) = (out.len(), out.first().map_or(0, |column| column.len()));
            let Some((plan, width)) = Plan::new(modulus, left.len()).filter(|_| n.is_multiple_of(TILE)) else {
                return scalar::sum_products_u32(modulus, left, right, out);
            };
            let mut first = 0;
            while first < columns {
                // SAFETY: `Vectors::sum_products` asserts that all vectors hold n elements, and as many columns for each term.
                first += unsafe {
                    match columns - first {
                        4.. => for_width!(width, slices::<4, $four>(plan, left, right, (first, columns, n), out)),
                        2.. => for_width!(width, slices::<2, $two>(plan, left, right, (first, columns, n), out)),
                        _ => for_width!(width, slices::<1, $one>(plan, left, right, (first, columns, n), out)),
                    }
                };
            }
        }

        /// Sums for `C` columns from `first` on, `R` registers of slots at a time: how many columns they were.
        ///
        /// # Safety
        /// Every vector holds n elements, a multiple of `LANES * R`; `right` holds `columns` of them for each term, `out` as many.
        #[target_feature(enable = $features)]
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
                    let of_right =
                        |term: usize, c: usize| right.get_unchecked(term * columns + first + c).as_ptr().add(at);
                    let out = std::array::from_fn(|c| out[first + c].as_mut_ptr().add(at));
                    pass::<W, 1, C, R>(plan, left.len(), of_left, of_right, [out]);
                }
            }
            C
        }

        #[target_feature(enable = $features)]
        pub(in crate::residues) fn combine(
            combination: &Combination<u32>,
            n: usize,
            rows: &[u32],
            out: &mut [u32],
            add: bool,
        ) {
            let odd = combination.targets.iter().all(|target| target.inverse.is_some());
            if !(combination.short && odd && n.is_multiple_of(LANES)) {
                return scalar::combine(combination, n, rows, out, add);
            }
            match combination.reciprocals.len() {
                1 => combine_rows::<1>(combination, n, rows, out, add),
                2 => combine_rows::<2>(combination, n, rows, out, add),
                3 => combine_rows::<3>(combination, n, rows, out, add),
                4 => combine_rows::<4>(combination, n, rows, out, add),
                5 => combine_rows::<5>(combination, n, rows, out, add),
                6 => combine_rows::<6>(combination, n, rows, out, add),
                7 => combine_rows::<7>(combination, n, rows, out, add),
                8 => combine_rows::<8>(combination, n, rows, out, add),
                _ => scalar::combine(combination, n, rows, out, add),
            }
        }

        /// The combination of `K` rows, whose slots of a register stay in registers for all moduli.
        #[target_feature(enable = $features)]
        fn combine_rows<const K: usize>(
            combination: &Combination<u32>,
            n: usize,
            rows: &[u32],
            out: &mut [u32],
            add: bool,
        ) {
            let Combination { reciprocals, shift, targets, .. } = combination;
            let (half, count) = (splat_wide(1 << (shift - 1)), _mm_cvtsi32_si128(*shift as i32));
            let sum = |parts: &[[Register; 2]; K], factors: &[u32], first: [Register; 2]| {
                let factors: &[u32; K] = &factors.as_chunks().0[0];
                std::array::from_fn(|i| {
                    (0..K).fold(first[i], |sum, row| add_short_product(sum, parts[row][i], splat(factors[row])))
                })
            };
            for at in (0..n).step_by(LANES) {
                // SAFETY: a row has n elements, a multiple of a register's.
                let parts = std::array::from_fn(|row| unsafe { load(rows.as_ptr().add(row * n + at)) });
                let parts = parts.map(|x| [x, upper(x)]);
                let quotient = sum(&parts, reciprocals, [half; 2]).map(|sum: Register| shift_right(sum, count));
                for (i, Target { modulus, factors, inverse }) in targets.iter().enumerate() {
                    let (q, inverse) = (splat(modulus.value()), splat(inverse.unwrap_or_default()));
                    let multiple = quotient.map(|quotient| add_short_product(zero(), quotient, splat(factors[K])));
                    let [even, odd] = sum(&parts, factors, multiple).map(|sum| rounded(sum, q, inverse));
                    let residues = reduce_once(either(upper(even), odd), q);
                    // SAFETY: `Vectors::combine` asserts that there are n elements for each modulus.
                    unsafe {
                        let out = out.as_mut_ptr().add(i * n + at);
                        store(out, if add { reduce_once(sum_of(load(out), residues), q) } else { residues });
                    }
                }
            }
        }

        /// A multiple of 2^32 congruent modulo q to a sum below 2^32 q in each 64-bit lane, below 2^33 q: over 2^32 it is Montgomery's.
        #[target_feature(enable = $features)]
        #[inline]
        fn rounded(sum: Register, q: Register, inverse: Register) -> Register {
            add_short_product(sum, add_short_product(zero(), sum, inverse), q)
        }

        #[target_feature(enable = $features)]
        pub(in crate::residues) fn tensor(
            modulus: &Modulus<u32>,
            left: [&[u32]; 2],
            right: [&[u32]; 2],
            factor: &[u32],
            out: [&mut [u32]; 3],
        ) {
            if !factor.len().is_multiple_of(LANES) {
                return scalar::tensor(modulus, left, right, factor, out);
            }
            let (q, inverse) = (splat(modulus.value()), splat(modulus.negative_inverse()));
            for at in (0..factor.len()).step_by(LANES) {
                // SAFETY: all have as many elements as the factor, a multiple of a register's.
                let part = |part: &[u32]| unsafe { load(part.as_ptr().add(at)) };
                let pair = |x| [x, upper(x)];
                let ([a, b], [c, d]) = (left.map(part).map(pair), right.map(part).map(pair));
                let factor = pair(part(factor));
                let products: [[Register; 2]; 3] = [
                    std::array::from_fn(|i| add_short_product(zero(), a[i], c[i])),
                    std::array::from_fn(|i| add_short_product(add_short_product(zero(), a[i], d[i]), b[i], c[i])),
                    std::array::from_fn(|i| add_short_product(zero(), b[i], d[i])),
                ];
                for k in 0..3 {
                    let [even, odd]: [Register; 2] = std::array::from_fn(|i| {
                        let sum = upper(rounded(products[k][i], q, inverse));
                        rounded(add_short_product(zero(), sum, factor[i]), q, inverse)
                    });
                    // SAFETY: as above.
                    unsafe { store(out[k].as_mut_ptr().add(at), reduce_once(either(upper(even), odd), q)) };
                }
            }
        }

        #[target_feature(enable = $features)]
        pub(in crate::residues) fn sum_tiles_u32(
            modulus: &Modulus<u32>,
            n: usize,
            left: &[u32],
            right: &[&[u32]],
            out: &mut [u32],
        ) {
            let (columns, terms) = (right.len(), right[0].len() / n);
            let Some((plan, width)) = Plan::new(modulus, terms) else {
                return scalar::sum_tiles(n, left, right, out, |left, right, out| {
                    sum_products_u32(modulus, left, right, out);
                });
            };
            let groups = out.len() / (columns * (n + TILE)).max(1);
            for at in (0..n).step_by(TILE) {
                let mut group = 0;
                while group < groups {
                    for first in (0..columns).step_by(2) {
                        if group == 0 {
                            // The next tiles of the pass's columns: tiles of keys are in memory, and passes read them in strides.
                            for column in &right[first..columns.min(first + 2)] {
                                let next = column.as_ptr().wrapping_add((at + TILE) * terms);
                                for line in 0..terms * TILE / LINE {
                                    _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add(line * LINE).cast());
                                }
                            }
                        }
                        // SAFETY: `Vectors::sum_tiles` asserts that there are `groups` times `terms` and `columns` vectors of n
                        // elements `pitch` apart in `left` and in `out`, and `terms` tiles of each column for each TILE of n.
                        unsafe {
                            let (sizes, left, out) = ((n, terms), left.as_ptr(), out.as_mut_ptr());
                            match (groups - group, columns - first) {
                                (2.., 2..) => {
                                    for_width!(
                                        width,
                                        tiles::<2, 2, $four>(plan, sizes, (at, group, first), left, right, out)
                                    )
                                }
                                (2.., _) => {
                                    for_width!(
                                        width,
                                        tiles::<2, 1, $two>(plan, sizes, (at, group, first), left, right, out)
                                    )
                                }
                                (_, 2..) => {
                                    for_width!(
                                        width,
                                        tiles::<1, 2, $two>(plan, sizes, (at, group, first), left, right, out)
                                    )
                                }
                                _ => for_width!(
                                    width,
                                    tiles::<1, 1, $one>(plan, sizes, (at, group, first), left, right, out)
                                ),
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
        /// There are these groups and columns; lengths are as [`crate::residues::Vectors::sum_tiles`] demands.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn tiles<const W: u8, const G: usize, const C: usize, const R: usize>(
            plan: Plan,
            (n, terms): (usize, usize),
            (at, group, first): (usize, usize, usize),
            left: *const u32,
            right: &[&[u32]],
            out: *mut u32,
        ) {
            let (pitch, columns) = (n + TILE, right.len());
            // SAFETY: the caller's promise.
            unsafe {
                let left = left.add(group * terms * pitch + at);
                let right: [*const u32; C] = std::array::from_fn(|c| right[first + c].as_ptr().add(at * terms));
                let out = out.add((group * columns + first) * pitch + at);
                for slot in (0..TILE).step_by(LANES * R) {
                    let of_left = |g: usize, term: usize| left.add((g * terms + term) * pitch + slot);
                    let of_right = |term: usize, c: usize| right[c].add(term * TILE + slot);
                    let out =
                        std::array::from_fn(|g| std::array::from_fn(|c| out.add((g * columns + c) * pitch + slot)));
                    pass::<W, G, C, R>(plan, terms, of_left, of_right, out);
                }
            }
        }
    };
}

use sums;
