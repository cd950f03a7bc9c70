//! The first layer: cells of records, the hints of their columns, and a packing table for each column of cells.

use std::collections::BTreeSet;

use lattice::pack::PackingTable;
use ring::{Coefficient, ColumnMatrix, Ntt, Poly};

use super::describe::packing;
use super::public::{Keys, Public};
use crate::core::tables::{Tables, make_tables};
use crate::core::threads::side_by_side;
use crate::core::{Change, Context, Database, Result};
use crate::parts::ring_matrix::{body_poly, column_masks, packing_table, update_masks};

/// The database and its packing tables.
pub(super) struct First {
    pub matrix: ColumnMatrix,
    /// a_k of its query.
    query_masks: Vec<Poly<u32, Ntt>>,
    /// For each column of cells and copy the ring masks of its gamma_0 columns, which updates change.
    hints: Vec<Vec<Poly<u32, Ntt>>>,
    /// The packing tables, one for each column of cells and copy.
    tables: Tables<PackingTable>,
    /// The packed masks, if the tables are not kept.
    masks: Vec<Poly<u32, Coefficient>>,
}

impl First {
    /// Encodes the database.
    pub fn encode(public: &Public, database: &Database, context: &Context) -> Result<Self> {
        let Public { params, layout, .. } = public;
        let mut matrix = ColumnMatrix::new(layout.rows, layout.columns(), layout.ring_degree)?;
        layout.cells().encode(&mut matrix, database, context)?;
        let tables = if context.streamed {
            Tables::streamed(packing(params, layout.gamma).table_bytes())
        } else {
            Tables::default()
        };
        Ok(Self { matrix, query_masks: public.first.masks(), hints: Vec::new(), tables, masks: Vec::new() })
    }

    /// Bytes of the query's masks, of the hints, and of the packing tables with the packed masks that are kept without them.
    pub fn held(&self) -> [usize; 3] {
        let tables = self.tables.kept().map(PackingTable::held_bytes).chain(self.masks.iter().map(Poly::bytes));
        let hints = self.hints.iter().flatten().map(Poly::bytes);
        [self.query_masks.iter().map(Poly::bytes).sum(), hints.sum(), tables.sum()]
    }

    /// The packed mask of a column of cells and copy.
    pub fn mask(&self, group: usize) -> Result<&Poly<u32, Coefficient>> {
        self.masks.get(group).map_or_else(|| Ok(self.tables.get(group)?.mask()), Ok)
    }

    /// Computes the ring masks that the tables of all columns of cells are made of.
    pub fn make_hints(&mut self, public: &Public, context: &Context) -> Result<()> {
        let layout = &public.layout;
        context.progress.begin("hint", layout.groups() as u64);
        self.hints = side_by_side(0..layout.groups(), context.threads, |group| {
            let hints = masks_of(public, &self.matrix, &self.query_masks, group);
            context.progress.advance(1);
            hints
        })?;
        context.progress.end();
        Ok(())
    }

    /// Makes the table of every column of cells (phase `packing_tables`); if tables are not kept, only its mask stays.
    pub fn make_tables(&mut self, public: &Public, context: &Context) -> Result<()> {
        let fresh = |group: usize| fresh_table(public, &self.hints[group]);
        if context.streamed {
            self.masks = make_tables(public.layout.groups(), context, |group| Ok(fresh(group)?.mask().clone()))?;
        } else {
            self.tables = make_tables(public.layout.groups(), context, fresh)?.into();
        }
        Ok(())
    }

    /// Makes the tables again of columns of cells that changed.
    pub fn renew_tables(&mut self, public: &Public) -> Result<()> {
        self.tables.renew(|group| fresh_table(public, &self.hints[group]))
    }

