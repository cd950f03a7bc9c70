//! Portable decomposition, row by row: the reference of the other paths, and their loops for bases that are not powers of two.

use crate::digit::Digit;
use crate::family::Family;
use crate::plan::Plan;
use crate::residue::Residue;
use crate::tile::{BLOCK, Draws, Rows, SELECT_ROW, TILE, carry_row};
use std::mem::MaybeUninit;

#[inline(always)]
pub(super) fn decompose<W: Residue, D: Digit>(
    plan: &Plan<W>,
    input: &[W],
    words: &[u64],
    draws: Draws<'_, W>,
    rows: &mut Rows<'_, D>,
) {
    let mut values = [W::default(); TILE];
    let values = &mut values[..input.len()];
    shift(plan, input, words, draws, values);
    // Both digit extractions leave the quotient in place for the next row.
    if let Some(bits) = plan.base_bits {
        let mask = plan.base - 1;
        let split = |value: &mut W| {
            let digit = value.low() & mask;
            *value = *value >> bits;
            digit as i64
        };
        extract(plan, values, words, draws, rows, split);
    } else {
        let (base, inverse) = (W::from_u128(u128::from(plan.base)), 1.0 / plan.base as f64);
        let split = |value: &mut W| {
            // SAFETY: a plan's base is from 2 to 2^20, and 2 has bits.
            let quotient = unsafe { value.quotient(base, inverse) };
            let digit = *value - quotient * base;
            *value = quotient;
            digit.low() as i64
        };
        extract(plan, values, words, draws, rows, split);
    }
}

/// Replaces u above q / 2 by q - u, and sets its sign to -1, else to 0. Writes as many values as the shortest slice has.
#[inline(always)]
pub(super) fn fold<W: Residue>(q: W, input: &[W], folded: &mut [MaybeUninit<W>], signs: &mut [i8]) {
    let half = q >> 1;
    for ((&u, folded), sign) in input.iter().zip(folded).zip(signs) {
        let above = u > half;
        folded.write(if above { q - u } else { u });
        *sign = -i8::from(above);
    }
}

/// Negates the digits whose sign is -1.
#[inline(always)]
pub(super) fn negate<D: Digit>(signs: &[i8], digits: &mut [D]) {
    for (digit, &sign) in digits.iter_mut().zip(signs) {
        let sign = i64::from(sign);
        *digit = D::from_i64((digit.to_i64() ^ sign) - sign);
    }
}

/// Sets `values` to the integers that are decomposed, without the dropped low digits.
#[inline(always)]
fn shift<W: Residue>(plan: &Plan<W>, input: &[W], words: &[u64], draws: Draws<'_, W>, values: &mut [W]) {
    let select = row(words, SELECT_ROW, input.len());
    let (q, zero) = (plan.modulus, W::default());
    for (j, (value, &u)) in values.iter_mut().zip(input).enumerate() {
        let (minus_q, dither) = match plan.family {
            Family::Unsigned | Family::Jlp21 => (false, zero),
            Family::Balanced | Family::Symmetric => (u >= plan.threshold, zero),
            Family::Jlp24 => (select[j / BLOCK] >> (j % BLOCK) & 1 == 1, zero),
            Family::Gmp19 => (draws.thresholds[j] < u, zero),
            Family::Zy22 => (draws.thresholds[j] < u, draws.dither[j]),
            Family::DitherQ => (u + draws.dither[j] >= q, draws.dither[j]),
        };
        // Whenever q is subtracted, the sum is at least q.
        let sum = u + plan.add + dither;
        *value = if minus_q { sum - q } else { sum };
        if plan.dropped > 0 {
            *value = *value / plan.unit;
        }
    }
}

