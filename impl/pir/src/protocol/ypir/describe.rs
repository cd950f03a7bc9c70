//! Layout, bytes, memory, operations and instances of the two layers.

use lattice::pack::Method;
use lattice::{SplitKey, SplitRlwe};
use ring::matrix::column::{product_work, ring_products_work};
use ring::matrix::packed::matvec_work;
use ring::{BlockDiagonal, Kind, Work};

use super::layout::Layers;
use super::set::{Body, Set};
use crate::core::plan::{Plan, count, numbers};
use crate::core::{LweInstance, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::lwe_matrix::{LinearNumbers, NegacyclicHint, NegacyclicMatrix};
use crate::parts::ring_matrix::{RingNumbers, Selector, seed_memory, seed_messages};

numbers! {
    /// The layout of both layers.
    pub struct Numbers(params: &Set, layers: &Layers, tables: [u64; 2]) {
        #[serde(flatten)]
        first: LinearNumbers = LinearNumbers::new(&layers.first),
        copies: usize = layers.copies,
        groups: usize = layers.groups,
        hint_digits: usize = layers.hint_digits,
        answer_digits: usize = layers.answer_digits,
        selected_whole: bool = layers.selects_whole(),
        second_outputs: usize = layers.outputs(),
        second_stored_bytes: u64 = layers.second_stored_bytes(),
        body_gamma: usize = layers.body_gamma(params.method()),
        answer_ciphertexts: usize = layers.ciphertexts(),
        digit_bits: u32 = params.layers.digit_bits,
        switched_modulus: u32 = params.layers.switched_modulus,
        #[serde(flatten)]
        ring: RingNumbers = RingNumbers::new(&params.rlwe, params.method(), params.packing, params.switch, tables),
    }
}

/// The description of a set at a workload.
pub fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let layers = Layers::choose(params, workload.shape)?;
    let tables = if layers.selects_whole() { 0 } else { layers.copies };
    // Every entry of a changed record touches the table of its copy.
    let rebuilt = if workload.updates == 0 { 0 } else { tables };
    let mut sizes = Sizes::of(&Numbers::new(params, &layers, [tables, rebuilt].map(|tables| tables as u64)));
    messages(params, &layers, workload, &mut sizes);
    sizes.memory = if layers.selects_whole() {
        memory_whole(params, &layers, workload)
    } else {
        memory(params, &layers, workload)
    };
    sizes.operations = operations_of(params, &layers, workload);
    sizes.instances = instances(params, &layers);
    Ok(sizes)
}

fn messages(params: &Set, layers: &Layers, workload: &Workload, sizes: &mut Sizes) {
    let query = if layers.selects_whole() { "(4 N1 + w d G) k" } else { "(4 N1 + w G) k" };
    let answer = match layers.body {
        Body::Traced | Body::Merged | Body::Selected => "ne d (28 + 20) k / 8",
        Body::Unpacked => "(1 + J) ne d (28 + 20) k / 8",
        Body::Packed => "(ne + 1) d (28 + 20) k / 8",
    };
    let asked = [
        ("keys", layers.key_bytes(params), "automorphisms l d log2(q) k / 8"),
        ("query", layers.query_bytes() as u64, query),
    ];
    seed_messages(sizes, workload.queries, &asked, (layers.answer_bytes(params) as u64, answer));
}

fn memory(params: &Set, layers: &Layers, workload: &Workload) -> MemoryMap {
    let (poly, copies, sizes) = (params.rlwe.poly_bytes(), layers.copies as u64, params.packing_sizes());
    let dimension = params.lwe.dimension;
    let factors = layers.groups.div_ceil(layers.degree) as u64 * poly;
    let hints = copies * layers.hint_digits as u64 * poly;
    let tables = copies * sizes.held_table_bytes();
    let key_masks = sizes.key_mask_bytes();
    let first_masks = NegacyclicHint::bytes(layers.first.columns, dimension, 0);
    let server = vec![
        TableBytes::new("database", layers.first.stored_bytes()),
        TableBytes::new("first layer's masks", first_masks),
        TableBytes::new("hint digits", layers.second_stored_bytes()),
        TableBytes::new("second layer's masks", factors),
        TableBytes::new("second layer's hints", hints),
        TableBytes::new("packing tables", tables),
        TableBytes::new("packing key masks", key_masks),
    ];
    let threads_buffers = NegacyclicHint::bytes(0, dimension, 1) + 32 * 2 * layers.outputs() as u64;
    let packing = sizes.making_bytes();
    // While a batch is answered: messages (sent and received), queries in both forms, both layers' answers.
    let each = 2 * sizes.key_bytes()
        + 3 * layers.query_bytes() as u64
        + 3 * 4 * layers.first.rows as u64
        + ring::ResidueVector::stored_bytes_for(layers.groups, 2)
        + 8 * layers.outputs() as u64
        + 2 * layers.answer_bytes(params) as u64
        + key_masks;
    // For one query at a time: the first answer's digits, the masks of their samples, and the packing of these.
    let samples = layers.samples();
    let packed = match layers.body {
        Body::Packed | Body::Merged => sizes.of_gamma(layers.body_gamma(params.method())).packing_bytes(samples),
        Body::Traced => sizes.of_gamma(1).packing_bytes(1),
        Body::Unpacked => samples as u64 * poly,
        Body::Selected => 0,
    };
    let body = 2 * 2 * (layers.groups * samples) as u64 + samples as u64 * poly + packed;
    let online = count(&[each, workload.queries]).saturating_add(body);
    let working = threads_buffers.max(packing).max(online);
    seed_memory(server, key_masks, working)
}

