//! Layout, bytes, memory, operations and instances of the two layers.

use lattice::pack::Method;
use serde_json::json;

use super::layout::Layers;
use super::params::{Body, Params};
use crate::core::description::{Direction, LweInstance, MemoryMap, TableBytes};
use crate::core::error::Result;
use crate::core::hintless::SEED_BYTES;
use crate::core::runner::PROCESS_BYTES;
use crate::core::scheme::{Sizes, count, ntt, operations, table_bytes_read, table_products};
use crate::core::workload::Workload;
use crate::parts::lwe_matrix::{NegacyclicHint, packed_multiply_adds, passes};
use crate::parts::ring_matrix::{Packed, Selector, making_hints, making_tables, together};

/// The description of a set at a workload.
///
/// # Errors
/// The set does not serve it.
pub fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
    let layers = Layers::choose(params, workload.shape)?;
    let mut sizes = Sizes { layout: layers.describe(), ..Sizes::default() };
    sizes.layout.extend(operations(json!({
        "packing": params.method.to_string(),
        "body_gamma": layers.body_gamma(params.method),
        "packing_gadget": params.packed.describe(),
        "answer_ciphertexts": params.ciphertexts(&layers),
        "digit_bits": params.digit_bits,
        "switched_modulus": params.switched_modulus,
        "mask_modulus": params.switch.mask,
        "body_modulus": params.switch.body,
        "ring_degree": params.rlwe.degree,
        "ring_modulus": params.rlwe.modulus(),
    })));
    let tables = if layers.selects_whole() { 0 } else { layers.copies };
    // Every entry of a changed record touches the table of its copy.
    let rebuilt = if workload.updates == 0 { 0 } else { tables };
    sizes.layout.extend(operations(json!({ "tables": tables, "tables_rebuilt": rebuilt })));
    messages(params, &layers, workload, &mut sizes);
    if layers.selects_whole() {
        sizes.memory = memory_whole(params, &layers, workload);
        sizes.operations = operation_counts_whole(params, &layers, workload);
    } else {
        sizes.memory = memory(params, &layers, workload);
        sizes.operations = operation_counts(params, &layers, workload);
    }
    sizes.instances = instances(params, &layers);
    Ok(sizes)
}

fn messages(params: &Params, layers: &Layers, workload: &Workload, sizes: &mut Sizes) {
    let queries = workload.queries;
    let served = Some(queries);
    sizes.message("seed", Direction::Download, "offline", SEED_BYTES as u64, "16", None);
    if !layers.selects_whole() {
        let keys = count(&[params.key_bytes(layers), queries]);
        sizes.message("keys", Direction::Upload, "query", keys, "automorphisms l d log2(q) k / 8", served);
    }
    let query = count(&[layers.query_bytes() as u64, queries]);
    let formula = if layers.selects_whole() { "(4 N1 + w d G) k" } else { "(4 N1 + w G) k" };
    sizes.message("query", Direction::Upload, "query", query, formula, served);
    let formula = match layers.body {
        Body::Traced | Body::Merged | Body::Selected => "ne d (28 + 20) k / 8",
        Body::Unpacked => "(1 + J) ne d (28 + 20) k / 8",
        Body::Packed => "(ne + 1) d (28 + 20) k / 8",
    };
    let answer = count(&[params.answer_bytes(layers) as u64, queries]);
    sizes.message("answer", Direction::Download, "answer", answer, formula, served);
}

