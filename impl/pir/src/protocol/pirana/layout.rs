//! Where records lie: items, classes and columns, entries in slots, and how far each plaintext's product is turned.
//!
//! An item is a record, or the records that share a slot. Items lie in columns, r in each: item i is item i mod r, its class, of column
//! floor(i / r). Each plaintext of a column has an entry of every one of its items; where there are fewer items than slots, several
//! repetitions of the classes hold an entry each. The product of a selected column with plaintext t is turned t places, so that all
//! entries of the selected item come to lie in slots of their own of one ciphertext. Slots lie in rows that turn each on its own: where
//! classes fill both rows of an integer modulus, half of the plaintexts are turned with the rows swapped.
//!
//! A turn by a G + g places is in two steps: the selected column is turned by a G before its products are summed, for every a < B (baby
//! steps), and the sums by g after that (giant steps).

use std::ops::Range;

use crate::core::{Database, Result, Shape, Workload, put_bits};
use crate::parts::constant_weight::ConstantWeight;

/// Rows of a segment's matrix, about: so few that the turned columns stay in a cache, so many that the products of segments are seldom
/// added.
const SEGMENT_ROWS: usize = 64;

/// A database in columns.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The database.
    pub shape: Shape,
    /// Slots of a row of slots.
    row_slots: usize,
    /// Bits of an entry.
    pub entry_bits: u32,
    /// Records of an item; 1 where a record takes several entries.
    pub records_per_item: u64,
    /// Entries of an item.
    pub entries: usize,
    /// r: items of a column.
    pub classes: usize,
    /// Entries of an item in a plaintext.
    pub repetitions: usize,
    /// c: columns.
    pub columns: usize,
    /// The codeword of a column.
    pub code: ConstantWeight,
    /// Plaintexts of a column.
    pub polynomials: usize,
    /// Ciphertexts of an answer.
    pub answers: usize,
    /// H: 2 where rows of slots are swapped too.
    pub halves: usize,
    /// Turns of a half.
    turns: usize,
    /// B: baby steps.
    pub baby: usize,
    /// G: giant steps.
    pub giants: usize,
}

/// Where a plaintext is: which ciphertext of an answer its product belongs to, and how it is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The ciphertext of an answer.
    pub answer: usize,
    /// Whether rows of slots are swapped: 0 or 1.
    pub half: usize,
    /// The baby step a.
    pub baby: usize,
    /// The giant step g.
    pub giant: usize,
}

impl Layout {
    /// Lays out a database of this shape in `rows` rows of `row_slots` slots, each an entry of `entry_bits` bits; up to `direct` columns
    /// have a codeword of weight one.
    pub fn new(shape: Shape, (rows, row_slots): (usize, usize), entry_bits: u32, direct: u64) -> Self {
        let records_per_item = (u64::from(entry_bits) / shape.record_bits).max(1);
        let items = shape.records.div_ceil(records_per_item);
        let classes = items.min((rows * row_slots) as u64) as usize;
        let columns = items.div_ceil(classes as u64);
        let entries = shape.record_bits.div_ceil(u64::from(entry_bits)) as usize;
        let fills_rows = classes > row_slots;
        let repetitions = if fills_rows { 1 } else { rows * (row_slots / classes) };
        let polynomials = entries.div_ceil(repetitions);
        // Turns by fewer places than there are classes keep repetitions apart.
        let reach = classes.min(row_slots);
        let answers = polynomials.div_ceil(if fills_rows { 2 * reach } else { reach });
        let of_answer = polynomials.div_ceil(answers);
        let halves = of_answer.div_ceil(reach);
        let turns = of_answer.div_ceil(halves);
        let cost = |giants: usize| {
            let baby = turns.div_ceil(giants);
            let before = columns.saturating_mul((halves * baby - 1) as u64);
            (before.saturating_add((answers * (giants - 1)) as u64), baby * giants)
        };
        let giants = (1..=turns).min_by_key(|giants| cost(*giants)).unwrap_or(1);
        let weight = if columns <= direct { 1 } else { 2 };
        Self {
            shape,
            row_slots,
            entry_bits,
            records_per_item,
            entries,
            classes,
            repetitions,
            columns: columns as usize,
            code: ConstantWeight::shortest(weight, columns),
            polynomials,
            answers,
            halves,
            turns,
            baby: turns.div_ceil(giants),
            giants,
        }
    }

