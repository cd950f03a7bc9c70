//! The matrix.

use super::block::RowBlockMut;
use super::error::MatrixError;
use super::kernels;
use super::order::{BLOCK_ROWS, GROUP_ROWS, Order, SLACK};
use crate::bits::{CHUNK, for_width, load128, unpack8};
use crate::kernel::{Checked, Kernel, KernelError};
use crate::region::{Region, whole_pages_bytes};

/// A matrix of entries below `2^width` (below `2^15` at width 16), packed as the module describes.
pub struct PackedMatrix {
    data: Region,
    rows: usize,
    cols: usize,
    width: u32,
}

impl PackedMatrix {
    /// The storage width, in bits, of entries of `entry_bits` bits: 1 to 10 and 12 as they are, 11 in 12, 13 to 15 in
    /// 16. Products take entries as signed 16-bit lanes, hence nothing above 15.
    pub const fn storage_width(entry_bits: u32) -> Result<u32, MatrixError> {
        match entry_bits {
            1..=10 | 12 => Ok(entry_bits),
            11 => Ok(12),
            13..=15 => Ok(16),
            _ => Err(MatrixError::Width(entry_bits)),
        }
    }

    /// Exact bytes a matrix of that shape allocates, padding and slack included; `width` is a storage width.
    pub const fn stored_bytes_for(rows: usize, cols: usize, width: u32) -> u64 {
        let (groups, chunks) = (rows.div_ceil(GROUP_ROWS) as u64, cols.div_ceil(CHUNK) as u64);
        groups * chunks * (GROUP_ROWS as u64 * 4 * width as u64) + SLACK as u64
    }

    /// Memory of such a matrix; short ones get whole huge pages too.
    pub const fn memory_bytes_for(rows: usize, cols: usize, width: u32) -> u64 {
        whole_pages_bytes(Self::stored_bytes_for(rows, cols, width))
    }

    /// A zero matrix of `rows` x `cols` entries at storage width `width` (1 to 10, 12 or 16).
    pub fn new(rows: usize, cols: usize, width: u32) -> Result<Self, MatrixError> {
        if !matches!(width, 1..=10 | 12 | 16) {
            return Err(MatrixError::Width(width));
        }
        let shape = MatrixError::Shape { rows, cols };
        let padded = rows.checked_next_multiple_of(GROUP_ROWS).zip(cols.checked_next_multiple_of(CHUNK));
        // Two bytes an entry is the widest storage, so that the exact length cannot overflow after this check.
        let fits = padded
            .and_then(|(r, c)| r.checked_mul(c)?.checked_mul(2)?.checked_add(SLACK))
            .is_some_and(|bytes| bytes <= isize::MAX as usize);
        if rows == 0 || cols == 0 || !fits {
            return Err(shape);
        }
        let bytes = Self::stored_bytes_for(rows, cols, width);
        let data = Region::zeroed_on_whole_pages(bytes as usize).ok_or(MatrixError::Memory(bytes))?;
        Ok(Self { data, rows, cols, width })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Storage width of an entry, in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Number of blocks of 64 rows, the last one possibly shorter.
    pub fn blocks(&self) -> usize {
        self.rows.div_ceil(BLOCK_ROWS)
    }

    /// Number of chunks of 32 columns, the last one padded.
    pub fn chunks(&self) -> usize {
        self.cols.div_ceil(CHUNK)
    }

    /// Bytes allocated, padding and slack included.
    pub fn stored_bytes(&self) -> u64 {
        Self::stored_bytes_for(self.rows, self.cols, self.width)
    }

    /// Bytes of one row's share of a chunk.
    fn share(&self) -> usize {
        4 * self.width as usize
    }

    /// The order of the bytes of the given block.
    pub(crate) fn order(&self, block: usize) -> Order {
        let rows = (self.rows - block * BLOCK_ROWS).min(BLOCK_ROWS);
        Order { chunks: self.chunks(), groups: rows.div_ceil(GROUP_ROWS), share: self.share() }
    }

    /// Bytes of a whole block.
    fn block_bytes(&self) -> usize {
        self.chunks() * BLOCK_ROWS * self.share()
    }

    /// The packed bytes from the given block on, up to and including the slack.
    pub(crate) fn tail(&self, block: usize) -> &[u8] {
        &self.data.bytes()[block * self.block_bytes()..]
    }

    /// The blocks of 64 rows as independent parts, to be filled in parallel.
    pub fn blocks_mut(&mut self) -> impl ExactSizeIterator<Item = RowBlockMut<'_>> + Send {
        let (rows, cols, width, block_bytes) = (self.rows, self.cols, self.width, self.block_bytes());
        let payload = self.data.bytes_mut();
        let end = payload.len() - SLACK;
        payload[..end].chunks_mut(block_bytes).enumerate().map(move |(index, data)| {
            let first_row = index * BLOCK_ROWS;
            RowBlockMut::new(data, first_row, (rows - first_row).min(BLOCK_ROWS), cols, width)
        })
    }

