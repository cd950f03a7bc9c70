//! The layout of records in polynomials, and of polynomials in rows and columns.

use crate::core::plan::numbers;
use crate::core::{Error, Result, Shape};

/// Most slots of a record; each slot takes a response.
const MAX_SLOTS: u64 = 1 << 10;

/// Dimensions of the rings and the digits of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Dimension N of the server's ring.
    pub degree: usize,
    /// Dimension N1 of the responses' ring, a power of two up to N.
    pub response_degree: usize,
    /// An item takes a multiple of this number of slots.
    pub item_slots: usize,
    /// Adjacent rows of the matrix over which the polynomials of a cell are spread.
    pub stacked: usize,
    /// log2 of the plaintext modulus p: bits of a coefficient.
    pub plain_bits: u32,
}

impl Dimensions {
    /// N / N1: slots of a polynomial.
    pub fn slots(&self) -> usize {
        self.degree / self.response_degree
    }

    /// Bits of a slot: N1 log2 p.
    pub fn slot_bits(&self) -> u64 {
        self.response_degree as u64 * u64::from(self.plain_bits)
    }
}

/// Rows and columns of cells; a cell is one polynomial, or several if a record needs them.
///
/// One query selects an *item*: all whole records that fit into its least number of slots, or one record of more. Item i of a cell of 2^v3
/// items is at *position* i: it has the slots i, i + 2^v3, i + 2 2^v3, ... Number an item by (row, column, position), the row's v1
/// bits on top, then the column's v2, then the position's v3. Rows without an item are not stored; unused cells of stored rows are
/// zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The database.
    pub shape: Shape,
    /// Rings and digits.
    pub dimensions: Dimensions,
    /// Records of an item.
    pub records_per_item: u64,
    /// Slots of an item.
    pub slots: usize,
    /// v1: bits of a row's number.
    pub row_bits: u32,
    /// v2: bits of a column's number.
    pub column_bits: u32,
    /// v3: bits of a position.
    pub position_bits: u32,
    /// Columns of a cell, whose ciphertexts are folded apart.
    pub parts: usize,
    /// Rows stored, at most 2^v1.
    pub rows: usize,
    /// Columns stored of each part, at most 2^v2.
    pub columns: usize,
}

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of its item.
    pub item: u64,
    /// Row.
    pub row: usize,
    /// Column.
    pub column: usize,
    /// Position within its cell.
    pub position: usize,
    /// First bit within its item.
    pub first_bit: u64,
}

impl Layout {
    /// The layout with at most 2^`most_row_bits` rows, and the columns that the database then needs.
    pub fn new(shape: Shape, dimensions: Dimensions, most_row_bits: u32) -> Result<Self> {
        let slot_bits = dimensions.slot_bits();
        let item_slots = dimensions.item_slots as u64;
        let slots = shape.record_bits.div_ceil(slot_bits).next_multiple_of(item_slots);
        if slots > MAX_SLOTS {
            return Err(Error::Workload(format!(
                "records of {} bits take {slots} responses of {slot_bits} bits: at most {MAX_SLOTS}, {} bits. Split longer \
                 records and fetch their parts.",
                shape.record_bits,
                MAX_SLOTS * slot_bits
            )));
        }
        let each = dimensions.slots() as u64;
        let records_per_item = (item_slots * slot_bits / shape.record_bits).max(1);
        let items = shape.records.div_ceil(records_per_item);
        let positions = if slots >= each { 1 } else { each >> slots.next_power_of_two().ilog2() };
        let parts = slots.div_ceil(each * dimensions.stacked as u64);
        let cells = items.div_ceil(positions);
        let cell_bits = cells.next_power_of_two().ilog2();
        let column_bits = cell_bits.saturating_sub(most_row_bits);
        let (rows, columns) = (cells.div_ceil(1 << column_bits), cells.min(1 << column_bits));
        let (Ok(rows), Ok(columns)) = (usize::try_from(rows), usize::try_from(columns)) else {
            return Err(Error::Workload(format!("{cells} polynomials exceed this machine's address space.")));
        };
        Ok(Self {
            shape,
            dimensions,
            records_per_item,
            slots: slots as usize,
            row_bits: rows.next_power_of_two().ilog2(),
            column_bits,
            position_bits: positions.ilog2(),
            parts: parts as usize,
            rows,
            columns,
        })
    }

    /// Rows of the matrix.
    pub fn matrix_rows(&self) -> usize {
        self.rows * self.dimensions.stacked
    }

