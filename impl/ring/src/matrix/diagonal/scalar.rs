//! The portable path.

use super::{LINE, Line, Plan, Sums};

pub(super) fn add_products<const C: usize>(plan: Plan, lines: &[Line], inputs: [&[u32]; C], sums: &mut [Sums; C]) {
    for (sums, input) in sums.iter_mut().zip(inputs) {
        for (lines, input) in lines.chunks(plan.terms).zip(input.chunks(plan.terms)) {
            for (line, x) in lines.iter().zip(input) {
                for (lane, entry) in line.iter().enumerate() {
                    sums.low[Sums::place(lane)] += u64::from(*entry) * u64::from(*x);
                }
            }
            for place in 0..LINE {
                sums.high[place] += sums.low[place] >> 32;
                sums.low[place] &= u64::from(u32::MAX);
            }
        }
    }
}
