//! The packed matrix of a database: encoding, products, changes.

use lattice::lwe::PublicMatrix;
use lattice::wire::Reader;
use ring::matrix::packed;
use ring::matrix::packed::RECOMMENDED_CHUNK_ROWS as CHUNK_ROWS;
use ring::{Kernel, PackedMatrix, Vector32};

use super::layout::Layout;
use crate::core::threads::side_by_side;
use crate::core::{Change, Context, Database, Error, Frame, Result, Shape, check_change, copy_bits};

/// A database in the form in which the server multiplies it. Stored entries are unsigned; every product is corrected by the layout's
/// offset, so that it is the product of the centred entries D' = D - offset.
pub struct LinearDatabase {
    layout: Layout,
    matrix: PackedMatrix,
}

/// A changed record: its index and the change of each of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryChange {
    /// The record.
    pub index: u64,
    /// New minus old for each entry of the record, below p in absolute value.
    pub deltas: Vec<i16>,
}

impl LinearDatabase {
    /// Bytes of the packed entries.
    pub fn stored_bytes(&self) -> u64 {
        self.matrix.stored_bytes()
    }

    /// Encodes `database`. Records that do not exist are stored as the offset, that is, as centred zeros.
    pub fn encode(layout: Layout, database: &Database, context: &Context) -> Result<Self> {
        let matrix = PackedMatrix::new(layout.rows, layout.columns, layout.width())?;
        let mut encoded = Self { layout, matrix };
        context.progress.begin("encode", layout.rows as u64);
        if layout.code.is_packed() {
            encoded.encode_packed(database, context)?;
        } else {
            encoded.encode_wide(database, context)?;
        }
        context.progress.end();
        Ok(encoded)
    }

    /// Encodes narrow records, of which a row is a part of the database's bit string.
    fn encode_packed(&mut self, database: &Database, context: &Context) -> Result<()> {
        let Layout { columns, code, .. } = self.layout;
        let (entry_bits, offset, entries) = (u64::from(code.entry_bits()), code.offset(), self.layout.entries());
        let direct = entry_bits == u64::from(self.matrix.width());
        let fill = |(index, mut block): (usize, ring::RowBlockMut<'_>)| -> Result<()> {
            let (mut bytes, mut scratch) = (vec![0; (columns as u64 * entry_bits).div_ceil(8) as usize], Vec::new());
            let mut row_entries = vec![offset; columns];
            for row in 0..block.rows() {
                let first = (index * ring::matrix::packed::BLOCK_ROWS + row) as u64 * columns as u64;
                let present = entries.saturating_sub(first).min(columns as u64) as usize;
                let first_bit = first * entry_bits;
                if present == columns && direct {
                    // Without padding in entries, the row is a part of the bit string.
                    let shift = first_bit % 8;
                    scratch.resize((shift + columns as u64 * entry_bits).div_ceil(8) as usize, 0);
                    database.read_bytes(first_bit / 8, &mut scratch)?;
                    block.set_row_from_bits(row, &scratch, shift)?;
                    continue;
                }
                row_entries.fill(offset);
                if present > 0 {
                    database.read_bits(first_bit, present * entry_bits as usize, &mut scratch, &mut bytes)?;
                    let mut reader = Reader::of(&bytes);
                    row_entries[..present].iter_mut().for_each(|e| *e = reader.bits(entry_bits as u32) as u16);
                }
                block.set_row(row, &row_entries)?;
            }
            context.progress.advance(block.rows() as u64);
            Ok(())
        };
        side_by_side(self.matrix.blocks_mut().enumerate(), context.threads, fill).map(|_| ())
    }

