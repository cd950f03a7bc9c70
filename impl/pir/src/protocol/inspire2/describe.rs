//! InsPIRe^(2)'s layout, bytes, memory, operations and RLWE instance.

use lattice::pack::Method;
use lattice::{SplitKey, SplitRlwe};
use ring::matrix::column::{product_work, ring_products_work};
use ring::{BlockDiagonal, Kind, RingShape, Work};

use super::Set;
use super::layout::Layout;
use crate::core::plan::{Plan, count, numbers};
use crate::core::tables::tables_of_block;
use crate::core::{MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::ring_matrix::{
    Packing, RingNumbers, Selector, add_to_masks_work, is_incremental, masks_update_work, seed_memory, seed_messages,
};

numbers! {
    /// InsPIRe^(2)'s layout.
    pub struct Numbers(params: &Set, layout: &Layout, tables: [u64; 2]) {
        rows: usize = layout.rows,
        cell_columns: usize = layout.cell_columns,
        columns: usize = layout.columns(),
        copies: usize = layout.copies,
        records_per_cell: u64 = layout.records_per_cell,
        gammas: [usize; 3] = params.gammas(),
        plain_modulus: u64 = 1u64 << layout.entry_bits,
        digit_bits: u32 = layout.entry_bits,
        mask_digits: usize = layout.mask_digits,
        body_digits: usize = layout.body_digits,
        answer_ciphertexts: usize = layout.copies * layout.ciphertexts(params).len(),
        selected_whole: bool = layout.selects_whole,
        switched_modulus: u32 = params.switched_modulus,
        stored_bytes: u64 = layout.first_stored_bytes(),
        second_stored_bytes: u64 = layout.second_stored_bytes(),
        information_bytes: u64 = layout.shape.database_bytes(),
        waste: f64 = layout.first_stored_bytes() as f64 / layout.shape.database_bytes() as f64 - 1.0,
        #[serde(flatten)]
        ring: RingNumbers = RingNumbers::new(&params.rlwe, Method::Inspiring, params.packing, params.switch, tables),
    }
}

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = Layout::choose(params, workload.shape)?;
    let ([first, copies], [outputs, _]) = (touched(&layout, workload), layout.outputs(params));
    let outputs = outputs as u64;
    let tables = [layout.groups() as u64 + layout.copies as u64 * outputs, first + copies * outputs];
    let mut sizes = Sizes::of(&Numbers::new(params, &layout, tables));
    let (query, answer) = if layout.selects_whole {
        ("(N / t + d t) log2(q) k / 8", "ne (m 28 d + 20 (mask_digits + body_digits)) k / 8")
    } else {
        ("(N / t + t) log2(q) k / 8", "ne (m1 (28 d + 20 gamma1) + m2 (28 d + 20 gamma2)) k / 8")
    };
    let asked = [
        ("keys", key_bytes(params, &layout), "alpha l d log2(q) k / 8"),
        ("query", layout.query_bytes(params) as u64, query),
    ];
    seed_messages(&mut sizes, workload.queries, &asked, (layout.answer_bytes(params) as u64, answer));
    sizes.memory = memory(params, &layout, workload);
    sizes.operations = operations_of(params, &layout, workload);
    let queried = (layout.rows + layout.second_entries()) as u64;
    let samples = queried + key_polynomials(params, &layout) * layout.ring_degree as u64;
    sizes.instances = vec![params.rlwe.instance("queries_and_keys", samples, "the cell of the record asked for")];
    Ok(sizes)
}

/// Polynomials of the packing keys of one query.
fn key_polynomials(params: &Set, layout: &Layout) -> u64 {
    layout.key_gammas(params).len() as u64 * params.digits()
}

/// Sizes of the packing of `gamma` ciphertexts into one.
pub(super) fn packing(params: &Set, gamma: usize) -> Packing<'_> {
    Packing::new(&params.rlwe, Method::Inspiring, params.packing).of_gamma(gamma)
}

