//! Matrix times vectors of pairs, in one pass over the matrix.

use super::plan::{Plan, Sums};
use super::{GROUP, LINE, Line, PolyMatrix, PolyMatrixError, PolyPairs, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::{Checked, dispatch};
use crate::modulus::Modulus;
use crate::poly::{Ntt, Poly, RingShape};
use crate::work::{Kind, Work, count};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a part.
const PART: usize = 128;

/// The results for one vector: a pair of polynomials for each column.
pub type Products = Vec<[Poly<u32, Ntt>; 2]>;

impl PolyMatrix {
    /// The work of [`Self::multiply`] for that many rows and columns; `bytes` of the matrix and of vectors are read.
    pub fn multiply_work(ring: RingShape, (rows, columns): (usize, usize), vectors: u64, bytes: u64) -> Work {
        let slots = (ring.degree * ring.primes) as u64;
        Work::from([
            (Kind::PolyMatrixMultiplyAdds, count(&[2, vectors, rows as u64, columns as u64, slots])),
            (Kind::PolyMatrixBytes, bytes),
        ])
    }

    /// For each vector v and each column j the sum over the rows i of entry (i, j) times v_i. All vectors share one pass over the
    /// matrix. With `threads` above 1 the columns are split into that many tasks on the current rayon pool.
    ///
    /// # Errors
    /// A vector of another ring, or that is not as long as the matrix has rows.
    pub fn multiply(&self, vectors: &[&PolyPairs], threads: usize) -> Result<Vec<Products>, PolyMatrixError> {
        self.multiply_part(vectors, 0..self.columns, threads)
    }

    /// The same for some columns, from a multiple of four to a multiple of four or the last one.
    pub fn multiply_part(
        &self,
        vectors: &[&PolyPairs],
        columns: Range<usize>,
        threads: usize,
    ) -> Result<Vec<Products>, PolyMatrixError> {
        for vector in vectors {
            if !vector.is_of(&self.ring) {
                return Err(PolyMatrixError::Ring);
            }
            if vector.len() != self.rows {
                return Err(PolyMatrixError::Length { found: vector.len(), rows: self.rows });
            }
        }
        // Lines of a group's columns lie side by side.
        let whole = |column: usize| column == self.columns || (column < self.columns && column.is_multiple_of(GROUP));
        if let Some(&column) = [columns.start, columns.end].iter().find(|&&column| !whole(column)) {
            return Err(PolyMatrixError::Place { row: 0, column, rows: self.rows, columns: self.columns });
        }
        let each = columns.len().div_ceil(threads.max(1)).next_multiple_of(GROUP).max(GROUP);
        let starts: Vec<usize> = columns.clone().step_by(each).collect();
        let task = |start: &usize| self.multiply_columns(vectors, *start, each.min(columns.end - start));
        let parts: Vec<Vec<Products>> = match starts.as_slice() {
            [all] => vec![task(all)],
            several => several.par_iter().map(task).collect(),
        };
        let mut out: Vec<Products> = vectors.iter().map(|_| Vec::with_capacity(columns.len())).collect();
        for part in parts {
            out.iter_mut().zip(part).for_each(|(out, part)| out.extend(part));
        }
        Ok(out)
    }

    /// The same for `count` columns from `first`, a multiple of four, on.
    fn multiply_columns(&self, vectors: &[&PolyPairs], first: usize, count: usize) -> Vec<Products> {
        let zeros = || (0..count).map(|_| [self.ring.zero(), self.ring.zero()]).collect();
        let mut out: Vec<Products> = vectors.iter().map(|_| zeros()).collect();
        let mut sums = vec![[Sums::ZERO; GROUP]; vectors.len()];
        for (limb, (modulus, _)) in self.ring.limbs().iter().enumerate() {
            let plan = Plan::new(modulus);
            for line in 0..self.lines_each() {
                let strip = limb * self.lines_each() + line;
                let lines = &self.strip(strip)[first * self.rows..][..count * self.rows];
                for (group, lines) in lines.chunks(GROUP * self.rows).enumerate() {
                    let width = lines.len() / self.rows;
                    sums.fill([Sums::ZERO; GROUP]);
                    // So many rows that their lines stay in the cache for all vectors.
                    for (part, lines) in lines.chunks(PART * width).enumerate() {
                        let rows = lines.len() / width;
                        for (vector, sums) in vectors.iter().zip(&mut sums) {
                            let pairs = &vector.strip(strip)[part * PART..][..rows];
                            add_products(self.ring.vectors().checked(), plan, lines, pairs, &mut sums[..width]);
                        }
                    }
                    for (out, sums) in out.iter_mut().zip(&sums) {
                        let residues = self.finish(modulus, sums);
                        for (pair, residues) in out[group * GROUP..].iter_mut().zip(&residues[..width]) {
                            for (poly, residues) in pair.iter_mut().zip(residues) {
                                poly.limb_mut(limb)[line * LINE..][..LINE].copy_from_slice(residues);
                            }
                        }
                    }
                }
            }
        }
        out
    }

    /// The residues of the sums of columns, in the order of the slots.
    fn finish(&self, modulus: &Modulus<u32>, sums: &[Sums; GROUP]) -> [[Line; 2]; GROUP] {
        let (mut residues, mut out) = ([0; GROUP * 2 * LINE], [[[0; LINE]; 2]; GROUP]);
        let sums: [[[u64; LINE]; 2]; GROUP] = sums.map(|sums| sums.0);
        self.ring.vectors().reduce(modulus, sums.as_flattened().as_flattened(), &mut residues);
        for (out, residues) in out.as_flattened_mut().iter_mut().zip(residues.chunks_exact(LINE)) {
            let (even, odd) = residues.split_at(LINE / 2);
            for (out, (even, odd)) in out.chunks_exact_mut(2).zip(even.iter().zip(odd)) {
                out.copy_from_slice(&[*even, *odd]);
            }
        }
        out
    }
}

/// Adds to the sums of `sums.len()` columns the products of their lines, row by row, with the rows' pairs. Sums may have any value
/// before, and are correct modulo the prime afterwards.
fn add_products(kernel: Checked, plan: Plan, lines: &[Line], pairs: &[[Line; 2]], sums: &mut [Sums]) {
    match sums {
        [a] => add_width::<1>(kernel, plan, lines, pairs, [a]),
        [a, b] => add_width::<2>(kernel, plan, lines, pairs, [a, b]),
        [a, b, c] => add_width::<3>(kernel, plan, lines, pairs, [a, b, c]),
        [a, b, c, d] => add_width::<4>(kernel, plan, lines, pairs, [a, b, c, d]),
        _ => unreachable!("groups have one to four columns"),
    }
}

fn add_width<const C: usize>(kernel: Checked, plan: Plan, lines: &[Line], pairs: &[[Line; 2]], sums: [&mut Sums; C]) {
    assert!(lines.len() == C * pairs.len() && plan.terms > 0);
    dispatch!(kernel, add_products(plan, lines, pairs, sums));
}
