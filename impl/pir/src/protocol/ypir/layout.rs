//! The layout of both layers.

use lattice::pack::Method;
use serde_json::json;

use super::set::{Body, Set};
use crate::core::{Error, Result, Shape};
use crate::parts::lwe_matrix::{Layout, RecordCode};

/// Most entries of a record whose answers are packed: each takes its own packing table, 96 MiB as published. For longer records whole
/// polynomials are selected.
pub(super) const MAX_PACKED_ENTRIES: u64 = 64;
/// log2 of the side of a tile of entries: databases of up to one tile have 2^11 rows (YPIR's layout).
const LOG_TILE: u32 = 11;
/// Rows of small databases are a multiple of this.
const ROW_STEP: u64 = 64;

/// Both layers of a database.
///
/// Records of many entries are *selected whole*: the second query has a ring ciphertext for each group instead of a coefficient,
/// and an entry's digits, those of its hint and of its answer, are the coefficients of one polynomial. Nothing is packed then, so no
/// keys are sent, no tables are kept and hints need not be stored.
///
/// The matrix of the first layer is the transpose of the paper's: its `Layout` has G ne rows (a group of ne rows holds the entries of N1
/// records) and N1 columns, from which the first query selects. The second layer holds, for each group and each of ne *copies*, the
/// digits of that row's hint, and then those of its answer.
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
    /// The form in which the digits of the first layer's answer are sent.
    pub body: Body,
    /// Bytes of the first query.
    pub first_bytes: usize,
    /// Bytes of the second query.
    pub second_bytes: usize,
}

impl Layers {
    /// The layout of a database: N1 = 2^(11 + ceil(tau / 2)) for tau = ceil(log2 tiles), tiles of 2^22 records' entries, and as
    /// many groups as are then needed. Smaller databases have fewer rows. Where records are selected whole, N1 is the power of two
    /// that makes both queries about as long.
    pub fn choose(params: &Set, shape: Shape) -> Result<Self> {
        let code = RecordCode::new(shape.record_bits, 1 << params.layers.entry_bits);
        let (copies, degree) = (code.entries_per_record(), params.rlwe.degree as u64);
        let bodies = copies.saturating_mul(params.answer_digits() as u64);
        let fits = match params.body {
            Body::Packed => bodies <= degree,
            Body::Merged => params.hint_digits() as u64 + bodies <= degree,
            Body::Traced | Body::Unpacked | Body::Selected => true,
        };
        let body = if copies <= MAX_PACKED_ENTRIES && fits { params.body } else { Body::Selected };
        let cells = shape.records.div_ceil(code.records_per_entry());
        let most = if body == Body::Selected {
            // 4 N1 bytes of the first query, w d cells / N1 of the second.
            (cells.saturating_mul(params.layers.query_coefficient_bytes as u64 * degree) / 4)
                .isqrt()
                .next_power_of_two()
        } else {
            let tau = cells.div_ceil(1 << (2 * LOG_TILE)).next_power_of_two().ilog2();
            1 << (LOG_TILE + tau.div_ceil(2))
        };
        let rows = most.min(cells.next_multiple_of(ROW_STEP));
        let groups = cells.div_ceil(rows);
        let all_rows = groups.checked_mul(copies).and_then(|rows| usize::try_from(rows).ok());
        let (Ok(rows), Ok(groups), Some(all_rows)) = (usize::try_from(rows), usize::try_from(groups), all_rows) else {
            return Err(Error::Workload(format!("{rows} x {groups} entries exceed this machine's address space.")));
        };
        let copies = copies as usize;
        let mut layers = Self {
            first: Layout { shape, code, rows: all_rows, columns: rows },
            copies,
            groups,
            hint_digits: params.hint_digits(),
            answer_digits: params.answer_digits(),
            degree: params.rlwe.degree,
            body,
            first_bytes: 4 * rows,
            second_bytes: 0,
        };
        layers.second_bytes = params.layers.query_coefficient_bytes * layers.second_entries();
        Ok(layers)
    }

    /// Whether polynomials are selected whole, and nothing is packed.
    pub fn selects_whole(&self) -> bool {
        self.body == Body::Selected
    }

    /// Samples of the first answer, which depend on the query: digits of all entries of a record.
    pub fn samples(&self) -> usize {
        self.copies * self.answer_digits
    }

    /// Width of the packing of these samples together. Alone in a ciphertext they take half of InspiRING, with the first key of a full packing
    /// and half of its key switches; it leaves arbitrary values in the upper coefficients, which would disturb hint digits.
    pub fn body_gamma(&self, method: Method) -> usize {
        let half = self.degree / 2;
        if method == Method::Inspiring && self.body == Body::Packed && self.samples() <= half {
            half
        } else {
            self.degree
        }
    }

    /// Coefficients of the second query: for each group one, or those of a ring element.
    pub fn second_entries(&self) -> usize {
        if self.selects_whole() { self.groups * self.degree } else { self.groups }
    }

    /// The place of the second query's message for a group.
    pub fn second_index(&self, group: usize) -> usize {
        if self.selects_whole() { group * self.degree } else { group }
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

    /// Bytes of the second layer's database, which is computed for every answer if records are selected whole.
    pub fn second_stored_bytes(&self) -> u64 {
        if self.selects_whole() {
            return 0;
        }
        ring::ColumnMatrix::stored_bytes_for(self.groups, self.outputs())
    }

    /// The layout as a description has it.
    pub fn describe(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut values = self.first.describe();
        values.extend(crate::core::plan::operations(json!({
            "copies": self.copies,
            "groups": self.groups,
            "hint_digits": self.hint_digits,
            "answer_digits": self.answer_digits,
            "selected_whole": self.selects_whole(),
            "second_outputs": self.outputs(),
            "second_stored_bytes": self.second_stored_bytes(),
        })));
        values
    }

    /// Bytes of the packing keys of one query; zero if nothing is packed.
    pub fn key_bytes(&self, params: &Set) -> u64 {
        if self.selects_whole() { 0 } else { params.packing_sizes().key_bytes() }
    }

    /// Polynomials of the packing keys of one query.
    pub fn key_polynomials(&self, params: &Set) -> u64 {
        if self.selects_whole() { 0 } else { params.packing_sizes().key_polynomials() }
    }

    /// Ring ciphertexts of one answer.
    pub fn ciphertexts(&self) -> usize {
        self.copies
            + match self.body {
                Body::Traced | Body::Merged | Body::Selected => 0,
                Body::Unpacked => self.samples(),
                Body::Packed => 1,
            }
    }

    /// Bytes of one answer.
    pub fn answer_bytes(&self, params: &Set) -> usize {
        self.ciphertexts() * params.switch.bytes(params.rlwe.degree, params.rlwe.degree) as usize
    }
}
