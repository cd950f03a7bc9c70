//! The AVX2 path. Every function enables AVX2 and is called only where it was found; that, and the lengths asserted in the
//! module `product`, is what the `unsafe` blocks rely on.

use super::LINE;
use super::ahead::Ahead;
use super::part::Part;
use super::residues::{DIGITS, LINES_PER_SUM, RADIX};
use std::arch::x86_64::*;

/// Distance of the prefetched line, in lines. An idle Zen 3 that reads at 21 GB/s multiplies 256 MiB in two columns at 68 to 75 % of that
/// with 64, at 67 to 70 % with 96 or 128 (into either cache), and at 50 to 53 % without prefetching; in one column with 160 at 53 to 55 %
/// (medians of fifteen ratios, three times each). Other processors were not measured.
const AHEAD: usize = 64;

/// The distance for parts of whole columns, which is two columns. Compared with [`AHEAD`] in one process (Zen 3 reading at 19 GB/s, 15
/// ratios each): 72, 69, 70 % of reading instead of 69, 64, 66 % at 256 MiB, 77 instead of 73 at 1 GiB; 192 lines are as good, 64 are not.
const FOLLOWING: usize = 128;

/// See [`super::scalar::part`].
#[target_feature(enable = "avx2")]
pub(super) fn part(part: Part, primes: usize, sums: &mut [i64]) {
    let ahead = match part.share {
        Some(share) => Ahead::Share(share),
        None if part.digits.len() / (primes * DIGITS) * LINE == part.height => Ahead::Following(FOLLOWING),
        None => Ahead::Lines(AHEAD),
    };
    match primes {
        1 => columns::<DIGITS, 2>(part, ahead, sums),
        _ => columns::<{ 2 * DIGITS }, 2>(part, ahead, sums),
    }
}

/// All columns times `V` digit vectors, `C` columns side by side.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn columns<const V: usize, const C: usize>(part: Part, ahead: Ahead, sums: &mut [i64]) {
    let primes = V / DIGITS;
    let columns = part.data.len() / part.height;
    let tiled = columns - columns % C;
    let (tiles, rest) = sums.split_at_mut(tiled * primes);
    for (tile, sums) in tiles.chunks_exact_mut(C * primes).enumerate() {
        multiply::<V, C>(part, tile * C, ahead, sums);
    }
    for (col, sums) in rest.chunks_exact_mut(primes).enumerate() {
        multiply::<V, 1>(part, tiled + col, Ahead::Lines(0), sums);
    }
}

/// Lines whose products a 32-bit lane holds: it meets both halves of a line.
const LINES_PER_LANE: usize = LINES_PER_SUM / 2;

/// `C` columns from `first_col` on times `V` digit vectors. Two columns and two primes have twelve sums, which fill the registers beside
/// the operands.
#[target_feature(enable = "avx2")]
#[inline]
fn multiply<const V: usize, const C: usize>(part: Part, first_col: usize, ahead: Ahead, sums: &mut [i64]) {
    let start = part.data[first_col * part.height + part.first_row..].as_ptr();
    let lines = part.digits.len() / V;
    for (chunk, digits) in part.digits.chunks(LINES_PER_LANE * V).enumerate() {
        let mut acc = [[_mm256_setzero_si256(); V]; C];
        for (line, digits) in (chunk * LINES_PER_LANE..).zip(digits.chunks_exact(V)) {
            ahead.ask::<C, false>(&part, start, (line, lines));
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
        add_up(&acc, sums);
    }
}

/// Adds the lanes of each three digits' sums, times the powers of the radix, to the sum of their column and prime.
#[target_feature(enable = "avx2")]
#[inline]
fn add_up<const V: usize, const C: usize>(acc: &[[__m256i; V]; C], sums: &mut [i64]) {
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
