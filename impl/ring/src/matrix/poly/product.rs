//! Matrix times vectors of tuples, in one pass over the matrix.

use super::plan::{Plan, Sums};
use super::{LINE, Line, PolyMatrix, PolyMatrixError, PolyVector, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::{Checked, dispatch};
#[cfg(target_arch = "x86_64")]
use crate::kernel::{Kernel, Processor};
use crate::modulus::Modulus;
use crate::poly::RingShape;
use crate::work::{Kind, Work, count};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a part.
const PART: usize = 128;

/// The largest number of columns that are multiplied at once.
const GROUP: usize = 4;

/// What a product is added to.
#[derive(Clone, Copy)]
enum Sum {
    /// Nothing: the place that it is written to has not been read yet.
    New,
    /// What stands where it is written.
    Old,
}

impl PolyMatrix {
    /// The work of [`Self::multiply`] for that many rows and columns, and vectors that together have tuples of `polys` polynomials; `bytes` of
    /// the matrix and of vectors are read.
    pub fn multiply_work(ring: RingShape, (rows, columns): (usize, usize), polys: u64, bytes: u64) -> Work {
        let slots = (ring.degree * ring.primes) as u64;
        Work::from([
            (Kind::PolyMatrixMultiplyAdds, count(&[polys, rows as u64, columns as u64, slots])),
            (Kind::PolyMatrixBytes, bytes),
        ])
    }

    /// For each vector v and each column j the sum over the rows i of entry (i, j) times v_i. All vectors share one pass over the
    /// matrix. With `threads` above 1 the slots are split into that many tasks on the current rayon pool.
    ///
    /// # Errors
    /// A vector of another ring, or that is not as long as the matrix has rows; no memory.
    pub fn multiply<const K: usize>(
        &self,
        vectors: &[&PolyVector<K>],
        threads: usize,
    ) -> Result<Vec<PolyVector<K>>, PolyMatrixError> {
        self.multiply_part(vectors, 0..self.columns, threads)
    }

    /// The same for some columns.
    pub fn multiply_part<const K: usize>(
        &self,
        vectors: &[&PolyVector<K>],
        columns: Range<usize>,
        threads: usize,
    ) -> Result<Vec<PolyVector<K>>, PolyMatrixError> {
        let mut products = Vec::new();
        self.multiply_add(vectors, columns, &mut products, threads)?;
        Ok(products)
    }

    /// Adds the products of [`Self::multiply_part`] to sums, one for each vector; where there are no sums yet, the products become the
    /// sums.
    ///
    /// # Errors
    /// As [`Self::multiply`]; sums of another ring, number of columns, or number of vectors.
    pub fn multiply_add<const K: usize>(
        &self,
        vectors: &[&PolyVector<K>],
        columns: Range<usize>,
        sums: &mut Vec<PolyVector<K>>,
        threads: usize,
    ) -> Result<(), PolyMatrixError> {
        self.check(vectors, self.rows)?;
        if columns.start > columns.end || columns.end > self.columns {
            let Range { start, end } = columns;
            return Err(PolyMatrixError::Place {
                row: 0,
                column: start.max(end),
                rows: self.rows,
                columns: self.columns,
            });
        }
        let sum = if sums.is_empty() { Sum::New } else { Sum::Old };
        if sums.is_empty() {
            let products = vectors.iter().map(|_| PolyVector::zero(&self.ring, columns.len()));
            *sums = products.collect::<Result<_, _>>()?;
        }
        self.check(&sums.iter().collect::<Vec<_>>(), columns.len())?;
        if sums.len() != vectors.len() {
            return Err(PolyMatrixError::Length { found: sums.len(), rows: vectors.len() });
        }
        self.pass(vectors, columns, sums, sum, threads);
        Ok(())
    }

    fn check<const K: usize>(&self, vectors: &[&PolyVector<K>], length: usize) -> Result<(), PolyMatrixError> {
        for vector in vectors {
            if !vector.is_of(&self.ring) {
                return Err(PolyMatrixError::Ring);
            }
            if vector.len() != length {
                return Err(PolyMatrixError::Length { found: vector.len(), rows: length });
            }
        }
        Ok(())
    }

    /// One pass over those columns, on that many threads.
    fn pass<const K: usize>(
        &self,
        vectors: &[&PolyVector<K>],
        columns: Range<usize>,
        products: &mut [PolyVector<K>],
        sum: Sum,
        threads: usize,
    ) {
        if columns.is_empty() {
            return;
        }
        let each = self.strips().div_ceil(threads.max(1));
        let mut tasks: Vec<_> = (0..self.strips()).step_by(each).map(|strip| (strip, Vec::new())).collect();
        for product in products {
            tasks.iter_mut().zip(product.strips_mut(each)).for_each(|((_, out), tuples)| out.push(tuples));
        }
        let task = |(strip, out)| self.multiply_strips(vectors, columns.clone(), (strip, sum), out);
        if tasks.len() == 1 {
            tasks.into_iter().for_each(task);
        } else {
            tasks.into_par_iter().for_each(task);
        }
    }

    /// The same for strips from number `strip` on, as many as `out` has place for: tuple after tuple in strip after strip, by vector.
    fn multiply_strips<const K: usize>(
        &self,
        vectors: &[&PolyVector<K>],
        columns: Range<usize>,
        (mut strip, sum): (usize, Sum),
        mut out: Vec<&mut [[Line; K]]>,
    ) {
        let (width, at_once) = (columns.len(), self.at_once(vectors.len()));
        // Columns that are multiplied at once lie far apart: their lines come from memory in as many streams.
        let apart = width / at_once;
        let far = (0..apart).map(|first| (first..apart * at_once).step_by(apart).collect());
        let rest: Vec<usize> = (apart * at_once..width).collect();
        let groups: Vec<Vec<usize>> = far.chain((!rest.is_empty()).then_some(rest)).collect();
        let mut sums = vec![[Sums::ZERO; GROUP]; vectors.len()];
        while out.iter().any(|out| !out.is_empty()) {
            let (modulus, _) = &self.ring.limbs()[strip / self.lines_each()];
            let plan = Plan::new(modulus);
            let lines = &self.strip(strip)[columns.start * self.rows..columns.end * self.rows];
            let mut places: Vec<_> = out.iter_mut().map(|out| out.split_off_mut(..width).unwrap_or_default()).collect();
            for group in &groups {
                for (sums, place) in sums.iter_mut().zip(&places) {
                    for (sums, column) in sums.iter_mut().zip(group) {
                        *sums = match sum {
                            Sum::New => Sums::ZERO,
                            Sum::Old => Sums::of(&place[*column]),
                        };
                    }
                }
                // As many rows as have lines that stay in the cache for all vectors.
                for start in (0..self.rows).step_by(PART) {
                    let rows = start..self.rows.min(start + PART);
                    let lines = |number: usize| &lines[group[number] * self.rows..][rows.clone()];
                    for (vector, sums) in vectors.iter().zip(&mut sums) {
                        let tuples = &vector.strip(strip)[rows.clone()];
                        add_products(self.ring.vectors().checked(), plan, lines, tuples, &mut sums[..group.len()]);
                    }
                }
                for (place, sums) in places.iter_mut().zip(&sums) {
                    group.iter().zip(sums).for_each(|(column, sums)| place[*column] = self.residues(modulus, sums));
                }
            }
            strip += 1;
        }
    }

    /// Columns that are multiplied at once. Intel's cores read four streams faster than one. AVX-512 has registers for the sums of four, which
    /// spare it reading the vector again; on other cores this pays if there are more products than lines to be read.
    fn at_once(&self, vectors: usize) -> usize {
        #[cfg(target_arch = "x86_64")]
        if Processor::here() == Processor::Intel || self.ring.kernel() == Kernel::Avx512 && vectors > 1 {
            return GROUP;
        }
        let _ = vectors;
        1
    }

    /// The residues of a column's sums, in the order of the slots.
    fn residues<const K: usize>(&self, modulus: &Modulus<u32>, sums: &Sums<K>) -> [Line; K] {
        let mut residues = [[[0; LINE / 2]; 2]; K];
        let words = residues.as_flattened_mut().as_flattened_mut();
        self.ring.vectors().reduce(modulus, sums.0.as_flattened(), words);
        residues.map(|halves| std::array::from_fn(|slot| halves[slot % 2][slot / 2]))
    }
}

/// Adds to the sums of `sums.len()` columns the products of their lines, row by row, with the rows' tuples. `lines` gives a column's lines.
/// Sums may have any value before, and are correct modulo the prime afterwards.
fn add_products<'a, const K: usize>(
    kernel: Checked,
    plan: Plan,
    lines: impl Fn(usize) -> &'a [Line],
    tuples: &[[Line; K]],
    sums: &mut [Sums<K>],
) {
    match sums {
        [a] => add_width(kernel, plan, lines, tuples, [a]),
        [a, b] => add_width(kernel, plan, lines, tuples, [a, b]),
        [a, b, c] => add_width(kernel, plan, lines, tuples, [a, b, c]),
        [a, b, c, d] => add_width(kernel, plan, lines, tuples, [a, b, c, d]),
        _ => unreachable!("groups have one to four columns"),
    }
}

fn add_width<'a, const C: usize, const K: usize>(
    kernel: Checked,
    plan: Plan,
    lines: impl Fn(usize) -> &'a [Line],
    tuples: &[[Line; K]],
    sums: [&mut Sums<K>; C],
) {
    let lines: [&[Line]; C] = std::array::from_fn(lines);
    assert!(lines.iter().all(|lines| lines.len() == tuples.len()) && plan.terms > 0);
    dispatch!(kernel, add_products(plan, lines, tuples, sums));
}