    /// Column and class of a record's item.
    pub fn place(&self, index: u64) -> (usize, usize) {
        let item = index / self.records_per_item;
        ((item / self.classes as u64) as usize, (item % self.classes as u64) as usize)
    }

    /// The number of columns that an update touches.
    pub fn touched(&self, workload: &Workload) -> u64 {
        workload.touched(self.columns as u64, |index| [self.place(index).0])
    }

    /// Bits of an item.
    pub fn item_bits(&self) -> u64 {
        self.records_per_item * self.shape.record_bits
    }

    /// Halves and baby steps: turns of a selected column.
    pub fn turned_columns(&self) -> usize {
        self.halves * self.baby
    }

    /// Columns of a segment, which are selected and turned before their products: a matrix of plaintexts each.
    pub fn segment_columns(&self) -> usize {
        (SEGMENT_ROWS / self.turned_columns()).clamp(1, self.columns)
    }

    /// Number of the segments.
    pub fn segments(&self) -> usize {
        self.columns.div_ceil(self.segment_columns())
    }

    /// The columns of a segment.
    pub fn columns_of(&self, segment: usize) -> Range<usize> {
        let first = segment * self.segment_columns();
        first..self.columns.min(first + self.segment_columns())
    }

    /// Rows of a segment's matrix of plaintexts: columns, halves and baby steps.
    pub fn matrix_rows(&self, segment: usize) -> usize {
        self.columns_of(segment).len() * self.turned_columns()
    }

    /// The row of a segment's matrix for a column and a turn.
    pub fn matrix_row(&self, column: usize, turn: Turn) -> usize {
        (column % self.segment_columns() * self.halves + turn.half) * self.baby + turn.baby
    }

    /// Columns of every matrix of plaintexts: ciphertexts of an answer and giant steps.
    pub fn matrix_columns(&self) -> usize {
        self.answers * self.giants
    }

    /// The column of a matrix for a turn.
    pub fn matrix_column(&self, turn: Turn) -> usize {
        turn.answer * self.giants + turn.giant
    }

    /// How the product with plaintext number `polynomial` of a column is turned.
    pub fn turn(&self, polynomial: usize) -> Turn {
        let of_answer = self.polynomials.div_ceil(self.answers);
        let (answer, rest) = (polynomial / of_answer, polynomial % of_answer);
        let (half, places) = (rest / self.turns, rest % self.turns);
        Turn { answer, half, baby: places / self.giants, giant: places % self.giants }
    }

    /// The entry of an item that a repetition of plaintext number `polynomial` holds, which may be beyond the item.
    pub fn entry(&self, polynomial: usize, repetition: usize) -> usize {
        repetition * self.polynomials + polynomial
    }

    /// The slot of a class in a query.
    pub fn slot(&self, repetition: usize, class: usize) -> usize {
        let of_row = (self.row_slots / self.classes).max(1);
        repetition / of_row * self.row_slots + repetition % of_row * self.classes + class
    }

    /// Where a slot comes to lie when rows are turned by some places and, for half 1, swapped.
    pub fn turned(&self, slot: usize, half: usize, places: usize) -> usize {
        let (row, place) = (slot / self.row_slots, slot % self.row_slots);
        (row ^ half) * self.row_slots + (place + self.row_slots - places) % self.row_slots
    }

    /// The bits of an item, with its changes.
    pub fn item(&self, database: &Database, item: u64) -> Result<Vec<u8>> {
        let mut out = vec![0; self.item_bits().div_ceil(8) as usize];
        let (first, bits) = (item * self.records_per_item, self.shape.record_bits);
        for (place, index) in (first..self.shape.records.min(first + self.records_per_item)).enumerate() {
            put_bits(&database.record(index)?, 0, bits, &mut out, place as u64 * bits);
        }
        Ok(out)
    }
}