/// Bytes of the packing keys of one query.
fn key_bytes(params: &Set, layout: &Layout) -> u64 {
    layout.key_gammas(params).into_iter().map(|gamma| packing(params, gamma).key_bytes()).sum()
}

/// Bytes of all packing tables, of the first and of the second layer.
fn all_tables(params: &Set, layout: &Layout) -> [u64; 2] {
    let tables = [layout.groups(), layout.copies * layout.outputs(params)[0]];
    std::array::from_fn(|i| count(&[tables[i] as u64, packing(params, params.gammas()[i]).held_table_bytes()]))
}

/// Numbers that an update rebuilds: packing tables of the first layer, and copies whose tables of the second layer.
fn touched(layout: &Layout, workload: &Workload) -> [u64; 2] {
    let first = workload.touched(layout.groups() as u64, |index| layout.groups_of(index));
    let copies = |index| layout.groups_of(index).map(|group| group % layout.copies);
    [first, workload.touched(layout.copies as u64, copies)]
}

fn memory(params: &Set, layout: &Layout, workload: &Workload) -> MemoryMap {
    let poly = params.rlwe.poly_bytes();
    let second_blocks = if layout.selects_whole { 0 } else { layout.cell_columns.div_ceil(layout.ring_degree) };
    let blocks = (layout.rows.div_ceil(layout.ring_degree) + second_blocks) as u64;
    let [all_first, second_tables] = all_tables(params, layout);
    let (name, first_tables) = if workload.streamed {
        let groups = layout.groups() as u64;
        let block = groups.min(tables_of_block(packing(params, params.gammas()[0]).table_bytes()) as u64);
        let tables = count(&[block, packing(params, params.gammas()[0]).held_table_bytes()]);
        ("first packing tables of a block and all masks", tables + count(&[groups, poly]))
    } else {
        ("first packing tables", all_first)
    };
    let second_columns = if layout.selects_whole { 0 } else { layout.copies * layout.mask_digits };
    let second_hints = count(&[second_columns as u64, poly]);
    let key_masks = key_polynomials(params, layout) * poly;
    let server = vec![
        TableBytes::new("database", layout.first_stored_bytes()),
        TableBytes::new("first hints", count(&[layout.columns() as u64, poly])),
        TableBytes::new(name, first_tables),
        TableBytes::new("mask digits", layout.second_stored_bytes()),
        TableBytes::new("second hints", second_hints),
        TableBytes::new("second packing tables", second_tables),
        TableBytes::new("masks", blocks * poly),
        TableBytes::new("packing key masks", key_masks),
    ];
    // The first hints are allocated one by one while others are freed, and the allocator reuses the freed places only in part: another three
    // sixteenths of their bytes stay empty (measured from 7 to 98 MiB of hints).
    let holes = count(&[3, layout.columns() as u64, poly]) / 16;
    // While a table is made, or a ciphertext is packed without one: sums of the masks' images, and for the first layer also the ring masks.
    let working = |i: usize| packing(params, params.gammas()[i]).packing_bytes(params.gammas()[i]);
    let second = if layout.selects_whole { 0 } else { working(1) };
    let first = params.gammas()[0] as u64 * poly + working(0);
    let second = second.max(first);
    let encoding = 2 * 32 * layout.columns() as u64;
    let each = 2 * key_bytes(params, layout)
        + 3 * layout.query_bytes(params) as u64
        + ring::ResidueVector::stored_bytes_for(layout.rows, 2)
        + if layout.selects_whole {
            Selector::bytes(&params.rlwe, layout.cell_columns)
        } else {
            ring::ResidueVector::stored_bytes_for(layout.cell_columns, 2)
        }
        + 5 * 4 * layout.columns() as u64
        + 3 * layout.answer_bytes(params) as u64
        + key_masks;
    let bodies = if layout.selects_whole {
        0
    } else {
        let masks = (layout.copies * layout.body_digits) as u64 * poly;
        2 * (layout.groups() * layout.body_digits) as u64 + masks + working(2)
    };
    let making = if workload.streamed { first } else { 0 };
    let online = count(&[each, workload.queries]).saturating_add(bodies + making);
    seed_memory(server, key_masks, second.max(encoding).max(online).saturating_add(holes))
}

