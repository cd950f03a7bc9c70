//! Writing a block of up to 64 rows.

use super::error::MatrixError;
use super::order::{GROUP_ROWS, Order};
use crate::bits::CHUNK;
use crate::bits::{copy_shifted, for_width, pack_chunk, write_entries};

/// Up to 64 consecutive rows of a [`super::PackedMatrix`], writable independently of the other blocks (and `Send`).
pub struct RowBlockMut<'a> {
    data: &'a mut [u8],
    rows: usize,
    cols: usize,
    width: u32,
}

impl<'a> RowBlockMut<'a> {
    pub(super) fn new(data: &'a mut [u8], rows: usize, cols: usize, width: u32) -> Self {
        Self { data, rows, cols, width }
    }

    /// Rows of the matrix in this block: 64, or fewer in the last one.
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn order(&self) -> Order {
        let groups = self.rows.div_ceil(GROUP_ROWS);
        Order { chunks: self.cols.div_ceil(CHUNK), groups, share: 4 * self.width as usize }
    }

    /// log2 of the bound on entries: the storage width, but 15 at width 16.
    fn entry_bits(&self) -> u32 {
        self.width.min(15)
    }

    fn check_row(&self, row: usize) -> Result<(), MatrixError> {
        if row < self.rows { Ok(()) } else { Err(MatrixError::Index { what: "row", index: row, len: self.rows }) }
    }

    /// The error for the first of `entries` (columns from `first_col` on) that is too large, if there is one.
    fn check_entries(&self, first_col: usize, entries: &[u16]) -> Result<(), MatrixError> {
        let bits = self.entry_bits();
        if entries.iter().fold(0, |all, &entry| all | entry) >> bits == 0 {
            return Ok(());
        }
        let bad = entries.iter().enumerate().find(|(_, entry)| **entry >> bits != 0);
        bad.map_or(Ok(()), |(i, &value)| Err(MatrixError::Entry { col: first_col + i, value, bits }))
    }

    /// Writes one entry.
    pub fn set(&mut self, row: usize, col: usize, value: u16) -> Result<(), MatrixError> {
        self.check_row(row)?;
        if col >= self.cols {
            return Err(MatrixError::Index { what: "column", index: col, len: self.cols });
        }
        self.check_entries(col, &[value])?;
        let share = 4 * self.width as usize;
        let at = self.order().at(col / CHUNK, row);
        let bit = ((col % CHUNK) * self.width as usize) as u64;
        write_entries(&mut self.data[at..at + share], bit, self.width, &[value]);
        Ok(())
    }

    /// Writes row `row` (0 to `rows() - 1`) from its `cols()` entries.
    pub fn set_row(&mut self, row: usize, entries: &[u16]) -> Result<(), MatrixError> {
        self.check_row(row)?;
        if entries.len() != self.cols {
            return Err(MatrixError::Length { what: "entries of a row", given: entries.len(), needed: self.cols });
        }
        self.set_row_part(row, 0, entries)
    }

    /// Writes part of row `row`: the entries from column `first_col` (a multiple of 32) on. The part ends at a multiple of 32
    /// or at the last column.
    pub fn set_row_part(&mut self, row: usize, first_col: usize, entries: &[u16]) -> Result<(), MatrixError> {
        self.check_row(row)?;
        let end = first_col.saturating_add(entries.len());
        if end > self.cols {
            return Err(MatrixError::Index { what: "column", index: end.saturating_sub(1), len: self.cols });
        }
        for edge in [first_col, end] {
            if !edge.is_multiple_of(CHUNK) && edge != self.cols {
                return Err(MatrixError::Alignment(edge));
            }
        }
        self.check_entries(first_col, entries)?;
        for_width!(self.width, W => {
            let order = self.order();
            for (i, entries) in entries.chunks(CHUNK).enumerate() {
                let mut chunk = [0; CHUNK];
                chunk[..entries.len()].copy_from_slice(entries);
                pack_chunk::<W>(&chunk, &mut self.data[order.at(first_col / CHUNK + i, row)..][..4 * W]);
            }
        });
        Ok(())
    }

    /// Writes row `row` from a bit stream: entry `c` is the `width` bits from bit `bit_offset + c * width` of `bytes` on,
    /// little-endian; bits beyond the end of `bytes` are zero. At width 16, entries of 2^15 and more are an error.
    pub fn set_row_from_bits(&mut self, row: usize, bytes: &[u8], bit_offset: u64) -> Result<(), MatrixError> {
        self.check_row(row)?;
        let start = usize::try_from(bit_offset / 8).unwrap_or(usize::MAX);
        let source = bytes.get(start..).unwrap_or(&[]);
        for_width!(self.width, W => self.copy_bits::<W>(row, source, (bit_offset % 8) as u32));
        if self.width == 16 { self.check_stored_row(row) } else { Ok(()) }
    }

    fn copy_bits<const W: usize>(&mut self, row: usize, source: &[u8], shift: u32) {
        let whole = self.cols / CHUNK;
        // A fast copy reads 8 bytes past the chunk it writes.
        let fast = if source.len() < 8 { 0 } else { whole.min((source.len() - 8) / (4 * W)) };
        let order = Order { share: 4 * W, ..self.order() };
        for chunk in 0..fast {
            copy_shifted::<W>(&source[chunk * 4 * W..], shift, &mut self.data[order.at(chunk, row)..][..4 * W]);
        }
        for chunk in fast..order.chunks {
            let mut padded = [0; 4 * 16 + 8];
            let rest = source.get(chunk * 4 * W..).unwrap_or(&[]);
            let rest = &rest[..rest.len().min(padded.len())];
            padded[..rest.len()].copy_from_slice(rest);
            let share = &mut self.data[order.at(chunk, row)..][..4 * W];
            copy_shifted::<W>(&padded, shift, share);
            // Columns past the end stay zero whatever follows in the stream.
            let bits = (self.cols - chunk * CHUNK).min(CHUNK) * W;
            for (i, byte) in share.iter_mut().enumerate() {
                *byte &= match bits.saturating_sub(8 * i) {
                    0 => 0,
                    kept @ 1..=7 => (1 << kept) - 1,
                    _ => 0xff,
                };
            }
        }
    }

    /// Width 16 only: entries must leave the sign bit of a 16-bit lane clear.
    fn check_stored_row(&self, row: usize) -> Result<(), MatrixError> {
        let order = self.order();
        for chunk in 0..order.chunks {
            let share = &self.data[order.at(chunk, row)..][..64];
            if share.iter().skip(1).step_by(2).fold(0, |all, &high| all | high) >> 7 != 0 {
                let mut entries = [0; CHUNK];
                crate::bits::read_entries(share, 0, 16, &mut entries);
                return self.check_entries(chunk * CHUNK, &entries);
            }
        }
        Ok(())
    }
}
