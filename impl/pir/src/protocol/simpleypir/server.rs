//! SimpleYPIR's server.

use std::collections::BTreeSet;
use std::sync::Arc;

use lattice::pack::{Method, Packing, PackingKeys, PackingMasks, PackingTable};
use ring::{ColumnMatrix, Kernel, Ntt, Poly, ResidueVector, Ring, Seed};

use super::Set;
use super::layout::Layout;
use super::set::NAME;
use crate::core::seed::{self, fresh_seed};
use crate::core::tables::{Tables, make_tables};
use crate::core::{
    Change, Context, Database, Group, Messages, Request, Result, TableBytes, answers, for_each_query, protocol,
};
use crate::parts::ring_matrix::{
    RingQueries, bodies, column_masks, pack_all, packing_table, read_coefficients, read_keys, update_masks,
};

/// The values that server and clients derive from the public seed.
pub struct Public {
    pub ring: Arc<Ring<u32>>,
    pub queries: RingQueries,
    pub packing: Packing,
    pub masks: PackingMasks,
}

impl Public {
    /// Each use has its own seed, derived from the public one: under one secret no mask is used twice.
    pub fn new(params: &Set, layout: &Layout, seed: Seed, kernel: Kernel) -> Result<Self> {
        let ring = params.rlwe.ring(kernel)?;
        let packing = Packing::new(Method::Cdks, &params.packing.of(&ring)?, ring.n())?;
        Ok(Self {
            queries: RingQueries::new(&ring, seed.derive("query"), layout.rows),
            masks: packing.masks(seed.derive("packing")),
            packing,
            ring,
        })
    }
}

/// The database, its hint, its packing tables and the public seed.
pub struct Server {
    params: Set,
    layout: Layout,
    public: Public,
    seed: Seed,
    pub(super) matrix: ColumnMatrix,
    /// a_k of the query.
    query_masks: Vec<Poly<u32, Ntt>>,
    /// For each element of an item the ring masks of its d columns, which updates change.
    hint: Vec<Vec<Poly<u32, Ntt>>>,
    tables: Tables<PackingTable>,
}

impl Server {
    fn parse(&self, requests: &[Request]) -> Result<(Vec<ResidueVector>, Vec<PackingKeys>)> {
        let (packing, bytes) = (&self.public.packing, self.params.query_coefficient_bytes * self.layout.rows);
        let (mut queries, mut all_keys) = (Vec::new(), Vec::new());
        for_each_query(NAME, requests, &[("keys", packing.key_bytes()), ("query", bytes)], |parts| {
            queries.push(read_coefficients(&self.public.ring, self.params.query_coefficient_bytes, parts[1])?);
            all_keys.push(read_keys(packing, parts[0])?);
            Ok(())
        })?;
        Ok((queries, all_keys))
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Encodes the database and makes the packing tables of its hints (phases `encode`, `hint`, `packing_tables`).
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let layout = Layout::choose(params, database.shape())?;
        let seed = fresh_seed(&mut context.rng);
        let public = Public::new(params, &layout, seed, context.kernel)?;
        let clock = &context.clock;
        let matrix = clock.time("encode", Group::Offline, || {
            let mut matrix = ColumnMatrix::new(layout.rows, layout.columns(), layout.degree)?;
            layout.cells().encode(&mut matrix, database, context).map(|()| matrix)
        })?;
        let query_masks = public.queries.masks();
        let hint: Vec<_> = clock.time("hint", Group::Offline, || {
            let masks = |columns| column_masks(&matrix, &public.ring, &query_masks, columns, context.threads);
            (0..layout.elements).map(|element| masks(layout.element(element))).collect::<Result<_>>()
        })?;
        let table = |element: usize| packing_table(&public.packing, &public.masks, &hint[element]);
        let tables = make_tables(layout.elements, context, table)?.into();
        Ok(Self { params: params.clone(), layout, public, seed, matrix, query_masks, hint, tables })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.matrix.stored_bytes()),
            TableBytes::of("masks", self.query_masks.iter().map(Poly::bytes)),
            TableBytes::of("hint", self.hint.iter().flatten().map(Poly::bytes)),
            TableBytes::of("packing tables", self.tables.kept().map(PackingTable::held_bytes)),
            TableBytes::of("packing key masks", [self.public.masks.bytes()]),
        ]
    }

    fn publish(&self) -> Messages {
        seed::publish(NAME, &self.seed)
    }

    /// Answers every query of every request in one pass over the database and one over each packing table.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let clock = &context.clock;
        let (queries, keys) = clock.time("answer_parse", Group::Online, || self.parse(requests))?;
        let (kernel, threads) = (context.kernel, context.threads);
        let products =
            clock.time("answer_product", Group::Online, || bodies(kernel, &self.matrix, &queries, threads))?;
        let ring = &self.public.ring;
        let packed =
            clock.time("answer_packing", Group::Online, || pack_all(ring, &self.tables.all()?, &keys, &products))?;
        let (switch, degree) = (self.params.switch, self.layout.degree);
        let each = switch.bytes(degree, degree) as usize;
        clock.time("answer_switch", Group::Online, || {
            answers(NAME, requests, each * self.layout.elements, |k, out| {
                out.chunks_exact_mut(each).zip(&packed[k]).try_for_each(|(out, ciphertext)| {
                    out.copy_from_slice(&switch.write(ring, ciphertext, degree)?);
                    Ok(())
                })
            })
        })
    }

    /// Changes records: adds the differences to hints and rebuilds the tables of the touched outputs (phases `update_hint`,
    /// `update_packing_tables`). Clients hold nothing of the database, so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let layout = self.layout;
        let clock = &context.clock;
        let elements = |(index, _): &Change| layout.cells().groups_of(*index, layout.degree);
        let touched: BTreeSet<usize> = changes.iter().flat_map(elements).collect();
        let Self { public, matrix, query_masks, hint, tables, .. } = self;
        tables.invalidate(touched.iter().copied());
        clock.time("update_hint", Group::Update, || -> Result<()> {
            let replaced = changes.iter().map(|change| layout.cells().replace(matrix, change));
            let differences = replaced.collect::<Result<Vec<_>>>()?;
            let masks = |columns| column_masks(matrix, &public.ring, query_masks, columns, context.threads);
            let again = |element| masks(layout.element(element));
            update_masks(hint, (&public.ring, &public.queries), &differences, &touched, again)
        })?;
        clock.time("update_packing_tables", Group::Update, || {
            tables.renew(|element| packing_table(&public.packing, &public.masks, &hint[element]))
        })?;
        Ok(Messages::new())
    }
}