/// The quantities from which the phases' work is counted.
struct Load<'a> {
    params: &'a Set,
    layout: &'a Layout,
    queries: u64,
    ring: RingShape,
    /// Groups of the first layer and copies of the second that an update touches.
    touched: [u64; 2],
}

/// Work by phase and step.
fn operations_of(params: &Set, layout: &Layout, workload: &Workload) -> serde_json::Map<String, serde_json::Value> {
    let load = Load {
        params,
        layout,
        queries: workload.queries,
        ring: params.rlwe.shape(),
        touched: touched(layout, workload),
    };
    let Load { queries, ring, .. } = load;
    let (rows, columns) = (layout.rows as u64, layout.columns() as u64);
    let stored = count(&[rows, columns]);
    let mut plan = Plan::default();
    let cut = [(Kind::CutEntries, stored), (Kind::ColumnEntries, stored)];
    plan.phase("encode", Work::of(Kind::PrgBytes, &[workload.shape.database_bytes()]) + cut.into());
    plan.phase("hint", ring_products_work(ring, rows, columns));
    plan.phase("packing_tables", load.tables(0, layout.groups() as u64));
    if workload.streamed {
        plan.phase("streaming", load.tables(0, layout.groups() as u64));
    }
    plan.phase("second_layer", load.second_layer(layout.groups() as u64));
    let keys = key_polynomials(params, layout);
    let degree = ring.degree as u64;
    let blocks = rows.div_ceil(degree) + (layout.second_entries() as u64).div_ceil(degree);
    let samples = rows + layout.second_entries() as u64 + keys * degree;
    let sent = ring.transforms(count(&[queries, blocks + 2 * keys]));
    plan.phase("query", sent + Work::of(Kind::GaussianSamples, &[queries, samples]));
    plan.step("answer", "parse", Work::of(Kind::WordsRead, &[queries, ring.primes as u64, samples]));
    load.first_layer(&mut plan);
    if layout.selects_whole {
        plan.step("answer", "selection", load.selection());
    } else {
        load.packing(&mut plan);
    }
    let pieces = layout.ciphertexts(params).len() as u64;
    let opened = |modulus| SplitKey::work(layout.ring_degree, modulus);
    let first = opened(params.switched_modulus.into());
    let each = opened(params.switch.mask_modulus) * pieces + first;
    plan.phase("extract", each * count(&[queries, layout.copies as u64]));
    let entries = workload.shape.record_bits.div_ceil(layout.entry_bits.into()) + 1;
    let changed = count(&[workload.updates, entries]);
    let [groups, _] = load.touched;
    let masks = masks_update_work(ring, (changed, changed), rows, count(&[groups, params.gammas()[0] as u64]));
    plan.phase("update_first_layer", Work::of(Kind::ScatteredEntries, &[changed]) + load.tables(0, groups) + masks);
    plan.phase("update_second_layer", load.second_layer_update());
    plan.operations()
}

