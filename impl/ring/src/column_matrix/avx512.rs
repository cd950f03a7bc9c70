//! The AVX-512 path. Every function enables the features of that kernel and is called only where they were found; that, and
//! the lengths asserted in the module `product`, is what the `unsafe` blocks rely on.
//!
//! A line of the database, 64 bytes, takes three multiply-adds a prime (`vpdpwssd`); a line of digits is loaded once for four
//! columns. Two primes: six multiply-adds and 2.5 loads for 64 bytes of database, three cycles where two of either start
//! a cycle, against the nine that 64 bytes take from memory at 26 GB/s and 3.7 GHz.
//!
//! A column of 2048 rows is a page, where the processor's own prefetching ends. Which processors gain from lines asked for by hand
//! is a matter of measurement (medians against the bandwidth probe, products of 0.5 and 1 GiB): Granite Rapids reads at 80 % instead of
//! 70 %, Ice Lake and Zen 5 at 70 % instead of 80 %. So they are asked for where there is FP16, from Sapphire Rapids on.

use super::LINE;
use super::product::Part;
use super::residues::{DIGITS, RADIX};
use std::arch::x86_64::*;

/// Columns multiplied side by side.
const COLUMNS: usize = 4;

/// Lines ahead that are asked for.
const AHEAD: usize = 48;

/// See [`super::scalar::part`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn part(part: Part, primes: usize, sums: &mut [i64]) {
    let columns = part.data.len() / part.height;
    let tiled = columns - columns % COLUMNS;
    let (tiles, rest) = sums.split_at_mut(tiled * primes);
    let asks = is_x86_feature_detected!("avx512fp16");
    for (tile, sums) in tiles.chunks_exact_mut(COLUMNS * primes).enumerate() {
        match (primes, asks) {
            (1, false) => multiply::<DIGITS, COLUMNS, false>(part, tile * COLUMNS, sums),
            (1, true) => multiply::<DIGITS, COLUMNS, true>(part, tile * COLUMNS, sums),
            (_, false) => multiply::<{ 2 * DIGITS }, COLUMNS, false>(part, tile * COLUMNS, sums),
            (_, true) => multiply::<{ 2 * DIGITS }, COLUMNS, true>(part, tile * COLUMNS, sums),
        }
    }
    for (col, sums) in rest.chunks_exact_mut(primes).enumerate() {
        match primes {
            1 => multiply::<DIGITS, 1, false>(part, tiled + col, sums),
            _ => multiply::<{ 2 * DIGITS }, 1, false>(part, tiled + col, sums),
        }
    }
}

/// `C` columns from `first_col` on times `V` digit vectors. With `ASKS`, lines ahead are asked for.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn multiply<const V: usize, const C: usize, const ASKS: bool>(part: Part, first_col: usize, sums: &mut [i64]) {
    let mut acc = [[_mm512_setzero_si512(); V]; C];
    let start = part.data[first_col * part.height + part.first_row..].as_ptr();
    let lines = part.digits.len() / V;
    for (line, digits) in part.digits.chunks_exact(V).enumerate() {
        // Where these columns end, the next ones follow.
        let ahead = line + AHEAD;
        let ahead = if ahead < lines { ahead * LINE } else { C * part.height + (ahead - lines) * LINE };
        let mut entries = [_mm512_setzero_si512(); C];
        for (c, entries) in entries.iter_mut().enumerate() {
            if ASKS {
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(c * part.height + ahead).cast());
            }
            // SAFETY: there are C columns of `height` entries, and in each as many lines from `first_row` on as digits.
            *entries = unsafe { _mm512_loadu_si512(start.add(c * part.height + line * LINE).cast()) };
        }
        for (v, digits) in digits.iter().enumerate() {
            // SAFETY: a `Lanes` is 64 aligned bytes.
            let digits = unsafe { _mm512_load_si512(digits.0.as_ptr().cast()) };
            for (acc, entries) in acc.iter_mut().zip(entries) {
                acc[v] = _mm512_dpwssd_epi32(acc[v], entries, digits);
            }
        }
    }
    let radices = [1, RADIX, RADIX * RADIX].map(|radix| _mm512_set1_epi64(radix));
    for (acc, sums) in acc.iter().zip(sums.chunks_exact_mut(V / DIGITS)) {
        for (acc, sum) in acc.chunks_exact(DIGITS).zip(sums) {
            // The multiplication widens: it takes the lower, signed half of each 64-bit lane.
            let mut total = _mm512_setzero_si512();
            for (acc, radix) in acc.iter().zip(radices) {
                let (even, odd) =
                    (_mm512_mul_epi32(*acc, radix), _mm512_mul_epi32(_mm512_srli_epi64::<32>(*acc), radix));
                total = _mm512_add_epi64(total, _mm512_add_epi64(even, odd));
            }
            *sum += _mm512_reduce_add_epi64(total);
        }
    }
}