fn memory(params: &Params, layers: &Layers, workload: &Workload) -> MemoryMap {
    let (poly, length, copies) = (params.rlwe.poly_bytes(), params.packed.length() as u64, layers.copies as u64);
    let dimension = params.lwe.dimension;
    let factors = layers.groups.div_ceil(layers.degree) as u64 * poly;
    let hints = copies * layers.hint_digits as u64 * poly;
    let tables = copies * params.packed.held_table_bytes(&params.rlwe, params.method);
    let key_masks = Packed::roles(&params.rlwe, params.method) * length * poly;
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
    let kept: u64 = server.iter().map(|table| table.bytes).sum();
    let threads_buffers = NegacyclicHint::bytes(0, dimension, 1) + 32 * 2 * layers.outputs() as u64;
    let packing = params.packed.making_bytes(&params.rlwe, params.method);
    // While a batch is answered: messages (sent and received), queries in both forms, both layers' answers.
    let each = 2 * params.packed.key_bytes(&params.rlwe, params.method)
        + 3 * layers.query_bytes() as u64
        + 3 * 4 * layers.first.rows as u64
        + ring::ResidueVector::stored_bytes_for(layers.groups, 2)
        + 8 * layers.outputs() as u64
        + 2 * params.answer_bytes(layers) as u64
        + Packed::roles(&params.rlwe, params.method) * length * poly;
    // Of one query at a time: the first answer's digits, the masks of their samples, and what becomes of these.
    let samples = layers.samples();
    let packed = match layers.body {
        Body::Packed | Body::Merged => {
            params.packed.packing_bytes(&params.rlwe, (params.method, layers.body_gamma(params.method)), samples)
        }
        Body::Traced => params.packed.packing_bytes(&params.rlwe, (params.method, 1), 1),
        Body::Unpacked => samples as u64 * poly,
        Body::Selected => 0,
    };
    let body = 2 * 2 * (layers.groups * samples) as u64 + samples as u64 * poly + packed;
    let online = count(&[each, workload.queries]).saturating_add(body);
    let working = threads_buffers.max(packing).max(online);
    let client = key_masks + PROCESS_BYTES;
    MemoryMap {
        server,
        client: vec![TableBytes::new("seed", SEED_BYTES as u64), TableBytes::new("packing key masks", key_masks)],
        peak_bytes: kept.saturating_add(working).saturating_add(client),
    }
}

/// Nothing is kept but the database and masks; a batch's answers are the largest by far.
fn memory_whole(params: &Params, layers: &Layers, workload: &Workload) -> MemoryMap {
    let (poly, dimension) = (params.rlwe.poly_bytes(), params.lwe.dimension);
    let key_masks = Packed::roles(&params.rlwe, params.method) * params.packed.length() as u64 * poly;
    let server = vec![
        TableBytes::new("database", layers.first.stored_bytes()),
        TableBytes::new("first layer's masks", NegacyclicHint::bytes(layers.first.columns, dimension, 0)),
        TableBytes::new("packing key masks", key_masks),
    ];
    let kept: u64 = server.iter().map(|table| table.bytes).sum();
    let buffers = NegacyclicHint::bytes(0, dimension, 1);
    // Answers twice: in parts and joined, joined and as sent, as sent and as received. Queries in both forms; the first layer's answers.
    let each = 2 * params.answer_bytes(layers) as u64
        + 3 * layers.query_bytes() as u64
        + 3 * 4 * layers.first.rows as u64
        + Selector::bytes(&params.rlwe, layers.groups)
        + 2 * 64 * poly;
    // Answers are decrypted one by one.
    let decrypted = 8 * (layers.copies * layers.degree) as u64;
    let working = buffers.saturating_add(count(&[each, workload.queries])).saturating_add(decrypted);
    let client = key_masks + PROCESS_BYTES;
    MemoryMap {
        server,
        client: vec![TableBytes::new("seed", SEED_BYTES as u64), TableBytes::new("packing key masks", key_masks)],
        peak_bytes: kept.saturating_add(working).saturating_add(client),
    }
}

