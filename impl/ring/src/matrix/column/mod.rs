//! Databases of 16-bit entries in columns, and their products with residues modulo primes: the first product of the protocols
//! over rings, whose query is one ring element for every N rows.
//!
//! Rows come in blocks of N, the degree of the ring; a block holds column after column, a column of a block is its entries one
//! after the other: a polynomial of N coefficients (fewer in the last block, completed to a multiple of 32 by zeros).
//! A block's part of a query stays in the first-level cache while the block streams through upwards.
//!
//! Entries are signed: a database modulo p <= 2^16 is stored by representatives around zero, which makes the noise of the product
//! four times smaller in variance than those from 0 to p - 1. Databases below 2^15 may be stored as they are. Modulo 65537 one
//! entry in 65537 is 2^15: such entries are stored as 2^15 - 1 and listed, and every product adds the missing part.

#[cfg(target_arch = "x86_64")]
mod ahead;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod hint;
mod part;
mod product;
mod residues;
mod scalar;
#[cfg(test)]
mod tests;

pub use hint::{ring_products, ring_products_work};
pub use product::{product, product_work};
pub use residues::{MAX_PRIME, ResidueVector, ResidueVectorError};

use crate::matrix::packed::MatrixError;
use crate::region::Region;
use std::collections::BTreeSet;

/// Entries in a line: the rows one 512-bit register holds, and the multiple to which a block is padded.
pub const LINE: usize = 32;

/// The one entry beyond 16 bits.
pub const EXCESS: i32 = 1 << 15;

/// A matrix of 16-bit signed entries and some of 2^15, stored as the module describes.
pub struct ColumnMatrix {
    data: Region,
    /// Rows and columns of the entries 2^15.
    excess: BTreeSet<(usize, usize)>,
    rows: usize,
    cols: usize,
    degree: usize,
}

impl ColumnMatrix {
    /// Exact bytes that a matrix of that shape allocates, padding included.
    pub const fn stored_bytes_for(rows: usize, cols: usize) -> u64 {
        rows.next_multiple_of(LINE) as u64 * cols as u64 * size_of::<i16>() as u64
    }

