//! The layout of a database for two layers, with gamma_0 entries a cell.

use std::ops::RangeInclusive;

use serde_json::json;

use super::set::Set;
use crate::core::{Error, Result, Shape};
use crate::parts::ring_matrix::Cells;

/// Most cells of a record whose digits are packed: each takes its own tables, 192 MiB as published. Longer records are
/// selected whole.
const MAX_PACKED_CELLS: u64 = 8;
/// log2 of the side of a tile of cells: databases of up to one tile have 2^11 f rows.
const LOG_TILE: u32 = 11;

/// Rows times columns of cells; a cell is gamma_0 entries.
///
/// Cell (r, g), r < N / t, g < t, holds records (r t + g) records_per_cell and following, or, where a record takes several cells,
/// record r t + g in *copies* of the cell. The first layer's matrix has N / t rows; column (g copies + x) gamma_0 + j is entry j of
/// copy x of the cells (., g).
///
/// For records of many cells the second layer selects whole polynomials: its query is a ring element for each column of cells, and the
/// digits of a cell's ciphertext, mask and body, are the coefficients of ceil((mask_digits + body_digits) / d) polynomials.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The database.
    pub shape: Shape,
    /// Records of a cell, at least one.
    pub records_per_cell: u64,
    /// Cells of a record, at least one.
    pub copies: usize,
    /// N / t: rows of cells, which the first query selects from.
    pub rows: usize,
    /// t: columns of cells, which the second query selects from.
    pub cell_columns: usize,
    /// gamma_0.
    pub gamma: usize,
    /// d.
    pub ring_degree: usize,
    /// Digits of a first-layer ciphertext's mask.
    pub mask_digits: usize,
    /// Digits of the gamma_0 coefficients of its body.
    pub body_digits: usize,
    /// Bits of an entry.
    pub entry_bits: u32,
    /// Whether the second layer selects whole polynomials.
    pub selects_whole: bool,
}

impl Layout {
    /// N / t = 2^(11 + ceil(tau / 2)) f, tau = ceil(log2 tiles), tiles of 2^22 cells; the columns follow from it. If polynomials are
    /// selected whole, N / t is f times the power of two that makes both queries about equally long.
    pub fn choose(params: &Set, shape: Shape) -> Result<Self> {
        let (gamma, ring_degree) = (params.gammas()[0], params.rlwe.degree);
        let cell_bits = gamma as u64 * u64::from(params.entry_bits);
        let copies = shape.record_bits.div_ceil(cell_bits);
        let selects_whole = copies > MAX_PACKED_CELLS;
        let records_per_cell = (cell_bits / shape.record_bits).max(1);
        let cells = shape.records.div_ceil(records_per_cell);
        let most = if selects_whole {
            cells.saturating_mul(ring_degree as u64).isqrt().next_power_of_two()
        } else {
            let tau = cells.div_ceil(1 << (2 * LOG_TILE)).next_power_of_two().ilog2();
            1 << (LOG_TILE + tau.div_ceil(2))
        };
        let line = ring::matrix::column::LINE as u64;
        let rows = (most * params.rows_factor as u64).min(cells.next_multiple_of(line));
        let cell_columns = cells.div_ceil(rows);
        let columns = u128::from(cell_columns) * u128::from(copies) * u128::from(gamma as u64);
        let (Ok(rows), Ok(cell_columns), Ok(_)) =
            (usize::try_from(rows), usize::try_from(cell_columns), usize::try_from(columns))
        else {
            return Err(Error::Workload(format!("{cells} cells exceed this machine's address space.")));
        };
        Ok(Self {
            shape,
            records_per_cell,
            copies: copies as usize,
            rows,
            cell_columns,
            gamma,
            ring_degree,
            mask_digits: params.digits_of(ring_degree),
            body_digits: params.digits_of(gamma),
            entry_bits: params.entry_bits,
            selects_whole,
        })
    }

    /// Coefficients of the second query: for each column of cells one, or those of a ring element.
    pub fn second_entries(&self) -> usize {
        if self.selects_whole { self.cell_columns * self.ring_degree } else { self.cell_columns }
    }

    /// The place of the second query's message for a column of cells.
    pub fn second_index(&self, column: usize) -> usize {
        if self.selects_whole { column * self.ring_degree } else { column }
    }

    /// The different gammas of packings in use, each with its own keys.
    pub fn key_gammas(&self, params: &Set) -> Vec<usize> {
        let mut gammas = if self.selects_whole { vec![self.gamma] } else { params.gammas().to_vec() };
        gammas.sort_unstable();
        gammas.dedup();
        gammas
    }

