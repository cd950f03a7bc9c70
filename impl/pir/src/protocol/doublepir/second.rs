//! The second layer's tables: H1, the digits of the first layer's hint, and the hint H2 = H1 A2 itself.

use lattice::lwe::PublicMatrix;
use ring::matrix::dense;
use ring::{Kernel, PackedMatrix};

use super::set::{Layers, NAME, SEED_BYTES};
use crate::core::{Frame, FrameBuilder, Result};

/// Hint words turned into digits together: one cache line of a row of H.
const WORDS: usize = 16;

/// H1: row (x n + i) digits + t holds, for every group g, digit t of word i of row g X + x of the first layer's hint,
/// stored as digit + floor(p/2).
pub(super) fn digit_matrix(layers: &Layers, hint: &[u32]) -> Result<PackedMatrix> {
    let Layers { dimension, copies, groups, gadget, .. } = *layers;
    let (length, bound) = (gadget.length(), gadget.bound() as i16);
    let mut matrix = PackedMatrix::new(layers.second_rows(), groups, layers.second_width())?;
    let mut digits = vec![0i16; length];
    let mut tile = vec![0u16; WORDS * length * groups];
    for copy in 0..copies {
        for first in (0..dimension).step_by(WORDS) {
            let count = WORDS.min(dimension - first);
            for group in 0..groups {
                let row = (group * copies + copy) * dimension + first;
                for (i, &word) in hint[row..row + count].iter().enumerate() {
                    gadget.decompose(word, &mut digits);
                    for (t, &digit) in digits.iter().enumerate() {
                        tile[(i * length + t) * groups + group] = (digit + bound) as u16;
                    }
                }
            }
            let base = (copy * dimension + first) * length;
            for (i, row) in tile.chunks_exact(groups).take(count * length).enumerate() {
                matrix.set_row(base + i, row)?;
            }
        }
    }
    Ok(matrix)
}

/// Digits of a first-layer answer (rows words): row x digits + t, column g holds digit t of word g X + x.
pub(super) fn answer_digits(layers: &Layers, answer: &[u32]) -> Vec<i16> {
    let Layers { copies, groups, gadget, .. } = *layers;
    let length = gadget.length();
    let mut out = vec![0i16; layers.digit_rows() * groups];
    let mut digits = vec![0i16; length];
    for (row, &word) in answer.iter().enumerate() {
        let (group, copy) = (row / copies, row % copies);
        gadget.decompose(word, &mut digits);
        for (t, &digit) in digits.iter().enumerate() {
            out[(copy * length + t) * groups + group] = digit;
        }
    }
    out
}

/// The change that an update of one entry makes to the digits of one row of the first layer's hint.
pub(super) struct RowChange {
    /// Its copy of the second layer.
    pub copy: usize,
    /// Its group.
    pub group: usize,
    /// New minus old digit, for each word and digit: n digits entries.
    pub digits: Vec<i16>,
}

/// A hint message that is being updated: record by record, the changes of rows of H1 are added.
pub(super) struct HintUpdate<'a> {
    layers: &'a Layers,
    public: &'a PublicMatrix,
    kernel: Kernel,
    builder: FrameBuilder,
    /// Words of the new message.
    epoch: u16,
}

impl<'a> HintUpdate<'a> {
    /// Starts from `hint`, in place if no one else holds it.
    pub fn new(layers: &'a Layers, public: &'a PublicMatrix, kernel: Kernel, hint: Frame) -> Self {
        let epoch = hint.epoch().wrapping_add(1);
        let mut builder = FrameBuilder::reopen(hint);
        // From wire to native order, which is the same swap as back.
        builder.words_to_wire(SEED_BYTES, layers.second_rows() * layers.dimension);
        Self { layers, public, kernel, builder, epoch }
    }

    /// Adds digits[r] * A2[group] to row r of the copy, for every change.
    pub fn add(&mut self, changes: &[RowChange]) -> Result<()> {
        let n = self.layers.dimension;
        let per_copy = self.layers.second_rows() / self.layers.copies;
        let words = self.builder.words_mut(SEED_BYTES, self.layers.copies * per_copy * n);
        for (copy, words) in words.chunks_exact_mut(per_copy * n).enumerate() {
            let changes: Vec<_> = changes.iter().filter(|change| change.copy == copy).collect();
            if changes.is_empty() {
                continue;
            }
            // Allocates exactly: vectors that grow take up to twice the memory.
            let mut masks = vec![0u32; changes.len() * n];
            for (change, mask) in changes.iter().zip(masks.chunks_exact_mut(n)) {
                self.public.fill_rows(change.group, mask);
            }
            let mut digits: Vec<i16> = Vec::with_capacity(per_copy * changes.len());
            (0..per_copy).for_each(|row| digits.extend(changes.iter().map(|change| change.digits[row])));
            dense::digits_accumulate(self.kernel, &digits, changes.len(), &masks, n, words)?;
        }
        Ok(())
    }

    /// The new message.
    pub fn finish(mut self) -> Frame {
        self.builder.words_to_wire(SEED_BYTES, self.layers.second_rows() * self.layers.dimension);
        self.builder.finish(NAME, "hint").at_epoch(self.epoch)
    }
}
