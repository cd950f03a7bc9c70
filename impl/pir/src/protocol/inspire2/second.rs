//! The second layer: the digits of the first layer's packed masks as a database, and its packing tables.

use lattice::pack::PackingTable;
use ring::{ColumnMatrix, Ntt, Poly};

use super::first::First;
use super::layout::Layout;
use super::params::Params;
use super::public::Public;
use crate::digits::{Digits, centred_digits};
use crate::error::Result;
use crate::hintless::Tables;
use crate::rlwe::{internal, inverted, products, workspace};

/// The mask digits and their tables.
pub(super) struct Second {
    /// t rows; digit j of copy x is column x mask_digits + j.
    matrix: ColumnMatrix,
    /// a_k(1/X).
    factors: Vec<Poly<u32, Ntt>>,
    /// For each copy, one for every gamma_1 digits.
    tables: Tables<Vec<PackingTable>>,
}

/// The digits of the first layer's ciphertexts.
pub(super) fn digits_of(params: &Params) -> Digits {
    Digits { value_bits: params.value_bits(), digit_bits: params.entry_bits }
}

/// The digits of one mask of the first layer.
pub(super) fn mask_digits(
    params: &Params,
    layout: &Layout,
    public: &Public,
    first: &First,
    group: usize,
) -> Result<Vec<i16>> {
    let values = public.ring.switch_to(first.table(group)?.mask(), params.switched_modulus.into());
    let mut digits = vec![0; layout.mask_digits];
    centred_digits(digits_of(params), values.into_iter().map(|value| value as u32), &mut digits);
    Ok(digits)
}

impl Second {
    /// The digits of every mask of the first layer, and their tables.
    pub fn build(params: &Params, layout: &Layout, public: &Public, first: &First, threads: usize) -> Result<Self> {
        let columns = layout.copies * layout.mask_digits;
        let matrix = ColumnMatrix::new(layout.degree, columns, layout.ring_degree).map_err(internal)?;
        let mut second = Self { matrix, factors: public.second.factors()?, tables: Tables::default() };
        for group in 0..layout.groups() {
            second.set_mask(params, layout, public, first, group)?;
        }
        for copy in 0..layout.copies {
            let tables = second.fresh_tables(layout, public, copy, threads)?;
            second.tables.push(tables);
        }
        Ok(second)
    }

    pub fn matrix(&self) -> &ColumnMatrix {
        &self.matrix
    }

    pub fn factors(&self) -> &[Poly<u32, Ntt>] {
        &self.factors
    }

    pub fn tables(&self) -> Result<Vec<&Vec<PackingTable>>> {
        self.tables.all()
    }

    /// Writes the digits of one mask of the first layer.
    pub fn set_mask(
        &mut self,
        params: &Params,
        layout: &Layout,
        public: &Public,
        first: &First,
        group: usize,
    ) -> Result<()> {
        let digits = mask_digits(params, layout, public, first, group)?;
        let (row, copy) = (group / layout.copies, group % layout.copies);
        for (j, digit) in digits.into_iter().enumerate() {
            self.matrix.set(row, copy * layout.mask_digits + j, digit.into()).map_err(internal)?;
        }
        Ok(())
    }

    /// Drops the tables of some copies, whose digits are about to change.
    pub fn invalidate(&mut self, copies: impl IntoIterator<Item = usize>) {
        self.tables.invalidate(copies);
    }

    /// Makes the tables again that are missing.
    pub fn remake_tables(&mut self, layout: &Layout, public: &Public, threads: usize) -> Result<()> {
        for copy in self.tables.invalidate([]) {
            let tables = self.fresh_tables(layout, public, copy, threads)?;
            self.tables.set(copy, tables);
        }
        Ok(())
    }

    fn fresh_tables(&self, layout: &Layout, public: &Public, copy: usize, threads: usize) -> Result<Vec<PackingTable>> {
        let columns = (copy * layout.mask_digits, layout.mask_digits);
        let hints = products(&self.matrix, &public.ring, &self.factors, columns, threads)?;
        let (packing, masks) = public.packing(1);
        hints
            .chunks(packing.gamma())
            .map(|hints| packing.preprocess(masks, &inverted(&public.ring, hints)?, &mut workspace()).map_err(internal))
            .collect()
    }
}
