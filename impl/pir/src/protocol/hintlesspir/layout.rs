//! Blocks of rows of the hint, and where their entries lie in slots.
//!
//! Slots are two rows of N/2 places; slot i is place i mod N/2. A block of B rows of H has M = B/2 plaintexts. Slot i of plaintext j holds
//! the entry of row i mod B and column i + j + [i >= N/2] B/2 modulo N/2, and meets the secret's coefficient of that number: slot i of the
//! encrypted secret holds coefficient i + [i >= N/2] B/2, which turning by j moves there. So the slots that are r modulo B sum to <H[r], s>.
//!
//! Plaintext j is multiplied with the secret turned by j modulo the number of baby steps, and their sum turned by the rest of j, the giant
//! step. So the plaintext lies turned back by as much.

use ring::Modulus;
use zeroize::Zeroizing;

use crate::core::Workload;
use crate::parts::lwe_matrix;

/// A database, and its hint in blocks.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The database as a matrix.
    pub linear: lwe_matrix::Layout,
    /// B: rows of a block.
    pub block_rows: usize,
    /// N: slots of a plaintext.
    pub slots: usize,
    /// Turns of the secret, a power of two up to the number of plaintexts of a block.
    pub babies: usize,
}

impl Layout {
    /// Blocks are not longer than the least power of two that holds all rows. Without `baby_steps` the secret is turned once for each
    /// plaintext of a block.
    pub fn new(linear: lwe_matrix::Layout, block_rows: usize, slots: usize, baby_steps: Option<usize>) -> Self {
        let block_rows = block_rows.min(linear.rows.next_power_of_two().max(2));
        let terms = block_rows / 2;
        Self { linear, block_rows, slots, babies: baby_steps.map_or(terms, |steps| steps.min(terms)) }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.linear.rows.div_ceil(self.block_rows)
    }

    /// M: plaintexts of a block.
    pub fn terms(&self) -> usize {
        self.block_rows / 2
    }

    /// Sums of a block that are turned one after the other and added.
    pub fn giants(&self) -> usize {
        self.terms() / self.babies
    }

    /// The column, of the matrix of plaintexts, of plaintext `term` of a block.
    pub fn column_of(&self, block: usize, term: usize) -> usize {
        (block + 1) * self.giants() - 1 - term / self.babies
    }

    /// The columns of some blocks.
    pub fn columns_of(&self, blocks: std::ops::Range<usize>) -> std::ops::Range<usize> {
        blocks.start * self.giants()..blocks.end * self.giants()
    }

    /// The blocks that hold part of a record.
    pub fn blocks_of(&self, index: u64) -> std::ops::Range<usize> {
        let (first, ..) = self.linear.place(index);
        let end = first + self.linear.code.entries_per_record() as usize;
        first / self.block_rows..end.div_ceil(self.block_rows)
    }

    /// The number of blocks that an update touches.
    pub fn touched(&self, workload: &Workload) -> u64 {
        workload.touched(self.blocks() as u64, |index| self.blocks_of(index))
    }

    /// The rows of a block.
    pub fn rows_of(&self, block: usize) -> std::ops::Range<usize> {
        let first = block * self.block_rows;
        first..(first + self.block_rows).min(self.linear.rows)
    }

    /// The coefficient of the secret that slot `i` of plaintext `term` meets.
    fn column(&self, slot: usize, term: usize) -> usize {
        let places = self.slots / 2;
        (slot + term + slot / places * self.block_rows / 2) % places
    }

    /// The slots of the encrypted secret modulo t.
    pub fn secret(&self, secret: &[u32], t: &Modulus<u64>) -> Zeroizing<Vec<u64>> {
        let coefficient = |slot| secret.get(self.column(slot, 0)).map_or(0, |s| t.from_signed((*s as i32).into()));
        Zeroizing::new((0..self.slots).map(coefficient).collect())
    }

    /// The slots of a block's answer: the sums of its plaintexts' slots, each times the coefficient of the secret that it meets. `rows`: those
    /// of the hint, as long as the secret.
    pub fn products(&self, rows: &[u32], secret: &[u32], t: &Modulus<u64>) -> Vec<u64> {
        let places = self.slots / 2;
        let mut slots = vec![0; self.slots];
        // Sums of a row's products before each column: a slot has those of M columns in a circle.
        let mut before = vec![0i64; places + 1];
        for (r, row) in rows.chunks_exact(secret.len()).enumerate() {
            for c in 0..places {
                let product = row.get(c).map_or(0, |h| i64::from(*h as i32) * i64::from(secret[c] as i32));
                before[c + 1] = before[c] + product;
            }
            for slot in (r..self.slots).step_by(self.block_rows) {
                let (first, end) = (self.column(slot, 0), self.column(slot, 0) + self.terms());
                let turned = if end > places {
                    before[places] - before[first] + before[end - places]
                } else {
                    before[end] - before[first]
                };
                slots[slot] = t.from_signed(turned);
            }
        }
        slots
    }

    /// The sums of slots that are <H[r], s>, for every row r of a block.
    pub fn sums(&self, slots: &[u64], t: &Modulus<u64>) -> Vec<u64> {
        let mut sums = vec![0; self.block_rows];
        for slots in slots.chunks_exact(self.block_rows) {
            sums.iter_mut().zip(slots).for_each(|(sum, slot)| *sum = t.add(*sum, *slot));
        }
        sums
    }
}

/// A block of the hint modulo t, ready to be cut into plaintexts: entry (r, c) lies in line c - r modulo N/2, of which a plaintext takes
/// whole runs.
pub struct Skewed {
    layout: Layout,
    entries: Vec<u32>,
}

impl Skewed {
    /// The rows of a block, n words each, as centred numbers modulo t.
    pub fn new(layout: Layout, rows: &[u32], dimension: usize, t: &Modulus<u64>) -> Self {
        let (places, height) = (layout.slots / 2, layout.block_rows);
        let mut entries = vec![0; places * height];
        for (r, row) in rows.chunks_exact(dimension).enumerate() {
            for (c, word) in row.iter().enumerate() {
                let line = (c + layout.slots - r) % places;
                entries[line * height + r] = t.from_signed((*word as i32).into()) as u32;
            }
        }
        Self { layout, entries }
    }

    /// Bytes for that layout.
    pub fn bytes(layout: &Layout) -> u64 {
        (layout.slots / 2 * layout.block_rows * size_of::<u32>()) as u64
    }

    /// The slots of plaintext `term`, turned back by its giant step.
    pub fn slots(&self, term: usize) -> Vec<u64> {
        let Layout { block_rows, slots, babies, .. } = self.layout;
        let run = block_rows.min(slots / 2);
        let mut out = Vec::with_capacity(slots);
        for first in (0..slots).step_by(run) {
            let row = first % block_rows;
            let line = (self.layout.column(first, term) + slots - row) % (slots / 2);
            out.extend(self.entries[line * block_rows + row..][..run].iter().map(|x| u64::from(*x)));
        }
        out.chunks_exact_mut(slots / 2).for_each(|row| row.rotate_right(term - term % babies));
        out
    }
}
