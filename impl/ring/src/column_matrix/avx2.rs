//! The AVX2 path. Every function enables AVX2 and is called only where it was found; that, and the lengths asserted in the
//! module `product`, is what the `unsafe` blocks rely on.

use super::LINE;
use super::product::Part;
use super::residues::{DIGITS, LINES_PER_SUM, RADIX};
use std::arch::x86_64::*;

/// See [`super::scalar::part`].
#[target_feature(enable = "avx2")]
pub(super) fn part(part: Part, primes: usize, sums: &mut [i64]) {
    let width = DIGITS * primes;
    // A lane meets both halves of a line: it holds the sums of half as many lines.
    if part.digits.len() > LINES_PER_SUM / 2 * width {
        let (first, second) = part.digits.split_at(LINES_PER_SUM / 2 * width);
        self::part(Part { digits: first, ..part }, primes, sums);
        let first_row = part.first_row + LINES_PER_SUM / 2 * LINE;
        return self::part(Part { digits: second, first_row, ..part }, primes, sums);
    }
    let columns = part.data.len() / part.height;
    let tiled = columns - columns % 2;
    let (tiles, rest) = sums.split_at_mut(tiled * primes);
    for (tile, sums) in tiles.chunks_exact_mut(2 * primes).enumerate() {
        match primes {
            1 => multiply::<DIGITS, 2>(part, tile * 2, sums),
            _ => multiply::<{ 2 * DIGITS }, 2>(part, tile * 2, sums),
        }
    }
    if !rest.is_empty() {
        match primes {
            1 => multiply::<DIGITS, 1>(part, tiled, rest),
            _ => multiply::<{ 2 * DIGITS }, 1>(part, tiled, rest),
        }
    }
}

/// `C` columns from `first_col` on times `V` digit vectors; two columns and two primes are twelve sums, as many as the registers hold beside the
/// operands.
#[target_feature(enable = "avx2")]
#[inline]
fn multiply<const V: usize, const C: usize>(part: Part, first_col: usize, sums: &mut [i64]) {
    let mut acc = [[_mm256_setzero_si256(); V]; C];
    let start = part.data[first_col * part.height + part.first_row..].as_ptr();
    for (line, digits) in part.digits.chunks_exact(V).enumerate() {
        for half in [0, LINE / 2] {
            let mut entries = [_mm256_setzero_si256(); C];
            for (c, entries) in entries.iter_mut().enumerate() {
                // SAFETY: there are C columns of `height` entries, and in each as many lines from `first_row` on as digits.
                *entries = unsafe { _mm256_loadu_si256(start.add(c * part.height + line * LINE + half).cast()) };
            }
            for (v, digits) in digits.iter().enumerate() {
                // SAFETY: a `Lanes` is 64 aligned bytes.
                let digits = unsafe { _mm256_load_si256(digits.0.as_ptr().add(half).cast()) };
                for (acc, entries) in acc.iter_mut().zip(entries) {
                    acc[v] = _mm256_add_epi32(acc[v], _mm256_madd_epi16(entries, digits));
                }
            }
        }
    }
    let radices = [1, RADIX, RADIX * RADIX].map(|radix| _mm256_set1_epi64x(radix));
    for (acc, sums) in acc.iter().zip(sums.chunks_exact_mut(V / DIGITS)) {
        for (acc, sum) in acc.chunks_exact(DIGITS).zip(sums) {
            // The multiplication widens: it takes the lower, signed half of each 64-bit lane.
            let mut total = _mm256_setzero_si256();
            for (acc, radix) in acc.iter().zip(radices) {
                let (even, odd) =
                    (_mm256_mul_epi32(*acc, radix), _mm256_mul_epi32(_mm256_srli_epi64::<32>(*acc), radix));
                total = _mm256_add_epi64(total, _mm256_add_epi64(even, odd));
            }
            let two = _mm_add_epi64(_mm256_castsi256_si128(total), _mm256_extracti128_si256::<1>(total));
            *sum += _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
        }
    }
}
