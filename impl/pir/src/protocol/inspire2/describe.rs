//! InsPIRe^(2)'s layout, bytes, memory, operations and RLWE instance.

use lattice::pack::Method;
use serde_json::json;

use super::Params;
use super::layout::Layout;
use crate::core::description::{Direction, MemoryMap, TableBytes};
use crate::core::error::Result;
use crate::core::hintless::SEED_BYTES;
use crate::core::runner::PROCESS_BYTES;
use crate::core::scheme::{Sizes, count, ntt, operations, table_bytes_read, table_products};
use crate::core::tables::tables_of_block;
use crate::core::workload::Workload;
use crate::parts::ring_matrix::{Selector, making_hints, making_tables, together, updating_hints};

pub(super) fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
    let layout = Layout::choose(params, workload.shape)?;
    let queries = workload.queries;
    let mut sizes = Sizes { layout: layout.describe(params), ..Sizes::default() };
    let ([first, copies], [outputs, _]) = (touched(&layout, workload), layout.outputs(params));
    sizes.layout.extend(operations(json!({
        "tables": layout.groups() + layout.copies * outputs,
        "tables_rebuilt": first + copies * outputs as u64,
    })));
    let served = Some(queries);
    sizes.message("seed", Direction::Download, "offline", SEED_BYTES as u64, "16", None);
    let keys = count(&[key_bytes(params, &layout), queries]);
    sizes.message("keys", Direction::Upload, "query", keys, "alpha l d log2(q) k / 8", served);
    let query = count(&[layout.query_bytes(params) as u64, queries]);
    let formula = if layout.selects_whole { "(N / t + d t) log2(q) k / 8" } else { "(N / t + t) log2(q) k / 8" };
    sizes.message("query", Direction::Upload, "query", query, formula, served);
    let answer = count(&[layout.answer_bytes(params) as u64, queries]);
    let formula = if layout.selects_whole {
        "ne (m 28 d + 20 (mask_digits + body_digits)) k / 8"
    } else {
        "ne (m1 (28 d + 20 gamma1) + m2 (28 d + 20 gamma2)) k / 8"
    };
    sizes.message("answer", Direction::Download, "answer", answer, formula, served);
    sizes.memory = memory(params, &layout, workload);
    sizes.operations = operation_counts(params, &layout, workload);
    let samples = (layout.rows + layout.second_entries()) as u64
        + layout.key_gammas(params).len() as u64 * params.packed.length() as u64 * layout.ring_degree as u64;
    sizes.instances = vec![params.rlwe.instance("queries_and_keys", samples, "the cell of the record asked for")];
    Ok(sizes)
}

/// Bytes of the packing keys of one query: one role for each different gamma.
fn key_bytes(params: &Params, layout: &Layout) -> u64 {
    let bits = params.packed.length() as u64 * params.rlwe.degree as u64 * u64::from(params.coefficient_bits());
    layout.key_gammas(params).len() as u64 * bits.div_ceil(8)
}

/// Bytes of a packing table for that gamma: a linear form of gamma slots (in whole lines) for each slot and digit.
pub(super) fn table_bytes(params: &Params, gamma: usize) -> u64 {
    gamma.max(ring::matrix::diagonal::LINE) as u64 * params.packed.length() as u64 * params.rlwe.poly_bytes()
}

/// Bytes of that table in memory: the packed mask too and, at gamma = d, the factors that join both halves.
fn held_table_bytes(params: &Params, gamma: usize) -> u64 {
    let joining = if gamma == params.rlwe.degree { params.packed.length() as u64 } else { 0 };
    table_bytes(params, gamma) + (1 + joining) * params.rlwe.poly_bytes()
}

/// Bytes of all packing tables, of the first and of the second layer.
fn all_tables(params: &Params, layout: &Layout) -> [u64; 2] {
    let outputs = layout.copies * layout.outputs(params)[0];
    let tables = [layout.groups(), outputs];
    std::array::from_fn(|layer| count(&[tables[layer] as u64, held_table_bytes(params, params.gammas[layer])]))
}

/// Packing tables of the first layer that an update makes anew, and copies whose tables of the second layer.
fn touched(layout: &Layout, workload: &Workload) -> [u64; 2] {
    let first = workload.touched(layout.groups() as u64, |index| layout.groups_of(index));
    let copies = |index| layout.groups_of(index).map(|group| group % layout.copies);
    [first, workload.touched(layout.copies as u64, copies)]
}