    /// Encodes wide records in strips of 32 columns, whose digits are transposed into rows.
    fn encode_wide(&mut self, database: &Database, context: &Context) -> Result<()> {
        let Layout { shape, columns, rows, code } = self.layout;
        let wide = code.entries_per_record() as usize;
        // Digit strings are handled a few rows at a time, so that their digits stay below this number of entries.
        let strip = (TILE_ENTRIES / (wide * ring::matrix::packed::CHUNK))
            .clamp(1, columns.div_ceil(ring::matrix::packed::CHUNK))
            * ring::matrix::packed::CHUNK;
        let (mut tile, mut bytes) = (Vec::new(), Vec::new());
        for (group, first_row) in (0..rows).step_by(wide).enumerate() {
            for first in (0..columns).step_by(strip) {
                let count = strip.min(columns - first);
                tile.clear();
                tile.resize(wide * count, code.offset());
                let index = (group * columns + first) as u64;
                let present = shape.records.saturating_sub(index).min(count as u64);
                // Records of consecutive columns are consecutive in the database.
                let (first_bit, bits) = (index * shape.record_bits, present * shape.record_bits);
                bytes.resize((first_bit % 8 + bits).div_ceil(8) as usize, 0);
                database.read_bytes(first_bit / 8, &mut bytes)?;
                let (record_bits, record_bytes) = (shape.record_bits as usize, shape.record_bytes());
                let convert = |(at, digits): (usize, &mut [u16])| {
                    let bit = (first_bit % 8) as usize + at * record_bits;
                    if bit.is_multiple_of(8) && record_bits % 8 == 0 {
                        code.digits(&bytes[bit / 8..bit / 8 + record_bytes], digits);
                    } else {
                        let mut record = vec![0; record_bytes];
                        copy_bits(&bytes[bit / 8..], (bit % 8) as u32, record_bits, &mut record);
                        code.digits(&record, digits);
                    }
                    Ok(())
                };
                side_by_side(tile[..wide * present as usize].chunks_mut(wide).enumerate(), context.threads, convert)?;
                self.store_tile(first_row, first, wide, &tile)?;
            }
            context.progress.advance(wide as u64);
        }
        Ok(())
    }

    /// Stores digit strings (one record after the other in `tile`) from row `first_row`, column `first` on.
    fn store_tile(&mut self, first_row: usize, first: usize, wide: usize, tile: &[u16]) -> Result<()> {
        let count = tile.len() / wide;
        let mut row = vec![0u16; count];
        for digit in 0..wide {
            for (entry, digits) in row.iter_mut().zip(tile.chunks_exact(wide)) {
                *entry = digits[digit];
            }
            self.matrix.set_row_part(first_row + digit, first, &row)?;
        }
        Ok(())
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The stored entries.
    pub fn matrix(&self) -> &PackedMatrix {
        &self.matrix
    }

    /// The centred entry in that row and column.
    ///
    /// # Panics
    /// If either is outside the matrix.
    pub fn entry(&self, row: usize, column: usize) -> i32 {
        i32::from(self.matrix.get(row, column)) - i32::from(self.layout.code.offset())
    }

    /// Some rows of [`Self::product`] for one query, computed from those rows alone.
    ///
    /// # Panics
    /// If a row is outside the matrix.
    pub fn row_products(&self, rows: std::ops::Range<usize>, query: &[u32]) -> Vec<u32> {
        let (mut entries, offset) = (vec![0; self.layout.columns], u32::from(self.layout.code.offset()));
        let product = |row| {
            self.matrix.row(row, &mut entries);
            let products = entries.iter().zip(query);
            products.fold(0u32, |sum, (&d, &q)| sum.wrapping_add((u32::from(d).wrapping_sub(offset)).wrapping_mul(q)))
        };
        rows.map(product).collect()
    }

    /// D' q for each query, modulo 2^32, in one pass over the database.
    pub fn product<Q: AsRef<[u32]>>(&self, queries: &[Q], kernel: Kernel, threads: usize) -> Result<Vec<Vec<u32>>> {
        let prepared: Vec<_> = queries.iter().map(|query| Vector32::prepare(query.as_ref())).collect();
        let mut products = packed::matvec_new(kernel, &self.matrix, &prepared, threads)?;
        for (product, query) in products.iter_mut().zip(&prepared) {
            let offset = query.sum().wrapping_mul(u32::from(self.layout.code.offset()));
            product.iter_mut().for_each(|word| *word = word.wrapping_sub(offset));
        }
        Ok(products)
    }

    /// Adds D' A to `hint` (rows x n, row-major, zero at first), A expanded chunk by chunk.
    pub fn accumulate_hint(&self, public: &PublicMatrix, hint: &mut [u32], context: &Context) -> Result<()> {
        multiply_centred(&self.matrix, u32::from(self.layout.code.offset()), public, hint, context)
    }

    /// Changes records; returns the changes of their entries, in order.
    pub fn change(&mut self, changes: &[Change]) -> Result<Vec<EntryChange>> {
        let code = self.layout.code;
        changes.iter().try_for_each(|(index, record)| check_change(self.layout.shape, *index, record))?;
        let mut done = Vec::with_capacity(changes.len());
        for (index, record) in changes {
            let (row, column, slot) = self.layout.place(*index);
            let mut entries = vec![0u16; code.entries_per_record() as usize];
            if code.is_packed() {
                entries[0] = code.repack(self.matrix.get(row, column), slot, record);
            } else {
                code.digits(record, &mut entries);
            }
            let mut deltas = Vec::with_capacity(entries.len());
            for (i, &entry) in entries.iter().enumerate() {
                let old = self.matrix.get(row + i, column);
                self.matrix.set(row + i, column, entry)?;
                deltas.push(entry as i16 - old as i16);
            }
            done.push(EntryChange { index: *index, deltas });
        }
        Ok(done)
    }
}

/// The changes in a message `hint_delta`, of `each` bytes: for each the index of a record, which is checked, and the bytes that follow it.
pub fn read_changes<'a>(protocol: &str, message: &'a Frame, each: usize, shape: Shape) -> Result<Vec<(u64, &'a [u8])>> {
    let payload = message.payload();
    message.clone().check(protocol, "hint_delta", payload.len() as u64)?;
    if !payload.len().is_multiple_of(each) {
        return Err(Error::message("hint_delta", format!("its payload is not made of parts of {each} bytes.")));
    }
    let change = |part: &'a [u8]| {
        let (index, changed) = part.split_at(8);
        let index = index.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        shape.check_index(index).map(|()| (index, changed))
    };
    payload.chunks_exact(each).map(change).collect()
}

