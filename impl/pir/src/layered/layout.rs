//! How the two layers are laid out.

use serde_json::json;

use super::params::{Body, Params};
use crate::error::{Error, Result};
use crate::linear::{Layout, RecordCode};
use crate::workload::Shape;

/// Most entries of a record: each takes an answer and a packing table of its own.
const MAX_ENTRIES: u64 = 256;
/// log2 of the side of a tile of entries: databases of up to one tile have 2^11 rows (YPIR's layout).
const LOG_TILE: u32 = 11;
/// Rows of small databases are a multiple of this.
const ROW_STEP: u64 = 64;

/// Both layers of a database.
///
/// The matrix of the first layer is kept with one *column* of the paper after the other: its `Layout` has G ne rows (a group of
/// ne rows holds the entries of N1 records) and N1 columns, which the first query selects from. The second layer holds, for each
/// group and each of ne *copies*, the digits of that row's hint, and then those of its answer.
#[derive(Clone, Copy, Debug)]
pub struct Layers {
    /// The first layer.
    pub first: Layout,
    /// ne: entries of a record, answers to a query.
    pub copies: usize,
    /// G: groups of rows, which the second query selects from.
    pub groups: usize,
    /// Digits of a row's hint.
    pub hint_digits: usize,
    /// Digits of a row's answer.
    pub answer_digits: usize,
    /// d.
    pub degree: usize,
    /// Bytes of the first query.
    pub first_bytes: usize,
    /// Bytes of the second query.
    pub second_bytes: usize,
}

impl Layers {
    /// The layout of a database: N1 = 2^(11 + ceil(tau / 2)) for tau = ceil(log2 tiles), tiles of 2^22 records' entries, and as
    /// many groups as are then needed. Smaller databases have fewer rows.
    ///
    /// # Errors
    /// Records with too many entries.
    pub fn choose(params: &Params, shape: Shape) -> Result<Self> {
        let code = RecordCode::new(shape.record_bits, 1 << params.entry_bits);
        let copies = code.entries_per_record();
        if copies > MAX_ENTRIES {
            return Err(Error::Workload(format!(
                "records of {} bits take {copies} entries of {} bits, each with an answer and packing tables of its own: at most \
                 {MAX_ENTRIES} entries, {} bits. Take simpleypir or inspire for such records.",
                shape.record_bits,
                params.entry_bits,
                MAX_ENTRIES * u64::from(params.entry_bits),
            )));
        }
        let bodies = copies as usize * params.answer_digits();
        if params.body == Body::Packed && bodies > params.rlwe.degree {
            return Err(Error::Workload(format!(
                "records of {} bits have {bodies} digits of bodies, which are packed into one ciphertext of {}. Take a set with \
                 body = \"unpacked\", or shorter records.",
                shape.record_bits, params.rlwe.degree
            )));
        }
        let digits = params.hint_digits() + bodies;
        if params.body == Body::Merged && digits > params.rlwe.degree {
            return Err(Error::Workload(format!(
                "records of {} bits have {digits} digits in the first ciphertext of an answer, which holds {}. Take a set with \
                 body = \"packed\".",
                shape.record_bits, params.rlwe.degree
            )));
        }
        let cells = shape.records.div_ceil(code.records_per_entry());
        let tiles = cells.div_ceil(1 << (2 * LOG_TILE));
        let tau = tiles.next_power_of_two().ilog2();
        let rows = (1 << (LOG_TILE + tau.div_ceil(2))).min(cells.next_multiple_of(ROW_STEP));
        let groups = cells.div_ceil(rows);
        let too_large = |_| Error::Workload(format!("{rows} x {groups} entries exceed this machine's address space."));
        let (rows, groups) = (usize::try_from(rows).map_err(too_large)?, usize::try_from(groups).map_err(too_large)?);
        let copies = copies as usize;
        Ok(Self {
            first: Layout { shape, code, rows: groups * copies, columns: rows },
            copies,
            groups,
            hint_digits: params.hint_digits(),
            answer_digits: params.answer_digits(),
            degree: params.rlwe.degree,
            first_bytes: 4 * rows,
            second_bytes: params.query_bytes * groups,
        })
    }

    /// Bytes of one query.
    pub fn query_bytes(&self) -> usize {
        self.first_bytes + self.second_bytes
    }

    /// Group, copy of a row of the first layer's matrix.
    pub fn locate(&self, row: usize) -> (usize, usize) {
        (row / self.copies, row % self.copies)
    }

    /// Outputs of the second layer: its columns.
    pub fn outputs(&self) -> usize {
        self.copies * self.degree
    }

    /// Bytes of the second layer's database.
    pub fn second_stored_bytes(&self) -> u64 {
        ring::ColumnMatrix::stored_bytes_for(self.groups, self.outputs())
    }

    /// The layout's numbers for a description.
    pub fn describe(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut values = self.first.describe();
        values.extend(crate::scheme::operations(json!({
            "copies": self.copies,
            "groups": self.groups,
            "hint_digits": self.hint_digits,
            "answer_digits": self.answer_digits,
            "second_outputs": self.outputs(),
            "second_stored_bytes": self.second_stored_bytes(),
        })));
        values
    }
}