impl Load<'_> {
    /// The work of making packing tables of a layer.
    fn tables(&self, layer: usize, tables: u64) -> Work {
        let gadget = self.params.packing.shape(&self.params.rlwe);
        Method::Inspiring.preprocess_work(gadget, self.params.gammas()[layer]) * tables
    }

    /// The work of switching masks of the first layer and, where they are packed, of cutting them into digits in their columns.
    fn mask_digits(&self, masks: u64) -> Work {
        let words = Work::of(Kind::HintWords, &[masks, self.ring.degree as u64]);
        if self.layout.selects_whole {
            return words;
        }
        words + Work::of(Kind::ScatteredEntries, &[masks, self.layout.mask_digits as u64])
    }

    /// The work of the ring masks of mask digits, for some copies.
    fn second_hints(&self, copies: u64) -> Work {
        ring_products_work(self.ring, self.layout.cell_columns as u64, count(&[copies, self.layout.mask_digits as u64]))
    }

    /// The work of making the second layer's packing tables of some copies.
    fn second_tables(&self, copies: u64) -> Work {
        self.tables(1, count(&[copies, self.layout.outputs(self.params)[0] as u64]))
    }

    fn second_layer(&self, groups: u64) -> Work {
        if self.layout.selects_whole {
            return self.mask_digits(groups);
        }
        let copies = self.layout.copies as u64;
        self.mask_digits(groups) + self.second_hints(copies) + self.second_tables(copies)
    }

    fn second_layer_update(&self) -> Work {
        let ([groups, copies], layout) = (self.touched, self.layout);
        if layout.selects_whole {
            return self.mask_digits(groups);
        }
        let blocks = layout.cell_columns.div_ceil(self.ring.degree);
        let hints = if is_incremental(groups as usize, copies as usize, blocks) {
            add_to_masks_work(self.ring, count(&[groups, layout.mask_digits as u64]))
        } else {
            self.second_hints(copies)
        };
        self.mask_digits(groups) + hints + self.second_tables(copies)
    }

    fn first_layer(&self, plan: &mut Plan) {
        let (layout, queries, groups) = (self.layout, self.queries, self.layout.groups() as u64);
        let (rows, columns, stored) = (layout.rows as u64, layout.columns() as u64, layout.first_stored_bytes());
        plan.step("answer", "first_product", product_work(rows, columns, stored, (queries, 2)));
        let [tables, _] = all_tables(self.params, layout);
        plan.step("answer", "first_packing", BlockDiagonal::multiply_work(tables, queries));
        // After a table was read, its body is transformed back to coefficients, and gamma_0 of them are switched to q1. With small gammas
        // there are many tables, so that this work does not overlap with reading. It is timed with the packing.
        let switched = Work::of(Kind::CoefficientsSwitched, &[queries, groups, self.params.gammas()[0] as u64]);
        plan.step("answer", "first_bodies", self.ring.transforms(count(&[queries, groups])) + switched);
    }

    /// The work of selecting whole polynomials by a ciphertext each.
    fn selection(&self) -> Work {
        let (layout, groups, copies) = (self.layout, self.layout.groups() as u64, self.layout.copies as u64);
        let pieces = layout.ciphertexts(self.params).len() as u64;
        let each = self.ring.ntts(count(&[2 * pieces, groups + 2 * copies]))
            + self.ring.products(count(&[2 * pieces, groups]))
            + Work::of(Kind::Digits, &[groups, layout.body_digits as u64])
            + SplitRlwe::switch_work(self.ring.degree) * count(&[pieces, copies]);
        each * self.queries
    }

    /// The second layer's product, masks packed by tables, bodies without.
    fn packing(&self, plan: &mut Plan) {
        let (params, layout, queries, ring) = (self.params, self.layout, self.queries, self.ring);
        let (copies, body_digits) = (layout.copies as u64, layout.body_digits as u64);
        let [mask_outputs, body_outputs] = layout.outputs(params).map(|outputs| outputs as u64);
        let columns = count(&[copies, layout.mask_digits as u64 + body_digits]);
        let product = product_work(layout.cell_columns as u64, columns, layout.second_stored_bytes(), (queries, 2));
        plan.step("answer", "second_product", product);
        let [_, tables] = all_tables(params, layout);
        let packed = ring.transforms(count(&[queries, copies, mask_outputs]));
        plan.step("answer", "mask_packing", BlockDiagonal::multiply_work(tables, queries) + packed);
        let blocks = (layout.second_entries() as u64).div_ceil(ring.degree as u64);
        let switches = count(&[copies, body_outputs, params.gammas()[2] as u64 - 1]);
        let bodies = ring.transforms(count(&[copies, body_digits, blocks]))
            + Method::Inspiring.switch_work(params.packing.shape(&params.rlwe)) * switches
            + SplitRlwe::switch_work(ring.degree) * count(&[copies, mask_outputs + body_outputs]);
        plan.step("answer", "body_packing", bodies * queries);
    }
}