fn operation_counts_whole(
    params: &Params,
    layers: &Layers,
    workload: &Workload,
) -> serde_json::Map<String, serde_json::Value> {
    let (rows, columns) = (layers.first.rows as u64, layers.first.columns as u64);
    let (groups, copies) = (layers.groups as u64, layers.copies as u64);
    let (n, degree, queries) = (params.lwe.dimension as u64, layers.degree as u64, workload.queries);
    let first_blocks = columns.div_ceil(n);
    let (lwe_ntt, ring_ntt) = (ntt(n), ntt(degree));
    let digits = (layers.hint_digits + layers.answer_digits) as u64;
    operations(json!({
        "encode": { "bytes_written": layers.first.stored_bytes() },
        "query": {
            (&lwe_ntt): count(&[6, first_blocks, queries]),
            (&ring_ntt): count(&[queries, 4, groups]),
            "gaussian_samples": count(&[queries, columns + groups * degree]),
        },
        "answer": {
            "first_layer": {
                (packed_multiply_adds(queries)): count(&[rows, columns, queries]),
                "bytes_read": layers.first.stored_bytes() * passes(queries),
                "row_sums": count(&[rows, passes(queries)]),
                "further_row_sums": count(&[rows, queries - passes(queries)]),
            },
            "selection": {
                (&lwe_ntt): count(&[2, rows, first_blocks + 1]),
                (&ring_ntt): count(&[2, queries, rows]).saturating_add(count(&[4, queries, copies])),
                "residue_multiply_adds":
                    count(&[2, rows, first_blocks, n]).saturating_add(count(&[4, queries, rows, degree])),
                "digits": count(&[rows, digits]),
                "coefficients_switched": count(&[queries, params.ciphertexts(layers) as u64, 2, degree]),
            },
        },
        "extract": { "multiply_adds_u32": count(&[queries, copies, n]) },
    }))
}

