//! The AVX-512 path: a line is one register; its even and odd slots are multiplied apart, for the multiplier takes the lower half of
//! each lane of 64 bits. Sums of four columns and both polynomials of pairs take sixteen registers.

use super::Line;
use super::plan::{Plan, Sums, ahead};
use std::arch::x86_64::*;

/// # Safety
/// Each of `lines` holds a line for each tuple.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) unsafe fn add_products<const C: usize, const K: usize>(
    plan: Plan,
    lines: [&[Line]; C],
    tuples: &[[Line; K]],
    sums: [&mut Sums<K>; C],
) {
    let ahead = ahead(C);
    let multiple = _mm512_set1_epi64(plan.multiple as i64);
    let load = |sums: &Sums<K>, part: usize, half: usize| {
        // SAFETY: each part of `Sums` is two registers, aligned as registers are.
        unsafe { _mm512_load_si512(sums.0[part].as_ptr().add(8 * half).cast()) }
    };
    // Sums by column and polynomial of a tuple: even slots, then odd ones.
    let mut totals: [[[__m512i; 2]; K]; C] =
        std::array::from_fn(|c| std::array::from_fn(|part| [0, 1].map(|half| load(&*sums[c], part, half))));
    let mut left = 0;
    for (row, tuple) in tuples.iter().enumerate() {
        if left == 0 {
            left = plan.terms;
            for sum in totals.as_flattened_mut().as_flattened_mut() {
                *sum = _mm512_mask_sub_epi64(*sum, _mm512_movepi64_mask(*sum), *sum, multiple);
            }
        }
        left -= 1;
        // SAFETY: a line is a register.
        let even = tuple.each_ref().map(|line| unsafe { _mm512_loadu_si512(line.as_ptr().cast()) });
        let odd = even.map(|line| _mm512_srli_epi64::<32>(line));
        for (c, total) in totals.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let line = unsafe {
                let at = lines[c].as_ptr().add(row);
                ahead.ask(at, 1);
                _mm512_loadu_si512(at.cast())
            };
            let upper = _mm512_srli_epi64::<32>(line);
            for (part, total) in total.iter_mut().enumerate() {
                total[0] = _mm512_add_epi64(total[0], _mm512_mul_epu32(line, even[part]));
                total[1] = _mm512_add_epi64(total[1], _mm512_mul_epu32(upper, odd[part]));
            }
        }
    }
    for (sums, total) in sums.into_iter().zip(totals) {
        for (i, total) in total.as_flattened().iter().enumerate() {
            // SAFETY: as in `load`.
            unsafe { _mm512_store_si512(sums.0[i / 2].as_mut_ptr().add(8 * (i % 2)).cast(), *total) };
        }
    }
}
