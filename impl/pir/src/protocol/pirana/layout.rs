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

use crate::core::{Result, Shape};
use crate::parts::buckets::Buckets;
use crate::parts::constant_weight::ConstantWeight;
use crate::parts::items::Items;
use crate::parts::selection::Segments;

/// About the number of rows of a segment's matrix: with more, the turned columns would not stay in a cache; with fewer, the products of
/// segments would be added more often.
const SEGMENT_ROWS: usize = 64;

/// A database in columns.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The records in the order of the layout: that of the database, or buckets side by side.
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
        let mut layout = Self::unturned(shape, (rows, row_slots), entry_bits, direct, (classes, columns));
        let fills_rows = classes > row_slots;
        // Turns by fewer places than there are classes keep repetitions apart.
        let reach = classes.min(row_slots);
        layout.answers = layout.polynomials.div_ceil(if fills_rows { 2 * reach } else { reach });
        let of_answer = layout.polynomials.div_ceil(layout.answers);
        layout.halves = of_answer.div_ceil(reach);
        layout.turns = of_answer.div_ceil(layout.halves);
        let cost = |giants: usize| {
            let baby = layout.turns.div_ceil(giants);
            let before = columns.saturating_mul((layout.halves * baby - 1) as u64);
            (before.saturating_add((layout.answers * (giants - 1)) as u64), baby * giants)
        };
        layout.giants = (1..=layout.turns).min_by_key(|giants| cost(*giants)).unwrap_or(1);
        layout.baby = layout.turns.div_ceil(layout.giants);
        layout
    }

    /// Lays out buckets, a class each: column i of a class has item i of its bucket. Every class has a column of its own in a query, and
    /// every plaintext of a column a ciphertext of an answer, which is not turned. The shape is that of [`Self::in_classes`].
    pub fn of_buckets(buckets: &Buckets, slots: (usize, usize), entry_bits: u32, direct: u64) -> Result<Self> {
        let Shape { records, record_bits } = buckets.each;
        let records_per_item = (u64::from(entry_bits) / record_bits).max(1);
        let columns = records.div_ceil(records_per_item);
        let all = columns.saturating_mul(records_per_item).saturating_mul(buckets.count() as u64);
        let shape = Shape::new(all, record_bits)?;
        Ok(Self::unturned(shape, slots, entry_bits, direct, (buckets.count(), columns)))
    }

    /// A layout of that many classes and columns without turns.
    fn unturned(
        shape: Shape,
        (rows, row_slots): (usize, usize),
        entry_bits: u32,
        direct: u64,
        (classes, columns): (usize, u64),
    ) -> Self {
        let entries = shape.record_bits.div_ceil(u64::from(entry_bits)) as usize;
        let repetitions = if classes > row_slots { 1 } else { rows * (row_slots / classes) };
        let polynomials = entries.div_ceil(repetitions);
        Self {
            shape,
            row_slots,
            entry_bits,
            records_per_item: (u64::from(entry_bits) / shape.record_bits).max(1),
            entries,
            classes,
            repetitions,
            columns: columns as usize,
            code: ConstantWeight::shortest(if columns <= direct { 1 } else { 2 }, columns),
            polynomials,
            answers: polynomials,
            halves: 1,
            turns: 1,
            baby: 1,
            giants: 1,
        }
    }

    /// The number, in the order of the layout, of the record at a position of a bucket.
    pub fn in_classes(&self, bucket: usize, position: u64) -> u64 {
        let item = position / self.records_per_item * self.classes as u64 + bucket as u64;
        item * self.records_per_item + position % self.records_per_item
    }

    /// Bucket and position of the record with that number in the order of the layout: inverse of [`Self::in_classes`].
    pub fn in_buckets(&self, number: u64) -> (usize, u64) {
        let (column, class) = self.place(number);
        (class, column as u64 * self.records_per_item + number % self.records_per_item)
    }

    /// Column and class of a record's item.
    pub fn place(&self, index: u64) -> (usize, usize) {
        let item = index / self.records_per_item;
        ((item / self.classes as u64) as usize, (item % self.classes as u64) as usize)
    }

    /// The items.
    pub fn items(&self) -> Items {
        Items { shape: self.shape, records: self.records_per_item }
    }

    /// Bits of an item.
    pub fn item_bits(&self) -> u64 {
        self.items().bits()
    }

    /// Halves and baby steps: turns of a selected column.
    pub fn turned_columns(&self) -> usize {
        self.halves * self.baby
    }

    /// The columns, which are selected and turned a segment at a time: rows of its matrix of plaintexts, one for each half and baby step.
    pub fn segments(&self) -> Segments {
        Segments { rows: self.columns, each: (SEGMENT_ROWS / self.turned_columns()).clamp(1, self.columns) }
    }

    /// The row of a segment's matrix for a column and a turn.
    pub fn matrix_row(&self, column: usize, turn: Turn) -> usize {
        (self.segments().place(column).1 * self.halves + turn.half) * self.baby + turn.baby
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
}