fn operation_counts(
    params: &Params,
    layers: &Layers,
    workload: &Workload,
) -> serde_json::Map<String, serde_json::Value> {
    let (rows, columns) = (layers.first.rows as u64, layers.first.columns as u64);
    let (groups, outputs, copies) = (layers.groups as u64, layers.outputs() as u64, layers.copies as u64);
    let (n, degree, length) = (params.lwe.dimension as u64, layers.degree as u64, params.packed.length() as u64);
    let (queries, updates) = (workload.queries, workload.updates);
    let (first_blocks, blocks) = (columns.div_ceil(n), groups.div_ceil(degree));
    let answer_columns = layers.samples() as u64;
    let gamma = layers.body_gamma(params.method) as u64;
    // Method of the packing without a table, its key switches, and products and transforms of its sums over automorphisms.
    let (method, switches, sums) = match layers.body {
        Body::Traced => (Method::Cdks, count(&[answer_columns, u64::from(params.rlwe.degree.ilog2())]), (0, 0)),
        Body::Unpacked | Body::Selected => (params.method, 0, (0, 0)),
        Body::Packed | Body::Merged if params.method == Method::Cdks => (params.method, degree - 1, (0, 0)),
        Body::Packed | Body::Merged => {
            let direct = layers.samples() <= lattice::pack::DIRECT_TERMS;
            let slots = count(&[2, degree, gamma]);
            let sums = match (direct, gamma == degree) {
                (true, _) => (answer_columns * slots, 0),
                (false, true) => (0, 2 * degree),
                (false, false) => (slots * u64::from(gamma.ilog2()) / 2, 0),
            };
            (params.method, gamma - 1, sums)
        }
    };
    let (sum_products, sum_transforms) = sums;
    let switches = params.packed.switches(&params.rlwe, method, switches);
    let tables = count(&[copies, params.packed.table_bytes(&params.rlwe, params.method)]);
    let (lwe_ntt, ring_ntt) = (ntt(n), ntt(degree));
    let roles = Packed::roles(&params.rlwe, params.method);
    let make_tables = |copies: u64| making_tables(&params.rlwe, &params.packed, (params.method, degree), copies);
    // Rows of the first layer times its masks: to words of 32 bits, switched and cut into digits.
    let first_hint = |rows: u64| {
        operations(json!({
            (&lwe_ntt): count(&[2, rows, first_blocks + 1]),
            "residue_multiply_adds": count(&[2, rows, first_blocks, n]),
            "widened_entries": count(&[2, rows, columns]),
            "hint_words": count(&[rows, n]),
        }))
    };
    let digits = layers.hint_digits as u64;
    let second_hint = |copies: u64| making_hints(&params.rlwe, groups, count(&[copies, digits]));
    let written = operations(json!({ "column_entries": count(&[groups, outputs]) }));
    // Rows that an update changes, the groups of eight rows they are in, and the copies.
    let entries = workload.shape.record_bits.div_ceil(layers.first.code.entry_bits().into());
    let rows_changed = count(&[updates, entries]).min(rows);
    let groups_changed = count(&[updates, entries.div_ceil(8)]).min(rows.div_ceil(8));
    let copies_changed = rows_changed.min(copies);
    operations(json!({
        "encode": { "bytes_written": layers.first.stored_bytes() },
        "hint": together(together(first_hint(rows), written), second_hint(copies)),
        "packing_tables": make_tables(copies),
        "query": {
            (&lwe_ntt): count(&[6, first_blocks, queries]),
            (&ring_ntt): count(&[queries, 2 * blocks + 4 * roles * length]),
            "gaussian_samples": count(&[queries, columns + groups + roles * length * degree]),
        },
        "answer": {
            "parse": { "words_read": count(&[queries, columns + 2 * (groups + roles * length * degree)]) },
            "first_layer": {
                (packed_multiply_adds(queries)): count(&[rows, columns, queries]),
                "bytes_read": layers.first.stored_bytes() * passes(queries),
                "row_sums": count(&[rows, passes(queries)]),
                "further_row_sums": count(&[rows, queries - passes(queries)]),
            },
            "second_layer": {
                "multiply_adds_u16": count(&[2, groups, outputs, queries]),
                "bytes_read": layers.second_stored_bytes(),
            },
            "packing": {
                "table_bytes": table_bytes_read(tables, queries),
                "table_multiply_adds": table_products(tables, queries),
            },
            "body": {
                (&ring_ntt): count(&[queries, 2 * answer_columns * blocks + sum_transforms + switches.transforms]),
                "digits": count(&[queries, switches.digits]),
                "residue_multiply_adds": count(&[queries, switches.multiply_adds + sum_products]),
                "automorphism_slots": count(&[queries, switches.moved_slots + sum_products]),
                "coefficients_switched": count(&[queries, params.ciphertexts(layers) as u64, 2, degree]),
            },
        },
        "extract": { "multiply_adds_u32": count(&[queries, copies, n]) },
        "update_hint": first_hint(count(&[8, groups_changed])),
        "update_second_layer": together(
            together(operations(json!({ "scattered_entries": count(&[rows_changed, digits]) })), second_hint(copies_changed)),
            make_tables(copies_changed),
        ),
    }))
}

fn instances(params: &Params, layers: &Layers) -> Vec<LweInstance> {
    let lwe = &params.lwe;
    let keys = if layers.selects_whole() { 0 } else { Packed::roles(&params.rlwe, params.method) };
    let rlwe_samples = layers.second_entries() as u64 + keys * params.packed.length() as u64 * layers.degree as u64;
    vec![
        LweInstance {
            name: "first_query".into(),
            kind: "rlwe".into(),
            dimension: lwe.dimension as u64,
            modulus: "2^32".into(),
            log2_modulus: 32.0,
            secret: lwe.secret,
            error_stddev: lwe.error.0,
            samples: Some(layers.first.columns as u64),
            protects: "the row of the record asked for".into(),
        },
        params.rlwe.instance(
            if keys == 0 { "second_query" } else { "second_query_and_keys" },
            rlwe_samples,
            "the column of the record asked for",
        ),
    ]
}