    /// A zero matrix of `rows` x `cols` entries in blocks of `degree` rows, a multiple of 32.
    ///
    /// # Errors
    /// No rows, no columns, a degree that is not a positive multiple of 32, more than the address space or the memory holds.
    pub fn new(rows: usize, cols: usize, degree: usize) -> Result<Self, MatrixError> {
        let bytes =
            rows.checked_next_multiple_of(LINE).and_then(|r| r.checked_mul(cols)?.checked_mul(size_of::<i16>()));
        let bytes = bytes.filter(|bytes| *bytes > 0 && *bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or(MatrixError::Shape { rows, cols })?;
        if degree == 0 || !degree.is_multiple_of(LINE) {
            return Err(MatrixError::Alignment(degree));
        }
        let data = Region::zeroed(bytes).ok_or(MatrixError::Memory(bytes as u64))?;
        Ok(Self { data, excess: BTreeSet::new(), rows, cols, degree })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Rows of a block, N.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Number of blocks of N rows, the last one possibly shorter.
    pub fn blocks(&self) -> usize {
        self.rows.div_ceil(self.degree)
    }

    /// Bytes allocated, padding included.
    pub fn stored_bytes(&self) -> u64 {
        Self::stored_bytes_for(self.rows, self.cols)
    }

    /// Rows of a block as stored: a multiple of 32.
    fn height(&self, block: usize) -> usize {
        (self.rows - block * self.degree).min(self.degree).next_multiple_of(LINE)
    }

    fn entries(&self) -> &[i16] {
        bytemuck::cast_slice(self.data.bytes())
    }

    /// The entries of all columns of a block.
    fn block(&self, block: usize) -> &[i16] {
        let start = block * self.degree * self.cols;
        &self.entries()[start..start + self.height(block) * self.cols]
    }

    /// The polynomial in column `col` of block `block`: its coefficients up to the last row, completed to a multiple of 32 by
    /// zeros; 2^15 - 1 for those that are 2^15.
    ///
    /// # Panics
    /// If there is no such block or column.
    pub fn polynomial(&self, block: usize, col: usize) -> &[i16] {
        assert!(block < self.blocks() && col < self.cols, "block {block}, column {col} outside the matrix");
        let height = self.height(block);
        &self.block(block)[col * height..(col + 1) * height]
    }

    /// Offset of an entry.
    fn at(&self, row: usize, col: usize) -> usize {
        let block = row / self.degree;
        block * self.degree * self.cols + col * self.height(block) + row % self.degree
    }

    /// The entry in row `row` and column `col`, -2^15 to 2^15.
    ///
    /// # Panics
    /// If either is outside the matrix.
    pub fn get(&self, row: usize, col: usize) -> i32 {
        assert!(row < self.rows && col < self.cols, "entry ({row}, {col}) outside {} x {}", self.rows, self.cols);
        if self.excess.contains(&(row, col)) { EXCESS } else { self.entries()[self.at(row, col)].into() }
    }

    /// The rows and columns of the entries 2^15, by row.
    pub fn excess(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        self.excess.iter().copied()
    }

    /// Writes one entry, -2^15 to 2^15.
    ///
    /// # Errors
    /// A row or column outside the matrix, an entry out of range.
    pub fn set(&mut self, row: usize, col: usize, entry: i32) -> Result<(), MatrixError> {
        let narrow = if entry == EXCESS { Ok(i16::MAX) } else { i16::try_from(entry) };
        self.set_column(row, col, &[narrow.map_err(|_| MatrixError::Wide { row, col, value: entry })?])?;
        if entry == EXCESS {
            self.excess.insert((row, col));
        }
        Ok(())
    }

    /// Writes the entries of column `col` from row `first_row` on, all in one block.
    ///
    /// # Errors
    /// Rows or a column outside the matrix, or rows of several blocks.
    pub fn set_column(&mut self, first_row: usize, col: usize, entries: &[i16]) -> Result<(), MatrixError> {
        let end = first_row.saturating_add(entries.len());
        let block_end = (first_row / self.degree + 1).saturating_mul(self.degree).min(self.rows);
        if end > block_end {
            return Err(MatrixError::Index { what: "row", index: end - 1, len: block_end });
        }
        self.check_columns(col, 1)?;
        if !entries.is_empty() {
            self.forget((first_row, entries.len()), (col, 1));
            let at = self.at(first_row, col);
            let data: &mut [i16] = bytemuck::cast_slice_mut(self.data.bytes_mut());
            data[at..at + entries.len()].copy_from_slice(entries);
        }
        Ok(())
    }

    /// Writes up to 32 rows from row `first_row`, a multiple of 32, on: of each, the entries from column `first_col` on, `stride`
    /// apart in `entries`.
    ///
    /// # Errors
    /// Rows or columns outside the matrix, a first row that is not a multiple of 32.
    ///
    /// # Panics
    /// If `entries` is shorter than the last row's part.
    pub fn set_rows(
        &mut self,
        (first_row, rows): (usize, usize),
        (first_col, cols): (usize, usize),
        entries: &[i16],
        stride: usize,
    ) -> Result<(), MatrixError> {
        if !first_row.is_multiple_of(LINE) || rows > LINE {
            return Err(MatrixError::Alignment(if rows > LINE { rows } else { first_row }));
        }
        let end = first_row.saturating_add(rows);
        if end > self.rows {
            return Err(MatrixError::Index { what: "row", index: end - 1, len: self.rows });
        }
        self.check_columns(first_col, cols)?;
        if rows == 0 {
            return Ok(());
        }
        self.forget((first_row, rows), (first_col, cols));
        let height = self.height(first_row / self.degree);
        let start = self.at(first_row, first_col);
        let data: &mut [i16] = bytemuck::cast_slice_mut(self.data.bytes_mut());
        // Squares of 32 x 32 entries: both the source and the destination are 32 lines.
        for col in (0..cols).step_by(LINE) {
            let width = LINE.min(cols - col);
            let mut square = [[0; LINE]; LINE];
            for (row, source) in (0..rows).map(|row| (row, &entries[row * stride + col..][..width])) {
                for (line, entry) in square.iter_mut().zip(source) {
                    line[row] = *entry;
                }
            }
            for (i, line) in square[..width].iter().enumerate() {
                let at = start + (col + i) * height;
                data[at..at + rows].copy_from_slice(&line[..rows]);
            }
        }
        Ok(())
    }

    /// Removes overwritten entries from the list.
    fn forget(&mut self, (first_row, rows): (usize, usize), (first_col, cols): (usize, usize)) {
        if self.excess.is_empty() {
            return;
        }
        let listed = self.excess.range((first_row, 0)..(first_row + rows, 0)).copied();
        let overwritten: Vec<_> = listed.filter(|(_, col)| (first_col..first_col + cols).contains(col)).collect();
        for place in overwritten {
            self.excess.remove(&place);
        }
    }

    fn check_columns(&self, first: usize, count: usize) -> Result<(), MatrixError> {
        let end = first.saturating_add(count);
        if end <= self.cols {
            return Ok(());
        }
        Err(MatrixError::Index { what: "column", index: end - 1, len: self.cols })
    }
}