/// The server keeps only the database and masks; a batch's answers are the largest part by far.
fn memory_whole(params: &Set, layers: &Layers, workload: &Workload) -> MemoryMap {
    let (poly, dimension) = (params.rlwe.poly_bytes(), params.lwe.dimension);
    let key_masks = params.packing_sizes().key_mask_bytes();
    let server = vec![
        TableBytes::new("database", layers.first.stored_bytes()),
        TableBytes::new("first layer's masks", NegacyclicHint::bytes(layers.first.columns, dimension, 0)),
        TableBytes::new("packing key masks", key_masks),
    ];
    let buffers = NegacyclicHint::bytes(0, dimension, 1);
    // Answers are in memory twice: in parts and joined, joined and sent, or sent and received. Queries in both forms; the first layer's answers.
    let each = 2 * layers.answer_bytes(params) as u64
        + 3 * layers.query_bytes() as u64
        + 3 * 4 * layers.first.rows as u64
        + Selector::bytes(&params.rlwe, layers.groups)
        + 2 * 64 * poly;
    // Answers are decrypted one by one.
    let decrypted = 8 * (layers.copies * layers.degree) as u64;
    let working = buffers.saturating_add(count(&[each, workload.queries])).saturating_add(decrypted);
    seed_memory(server, key_masks, working)
}

/// Work of both kinds of answers, phase by phase.
fn operations_of(params: &Set, layers: &Layers, workload: &Workload) -> serde_json::Map<String, serde_json::Value> {
    let (columns, queries) = (layers.first.columns as u64, workload.queries);
    let (n, copies) = (params.lwe.dimension, layers.copies as u64);
    let whole = layers.selects_whole();
    let keys = layers.key_polynomials(params);
    let mut plan = Plan::default();
    plan.phase("encode", Work::of(Kind::BytesWritten, &[layers.first.stored_bytes()]));
    if !whole {
        hint_work(params, layers, &mut plan);
    }
    let degree = layers.degree as u64;
    let blocks = if whole { 2 * layers.groups } else { layers.groups.div_ceil(layers.degree) };
    let sent = params.rlwe.shape().transforms(count(&[queries, blocks as u64 + 2 * keys]));
    let samples = columns + layers.second_entries() as u64 + keys * degree;
    plan.phase(
        "query",
        NegacyclicMatrix::encrypt_zero_work(columns, n) * queries
            + sent
            + Work::of(Kind::GaussianSamples, &[queries, samples]),
    );
    if !whole {
        let words = columns + 2 * (layers.groups as u64 + keys * degree);
        plan.step("answer", "parse", Work::of(Kind::WordsRead, &[queries, words]));
    }
    let rows = layers.first.rows as u64;
    plan.step("answer", "first_layer", matvec_work(rows, columns, layers.first.stored_bytes(), queries));
    if whole {
        plan.step("answer", "selection", selection_work(params, layers, queries));
    } else {
        second_layer_work(params, layers, queries, &mut plan);
    }
    let opened =
        SplitKey::work(layers.degree, params.switch.mask_modulus) * count(&[queries, layers.ciphertexts() as u64]);
    plan.phase("extract", opened + Work::of(Kind::MultiplyAddsU32, &[queries, copies, n as u64]));
    if !whole {
        update_work(params, layers, workload, &mut plan);
    }
    plan.operations()
}

/// The work of selecting whole polynomials, which hold digits of the first layer's hint and answers, by a ciphertext each.
fn selection_work(params: &Set, layers: &Layers, queries: u64) -> Work {
    let ring = params.rlwe.shape();
    let (rows, copies) = (layers.first.rows as u64, layers.copies as u64);
    let digits = (layers.hint_digits + layers.answer_digits) as u64;
    NegacyclicHint::work(rows, layers.first.columns as u64, params.lwe.dimension)
        + Work::of(Kind::Digits, &[rows, digits])
        + ring.transforms(count(&[queries, rows + 2 * copies]))
        + ring.products(count(&[2, queries, rows]))
        + SplitRlwe::switch_work(layers.degree) * count(&[queries, layers.ciphertexts() as u64])
}

