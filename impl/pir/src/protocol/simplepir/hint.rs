//! The hint of server and client: the message, and the rows that updates have changed since.

use std::collections::BTreeMap;

use lattice::lwe::PublicMatrix;

use crate::core::Frame;
use crate::core::seed::SEED_BYTES;
use crate::parts::lwe_matrix::{EntryChange, Layout};

/// H = D' A, row-major words. Changed rows are kept separately: the message's bytes are shared, never copied.
pub(super) struct Hint {
    message: Frame,
    dimension: usize,
    changed: BTreeMap<usize, Vec<u32>>,
}

impl Hint {
    pub fn new(message: Frame, dimension: usize) -> Self {
        Self { message, dimension, changed: BTreeMap::new() }
    }

    /// The message, without the changes.
    pub fn message(&self) -> &Frame {
        &self.message
    }

    pub fn changed(&self) -> &BTreeMap<usize, Vec<u32>> {
        &self.changed
    }

    fn original(&self, row: usize) -> &[u32] {
        self.message.wire_words(SEED_BYTES + 4 * row * self.dimension, self.dimension)
    }

    /// <H[row], key>.
    pub fn inner_product(&self, row: usize, key: &[u32]) -> u32 {
        match self.changed.get(&row) {
            Some(row) => inner_product(row.iter().copied(), key),
            None => inner_product(self.original(row).iter().map(|&word| u32::from_le(word)), key),
        }
    }

    /// Updates the rows of a changed record: adds delta * A[column] for each entry's change delta.
    pub fn apply(&mut self, change: &EntryChange, layout: &Layout, public: &PublicMatrix) {
        let (first_row, column, _) = layout.place(change.index);
        let mask = public.row(column);
        for (i, &delta) in change.deltas.iter().enumerate().filter(|(_, delta)| **delta != 0) {
            let (row, delta) = (first_row + i, i32::from(delta) as u32);
            let original = self.message.wire_words(SEED_BYTES + 4 * row * self.dimension, self.dimension);
            let words =
                self.changed.entry(row).or_insert_with(|| original.iter().map(|&word| u32::from_le(word)).collect());
            words.iter_mut().zip(&mask).for_each(|(h, &a)| *h = h.wrapping_add(delta.wrapping_mul(a)));
        }
    }
}

fn inner_product(row: impl Iterator<Item = u32>, key: &[u32]) -> u32 {
    row.zip(key).fold(0u32, |sum, (h, &s)| sum.wrapping_add(h.wrapping_mul(s)))
}