    /// Columns of the matrix: those of part 0, then those of part 1, and so on.
    pub fn matrix_columns(&self) -> usize {
        self.parts * self.columns
    }

    /// 2^v3: items of a cell.
    pub fn positions(&self) -> usize {
        1 << self.position_bits
    }

    /// Slots that an item has in each of its polynomials, apart from the last.
    pub fn slots_per_polynomial(&self) -> usize {
        self.dimensions.slots() / self.positions()
    }

    /// Polynomials of a cell.
    pub fn polynomials(&self) -> usize {
        self.parts * self.dimensions.stacked
    }

    /// Row and column of polynomial `number` of the cell at that place: first the rows of part 0, then those of part 1, and so on.
    pub(super) fn polynomial(&self, place: &Place, number: usize) -> (usize, usize) {
        let (part, row) = (number / self.dimensions.stacked, number % self.dimensions.stacked);
        (place.row * self.dimensions.stacked + row, part * self.columns + place.column)
    }

    /// Where record `index` is.
    pub fn place(&self, index: u64) -> Place {
        let item = index / self.records_per_item;
        let cell = item >> self.position_bits;
        Place {
            item,
            row: (cell >> self.column_bits) as usize,
            column: (cell & ((1 << self.column_bits) - 1)) as usize,
            position: (item as usize) & (self.positions() - 1),
            first_bit: index % self.records_per_item * self.shape.record_bits,
        }
    }

    /// The bits of a column's number, most significant first.
    pub fn column_bits_of(&self, place: &Place) -> impl Iterator<Item = bool> + use<> {
        bits(place.column, self.column_bits)
    }

    /// The bits of a position, most significant first.
    pub fn position_bits_of(&self, place: &Place) -> impl Iterator<Item = bool> + use<> {
        bits(place.position, self.position_bits)
    }

    /// The part of the database's bit string in one slot of an item: first bit and number of bits. `None` past the end of the item or of
    /// the database.
    pub(super) fn slot_bits_of(&self, item: u64, slot: usize) -> Option<(u64, usize)> {
        let record_bits = self.shape.record_bits;
        let item_bits = self.records_per_item * record_bits;
        let start = slot as u64 * self.dimensions.slot_bits();
        let first = item.checked_mul(item_bits)?.checked_add(start)?;
        let end = (item + 1).saturating_mul(item_bits).min(self.shape.records.saturating_mul(record_bits));
        let count = end.checked_sub(first)?.min(self.dimensions.slot_bits());
        (start < item_bits && count > 0).then_some((first, count as usize))
    }

    /// Bytes of the stored polynomials modulo `primes` primes.
    pub fn stored_bytes(&self, primes: usize) -> u64 {
        ring::PolyMatrix::bytes_for(self.dimensions.degree, primes, self.matrix_rows(), self.matrix_columns())
    }

    /// Bytes of plaintext that all its coefficients hold.
    fn plain_bytes(&self) -> u64 {
        let polynomials = self.matrix_rows() as u64 * self.matrix_columns() as u64;
        polynomials * self.dimensions.slots() as u64 * self.dimensions.slot_bits() / 8
    }
}

numbers! {
    /// What a description says of a layout whose matrix is modulo this number of primes: the bytes that are stored, the bytes of the records,
    /// and the ratio of the two.
    pub struct FoldingNumbers(layout: &Layout, primes: usize, stored: u64, information: u64, expansion: f64) {
        rows: usize = layout.rows,
        columns: usize = layout.columns,
        row_bits: u32 = layout.row_bits,
        column_bits: u32 = layout.column_bits,
        position_bits: u32 = layout.position_bits,
        parts: usize = layout.polynomials(),
        slots: usize = layout.slots,
        records_per_item: u64 = layout.records_per_item,
        plain_modulus: u64 = 1u64 << layout.dimensions.plain_bits,
        ring_degree: usize = layout.dimensions.degree,
        response_degree: usize = layout.dimensions.response_degree,
        matrix_primes: usize = primes,
        stored_bytes: u64 = stored,
        information_bytes: u64 = information,
        expansion: f64 = expansion,
        waste: f64 = layout.plain_bytes() as f64 / layout.shape.database_bytes() as f64 - 1.0,
    }
}

/// The low `count` bits of a number, most significant first.
fn bits(number: usize, count: u32) -> impl Iterator<Item = bool> {
    (0..count).rev().map(move |bit| number >> bit & 1 == 1)
}
