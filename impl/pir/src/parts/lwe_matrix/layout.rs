//! The arrangement of a database's entries in a matrix, and the plaintext modulus that it allows.

use lattice::lwe::round;
use ring::{Kind, PackedMatrix, Work};

use super::PlainModuli;
use super::code::RecordCode;
use crate::core::plan::numbers;
use crate::core::{Error, Record, Result, Shape};

/// The rule that chooses rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// As square as possible with whole records in columns (SimplePIR).
    Square,
    /// The same with several columns for each row (HintlessPIR): answers cost more a row than queries a column.
    Aspect {
        /// Columns over rows.
        columns_per_row: u64,
    },
    /// Square, but with a least number of columns (DoublePIR); the rows are then LWE samples of a second layer.
    Wide {
        /// Least number of columns.
        min_columns: u64,
    },
    /// That number of shards, each in one row of records, so that a query has a word for every record of a shard (FrodoPIR).
    Shards(u64),
}

/// A database as a matrix of `rows` x `columns` entries.
///
/// Entries of one record are in consecutive rows of one column; consecutive records (or groups of packed records) are in
/// consecutive columns.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The database.
    pub shape: Shape,
    /// Records to entries.
    pub code: RecordCode,
    /// Rows, a multiple of the entries of a record.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

impl Layout {
    /// The layout with the largest plaintext modulus that the table allows for that layout's own number of LWE samples
    /// (SimplePIR section 4.2, Appendix C.2: p and the dimensions are chosen together).
    pub fn choose(shape: Shape, moduli: &PlainModuli, tiling: Tiling) -> Result<Self> {
        let mut samples = 0;
        for candidate in moduli.moduli() {
            let layout = Self::with_modulus(shape, candidate, tiling)?;
            samples = match tiling {
                Tiling::Square | Tiling::Shards(_) | Tiling::Aspect { .. } => layout.columns,
                Tiling::Wide { .. } => layout.columns.max(layout.rows),
            };
            if moduli.for_samples(samples as u64).is_some_and(|allowed| allowed >= candidate) {
                return Ok(layout);
            }
        }
        let remedy = if let Tiling::Shards(_) = tiling { "take more shards" } else { "split the database" };
        Err(Error::value(
            "plain_moduli",
            format!(
                "p does not fit: {} records of {} bits take {samples} LWE samples, the table ends at 2^{}. Add a row with a smaller \
                 modulus, or {remedy}.",
                shape.records,
                shape.record_bits,
                moduli.log2_max_samples()
            ),
        ))
    }

    fn with_modulus(shape: Shape, plain_modulus: u32, tiling: Tiling) -> Result<Self> {
        let code = RecordCode::new(shape.record_bits, plain_modulus);
        let (entries, wide) = (code.entries(shape.records), code.entries_per_record());
        let per_row = if let Tiling::Aspect { columns_per_row } = tiling { columns_per_row.max(1) } else { 1 };
        let square = (entries / per_row).isqrt().max(1).next_multiple_of(wide);
        let asked = match tiling {
            Tiling::Wide { min_columns } if entries.div_ceil(square) < min_columns => Some(min_columns),
            Tiling::Shards(shards) => Some((entries / wide).div_ceil(shards)),
            Tiling::Square | Tiling::Wide { .. } | Tiling::Aspect { .. } => None,
        };
        let (rows, columns) = match asked {
            Some(columns) => (entries.div_ceil(columns).next_multiple_of(wide), columns),
            None => (square, entries.div_ceil(square)),
        };
        match (usize::try_from(rows), usize::try_from(columns)) {
            (Ok(rows), Ok(columns)) => Ok(Self { shape, code, rows, columns }),
            _ => Err(Error::Workload(format!("{rows} x {columns} entries exceed this machine's address space."))),
        }
    }

    /// floor(q / p) for q = 2^32.
    pub fn scale(&self) -> u32 {
        ((1u64 << 32) / u64::from(self.code.plain_modulus())) as u32
    }

    /// Storage bits of an entry.
    pub fn width(&self) -> u32 {
        // Moduli are at most 2^12, so a storage width always exists.
        PackedMatrix::storage_width(self.code.entry_bits()).unwrap_or(16)
    }

    /// Bytes of the packed matrix.
    pub fn stored_bytes(&self) -> u64 {
        PackedMatrix::stored_bytes_for(self.rows, self.columns, self.width())
    }

    /// Memory of the packed matrix.
    pub fn memory_bytes(&self) -> u64 {
        PackedMatrix::memory_bytes_for(self.rows, self.columns, self.width())
    }

    /// Entries that hold records.
    pub fn entries(&self) -> u64 {
        self.code.entries(self.shape.records)
    }

    /// The work of [`super::LinearDatabase::encode`].
    pub fn encode_work(&self) -> Work {
        let conversions = if self.code.divides() { self.entries() } else { 0 };
        [(Kind::BytesWritten, self.stored_bytes()), (Kind::DigitConversions, conversions)].into()
    }

    /// The place of record `index`: its first row, its column, its slot in the entry.
    pub fn place(&self, index: u64) -> (usize, usize, u64) {
        let cell = index / self.code.records_per_entry();
        let row = cell / self.columns as u64 * self.code.entries_per_record();
        (row as usize, (cell % self.columns as u64) as usize, index % self.code.records_per_entry())
    }

    /// The entry of a phase modulo 2^32: `scale` times the centred entry, and an error.
    pub fn entry(&self, phase: u32) -> u16 {
        (round(phase, self.scale(), self.code.plain_modulus()).0 + i32::from(self.code.offset())) as u16
    }

    /// Record `index`, decrypted from the phases of its entries.
    pub fn open(&self, index: u64, phases: impl IntoIterator<Item = u32>) -> Record {
        self.record(index, &phases.into_iter().map(|phase| self.entry(phase)).collect::<Vec<_>>())
    }

    /// Record `index`, decoded from its entries.
    pub fn record(&self, index: u64, entries: &[u16]) -> Record {
        if self.code.is_packed() {
            self.code.unpack(entries[0], self.place(index).2)
        } else {
            self.code.record(entries)
        }
    }
}

numbers! {
    /// What a description says of a layout.
    pub struct LinearNumbers(layout: &Layout) {
        rows: usize = layout.rows,
        columns: usize = layout.columns,
        plain_modulus: u32 = layout.code.plain_modulus(),
        scale: u32 = layout.scale(),
        entry_bits: u32 = layout.width(),
        entry_offset: u16 = layout.code.offset(),
        packed: bool = layout.code.is_packed(),
        records_per_entry: u64 = layout.code.records_per_entry(),
        entries_per_record: u64 = layout.code.entries_per_record(),
        entries: u64 = layout.entries(),
        padding_entries: u64 = (layout.rows * layout.columns) as u64 - layout.entries(),
        stored_bytes: u64 = layout.stored_bytes(),
        information_bytes: u64 = layout.shape.database_bytes(),
        waste: f64 = layout.stored_bytes() as f64 / layout.shape.database_bytes() as f64 - 1.0,
    }
}

#[cfg(test)]
mod tests;
