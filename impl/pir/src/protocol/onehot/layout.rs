//! Where records lie: items in classes and columns, the entries of items in diagonals.
//!
//! Item i is class i mod r of column floor(i / r), r the number of slots or of items. A column selector is one in every place of its row of
//! slots that is the column's number modulo W, W a power of two, and zero elsewhere; W columns are a block, with a ciphertext each. For each
//! entry the items are a matrix of r classes and W columns a block, of which diagonal d has class p's item of column p + d in slot p.
//! Diagonal g B + b is stored turned back by g B places: it multiplies the selector that is turned by b (baby steps), and
//! sums are turned by g B (giant steps).

use bfv::ModulusId;

use crate::core::Shape;
use crate::parts::items::Items;

/// A database in diagonals.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The records of an item.
    pub items: Items,
    /// Slots of a row of slots.
    pub row_slots: usize,
    /// Bits of an entry.
    pub entry_bits: u32,
    /// l: entries of an item.
    pub entries: usize,
    /// r: items of a column.
    pub classes: usize,
    /// c: columns.
    pub columns: usize,
    /// W: columns of a block.
    pub width: usize,
    /// Blocks: ciphertexts that select a column.
    pub blocks: usize,
    /// B: baby steps.
    pub baby: usize,
    /// G: giant steps.
    pub giants: usize,
    /// Ciphertexts of an answer.
    pub answers: usize,
}

/// Where an item's entry lies: a diagonal of a block, and a slot of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The row of the entry's matrix of plaintexts: block and baby step.
    pub row: usize,
    /// Its column: the giant step.
    pub giant: usize,
    /// The slot.
    pub slot: usize,
}

impl Layout {
    /// Lays out a database of this shape in that many slots, in one row or two. Of up to `most_baby` baby steps the layout takes
    /// the number that needs the fewest key switches (`hoisted`), or the most.
    pub fn new(
        shape: Shape,
        (slots, rows): (usize, usize),
        entry_bits: u32,
        (most_baby, hoisted): (usize, bool),
    ) -> Self {
        let items = Items::of_bits(shape, u64::from(entry_bits));
        let row_slots = slots / rows;
        let classes = items.count().min(slots as u64) as usize;
        let columns = items.count().div_ceil(classes as u64) as usize;
        let width = columns.next_power_of_two().min(row_slots);
        let (blocks, entries) = (columns.div_ceil(width), items.bits().div_ceil(u64::from(entry_bits)) as usize);
        let switches =
            |baby: usize| blocks.saturating_mul(baby - 1).saturating_add(entries.saturating_mul(width / baby - 1));
        let sizes = (0..=width.min(most_baby).ilog2()).map(|log2| 1 << log2);
        let fewest = sizes.min_by_key(|baby| switches(*baby)).unwrap_or(1);
        let baby = if hoisted { fewest } else { width.min(most_baby) };
        Self {
            items,
            row_slots,
            entry_bits,
            entries,
            classes,
            columns,
            width,
            blocks,
            baby,
            giants: width / baby,
            answers: entries.div_ceil(row_slots),
        }
    }

    /// Number of items.
    pub fn count(&self) -> usize {
        self.items.count() as usize
    }

    /// Column and class of a record's item.
    pub fn place(&self, index: u64) -> (usize, usize) {
        let item = (index / self.items.records) as usize;
        (item / self.classes, item % self.classes)
    }

    /// Ciphertexts of a query: one selects the class, the others the column.
    pub fn ciphertexts(&self) -> usize {
        1 + self.blocks
    }

    /// Rows of every entry's matrix of plaintexts.
    pub fn matrix_rows(&self) -> usize {
        self.blocks * self.baby
    }

    /// Where the entries of an item lie in the matrices.
    pub fn diagonal(&self, item: usize) -> Place {
        let (column, class) = (item / self.classes, item % self.classes);
        let place = class % self.row_slots;
        let diagonal = (column % self.width + self.row_slots - place) % self.width;
        let (giant, baby) = (diagonal / self.baby, diagonal % self.baby);
        let turned = (place + giant * self.baby) % self.row_slots;
        Place { row: column / self.width * self.baby + baby, giant, slot: class - place + turned }
    }

    /// How far the sums of an entry are turned in its ciphertext of the answer.
    pub fn turns(&self, entry: usize) -> usize {
        entry % self.row_slots
    }

    /// Where an entry of an item of that class is found: the ciphertext of the answer, and the slot.
    pub fn found(&self, class: usize, entry: usize) -> (usize, usize) {
        let place = class % self.row_slots;
        (entry / self.row_slots, class - place + (place + self.row_slots - self.turns(entry)) % self.row_slots)
    }

    /// The entries of a ciphertext of the answer.
    pub fn entries_of(&self, answer: usize) -> std::ops::Range<usize> {
        answer * self.row_slots..self.entries.min((answer + 1) * self.row_slots)
    }

    /// The exponents of the keys that a client uploads: for products, turns of column selectors, giant steps, and turns of entries.
    pub fn exponents(&self, id: ModulusId) -> Vec<u64> {
        let giant = (self.giants > 1).then(|| id.rotation(self.baby));
        let turn = (self.entries.min(self.row_slots) > 1).then(|| id.rotation(1));
        let babies = (1..self.baby).map(|places| id.rotation(places));
        let mut exponents = vec![1];
        for exponent in babies.chain(giant).chain(turn) {
            if !exponents.contains(&exponent) {
                exponents.push(exponent);
            }
        }
        exponents
    }
}
