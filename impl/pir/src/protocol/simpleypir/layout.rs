//! The layout of a database: each row is an item of whole records.

use serde_json::json;

use super::set::{Rows, Set};
use crate::core::{Error, Result, Shape};
use crate::parts::ring_matrix::Cells;

/// A database as rows of items. The bits of an item's records follow one another and are cut into entries.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The database.
    pub shape: Shape,
    /// Records of an item.
    pub records_per_item: u64,
    /// Items that hold records.
    pub items: u64,
    /// N: number of rows, from which the query selects.
    pub rows: usize,
    /// c: ring elements of an item, ciphertexts of an answer.
    pub elements: usize,
    /// d.
    pub degree: usize,
    /// Bits of an entry.
    pub entry_bits: u32,
}

impl Layout {
    /// An item has about the square root of the database's number of entries, rounded up to the set's step, or one record if that is
    /// longer (reference implementation, `params_for_scenario_simplepir`).
    pub fn choose(params: &Set, shape: Shape) -> Result<Self> {
        let (entry_bits, degree) = (params.entry_bits, params.rlwe.degree as u64);
        let element_bits = u64::from(entry_bits) * degree;
        let entries = shape.database_bits().div_ceil(entry_bits.into()) as u64;
        let item = entries.isqrt().div_ceil(params.item_step).max(1) * params.item_step;
        // An item is not longer than the database.
        let needed = shape.database_bits().div_ceil(element_bits.into()) as u64;
        let elements = item.div_ceil(degree).min(needed).max(shape.record_bits.div_ceil(element_bits));
        // If records are longer than an element, an item without the last, partial record would leave many entries unused: exact shapes take
        // that whole record too.
        let elements = match params.rows {
            Rows::Exact if shape.record_bits > element_bits => {
                let records = (elements * element_bits).div_ceil(shape.record_bits).min(shape.records);
                (records * shape.record_bits).div_ceil(element_bits)
            }
            _ => elements,
        };
        let records_per_item = (elements * element_bits / shape.record_bits).min(shape.records);
        let items = shape.records.div_ceil(records_per_item);
        let rows = match params.rows {
            Rows::PowerOfTwo => items.next_power_of_two().max(1 << 11),
            Rows::Exact => items.next_multiple_of(ring::matrix::column::LINE as u64),
        };
        match (usize::try_from(rows), usize::try_from(elements * degree)) {
            (Ok(rows), Ok(columns)) => Ok(Self {
                shape,
                records_per_item,
                items,
                rows,
                elements: columns / params.rlwe.degree,
                degree: params.rlwe.degree,
                entry_bits,
            }),
            _ => Err(Error::Workload(format!("{rows} items exceed this machine's address space."))),
        }
    }

    /// Entries of an item: columns.
    pub fn columns(&self) -> usize {
        self.elements * self.degree
    }

    /// First and number of the columns of an element.
    pub fn element(&self, element: usize) -> (usize, usize) {
        (element * self.degree, self.degree)
    }

    /// The places of records in the matrix, whose rows are cells.
    pub fn cells(&self) -> Cells {
        let Self { shape, records_per_item: records, entry_bits, .. } = *self;
        Cells { shape, records, columns: 1, entries: self.columns(), entry_bits }
    }

    /// Bytes of the database in memory.
    pub fn stored_bytes(&self) -> u64 {
        ring::ColumnMatrix::stored_bytes_for(self.rows, self.columns())
    }

    /// The layout as a description has it.
    pub fn describe(&self) -> serde_json::Map<String, serde_json::Value> {
        let information = self.shape.database_bytes();
        crate::core::plan::operations(json!({
            "rows": self.rows,
            "columns": self.columns(),
            "items": self.items,
            "records_per_item": self.records_per_item,
            "elements_per_item": self.elements,
            "plain_modulus": 1u64 << self.entry_bits,
            "entry_bits": self.entry_bits,
            "stored_bytes": self.stored_bytes(),
            "information_bytes": information,
            "waste": self.stored_bytes() as f64 / information as f64 - 1.0,
        }))
    }
}
