//! Where records lie: items, columns, parts of columns, and the diagonals of blocks.
//!
//! An item is N entries. Items lie in C columns, r in each: item i in column i mod C, as number k = floor(i / C). Each of r blocks holds a
//! polynomial for every column; coefficient m r + k of that of block b is entry m r + b of item k of the column. Records that are longer
//! than an item have an item at the same place of several parts, which are matrices of their own.
//!
//! A block is stored in slots: V_c are those of the polynomial of column c. The query has ones in all slots c modulo C, so that the sum over
//! d < C of line d, which has entry V_(i + d mod C)[i] in slot i, times the query turned by d places is V_c. Baby and giant steps make that
//! sum: line g B + b turned back by g B meets the query turned by b, and the sum over b is turned by g B.

use ring::bits::read_entries;

use crate::core::{Database, Error, Record, Result, Shape, Workload, copy_bits};

/// A database in items.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The database.
    pub shape: Shape,
    /// N: slots of a plaintext, entries of an item.
    pub slots: usize,
    /// Bits of an entry.
    pub entry_bits: u32,
    /// Records of an item; 1 where records take several items.
    pub records_per_item: u64,
    /// Items of a record.
    pub parts: usize,
    /// C, a power of two up to N / 2.
    pub columns: usize,
    /// r: items of a column, blocks of a part; a power of two up to N.
    pub classes: usize,
    /// B: baby steps.
    pub baby: usize,
}

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The column c.
    pub column: usize,
    /// The number k of the item in the column.
    pub class: usize,
    /// The record's first bit in the item.
    pub bit: u64,
}

impl Layout {
    /// Lays out a database of this shape in plaintexts of `slots` slots, each an entry of `entry_bits` bits.
    ///
    /// # Errors
    /// More than N items a column.
    pub fn new(shape: Shape, (slots, entry_bits): (usize, u32), baby_steps: usize) -> Result<Self> {
        let item_bits = slots as u64 * u64::from(entry_bits);
        let records_per_item = (item_bits / shape.record_bits).max(1);
        let items = shape.records.div_ceil(records_per_item);
        let columns = items.next_power_of_two().min(slots as u64 / 2);
        let classes = items.div_ceil(columns).next_power_of_two();
        if classes > slots as u64 {
            let most = slots as u64 * columns * records_per_item;
            return Err(Error::Workload(format!(
                "{} records of {} bits: KSPIR packs {slots} items of {columns} columns at most, {most} such records. Give fewer records \
                 or a larger ring.",
                shape.records, shape.record_bits
            )));
        }
        Ok(Self {
            shape,
            slots,
            entry_bits,
            records_per_item,
            parts: shape.record_bits.div_ceil(item_bits) as usize,
            columns: columns as usize,
            classes: classes as usize,
            baby: baby_steps.min(columns as usize),
        })
    }

    /// Giant steps of a block.
    pub fn giants(&self) -> usize {
        self.columns / self.baby
    }

    /// Blocks of all parts.
    pub fn blocks(&self) -> usize {
        self.parts * self.classes
    }

    /// Keys of baby steps that turn by fewer than K places or by K, of the K that a set has.
    pub fn baby_keys(&self, most: usize) -> usize {
        let keys = most.min(self.baby);
        if keys < self.baby { keys } else { keys - 1 }
    }

    /// The places by which the keys of baby steps turn, of a set with K of them: 1 to K, and the further multiples of K.
    pub fn baby_places(&self, most: usize) -> impl Iterator<Item = usize> {
        let (each, all) = (most.min(self.baby), 1..self.baby);
        all.filter(move |places| *places <= each || places.is_multiple_of(each))
    }

    /// Levels of the packing, with a key each.
    pub fn levels(&self) -> u32 {
        self.classes.ilog2()
    }

    /// The place of a record.
    pub fn place(&self, index: u64) -> Place {
        let (item, columns) = (index / self.records_per_item, self.columns as u64);
        let bit = index % self.records_per_item * self.shape.record_bits;
        Place { column: (item % columns) as usize, class: (item / columns) as usize, bit }
    }

    /// Bits of an item.
    fn item_bits(&self) -> u64 {
        self.slots as u64 * u64::from(self.entry_bits)
    }

    /// The blocks of a part that hold an entry of the record.
    fn classes_of(&self, index: u64) -> impl Iterator<Item = usize> + use<> {
        let (bit, width, classes) = (self.place(index).bit, u64::from(self.entry_bits), self.classes as u64);
        let (first, end) = (bit / width, (bit + self.shape.record_bits).div_ceil(width));
        (first..end.min(first + classes)).map(move |entry| (entry % classes) as usize)
    }

