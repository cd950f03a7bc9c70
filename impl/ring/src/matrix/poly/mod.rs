//! Matrices of polynomials in the NTT domain, and their products with vectors of ring ciphertexts: the first dimension of the
//! protocols that fold, bound by the bandwidth at which memory streams the matrix.
//!
//! Modulo each prime, slots are independent: a product is, slot by slot, an integer matrix times two vectors, the ciphertexts' masks
//! and bodies. Residues lie in *lines* of 16 slots. Memory holds limb after limb, in each line after line of the polynomials, in each
//! of these column after column, in each row after row: so a product reads all of it once, in one stream or in a few side by side, beside
//! the lines of the vector that belong to the 16 slots at hand, which stay in the cache. Each path has one file with the same functions and
//! results.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plan;
mod product;
mod scalar;
#[cfg(test)]
mod tests;
mod vector;

pub use vector::{PolyPairs, PolyVector};

use crate::poly::{Ntt, Poly, Ring};
use crate::region::Region;
use rayon::prelude::*;
use std::sync::Arc;

/// Slots of a line.
pub const LINE: usize = 16;

/// Residues of one polynomial in 16 consecutive slots.
type Line = [u32; LINE];

/// Row and column of a polynomial, and the polynomial.
pub type Entry = ((usize, usize), Poly<u32, Ntt>);

/// Reasons to refuse a matrix or a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolyMatrixError {
    /// No rows or no columns, or more than the address space holds.
    #[error("no matrix has {rows} x {columns} polynomials")]
    Shape {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// The system refused the memory.
    #[error("no memory for a matrix of {0} bytes")]
    Memory(u64),
    /// A place outside the matrix.
    #[error("row {row}, column {column} is outside a matrix of {rows} x {columns} polynomials")]
    Place {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// A polynomial or a vector of another ring.
    #[error("a matrix and a polynomial of another ring cannot be combined")]
    Ring,
    /// A vector that is not as long as the matrix has rows.
    #[error("a vector of {found} ciphertexts for a matrix of {rows} rows")]
    Length {
        /// Elements of the vector.
        found: usize,
        /// Rows.
        rows: usize,
    },
}

/// A matrix of polynomials in the NTT domain; see the module.
pub struct PolyMatrix {
    ring: Arc<Ring<u32>>,
    rows: usize,
    columns: usize,
    region: Region,
}

impl std::fmt::Debug for PolyMatrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolyMatrix").field("rows", &self.rows).field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl PolyMatrix {
    /// Bytes of a matrix of that shape over rings of `n` slots and `primes` primes.
    pub fn bytes_for(n: usize, primes: usize, rows: usize, columns: usize) -> u64 {
        [n, primes, rows, columns].iter().fold(size_of::<u32>() as u64, |bytes, &x| bytes.saturating_mul(x as u64))
    }

    /// The zero matrix of `rows` x `columns` polynomials.
    ///
    /// # Errors
    /// No rows, no columns, more than the address space or the memory holds.
    pub fn zero(ring: &Arc<Ring<u32>>, rows: usize, columns: usize) -> Result<Self, PolyMatrixError> {
        let bytes = Self::bytes_for(ring.n(), ring.primes().len(), rows, columns);
        if bytes == 0 || bytes > isize::MAX as u64 {
            return Err(PolyMatrixError::Shape { rows, columns });
        }
        let region = Region::zeroed(bytes as usize).ok_or(PolyMatrixError::Memory(bytes))?;
        Ok(Self { ring: Arc::clone(ring), rows, columns, region })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Bytes of the residues: what a product reads.
    pub fn bytes(&self) -> u64 {
        Self::bytes_for(self.ring.n(), self.ring.primes().len(), self.rows, self.columns)
    }

    /// Number of lines of one limb for each polynomial.
    fn lines_each(&self) -> usize {
        self.ring.n() / LINE
    }

    /// Number of strips.
    fn strips(&self) -> usize {
        self.ring.limbs().len() * self.lines_each()
    }

    /// All lines of 16 slots (strip `limb * n / 16 + slot / 16`).
    fn strip(&self, strip: usize) -> &[Line] {
        let lines: &[Line] = bytemuck::cast_slice(self.region.bytes());
        &lines[strip * self.rows * self.columns..][..self.rows * self.columns]
    }

    fn check_place(&self, row: usize, column: usize) -> Result<(), PolyMatrixError> {
        if row < self.rows && column < self.columns {
            return Ok(());
        }
        Err(PolyMatrixError::Place { row, column, rows: self.rows, columns: self.columns })
    }

    /// Writes polynomials at their rows and columns, which is fastest for many adjacent rows; with `threads` above 1 on the current rayon pool.
    ///
    /// # Errors
    /// A place outside the matrix, a polynomial of another ring.
    pub fn set(&mut self, entries: &[Entry], threads: usize) -> Result<(), PolyMatrixError> {
        let mut places = Vec::with_capacity(entries.len());
        for ((row, column), poly) in entries {
            self.check_place(*row, *column)?;
            if !self.ring.owns(poly) {
                return Err(PolyMatrixError::Ring);
            }
            places.push((column * self.rows + row, poly.as_slice()));
        }
        places.sort_by_key(|(place, _)| *place);
        let strip_lines = self.rows * self.columns;
        let lines: &mut [Line] = bytemuck::cast_slice_mut(self.region.bytes_mut());
        let write = |(strip, lines): (usize, &mut [Line])| {
            for (place, residues) in &places {
                lines[*place].copy_from_slice(&residues[strip * LINE..][..LINE]);
            }
        };
        if threads <= 1 {
            lines.chunks_exact_mut(strip_lines).enumerate().for_each(write);
        } else {
            lines.par_chunks_exact_mut(strip_lines).enumerate().for_each(write);
        }
        Ok(())
    }

    /// The polynomial in that row and column.
    ///
    /// # Errors
    /// A place outside the matrix.
    pub fn get(&self, row: usize, column: usize) -> Result<Poly<u32, Ntt>, PolyMatrixError> {
        self.check_place(row, column)?;
        let mut poly = self.ring.zero();
        for (strip, out) in poly.as_mut_slice().chunks_exact_mut(LINE).enumerate() {
            out.copy_from_slice(&self.strip(strip)[column * self.rows + row]);
        }
        Ok(poly)
    }
}
