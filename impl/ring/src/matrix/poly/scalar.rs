//! The portable path, the reference for the others.

use super::plan::{Plan, Sums};
use super::{LINE, Line};

pub(super) fn add_products<const C: usize, const K: usize>(
    plan: Plan,
    lines: [&[Line]; C],
    tuples: &[[Line; K]],
    sums: [&mut Sums<K>; C],
) {
    for (lines, sums) in lines.into_iter().zip(sums) {
        for (row, (line, tuple)) in lines.iter().zip(tuples).enumerate() {
            if row % plan.terms == 0 {
                for sum in sums.0.as_flattened_mut() {
                    *sum -= if *sum >> 63 == 1 { plan.multiple } else { 0 };
                }
            }
            for (part, sums) in tuple.iter().zip(&mut sums.0) {
                let (even, odd) = sums.split_at_mut(LINE / 2);
                let products = line.chunks_exact(2).zip(part.chunks_exact(2));
                for ((even, odd), (x, y)) in even.iter_mut().zip(odd).zip(products) {
                    *even += u64::from(x[0]) * u64::from(y[0]);
                    *odd += u64::from(x[1]) * u64::from(y[1]);
                }
            }
        }
    }
}