    /// The number of blocks that an update touches.
    pub fn touched(&self, workload: &Workload) -> u64 {
        let (blocks, parts) = (self.blocks() as u64, self.parts);
        workload.touched(blocks, |index| {
            self.classes_of(index).flat_map(move |class| (0..parts).map(move |part| class * parts + part))
        })
    }

    /// The entries of a part of the item in that place; zeros where no record is.
    pub fn entries(&self, database: &Database, (column, class): (usize, usize), part: usize) -> Result<Vec<u16>> {
        let Shape { records, record_bits } = self.shape;
        let first = (class * self.columns + column) as u64 * self.records_per_item;
        let mut entries = vec![0; self.slots];
        if first >= records {
            return Ok(entries);
        }
        let skipped = part as u64 * self.item_bits();
        let all = self.records_per_item.min(records - first) * record_bits;
        let bits = (all - skipped).min(self.item_bits()) as usize;
        let (mut scratch, mut bytes) = (Vec::new(), vec![0; bits.div_ceil(8)]);
        database.read_bits(first * record_bits + skipped, bits, &mut scratch, &mut bytes)?;
        read_entries(&bytes, 0, self.entry_bits, &mut entries);
        Ok(entries)
    }

    /// The entries of a part of an item that has that record in its place and zeros elsewhere.
    pub fn entries_of(&self, index: u64, record: &[u8], part: usize) -> Vec<u16> {
        let (place, skipped) = (self.place(index), part as u64 * self.item_bits());
        let bits = (self.shape.record_bits - skipped).min(self.item_bits()) as usize;
        let mut bytes = vec![0; bits.div_ceil(8)];
        copy_bits(&record[(skipped / 8) as usize..], (skipped % 8) as u32, bits, &mut bytes);
        let (mut entries, width) = (vec![0; self.slots], u64::from(self.entry_bits));
        // The record's first bit is bit `shift` of an entry.
        let (first, shift) = ((place.bit / width) as usize, (place.bit % width) as usize);
        let mut shifted = vec![0; (shift + bits).div_ceil(8)];
        crate::core::put_bits(&bytes, 0, bits as u64, &mut shifted, shift as u64);
        read_entries(&shifted, 0, self.entry_bits, &mut entries[first..]);
        entries
    }

    /// The record in the entries of all parts of its item.
    pub fn record(&self, index: u64, parts: &[Vec<u64>]) -> Record {
        let mut writer = lattice::wire::Writer::default();
        let mask = (1 << self.entry_bits) - 1;
        parts.iter().flatten().for_each(|entry| writer.write(entry & mask, self.entry_bits));
        let (bytes, bit) = (writer.finish(), self.place(index).bit);
        let mut record = vec![0; self.shape.record_bytes()];
        copy_bits(&bytes[(bit / 8) as usize..], (bit % 8) as u32, self.shape.record_bits as usize, &mut record);
        record
    }

    /// The slots of a query for that column: ones at all of its places.
    pub fn query(&self, column: usize) -> Vec<u64> {
        (0..self.slots).map(|slot| u64::from(slot % self.columns == column)).collect()
    }
}

/// Lines of a block.
pub struct Lines {
    layout: Layout,
    values: Vec<u32>,
}

impl Lines {
    /// The lines of a block of zeros.
    pub fn new(layout: Layout) -> Self {
        Self { layout, values: vec![0; layout.columns * layout.slots] }
    }

    /// Bytes for that layout.
    pub fn bytes(layout: &Layout) -> u64 {
        (layout.columns * layout.slots * size_of::<u32>()) as u64
    }

    /// Writes the slots of the polynomial of a column.
    pub fn set(&mut self, column: usize, slots: &[u64]) {
        let Layout { columns, slots: n, .. } = self.layout;
        for (i, value) in slots.iter().enumerate() {
            let line = (column + columns - i % columns) % columns;
            self.values[line * n + i] = *value as u32;
        }
    }

    /// The slots of the plaintext of that baby and giant step.
    pub fn slots(&self, baby: usize, giant: usize) -> Vec<u64> {
        let (n, back) = (self.layout.slots, giant * self.layout.baby);
        let line = &self.values[(back + baby) * n..][..n];
        let mut out: Vec<u64> = line.iter().map(|value| u64::from(*value)).collect();
        out.chunks_exact_mut(n / 2).for_each(|row| row.rotate_right(back));
        out
    }
}