    /// The bodies of the packed ciphertexts of every query, switched to q1: for each query, group after group, gamma_0 numbers.
    /// Each table is read once.
    pub fn packed_bodies(
        &self,
        public: &Public,
        keys: &[Keys],
        products: &[Vec<u32>],
        context: &Context,
    ) -> Result<Vec<Vec<u32>>> {
        let layout = &public.layout;
        let mut all: Vec<Vec<u32>> = keys.iter().map(|_| Vec::with_capacity(layout.columns())).collect();
        let mut pack = |group: usize, table: &PackingTable| -> Result<()> {
            let bodies = bodies_of(public, table, keys.iter().zip(products.iter().map(Vec::as_slice)), group)?;
            all.iter_mut().zip(bodies).for_each(|(all, body)| all.extend(body));
            Ok(())
        };
        let fresh = |group: usize| fresh_table(public, &self.hints[group]);
        self.tables.blocks(0..layout.groups(), context, fresh, |block, table| {
            block.into_iter().try_for_each(|group| pack(group, table(group)?))
        })?;
        Ok(all)
    }

    /// The numbers of one group in [`Self::packed_bodies`], from a query's keys and products.
    pub fn packed_body(&self, public: &Public, query: (&Keys, &[u32]), group: usize) -> Result<Vec<u32>> {
        let fresh;
        let table = if self.masks.is_empty() {
            self.tables.get(group)?
        } else {
            fresh = fresh_table(public, &self.hints[group])?;
            &fresh
        };
        Ok(bodies_of(public, table, std::iter::once(query), group)?.concat())
    }

    /// Writes changed records into their cells and adds their differences to hints; drops the tables of their groups, and returns these
    /// groups.
    pub fn change(&mut self, public: &Public, changes: &[Change]) -> Result<BTreeSet<usize>> {
        let layout = &public.layout;
        let touched: BTreeSet<usize> = changes.iter().flat_map(|(index, _)| layout.groups_of(*index)).collect();
        self.tables.invalidate(touched.iter().copied());
        let replaced = changes.iter().map(|change| layout.cells().replace(&mut self.matrix, change));
        let differences = replaced.collect::<Result<Vec<_>>>()?;
        let Self { matrix, query_masks, hints, .. } = self;
        let again = |group| masks_of(public, matrix, query_masks, group);
        update_masks(hints, (&public.ring, &public.first), &differences, &touched, again)?;
        Ok(touched)
    }
}

/// For each query, from its keys and products, the body of the ciphertext that a group's table packs, switched to q1: gamma_0 numbers.
fn bodies_of<'a>(
    public: &Public,
    table: &PackingTable,
    queries: impl Iterator<Item = (&'a Keys, &'a [u32])>,
    group: usize,
) -> Result<Vec<Vec<u32>>> {
    let (ring, gamma) = (&*public.ring, public.layout.gamma);
    let body = |(keys, products): (&'a Keys, _)| (keys.of(0), body_poly(ring, products, group * gamma, gamma));
    let bodies: Vec<_> = queries.map(body).collect();
    let batch: Vec<_> = bodies.iter().map(|(keys, body)| (*keys, body)).collect();
    let switched = |packed: &Poly<u32, Coefficient>| {
        let residues: Vec<u32> = packed.limbs().flat_map(|limb| &limb[..gamma]).copied().collect();
        let mut switched = vec![0u64; gamma];
        ring.rns().switch_modulus(&residues, public.params.switched_modulus.into(), &mut switched);
        switched.into_iter().map(|value| value as u32).collect()
    };
    Ok(table.pack_bodies(&batch)?.iter().map(switched).collect())
}

/// The ring masks of one column of cells and copy, from the database.
fn masks_of(
    public: &Public,
    matrix: &ColumnMatrix,
    query: &[Poly<u32, Ntt>],
    group: usize,
) -> Result<Vec<Poly<u32, Ntt>>> {
    let gamma = public.layout.gamma;
    column_masks(matrix, &public.ring, query, (group * gamma, gamma), 1)
}

fn fresh_table(public: &Public, hints: &[Poly<u32, Ntt>]) -> Result<PackingTable> {
    let (packing, masks) = public.packing(0);
    packing_table(packing, masks, hints)
}
