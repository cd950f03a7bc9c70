//! SimpleYPIR's layout, bytes, memory, operations and RLWE instance.

use lattice::pack::Method;
use lattice::{SplitKey, SplitRlwe};
use ring::matrix::column::{product_work, ring_products_work};
use ring::{BlockDiagonal, Kind, Work};

use super::Set;
use super::layout::Layout;
use crate::core::plan::{Plan, count, numbers};
use crate::core::{Result, Sizes, TableBytes, Workload};
use crate::parts::ring_matrix::{Packing, RingNumbers, masks_update_work, seed_memory, seed_messages};

const METHOD: Method = Method::Cdks;

numbers! {
    /// SimpleYPIR's layout.
    pub struct Numbers(params: &Set, layout: &Layout, tables: [u64; 2]) {
        rows: usize = layout.rows,
        columns: usize = layout.columns(),
        items: u64 = layout.items,
        records_per_item: u64 = layout.records_per_item,
        elements_per_item: usize = layout.elements,
        plain_modulus: u64 = 1u64 << layout.entry_bits,
        entry_bits: u32 = layout.entry_bits,
        stored_bytes: u64 = layout.stored_bytes(),
        information_bytes: u64 = layout.shape.database_bytes(),
        waste: f64 = layout.stored_bytes() as f64 / layout.shape.database_bytes() as f64 - 1.0,
        #[serde(flatten)]
        ring: RingNumbers = RingNumbers::new(&params.rlwe, METHOD, params.packing, params.switch, tables),
    }
}

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = Layout::choose(params, workload.shape)?;
    let (queries, updates) = (workload.queries, workload.updates);
    let (rows, columns, elements) = (layout.rows as u64, layout.columns() as u64, layout.elements as u64);
    let (degree, poly) = (layout.degree as u64, params.rlwe.poly_bytes());
    let (blocks, packing) = (rows.div_ceil(degree), Packing::new(&params.rlwe, METHOD, params.packing));
    let touched = workload.touched(elements, |index| layout.cells().groups_of(index, layout.degree));
    let mut sizes = Sizes::of(&Numbers::new(params, &layout, [elements, touched]));
    let key_bytes = packing.key_bytes();
    let asked = [
        ("keys", key_bytes, "log2(d) l d log2(q) k / 8"),
        ("query", count(&[params.query_coefficient_bytes as u64, rows]), "w N k"),
    ];
    let answer_each = count(&[params.switch.bytes(layout.degree, layout.degree), elements]);
    seed_messages(&mut sizes, queries, &asked, (answer_each, "c d (28 + 20) k / 8"));

    let tables = count(&[elements, packing.table_bytes()]);
    let key_masks = packing.key_mask_bytes();
    let server = vec![
        TableBytes::new("database", layout.stored_bytes()),
        TableBytes::new("masks", blocks * poly),
        TableBytes::new("hint", count(&[columns, poly])),
        TableBytes::new("packing tables", count(&[elements, packing.held_table_bytes()])),
        TableBytes::new("packing key masks", key_masks),
    ];
    let online = count(&[
        queries,
        2 * key_bytes
            + 3 * params.query_coefficient_bytes as u64 * rows
            + ring::ResidueVector::stored_bytes_for(layout.rows, 2)
            + 2 * 8 * columns
            + 2 * answer_each
            + 2 * elements * poly
            + key_masks,
    ]);
    let encoding = 32 * 2 * columns;
    sizes.memory = seed_memory(server, key_masks, packing.making_bytes().max(online).max(encoding));

    let samples = rows + packing.key_polynomials() * degree;
    sizes.instances = vec![params.rlwe.instance("query_and_keys", samples, "the item of the record asked for")];
    let ring = params.rlwe.shape();
    let make = |outputs: u64| METHOD.preprocess_work(packing.gadget, layout.degree) * outputs;
    let stored = count(&[rows, columns]);
    let mut plan = Plan::default();
    let cut = [(Kind::CutEntries, stored), (Kind::ColumnEntries, stored)];
    plan.phase("encode", Work::of(Kind::PrgBytes, &[workload.shape.database_bytes()]) + cut.into());
    plan.phase("hint", ring_products_work(ring, rows, columns));
    plan.phase("packing_tables", make(elements));
    let sent = ring.transforms(count(&[queries, blocks + 2 * packing.key_polynomials()]));
    plan.phase("query", sent + Work::of(Kind::GaussianSamples, &[queries, samples]));
    plan.step("answer", "parse", Work::of(Kind::WordsRead, &[queries, 2, samples]));
    plan.step("answer", "product", product_work(rows, columns, layout.stored_bytes(), (queries, 2)));
    plan.step("answer", "packing", BlockDiagonal::multiply_work(tables, queries));
    let outputs = count(&[queries, elements]);
    plan.step("answer", "switch", ring.transforms(outputs) + SplitRlwe::switch_work(layout.degree) * outputs);
    plan.phase("extract", SplitKey::work(layout.degree, params.switch.mask_modulus) * outputs);
    let entries = workload.shape.record_bits.div_ceil(layout.entry_bits.into()) + 1;
    let changed = count(&[updates, entries]);
    let masks = masks_update_work(ring, (changed, changed), rows, count(&[touched, degree]));
    plan.phase("update_hint", Work::of(Kind::ScatteredEntries, &[changed]) + masks);
    plan.phase("update_packing_tables", make(touched));
    sizes.operations = plan.operations();
    Ok(sizes)
}