/// The work of multiplying rows of the first layer with its masks, and of switching the words and cutting them into digits.
fn first_hint_work(params: &Set, layers: &Layers, rows: u64) -> Work {
    let (n, columns) = (params.lwe.dimension, layers.first.columns as u64);
    let words = [(Kind::WidenedEntries, count(&[2, rows, columns])), (Kind::HintWords, count(&[rows, n as u64]))];
    NegacyclicHint::work(rows, columns, n) + words.into()
}

/// The work of the ring masks of hint digits, for some copies.
fn second_hint_work(params: &Set, layers: &Layers, copies: u64) -> Work {
    ring_products_work(params.rlwe.shape(), layers.groups as u64, count(&[copies, layers.hint_digits as u64]))
}

/// The work of making the packing tables of some copies.
fn tables_work(params: &Set, layers: &Layers, copies: u64) -> Work {
    params.method().preprocess_work(params.packing.shape(&params.rlwe), layers.degree) * copies
}

fn hint_work(params: &Set, layers: &Layers, plan: &mut Plan) {
    let copies = layers.copies as u64;
    let written = Work::of(Kind::ColumnEntries, &[layers.groups as u64, layers.outputs() as u64]);
    let first = first_hint_work(params, layers, layers.first.rows as u64);
    plan.phase("hint", first + written + second_hint_work(params, layers, copies));
    plan.phase("packing_tables", tables_work(params, layers, copies));
}

fn second_layer_work(params: &Set, layers: &Layers, queries: u64, plan: &mut Plan) {
    let (groups, outputs) = (layers.groups as u64, layers.outputs() as u64);
    let stored = layers.second_stored_bytes();
    plan.step("answer", "second_layer", product_work(groups, outputs, stored, (queries, 2)));
    let tables = count(&[layers.copies as u64, params.packing_sizes().table_bytes()]);
    plan.step("answer", "packing", BlockDiagonal::multiply_work(tables, queries));
    // Samples of the first answer's digits have masks that depend on the query, and are packed without a table.
    let (gadget, samples) = (params.packing.shape(&params.rlwe), layers.samples());
    let traces = if layers.body == Body::Traced { samples as u64 } else { 0 };
    let packed = match layers.body {
        Body::Packed | Body::Merged => params.method().pack_work(gadget, layers.body_gamma(params.method()), samples),
        Body::Traced | Body::Unpacked | Body::Selected => {
            Method::Cdks.switch_work(gadget) * u64::from(layers.degree.ilog2()) * traces
        }
    };
    let masks = gadget.ring.transforms(samples as u64 * groups.div_ceil(layers.degree as u64));
    let switched = SplitRlwe::switch_work(layers.degree) * layers.ciphertexts() as u64;
    plan.step("answer", "body", (masks + packed + switched) * queries);
}

fn update_work(params: &Set, layers: &Layers, workload: &Workload, plan: &mut Plan) {
    let (rows, updates) = (layers.first.rows as u64, workload.updates);
    // Rows that an update changes, the groups of eight rows they are in, and the copies.
    let entries = workload.shape.record_bits.div_ceil(layers.first.code.entry_bits().into());
    let rows_changed = count(&[updates, entries]).min(rows);
    let groups_changed = count(&[updates, entries.div_ceil(8)]).min(rows.div_ceil(8));
    let copies_changed = rows_changed.min(layers.copies as u64);
    plan.phase("update_hint", first_hint_work(params, layers, count(&[8, groups_changed])));
    plan.phase(
        "update_second_layer",
        Work::of(Kind::ScatteredEntries, &[rows_changed, layers.hint_digits as u64])
            + second_hint_work(params, layers, copies_changed)
            + tables_work(params, layers, copies_changed),
    );
}

fn instances(params: &Set, layers: &Layers) -> Vec<LweInstance> {
    let keys = layers.key_polynomials(params);
    let rlwe_samples = layers.second_entries() as u64 + keys * layers.degree as u64;
    let first = params.lwe.instance("first_query", layers.first.columns as u64, "the row of the record asked for");
    vec![
        // Its masks are ring elements.
        LweInstance { kind: "rlwe".into(), ..first },
        params.rlwe.instance(
            if keys == 0 { "second_query" } else { "second_query_and_keys" },
            rlwe_samples,
            "the column of the record asked for",
        ),
    ]
}
