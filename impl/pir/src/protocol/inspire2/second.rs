//! The second layer: the digits of the first layer's packed masks as a database, and its packing tables.

use std::collections::BTreeSet;

use lattice::pack::PackingTable;
use ring::{ColumnMatrix, Ntt, Poly};

use super::first::First;
use super::public::Public;
use super::set::Set;
use crate::core::Result;
use crate::core::tables::Tables;
use crate::core::threads::side_by_side;
use crate::parts::digits::{Digits, centred_digits};
use crate::parts::ring_matrix::{add_to_masks, column_masks, is_incremental, packing_table};

/// The mask digits and their tables.
pub(super) struct Second {
    /// t rows; digit j of copy x is column x mask_digits + j.
    pub matrix: ColumnMatrix,
    /// a_k of its query.
    pub query_masks: Vec<Poly<u32, Ntt>>,
    /// For each copy the ring masks of its columns, which updates change.
    hints: Vec<Vec<Poly<u32, Ntt>>>,
    /// The packing tables: for each copy, one for every gamma_1 digits.
    pub tables: Tables<Vec<PackingTable>>,
}

/// The digits of the first layer's ciphertexts.
pub(super) fn digits_of(params: &Set) -> Digits {
    Digits { value_bits: params.value_bits(), digit_bits: params.entry_bits }
}

/// The digits of one mask of the first layer.
pub(super) fn mask_digits(public: &Public, first: &First, group: usize) -> Result<Vec<i16>> {
    let Public { params, layout, .. } = public;
    let values = public.ring.switch_to(first.mask(group)?, params.switched_modulus.into());
    let mut digits = vec![0; layout.mask_digits];
    centred_digits(digits_of(params), values.into_iter().map(|value| value as u32), &mut digits);
    Ok(digits)
}

impl Second {
    /// The digits of every mask of the first layer, and their tables.
    pub fn build(public: &Public, first: &First, threads: usize) -> Result<Self> {
        let layout = &public.layout;
        let columns = layout.copies * layout.mask_digits;
        let matrix = ColumnMatrix::new(layout.cell_columns, columns, layout.ring_degree)?;
        let mut second =
            Self { matrix, query_masks: public.second.masks(), hints: Vec::new(), tables: Tables::default() };
        let mut tables = Vec::with_capacity(layout.copies);
        for group in 0..layout.groups() {
            second.set_mask(public, first, group)?;
        }
        for copy in 0..layout.copies {
            let hints = second.masks_of(public, copy, threads)?;
            tables.push(fresh_tables(public, &hints, threads)?);
            second.hints.push(hints);
        }
        second.tables = tables.into();
        Ok(second)
    }

    /// Bytes of the digits, of the query's masks, of the hints and of the packing tables.
    pub fn held(&self) -> [usize; 4] {
        let hints = self.hints.iter().flatten().map(Poly::bytes);
        let tables = self.tables.kept().flatten().map(PackingTable::held_bytes);
        let digits = self.matrix.stored_bytes() as usize;
        [digits, self.query_masks.iter().map(Poly::bytes).sum(), hints.sum(), tables.sum()]
    }

    /// Writes the digits of one mask of the first layer; returns their changes.
    fn set_mask(&mut self, public: &Public, first: &First, group: usize) -> Result<Vec<i32>> {
        let layout = &public.layout;
        let digits = mask_digits(public, first, group)?;
        let (row, copy) = (group / layout.copies, group % layout.copies);
        let mut added = Vec::with_capacity(digits.len());
        for (column, digit) in (copy * layout.mask_digits..).zip(digits) {
            added.push(i32::from(digit) - self.matrix.get(row, column));
            self.matrix.set(row, column, digit.into())?;
        }
        Ok(added)
    }

    /// Drops the tables of some copies, whose digits are about to change.
    pub fn invalidate(&mut self, copies: impl IntoIterator<Item = usize>) {
        self.tables.invalidate(copies);
    }

    /// Applies new masks of some groups of the first layer: writes digits, adds their differences to hints, makes missing tables.
    pub fn update(
        &mut self,
        public: &Public,
        (first, groups): (&First, &BTreeSet<usize>),
        threads: usize,
    ) -> Result<()> {
        let layout = &public.layout;
        for copy in 0..layout.copies {
            let rows: Vec<usize> = groups.iter().copied().filter(|group| group % layout.copies == copy).collect();
            let incremental = is_incremental(rows.len(), 1, self.matrix.blocks());
            for &group in &rows {
                let added = self.set_mask(public, first, group)?;
                if incremental {
                    let row = group / layout.copies;
                    add_to_masks(&public.ring, &public.second, row, self.hints[copy].iter_mut().zip(added));
                }
            }
            if !incremental {
                // Frees the old masks before the new ones are made.
                self.hints[copy].clear();
                self.hints[copy] = self.masks_of(public, copy, threads)?;
            }
        }
        self.tables.renew(|copy| fresh_tables(public, &self.hints[copy], threads))
    }

    /// The ring masks of one copy's columns, from the digits.
    fn masks_of(&self, public: &Public, copy: usize, threads: usize) -> Result<Vec<Poly<u32, Ntt>>> {
        let layout = &public.layout;
        let columns = (copy * layout.mask_digits, layout.mask_digits);
        column_masks(&self.matrix, &public.ring, &self.query_masks, columns, threads)
    }
}

/// The tables of one copy.
fn fresh_tables(public: &Public, hints: &[Poly<u32, Ntt>], threads: usize) -> Result<Vec<PackingTable>> {
    let (packing, masks) = public.packing(1);
    let hints: Vec<_> = hints.chunks(packing.gamma()).collect();
    side_by_side(0..hints.len(), threads, |i| packing_table(packing, masks, hints[i]))
}