fn memory(params: &Params, layout: &Layout, workload: &Workload) -> MemoryMap {
    let poly = params.rlwe.poly_bytes();
    let second_blocks = if layout.selects_whole { 0 } else { layout.degree.div_ceil(layout.ring_degree) };
    let blocks = (layout.rows.div_ceil(layout.ring_degree) + second_blocks) as u64;
    let [all_first, second_tables] = all_tables(params, layout);
    let (name, first_tables) = if workload.streamed {
        let groups = layout.groups() as u64;
        let block = groups.min(tables_of_block(table_bytes(params, params.gammas[0])) as u64);
        let tables = count(&[block, held_table_bytes(params, params.gammas[0])]);
        ("first packing tables of a block and all masks", tables + count(&[groups, poly]))
    } else {
        ("first packing tables", all_first)
    };
    let second_columns = if layout.selects_whole { 0 } else { layout.copies * layout.mask_digits };
    let second_hints = count(&[second_columns as u64, poly]);
    let key_masks = layout.key_gammas(params).len() as u64 * params.packed.length() as u64 * poly;
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
    let kept = server.iter().fold(0u64, |sum, table| sum.saturating_add(table.bytes));
    // The first hints are polynomials made one by one beside others that are freed, whose places the allocator fills only in part: three
    // sixteenths of them stay empty (measured from 7 to 98 MiB of hints).
    let holes = count(&[3, layout.columns() as u64, poly]) / 16;
    // While a table is made, or a ciphertext packed without one: sums of the masks' images; of the first layer also the ring masks.
    let working =
        |i: usize| params.packed.packing_bytes(&params.rlwe, (Method::Inspiring, params.gammas[i]), params.gammas[i]);
    let second = if layout.selects_whole { 0 } else { working(1) };
    let first = params.gammas[0] as u64 * poly + working(0);
    let second = second.max(first);
    let encoding = 2 * 32 * layout.columns() as u64;
    let each = 2 * key_bytes(params, layout)
        + 3 * layout.query_bytes(params) as u64
        + ring::ResidueVector::stored_bytes_for(layout.rows, 2)
        + if layout.selects_whole {
            Selector::bytes(&params.rlwe, layout.degree)
        } else {
            ring::ResidueVector::stored_bytes_for(layout.degree, 2)
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
    MemoryMap {
        server,
        client: vec![TableBytes::new("seed", SEED_BYTES as u64), TableBytes::new("packing key masks", key_masks)],
        peak_bytes: kept
            .saturating_add(second.max(encoding).max(online))
            .saturating_add(holes + key_masks + PROCESS_BYTES),
    }
}

fn operation_counts(
    params: &Params,
    layout: &Layout,
    workload: &Workload,
) -> serde_json::Map<String, serde_json::Value> {
    let (queries, updates) = (workload.queries, workload.updates);
    let (columns, groups, copies) = (layout.columns() as u64, layout.groups() as u64, layout.copies as u64);
    let degree = layout.ring_degree as u64;
    let first_blocks = (layout.rows as u64).div_ceil(degree);
    let second_blocks = (layout.second_entries() as u64).div_ceil(degree);
    let length = params.packed.length() as u64;
    let [gamma0, gamma1, gamma2] = params.gammas.map(|gamma| gamma as u64);
    let (mask_digits, body_digits) = (layout.mask_digits as u64, layout.body_digits as u64);
    let [mask_outputs, body_outputs] = layout.outputs(params).map(|outputs| outputs as u64);
    let making =
        |gamma: u64, tables: u64| making_tables(&params.rlwe, &params.packed, (Method::Inspiring, gamma), tables);
    let [first_tables, second_tables] = all_tables(params, layout);
    let [touched, copies_touched] = touched(layout, workload);
    let entries = workload.shape.record_bits.div_ceil(layout.entry_bits.into()) + 1;
    let changed = count(&[updates, entries]);
    // Masks of the first layer switched and cut into digits, each written where its column is.
    let digits_of = |masks: u64| {
        operations(json!({ "hint_words": count(&[masks, degree]), "scattered_entries": count(&[masks, mask_digits]) }))
    };
    let stored = count(&[layout.rows as u64, columns]);
    let transform = ntt(degree);
    let primes = params.rlwe.primes().len() as u64;
    let parse = json!({
        "words_read": count(&[
            queries,
            primes,
            (layout.rows + layout.second_entries()) as u64 + layout.key_gammas(params).len() as u64 * length * degree,
        ]),
    });
    let first_product = json!({
        "multiply_adds_u16": count(&[2, queries, layout.rows as u64, columns]),
        "bytes_read": layout.first_stored_bytes(),
    });
    let first_packing = json!({
        "table_bytes": table_bytes_read(first_tables, queries),
        "table_multiply_adds": table_products(first_tables, queries),
    });
    // Of each table the body goes back to coefficients after its table was read, and the gamma_0 that it holds to q1; with small
    // gammas these are many, so that they are no part of what overlaps. Timed with the packing.
    let first_bodies = json!({
        (&transform): count(&[queries, primes, groups]),
        "coefficients_switched": count(&[queries, groups, gamma0]),
    });
    let pieces = layout.ciphertexts(params).len() as u64;
    let (second_layer, answer, update) = if layout.selects_whole {
        let digits = |masks: u64| json!({ "hint_words": count(&[masks, degree]) });
        let selection = json!({
            (&transform): count(&[queries, 2 * pieces, groups + 2 * copies]),
            "residue_multiply_adds": count(&[queries, 4 * pieces, groups, degree]),
            "digits": count(&[queries, groups, body_digits]),
            "coefficients_switched": count(&[queries, 2 * pieces, copies, degree]),
        });
        let answer = json!({
            "parse": parse,
            "first_product": first_product,
            "first_packing": first_packing,
            "first_bodies": first_bodies,
            "selection": selection,
        });
        (digits(groups), answer, digits(touched))
    } else {
        let (rows, columns) = (layout.degree as u64, copies * mask_digits);
        let second = together(digits_of(groups), making_hints(&params.rlwe, rows, columns));
        let second = json!(together(second, making(gamma1, copies * mask_outputs)));
        let online = count(&[copies * body_outputs, gamma2 - 1]);
        let online = params.packed.switches(&params.rlwe, Method::Inspiring, online);
        let answer = json!({
            "parse": parse,
            "first_product": first_product,
            "first_packing": first_packing,
            "first_bodies": first_bodies,
            "second_product": {
                "multiply_adds_u16": count(&[2, queries, layout.degree as u64, copies, mask_digits + body_digits]),
                "bytes_read": layout.second_stored_bytes(),
            },
            "mask_packing": {
                "table_bytes": table_bytes_read(second_tables, queries),
                "table_multiply_adds": table_products(second_tables, queries),
                (&transform): count(&[queries, 2 * copies * mask_outputs]),
            },
            "body_packing": {
                (&transform): count(&[queries, 2 * copies * body_digits * second_blocks + online.transforms]),
                "digits": count(&[queries, online.digits]),
                "residue_multiply_adds": count(&[queries, online.multiply_adds]),
                "automorphism_slots": count(&[queries, online.moved_slots]),
                "coefficients_switched": count(&[queries, copies, mask_outputs + body_outputs, 2 * degree]),
            },
        });
        let masks = count(&[touched, mask_digits]);
        let hints = updating_hints(&params.rlwe, (masks, touched), rows, copies_touched);
        let hints = if hints.contains_key("widened_entries") {
            making_hints(&params.rlwe, rows, copies_touched * mask_digits)
        } else {
            hints
        };
        let update = together(together(digits_of(touched), hints), making(gamma1, copies_touched * mask_outputs));
        let update = json!(update);
        (second, answer, update)
    };
    operations(json!({
    "encode": {
            "prg_bytes": workload.shape.database_bytes(),
            "cut_entries": stored,
            "column_entries": stored,
        },
        "hint": making_hints(&params.rlwe, layout.rows as u64, columns),
        "packing_tables": making(gamma0, groups),
        "second_layer": second_layer,
        "query": {
            (&transform): count(&[queries, 2 * (first_blocks + second_blocks)
                + 4 * layout.key_gammas(params).len() as u64 * length]),
            "gaussian_samples": count(&[queries, (layout.rows + layout.second_entries()) as u64
                + layout.key_gammas(params).len() as u64 * length * degree]),
        },
        "answer": answer,
        "extract": { (&transform): count(&[queries, copies, 4 * (pieces + 1)]) },
        "update_first_layer": together(
            together(operations(json!({ "scattered_entries": changed })), making(gamma0, touched)),
            updating_hints(&params.rlwe, (changed, changed), layout.rows as u64, count(&[touched, gamma0])),
        ),
        "update_second_layer": update,
    }))
}
