//! The portable path, and the reference for the others.

use super::LINE;
use super::part::Part;
use super::residues::{DIGITS, RADIX};

/// Adds to `sums[col * primes + i]` the product of the part's column `col` with the digits of prime i.
pub(super) fn part(part: Part, primes: usize, sums: &mut [i64]) {
    let width = DIGITS * primes;
    for (column, sums) in part.data.chunks_exact(part.height).zip(sums.chunks_exact_mut(primes)) {
        let mut totals = [0i64; 2 * DIGITS];
        for (entries, digits) in column[part.first_row..].chunks_exact(LINE).zip(part.digits.chunks_exact(width)) {
            for (total, digits) in totals.iter_mut().zip(digits) {
                let products = entries.iter().zip(&digits.0).map(|(x, digit)| i32::from(*x) * i32::from(*digit));
                *total += i64::from(products.sum::<i32>());
            }
        }
        for (sum, totals) in sums.iter_mut().zip(totals.chunks_exact(DIGITS)) {
            *sum += totals.iter().rev().fold(0, |all, total| all * RADIX + total);
        }
    }
}
