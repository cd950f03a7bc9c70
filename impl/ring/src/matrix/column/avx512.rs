//! The AVX-512 path. Every function enables the features of that kernel and is called only where they were found; that, and
//! the lengths asserted in the module `product`, is what the `unsafe` blocks rely on.
//!
//! A line of the database, 64 bytes, takes three multiply-adds (`vpdpwssd`) for each prime. Two primes take six multiply-adds and, if a line
//! of digits is loaded once for four columns, 2.5 loads for each line, or 7 loads with one column: at most three cycles and a half on a
//! core that starts two of either in a cycle, compared with the five and a half that a line takes from memory at 43 GB/s and 3.7 GHz.
//!
//! The best number of columns read side by side, and the best distance of prefetching, were measured: see [`reading`].

use super::LINE;
use super::ahead::Ahead;
use super::part::Part;
use super::residues::{DIGITS, RADIX};
use crate::kernel::Processor;
use std::arch::x86_64::*;

/// Columns multiplied side by side, and the distance of prefetching in lines (0 for none). Medians of products of 0.25 to 1 GiB against the
/// bandwidth probe: Granite Rapids reads at 82 % in four columns with 48 lines and 70 % without, Zen 5 (probed at 43 GB/s) at 83 % in one
/// column with 160, at 80 % with 96, and in four columns at 72 % with 28 and 51 % without, Ice Lake at 82 % without and at 69 to 75 % with
/// lines some KiB ahead. Zen 4 (probed at 30 GB/s) reads at 77 % in two columns with 128 lines prefetched into its second-level cache;
/// with its first level, of which digits fill three quarters, at 36 to 50 % in one, two or four columns, for every distance.
fn reading() -> (usize, usize) {
    match Processor::here() {
        Processor::Intel => (4, 48),
        Processor::Zen => (1, 160),
        Processor::Zen4 => (2, 128),
        Processor::Older => (4, 0),
    }
}

/// See [`super::scalar::part`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn part(part: Part, primes: usize, sums: &mut [i64]) {
    let (places, ahead) = reading();
    let (places, ahead) = part.share.map_or((places, Ahead::Lines(ahead)), |share| (4, Ahead::Share(share)));
    match Processor::here().asks_for_second_level() {
        false => in_places::<false>(part, primes, places, ahead, sums),
        true => in_places::<true>(part, primes, places, ahead, sums),
    }
}

/// All columns, several side by side; `SECOND` as for [`ask_for`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
fn in_places<const SECOND: bool>(part: Part, primes: usize, places: usize, ahead: Ahead, sums: &mut [i64]) {
    match (places, primes) {
        (1, 1) => columns::<DIGITS, 1, SECOND>(part, ahead, sums),
        (1, _) => columns::<{ 2 * DIGITS }, 1, SECOND>(part, ahead, sums),
        (2, 1) => columns::<DIGITS, 2, SECOND>(part, ahead, sums),
        (2, _) => columns::<{ 2 * DIGITS }, 2, SECOND>(part, ahead, sums),
        (_, 1) => columns::<DIGITS, 4, SECOND>(part, ahead, sums),
        _ => columns::<{ 2 * DIGITS }, 4, SECOND>(part, ahead, sums),
    }
}

/// All columns times `V` digit vectors, `C` columns side by side.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
pub(super) fn columns<const V: usize, const C: usize, const SECOND: bool>(part: Part, ahead: Ahead, sums: &mut [i64]) {
    let primes = V / DIGITS;
    let columns = part.data.len() / part.height;
    let tiled = columns - columns % C;
    let (tiles, rest) = sums.split_at_mut(tiled * primes);
    for (tile, sums) in tiles.chunks_exact_mut(C * primes).enumerate() {
        multiply::<V, C, SECOND>(part, tile * C, ahead, sums);
    }
    for (col, sums) in rest.chunks_exact_mut(primes).enumerate() {
        multiply::<V, 1, SECOND>(part, tiled + col, Ahead::Lines(0), sums);
    }
}

/// `C` columns from `first_col` on times `V` digit vectors.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
#[inline]
fn multiply<const V: usize, const C: usize, const SECOND: bool>(
    part: Part,
    first_col: usize,
    ahead: Ahead,
    sums: &mut [i64],
) {
    let mut acc = [[_mm512_setzero_si512(); V]; C];
    let start = part.data[first_col * part.height + part.first_row..].as_ptr();
    let lines = part.digits.len() / V;
    for (line, digits) in part.digits.chunks_exact(V).enumerate() {
        ahead.ask::<C, SECOND>(&part, start, (line, lines));
        let mut entries = [_mm512_setzero_si512(); C];
        for (c, entries) in entries.iter_mut().enumerate() {
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