    /// One block of rows, to be filled.
    pub fn block_mut(&mut self, index: usize) -> Result<RowBlockMut<'_>, MatrixError> {
        let blocks = self.blocks();
        if index >= blocks {
            return Err(MatrixError::Index { what: "block", index, len: blocks });
        }
        let (first_row, start, len) = (index * BLOCK_ROWS, index * self.block_bytes(), self.order(index).bytes());
        let rows = (self.rows - first_row).min(BLOCK_ROWS);
        let data = &mut self.data.bytes_mut()[start..start + len];
        Ok(RowBlockMut::new(data, first_row, rows, self.cols, self.width))
    }

    fn check_row(&self, row: usize) -> Result<(), MatrixError> {
        if row < self.rows { Ok(()) } else { Err(MatrixError::Index { what: "row", index: row, len: self.rows }) }
    }

    /// Writes row `row` from its `cols` entries. On an error the row's contents are unspecified, zero padding aside.
    pub fn set_row(&mut self, row: usize, entries: &[u16]) -> Result<(), MatrixError> {
        self.check_row(row)?;
        self.block_mut(row / BLOCK_ROWS)?.set_row(row % BLOCK_ROWS, entries)
    }

    /// Writes part of row `row`: the entries from column `first_col` (a multiple of 32) on, up to a multiple of 32 or the last
    /// column.
    pub fn set_row_part(&mut self, row: usize, first_col: usize, entries: &[u16]) -> Result<(), MatrixError> {
        self.check_row(row)?;
        self.block_mut(row / BLOCK_ROWS)?.set_row_part(row % BLOCK_ROWS, first_col, entries)
    }

    /// Writes row `row` from a bit stream: entry `c` is the `width` bits from bit `bit_offset + c * width` of `bytes` on,
    /// little-endian; bits beyond the end of `bytes` are zero.
    pub fn set_row_from_bits(&mut self, row: usize, bytes: &[u8], bit_offset: u64) -> Result<(), MatrixError> {
        self.check_row(row)?;
        self.block_mut(row / BLOCK_ROWS)?.set_row_from_bits(row % BLOCK_ROWS, bytes, bit_offset)
    }

    /// Writes one entry.
    pub fn set(&mut self, row: usize, col: usize, value: u16) -> Result<(), MatrixError> {
        self.check_row(row)?;
        self.block_mut(row / BLOCK_ROWS)?.set(row % BLOCK_ROWS, col, value)
    }

    /// The entry in row `row` and column `col`.
    ///
    /// # Panics
    /// If either is outside the matrix.
    pub fn get(&self, row: usize, col: usize) -> u16 {
        assert!(row < self.rows && col < self.cols, "entry ({row}, {col}) outside {} x {}", self.rows, self.cols);
        let block = row / BLOCK_ROWS;
        let share = &self.tail(block)[self.order(block).at(col / CHUNK, row % BLOCK_ROWS)..];
        let mut entry = [0];
        crate::bits::read_entries(share, ((col % CHUNK) * self.width as usize) as u64, self.width, &mut entry);
        entry[0]
    }

    /// Unpacks row `row` into its `cols` entries.
    ///
    /// # Panics
    /// If the row is outside the matrix or `out` is not `cols` long.
    pub fn row(&self, row: usize, out: &mut [u16]) {
        assert!(row < self.rows && out.len() == self.cols, "row {row} into {} entries", out.len());
        let (data, order) = (self.tail(row / BLOCK_ROWS), self.order(row / BLOCK_ROWS));
        for_width!(self.width, W => for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let share = &data[order.at(chunk, row % BLOCK_ROWS)..];
            for (group, out) in out.chunks_mut(8).enumerate() {
                let eight = unpack8::<W>(load128(&share[group * W..]));
                out.copy_from_slice(&eight[..out.len()]);
            }
        });
    }

    /// Unpacks rows `8 * group` to `8 * group + 7` (zeros past the last row), from column `first_col` (a multiple of 32) on,
    /// as 8 rows of `out.len() / 8` entries one after the other; that length is a multiple of 32 and may reach into the zero
    /// padding of the last chunk.
    ///
    /// # Panics
    /// If the tile is outside the matrix or not made of whole chunks.
    ///
    /// # Errors
    /// A kernel the processor lacks.
    pub fn unpack_group_on(
        &self,
        kernel: Kernel,
        group: usize,
        first_col: usize,
        out: &mut [i16],
    ) -> Result<(), KernelError> {
        let kernel = Checked::new(kernel)?;
        self.check_group(group, first_col, out.len());
        self.unpack_group_with(kernel, group, first_col, out);
        Ok(())
    }

    fn check_group(&self, group: usize, first_col: usize, len: usize) {
        let cols = len / GROUP_ROWS;
        assert!(first_col.is_multiple_of(CHUNK) && len.is_multiple_of(GROUP_ROWS * CHUNK), "not whole chunks");
        assert!(group < self.rows.div_ceil(GROUP_ROWS), "group {group} outside the matrix");
        assert!(first_col + cols <= self.chunks() * CHUNK, "columns outside the matrix");
    }

    /// [`Self::unpack_group_on`] with a kernel that the processor has, a strip at a time.
    pub(crate) fn unpack_group_with(&self, kernel: Checked, group: usize, first_col: usize, out: &mut [i16]) {
        let stride = out.len() / GROUP_ROWS;
        let (block, first_row) = (group * GROUP_ROWS / BLOCK_ROWS, group * GROUP_ROWS % BLOCK_ROWS);
        let (data, order, first) = (self.tail(block), self.order(block), first_col / CHUNK);
        let mut chunk = first;
        while chunk < first + stride / CHUNK {
            let run = order.run(chunk).min(first + stride / CHUNK - chunk);
            let out = &mut out[(chunk - first) * CHUNK..];
            kernels::unpack(kernel, self.width, &data[order.at(chunk, first_row)..], run, out, stride);
            chunk += run;
        }
    }
}
