//! Databases as 16-bit matrices: records are in cells, whose bits are cut into entries, which are stored centred.

use std::ops::{Range, RangeInclusive};

use lattice::wire::Writer;
use ring::ColumnMatrix;

use super::entries::{Difference, fill_rows};
use crate::core::{Change, Context, Database, Record, Result, Shape, copy_bits};

/// Rows of cells. Cell (r, g) holds the bits of `records` records in order, the first of which is (r columns + g) records.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// The database.
    pub shape: Shape,
    /// Records of a cell.
    pub records: u64,
    /// Cells of a row.
    pub columns: usize,
    /// Entries of a cell.
    pub entries: usize,
    /// Bits of an entry.
    pub entry_bits: u32,
}

impl Cells {
    /// Row and column of a record's cell, and its first bit there.
    pub fn place(&self, index: u64) -> (usize, usize, u64) {
        let (cell, columns) = (index / self.records, self.columns as u64);
        let bit = index % self.records * self.shape.record_bits;
        ((cell / columns) as usize, (cell % columns) as usize, bit)
    }

    /// The columns of the matrix that hold part of a record, and its first bit in the first of them.
    pub fn entries_of(&self, index: u64) -> (Range<usize>, u64) {
        let ((_, column, bit), width) = (self.place(index), u64::from(self.entry_bits));
        let first = column * self.entries;
        let end = (bit + self.shape.record_bits).div_ceil(width) as usize;
        (first + (bit / width) as usize..first + end, bit % width)
    }

    /// The groups of `size` columns of the matrix that hold part of a record.
    pub fn groups_of(&self, index: u64, columns: usize) -> RangeInclusive<usize> {
        let (entries, _) = self.entries_of(index);
        entries.start / columns..=(entries.end - 1) / columns
    }

    /// The number that centres a stored entry when subtracted.
    fn offset(&self) -> i32 {
        1 << (self.entry_bits - 1)
    }

    /// First record and number of records of the cells from number `cell` on.
    fn records_of(&self, cell: usize, cells: usize) -> (u64, u64) {
        let first = (cell as u64).saturating_mul(self.records).min(self.shape.records);
        (first, (cells as u64).saturating_mul(self.records).min(self.shape.records - first))
    }

    /// Cuts the records of cells into the entries of a matrix of zeros.
    pub(crate) fn encode(&self, matrix: &mut ColumnMatrix, database: &Database, context: &Context) -> Result<()> {
        let (columns, record_bits, width) = (self.columns * self.entries, self.shape.record_bits, self.entry_bits);
        let rows = self.shape.records.div_ceil(self.records.saturating_mul(self.columns as u64));
        fill_rows(matrix, ("encode", rows as usize), context, |start, rows| {
            let mut centred = vec![0i16; rows * columns];
            let (mut bytes, mut scratch, mut entries) = (Vec::new(), Vec::new(), vec![0u16; self.entries]);
            for (row, out) in (start..).zip(centred.chunks_exact_mut(columns)) {
                // The cells of a row hold consecutive records, which are read at once.
                let (first, records) = self.records_of(row * self.columns, self.columns);
                let bits = (records * record_bits) as usize;
                bytes.resize(bits.div_ceil(8), 0);
                database.read_bits(first * record_bits, bits, &mut scratch, &mut bytes)?;
                for (column, out) in out.chunks_exact_mut(self.entries).enumerate() {
                    let (cell, records) = self.records_of(row * self.columns + column, 1);
                    if records == 0 {
                        break;
                    }
                    let bits = records * record_bits;
                    let used = &mut entries[..(bits as usize).div_ceil(width as usize)];
                    ring::bits::read_entries(&bytes, (cell - first) * record_bits, width, used);
                    if let (Some(last), left @ 1..) = (used.last_mut(), bits % u64::from(width)) {
                        // The remaining bits belong to the next cell.
                        *last &= (1 << left) - 1;
                    }
                    out.iter_mut().zip(used).for_each(|(out, entry)| *out = (i32::from(*entry) - self.offset()) as i16);
                }
            }
            Ok(centred)
        })
    }

    /// Writes a changed record into its entries.
    pub(crate) fn replace(&self, matrix: &mut ColumnMatrix, (index, record): &Change) -> Result<Difference> {
        let ((row, ..), (columns, first)) = (self.place(*index), self.entries_of(*index));
        let first_column = columns.start;
        let old: Vec<i32> = columns.map(|column| matrix.get(row, column)).collect();
        let mut entries: Vec<u16> = old.iter().map(|entry| (entry + self.offset()) as u16).collect();
        replace_bits(&mut entries, self.entry_bits, first, record, self.shape.record_bits);
        let mut added = Vec::with_capacity(old.len());
        for ((column, entry), old) in (first_column..).zip(entries).zip(old) {
            let centred = i32::from(entry) - self.offset();
            matrix.set(row, column, centred)?;
            added.push(centred - old);
        }
        Ok(Difference { row, first_column, added })
    }

    /// The record from bit `first` on of decrypted entries modulo 2^entry_bits.
    pub fn record(&self, entries: &[u64], first: u64) -> Record {
        let mut writer = Writer::default();
        entries.iter().for_each(|entry| writer.write(entry + self.offset() as u64, self.entry_bits));
        let mut record = vec![0; self.shape.record_bytes()];
        let bytes = writer.finish();
        copy_bits(&bytes[(first / 8) as usize..], (first % 8) as u32, self.shape.record_bits as usize, &mut record);
        record
    }
}

/// Overwrites `bits` bits from bit `first` on of a string of entries of `width` bits.
fn replace_bits(entries: &mut [u16], width: u32, first: u64, record: &[u8], bits: u64) {
    for i in 0..bits {
        let at = first + i;
        let (entry, shift) = ((at / u64::from(width)) as usize, (at % u64::from(width)) as u32);
        let bit = u16::from(record[(i / 8) as usize] >> (i % 8) & 1);
        entries[entry] = entries[entry] & !(1 << shift) | bit << shift;
    }
}
