//! The second layer: the first hint's digits as a database, its own hints, and the packing tables made of them.

use lattice::pack::PackingTable;
use ring::matrix::column::LINE;
use ring::matrix::packed::GROUP_ROWS;
use ring::{ColumnMatrix, Ntt, Poly};

use super::public::Public;
use super::set::Set;
use crate::core::tables::Tables;
use crate::core::{Context, Group, Result, TableBytes};
use crate::parts::digits::centred_digits;
use crate::parts::lwe_matrix::{LinearDatabase, NegacyclicHint};
use crate::parts::ring_matrix::{column_masks, digit_columns, fill_rows, packing_table};

/// Writes the digits of `words`, switched to q1, to `out`.
pub(super) fn switched_digits(params: &Set, words: impl Iterator<Item = u32>, out: &mut [i16]) {
    centred_digits(params.digits(), words.map(|word| params.switch_value(word)), out);
}

/// A database of digits and the tables derived from it.
pub(super) struct Second {
    /// G rows, d columns a copy: digit j of copy x is column x d + j.
    pub matrix: ColumnMatrix,
    /// a_k of its query.
    pub query_masks: Vec<Poly<u32, Ntt>>,
    /// For each copy, for each digit, its column's ring mask.
    hints: Vec<Vec<Poly<u32, Ntt>>>,
    pub tables: Tables<PackingTable>,
}

impl Second {
    /// Computes the first hint, its digits, their hints and the packing tables (phases `hint` and `packing_tables`).
    pub fn build(
        public: &Public,
        (first, hint): (&LinearDatabase, &NegacyclicHint),
        context: &mut Context,
    ) -> Result<Self> {
        let layers = &public.layers;
        let clock = &context.clock;
        let query_masks = public.second.masks();
        let (matrix, hints): (_, Vec<_>) = clock.time("hint", Group::Offline, || -> Result<_> {
            let mut matrix = ColumnMatrix::new(layers.groups, layers.outputs(), layers.degree)?;
            fill(public, (first, hint), &mut matrix, context)?;
            let hints = (0..layers.copies)
                .map(|copy| {
                    let first_col = copy * layers.degree;
                    column_masks(&matrix, &public.ring, &query_masks, (first_col, layers.hint_digits), context.threads)
                })
                .collect::<Result<_>>()?;
            Ok((matrix, hints))
        })?;
        let tables: Vec<_> = clock.time("packing_tables", Group::Offline, || {
            let table = |hint: &Vec<_>| packing_table(&public.packing, &public.masks, hint);
            hints.iter().map(table).collect::<Result<_>>()
        })?;
        Ok(Self { matrix, query_masks, hints, tables: tables.into() })
    }

    /// See [`crate::core::protocol::Server::tables`].
    pub fn held(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("hint digits", self.matrix.stored_bytes()),
            TableBytes::of("second layer's masks", self.query_masks.iter().map(Poly::bytes)),
            TableBytes::of("second layer's hints", self.hints.iter().flatten().map(Poly::bytes)),
            TableBytes::of("packing tables", self.tables.kept().map(PackingTable::held_bytes)),
        ]
    }

    /// Applies new hints of some rows of the first layer: their digits replace the old ones, the differences times the masks of their blocks
    /// are added to the second layer's hints, and the tables of their copies are rebuilt.
    pub fn update(&mut self, public: &Public, rows: &[(usize, Vec<u32>)], threads: usize) -> Result<()> {
        let layers = &public.layers;
        let mut changed: Vec<(usize, usize, &[u32])> = Vec::new();
        for (row, words) in rows {
            let (group, copy) = layers.locate(*row);
            changed.push((copy, group, words));
        }
        changed.sort_unstable_by_key(|(copy, group, _)| (*copy, *group));
        self.tables.invalidate(changed.iter().map(|change| change.0));
        for changed in changed.chunk_by(|a, b| a.0 == b.0) {
            self.update_copy(public, changed, threads)?;
        }
        self.tables.renew(|copy| packing_table(&public.packing, &public.masks, &self.hints[copy]))
    }

    /// The changes of one copy, by group.
    fn update_copy(&mut self, public: &Public, changed: &[(usize, usize, &[u32])], threads: usize) -> Result<()> {
        let Public { params, layers, .. } = public;
        let (degree, digits) = (layers.degree, layers.hint_digits);
        let copy = changed.first().map_or(0, |change| change.0);
        let first_col = copy * degree;
        let mut blocks: Vec<usize> = changed.iter().map(|change| change.1 / degree).collect();
        blocks.dedup();
        let all = 2 * blocks.len() >= self.query_masks.len();
        // Differences of digits in the touched blocks, unless all hints are computed again. Centred digits are at most 2^14 in magnitude: 16 bits
        // hold their differences.
        let kept = if all { LINE } else { blocks.len() * degree };
        let mut difference = ColumnMatrix::new(kept, digits, degree)?;
        let mut fresh = vec![0i16; digits];
        for (_, group, words) in changed {
            switched_digits(params, words.iter().copied(), &mut fresh);
            let block = blocks.partition_point(|block| *block < group / degree);
            for (j, &digit) in fresh.iter().enumerate() {
                let (digit, old) = (i32::from(digit), self.matrix.get(*group, first_col + j));
                if !all {
                    difference.set(block * degree + group % degree, j, digit - old)?;
                }
                self.matrix.set(*group, first_col + j, digit)?;
            }
        }
        if all {
            // Frees the old masks before the new ones are made.
            self.hints[copy].clear();
            self.hints[copy] =
                column_masks(&self.matrix, &public.ring, &self.query_masks, (first_col, digits), threads)?;
        } else {
            let query: Vec<_> = blocks.iter().map(|&block| self.query_masks[block].clone()).collect();
            let sums = column_masks(&difference, &public.ring, &query, (0, digits), threads)?;
            for (hint, sum) in self.hints[copy].iter_mut().zip(&sums) {
                public.ring.add_assign(hint, sum);
            }
        }
        Ok(())
    }
}

/// Computes the first hint and writes its digits.
fn fill(
    public: &Public,
    (first, hint): (&LinearDatabase, &NegacyclicHint),
    matrix: &mut ColumnMatrix,
    context: &Context,
) -> Result<()> {
    let Public { params, layers, .. } = public;
    let (outputs, degree, digits) = (layers.outputs(), layers.degree, layers.hint_digits);
    // 32 groups of ne rows are whole groups of eight rows; the last ones end with the matrix.
    fill_rows(matrix, ("hint", layers.groups), context, |start, groups| {
        let mut entries = vec![0i16; groups * outputs];
        let first_row = start * layers.copies;
        let range = first_row / GROUP_ROWS..(first_row + groups * layers.copies).div_ceil(GROUP_ROWS);
        hint.for_groups(first.matrix(), layers.first.code.offset(), range, |row, words| {
            for (i, words) in words.chunks_exact(params.lwe.dimension).enumerate() {
                let (group, copy) = layers.locate(row + i - first_row);
                let out = &mut entries[group * outputs + copy * degree..][..digits];
                switched_digits(params, words.iter().copied(), out);
            }
            Ok(())
        })?;
        Ok(entries)
    })
}

/// The query-dependent digits: G rows; digit j of copy x's answer is column x answer_digits + j.
pub(super) fn answer_digits(public: &Public, words: &[u32]) -> Result<ColumnMatrix> {
    let Public { params, layers, .. } = public;
    digit_columns(words, (layers.copies, 1, layers.answer_digits), layers.degree, |word, out| {
        switched_digits(params, word.iter().copied(), out);
    })
}