/// The error of a change in a `hint_delta` that no two records differ by.
pub fn impossible_change(index: u64) -> Error {
    Error::message("hint_delta", format!("its change of record {index} is larger than an entry. Fetch the hint."))
}

/// Refuses the hint of an update, which begins with the seeds of its public matrices, if these are not the `known` ones, under which requests
/// may be under way.
pub fn check_seeds(known: &[u8], hint: &Frame) -> Result<()> {
    if hint.payload().starts_with(known) {
        return Ok(());
    }
    Err(Error::message("hint", "it has other seeds than the client's hint. Make the offline exchange again."))
}

/// Digits that are converted before they are stored: 64 KiB, which stay in the second-level cache.
const TILE_ENTRIES: usize = 1 << 15;

/// Adds (M - offset) A to `out` (row-major, M's rows x n) modulo 2^32, A expanded chunk by chunk.
pub fn multiply_centred(
    matrix: &PackedMatrix,
    offset: u32,
    public: &PublicMatrix,
    out: &mut [u32],
    context: &Context,
) -> Result<()> {
    let columns = matrix.cols();
    let mut sums = vec![0u32; public.dimension()];
    context.progress.begin("hint", columns.div_ceil(CHUNK_ROWS) as u64);
    public.for_chunks(columns, CHUNK_ROWS, |first, chunk| -> Result<()> {
        packed::matmul_accumulate(context.kernel, matrix, first, chunk, public.dimension(), out, context.threads)?;
        for row in chunk.chunks_exact(public.dimension()) {
            sums.iter_mut().zip(row).for_each(|(sum, &a)| *sum = sum.wrapping_add(a));
        }
        context.progress.advance(1);
        Ok(())
    })?;
    context.progress.end();
    sums.iter_mut().for_each(|sum| *sum = sum.wrapping_mul(offset));
    for row in out.chunks_exact_mut(public.dimension()) {
        row.iter_mut().zip(&sums).for_each(|(word, &sum)| *word = word.wrapping_sub(sum));
    }
    Ok(())
}

/// Bytes that [`multiply_centred`] takes beside its operands: a chunk of A, as drawn and as prepared for the kernels.
pub fn hint_buffers_bytes(columns: usize, dimension: usize) -> u64 {
    2 * 4 * (CHUNK_ROWS.min(columns) * dimension) as u64
}
