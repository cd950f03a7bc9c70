//! The AVX2 path: a line is two registers, of which the even and the odd slots are multiplied apart. The sums of one column take up to
//! eight of the sixteen registers, so columns are multiplied one after the other, some rows at a time.

use super::Line;
use super::plan::{Plan, Sums, ahead};
use crate::prefetch::Ahead;
use std::arch::x86_64::*;

/// Rows of one column that are multiplied before the next column has its turn: each column is a stream from memory of its own.
const TURN: usize = 8;

/// # Safety
/// Each of `lines` holds a line for each tuple.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn add_products<const C: usize, const K: usize>(
    plan: Plan,
    lines: [&[Line]; C],
    tuples: &[[Line; K]],
    mut sums: [&mut Sums<K>; C],
) {
    let (each, ahead) = (if C > 1 { TURN } else { tuples.len().max(1) }, ahead(C));
    let mut left = 0;
    for (turn, tuples) in tuples.chunks(each).enumerate() {
        let mut after = left;
        for (lines, sums) in lines.iter().zip(&mut sums) {
            // SAFETY: the caller's promise.
            after = unsafe { add_column((plan, left), (&lines[turn * each..], ahead), tuples, sums) };
        }
        left = after;
    }
}

/// Adds the products of one column; `left` may still be added to a sum before it is reduced. Returns how many may be afterwards.
///
/// # Safety
/// `lines` holds a line for each tuple.
#[target_feature(enable = "avx2")]
unsafe fn add_column<const K: usize>(
    (plan, mut left): (Plan, usize),
    (lines, ahead): (&[Line], Ahead),
    tuples: &[[Line; K]],
    sums: &mut Sums<K>,
) -> usize {
    let multiple = _mm256_set1_epi64x(plan.multiple as i64);
    // Sums by polynomial of a tuple: even slots of the first and the second half of a line, then odd ones.
    let mut totals: [[__m256i; 4]; K] = std::array::from_fn(|part| {
        std::array::from_fn(|i| {
            // SAFETY: each part of `Sums` is four registers, aligned as registers are.
            unsafe { _mm256_load_si256(sums.0[part].as_ptr().add(4 * i).cast()) }
        })
    });
    for (row, tuple) in tuples.iter().enumerate() {
        if left == 0 {
            left = plan.terms;
            for sum in totals.as_flattened_mut() {
                let large = _mm256_cmpgt_epi64(_mm256_setzero_si256(), *sum);
                *sum = _mm256_sub_epi64(*sum, _mm256_and_si256(large, multiple));
            }
        }
        left -= 1;
        // SAFETY: the caller's promise.
        let halves = unsafe {
            let at = lines.as_ptr().add(row);
            ahead.ask(at, 1);
            [_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.cast::<__m256i>().add(1))]
        };
        for (total, line) in totals.iter_mut().zip(tuple) {
            for half in 0..2 {
                // SAFETY: a line is two registers.
                let other = unsafe { _mm256_loadu_si256(line.as_ptr().cast::<__m256i>().add(half)) };
                let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(halves[half]), _mm256_srli_epi64::<32>(other));
                total[half] = _mm256_add_epi64(total[half], _mm256_mul_epu32(halves[half], other));
                total[2 + half] = _mm256_add_epi64(total[2 + half], odd);
            }
        }
    }
    for (sums, total) in sums.0.iter_mut().zip(totals) {
        for (i, total) in total.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { _mm256_store_si256(sums.as_mut_ptr().add(4 * i).cast(), total) };
        }
    }
    left
}