    /// Ciphertexts of the first layer: t for each copy. Ciphertext g copies + x is that of copy x of column g.
    pub fn groups(&self) -> usize {
        self.cell_columns * self.copies
    }

    /// Columns of the first layer's matrix.
    pub fn columns(&self) -> usize {
        self.groups() * self.gamma
    }

    /// The places of records in the first layer's matrix: a cell with its copies.
    pub fn cells(&self) -> Cells {
        let Self { shape, records_per_cell: records, cell_columns: columns, entry_bits, .. } = *self;
        Cells { shape, records, columns, entries: self.entries(), entry_bits }
    }

    /// Ciphertexts of the first layer that hold a record.
    pub fn groups_of(&self, index: u64) -> RangeInclusive<usize> {
        self.cells().groups_of(index, self.gamma)
    }

    /// Entries of a cell and its copies.
    pub fn entries(&self) -> usize {
        self.copies * self.gamma
    }

    /// Bytes of the first layer's database.
    pub fn first_stored_bytes(&self) -> u64 {
        ring::ColumnMatrix::stored_bytes_for(self.rows, self.columns())
    }

    /// Bytes of the second layer's database.
    pub fn second_stored_bytes(&self) -> u64 {
        if self.selects_whole {
            return 2 * (self.groups() * self.mask_digits) as u64;
        }
        ring::ColumnMatrix::stored_bytes_for(self.cell_columns, self.copies * self.mask_digits)
    }

    /// The ciphertexts of a copy in an answer: coefficients of each body, and the number of them that are digits; those of the mask's digits
    /// come before those of the body's.
    pub fn ciphertexts(&self, params: &Set) -> Vec<(usize, usize)> {
        let cut = |digits: usize, width: usize| (0..digits).step_by(width).map(move |start| width.min(digits - start));
        if self.selects_whole {
            return cut(self.mask_digits + self.body_digits, self.ring_degree).map(|digits| (digits, digits)).collect();
        }
        let [_, gamma1, gamma2] = params.gammas();
        let masks = cut(self.mask_digits, gamma1).map(|digits| (gamma1, digits));
        masks.chain(cut(self.body_digits, gamma2).map(|digits| (gamma2, digits))).collect()
    }

    /// Numbers of a copy's ciphertexts that are packed by tables and without.
    pub fn outputs(&self, params: &Set) -> [usize; 2] {
        if self.selects_whole {
            return [0, 0];
        }
        [self.mask_digits.div_ceil(params.gammas()[1]), self.body_digits.div_ceil(params.gammas()[2])]
    }

    /// Bytes of a copy in an answer: whole masks, and the packed coefficients of bodies.
    pub fn copy_bytes(&self, params: &Set) -> usize {
        let each = self.ciphertexts(params).into_iter();
        each.map(|(kept, _)| params.switch.bytes(self.ring_degree, kept) as usize).sum()
    }

    /// Bytes of an answer.
    pub fn answer_bytes(&self, params: &Set) -> usize {
        self.copies * self.copy_bytes(params)
    }

    /// Bytes of the two queries, all coefficients bit-packed.
    pub fn query_bytes(&self, params: &Set) -> usize {
        ((self.rows + self.second_entries()) * params.rlwe.residue_bits() as usize).div_ceil(8)
    }

    /// The layout as a description has it.
    pub fn describe(&self, params: &Set) -> serde_json::Map<String, serde_json::Value> {
        let information = self.shape.database_bytes();
        crate::core::plan::operations(json!({
            "rows": self.rows,
            "degree": self.cell_columns,
            "columns": self.columns(),
            "copies": self.copies,
            "records_per_cell": self.records_per_cell,
            "gammas": params.gammas(),
            "plain_modulus": 1u64 << self.entry_bits,
            "digit_bits": self.entry_bits,
            "mask_digits": self.mask_digits,
            "body_digits": self.body_digits,
            "answer_ciphertexts": self.copies * self.ciphertexts(params).len(),
            "selected_whole": self.selects_whole,
            "switched_modulus": params.switched_modulus,
            "stored_bytes": self.first_stored_bytes(),
            "second_stored_bytes": self.second_stored_bytes(),
            "information_bytes": information,
            "waste": self.first_stored_bytes() as f64 / information as f64 - 1.0,
        }))
    }
}