/// Writes the digits; `split` returns the lowest digit of a value and leaves the rest of it.
#[inline(always)]
fn extract<W: Residue, D: Digit>(
    plan: &Plan<W>,
    values: &mut [W],
    words: &[u64],
    draws: Draws<'_, W>,
    rows: &mut Rows<'_, D>,
    split: impl Fn(&mut W) -> i64,
) {
    let (n, top) = (values.len(), plan.length - 1);
    let digits_of = |t: usize, values: &mut [W], digits: &mut [i64]| {
        for (digit, value) in digits.iter_mut().zip(values) {
            *digit = if t < top { split(value) } else { value.low() as i64 };
        }
    };
    let (mut digits, mut subtracted) = ([0i64; TILE], [0i64; TILE]);
    let (digits, subtracted) = (&mut digits[..n], &mut subtracted[..n]);
    // ZY22 and dither modulo q: the rest of rho. GMP19: the digits of v so far, v mod b^(t+1).
    let mut rests = [W::default(); TILE];
    let rests = &mut rests[..n];
    if matches!(plan.family, Family::Zy22 | Family::DitherQ) {
        rests.copy_from_slice(&draws.dither[..n]);
    }
    let (mut incoming, selected) = ([0u64; TILE / BLOCK], row(words, SELECT_ROW, n));
    for t in 0..plan.length {
        digits_of(t, values, digits);
        let offset = if t < top { plan.offset } else { plan.top_offset };
        match plan.family {
            Family::Unsigned | Family::Balanced | Family::Symmetric => {}
            Family::Zy22 | Family::DitherQ => {
                digits_of(t, rests, subtracted);
                digits.iter_mut().zip(&*subtracted).for_each(|(digit, rho)| *digit -= rho);
            }
            Family::Gmp19 | Family::Jlp21 | Family::Jlp24 => {
                let outgoing = match plan.family {
                    _ if t == top => [0; TILE / BLOCK],
                    Family::Gmp19 => random_carries(plan, t, digits, rests, draws.dither),
                    _ => row(words, carry_row(t), n),
                };
                move_carries(digits, &incoming, &outgoing, plan.base as i64);
                if plan.family == Family::Jlp21 {
                    move_carries(digits, &[0; TILE / BLOCK], &selected, plan.modulus_digits[t]);
                }
                incoming = outgoing;
            }
        }
        for (out, digit) in rows.row(t, n).iter_mut().zip(&*digits) {
            *out = D::from_i64(digit - offset);
        }
    }
}

/// A row of words, or of zeros past the last row.
fn row(words: &[u64], row: usize, coefficients: usize) -> [u64; TILE / BLOCK] {
    let (mut out, blocks) = ([0; TILE / BLOCK], coefficients.div_ceil(BLOCK));
    if let Some(words) = words.get(row * blocks..(row + 1) * blocks) {
        out[..blocks].copy_from_slice(words);
    }
    out
}

/// Adds the incoming carries and takes b from the digits that carry.
fn move_carries(digits: &mut [i64], incoming: &[u64], outgoing: &[u64], base: i64) {
    for (digits, (incoming, outgoing)) in digits.chunks_mut(BLOCK).zip(incoming.iter().zip(outgoing)) {
        for (j, digit) in digits.iter_mut().enumerate() {
            *digit += (incoming >> j & 1) as i64 - base * (outgoing >> j & 1) as i64;
        }
    }
}

/// GMP19: adds digit `t` to the rests, and carries where a value of row `t` of the block is below the rest.
fn random_carries<W: Residue>(
    plan: &Plan<W>,
    t: usize,
    digits: &[i64],
    rests: &mut [W],
    uniform: &[W],
) -> [u64; TILE / BLOCK] {
    let (weight, rows) = (plan.weight(t), plan.length - 1);
    let mut carries = [0; TILE / BLOCK];
    for (j, (rest, digit)) in rests.iter_mut().zip(digits).enumerate() {
        *rest = *rest + weight * W::from_u128(*digit as u128);
        let value = uniform[(j / BLOCK * rows + t) * BLOCK + j % BLOCK];
        carries[j / BLOCK] |= u64::from(value < *rest) << (j % BLOCK);
    }
    carries
}

/// See [`super::keep_below`].
pub(super) fn keep_below<W: Residue>(words: &mut [W], mask: W, bound: W) -> usize {
    if bound.to_u128().is_power_of_two() {
        words.iter_mut().for_each(|word| *word = *word & mask);
        return words.len();
    }
    (0..words.len()).fold(0, |kept, j| {
        let value = words[j] & mask;
        // Without a branch: the next write overtakes a value that is skipped.
        words[kept] = value;
        kept + usize::from(value < bound)
    })
}
