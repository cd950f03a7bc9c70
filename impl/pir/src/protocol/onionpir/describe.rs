//! OnionPIR's layout, bytes, memory, operations and RLWE instances.

use lattice::convert::tree_work;
use ring::{Kernel, Kind, Work};

use super::engine::Engine;
use super::keys::{ServerKeys, key_bytes};
use super::set::{Further, Set};
use crate::core::plan::{Plan, count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::bfv::{AnswerKey, RingTable, answer_bytes, query_bytes};
use crate::parts::folding::{
    BATCH, FoldingNumbers, LEAVES_AT_A_TIME, Matrix, folding_work, of_ciphertexts, product_work, small_pages,
};
use crate::parts::ring_matrix::{Digits, Gadget, GadgetNumbers, product_text};

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let engine = &Engine::new(params, workload.shape, Kernel::Scalar)?;
    let queries = workload.queries;
    let mut sizes = Sizes::of(&Numbers::new(engine));
    let keys = key_bytes(engine) as u64;
    let formula = "8 + 24 (h + 1) + (h t_auto log2(q P) + 2 t_conv log2(q)) N / 8";
    sizes.message("keys", Direction::Upload, "offline", keys, formula, None);
    let query = query_bytes(&params.ring, 1) as u64;
    sizes.message(
        "query",
        Direction::Upload,
        "query",
        count(&[queries, query]),
        "k (16 + N log2(q) / 8)",
        Some(queries),
    );
    let answer = (engine.layout.parts * answer_bytes(&params.ring, params.switch)) as u64;
    let formula = "k T N (log2(q_a) + log2(q_b)) / 8";
    sizes.message("answer", Direction::Download, "answer", count(&[queries, answer]), formula, Some(queries));
    sizes.memory = memory(engine, workload, [keys, query, answer]);
    sizes.operations = operations(engine, workload);
    sizes.instances = params.ring.instances(u64::from(engine.depth) * engine.switch.rows() as u64);
    Ok(sizes)
}

numbers! {
    /// OnionPIR's layout.
    pub struct Numbers(engine: &Engine) {
        #[serde(flatten)]
        folding: FoldingNumbers = folding(engine),
        plain_digits: usize = engine.params.plain_digits,
        message_modulus: u64 = 1u64 << engine.params.message_bits(),
        matrix_modulus: String = product_text(engine.params.ring.primes()),
        further: Further = engine.params.further,
        dimensions: usize = 1 + engine.widths.len(),
        /// Products with RGSW ciphertexts between a selected column and the answer.
        products: usize = products(engine),
        expansion_depth: u32 = engine.depth,
        automorphism_gadget: GadgetNumbers = GadgetNumbers::new(
            Gadget { base_log2: engine.params.ring.digit_bits, dropped: 0, digits: Digits::Balanced },
            engine.switch.rows(),
        ),
        #[serde(skip_serializing_if = "Option::is_none")]
        special_modulus: Option<String> =
            Some(product_text(engine.params.ring.special_primes())).filter(|text| !text.is_empty()),
        selector_gadget: GadgetNumbers = GadgetNumbers::new(engine.params.gadgets.selector, engine.selector.length()),
        conversion_gadget: GadgetNumbers = GadgetNumbers::new(engine.params.gadgets.conversion, engine.conversion.length()),
        #[serde(skip_serializing_if = "Option::is_none")]
        mask_modulus: Option<u64> = engine.params.switch.map(|switch| switch.mask_modulus),
        #[serde(skip_serializing_if = "Option::is_none")]
        body_modulus: Option<u64> = engine.params.switch.map(|switch| switch.body_modulus),
    }
}

fn products(engine: &Engine) -> usize {
    engine.widths.iter().map(|&width| engine.params.selectors_of(width)).sum()
}

fn folding(engine: &Engine) -> FoldingNumbers {
    let (layout, primes) = (&engine.layout, engine.ring.primes().len());
    let (stored, information) = (layout.stored_bytes(primes), layout.shape.database_bytes());
    FoldingNumbers::new(layout, primes, stored, information, stored as f64 / information as f64)
}

/// Memory, with the lengths of the messages.
fn memory(engine: &Engine, workload: &Workload, [key_message, query, answer]: [u64; 3]) -> MemoryMap {
    let (layout, queries, ring) = (&engine.layout, workload.queries, engine.params.ring.shape());
    let (poly, stored) = (ring.poly_bytes(), layout.stored_bytes(ring.primes));
    let keys = ServerKeys::memory_bytes(engine);
    let database = if workload.streamed { 0 } else { stored };
    let group = queries.min(BATCH as u64);
    // Columns that are multiplied at a time, and those of a block that is made while it is streamed.
    let columns = Matrix::columns_together(layout, ring.primes, workload.streamed) as u64;
    let block = if workload.streamed {
        let columns = Matrix::columns_of_blocks(layout, ring.primes) as u64;
        count(&[columns, stored / layout.matrix_columns() as u64])
    } else {
        0
    };
    let selectors = 4 * engine.places[1].len() as u64 * poly;
    // Leaves: those of the tree that wait and the few that are written into the vector, with the digits of one; then the vectors, the
    // columns as products and as ciphertexts, and folded ciphertexts that wait on each level.
    let leaves = 2 * (u64::from(engine.depth) + 2 * LEAVES_AT_A_TIME as u64) * poly;
    let vectors = 2 * group * layout.matrix_rows() as u64 * poly;
    let waiting = (layout.parts + engine.widths.iter().map(|width| 1 << width).sum::<usize>()) as u64;
    let products = group * (4 * columns + 2 * waiting) * poly;
    let items = count(&[queries, layout.parts as u64, 2 * poly]);
    let online = count(&[queries, 2 * query + 2 * poly])
        .saturating_add(group * selectors)
        .saturating_add(vectors + leaves.max(products + block))
        .saturating_add(items)
        .saturating_add(count(&[2, queries, answer]));
    // The message as it was made and on the wire.
    let exchange = 2 * key_message;
    let secrets = 4 * poly;
    MemoryMap {
        server: vec![TableBytes::new("database", database), TableBytes::new("keys", keys)],
        client: vec![TableBytes::new("secrets", secrets)],
        peak_bytes: (database + keys).saturating_add(online.max(exchange)).saturating_add(secrets + PROCESS_BYTES),
    }
}

/// Work by phase and step.
fn operations(engine: &Engine, workload: &Workload) -> serde_json::Map<String, serde_json::Value> {
    let (params, layout, queries) = (&engine.params, &engine.layout, workload.queries);
    let ring = params.ring.shape();
    let each = |polynomials: u64| ring.transforms(count(&[queries, polynomials]));
    let cells = count(&[layout.matrix_rows() as u64, layout.matrix_columns() as u64]);
    let written = Work::of(Kind::BytesWritten, &[layout.shape.database_bytes()]);
    let touched = count(&[workload.updates, layout.polynomials() as u64]);
    let (parts, switched) = (layout.parts as u64, params.switch.is_some());
    let passes = (queries.div_ceil(BATCH as u64), layout.stored_bytes(ring.primes));
    let of_queries = |work: Work| of_ciphertexts(ring, work * queries);
    let mut plan = Plan::default();
    plan.kept("encode", workload.streamed, ring.transforms(cells) + written);
    plan.phase("query", each(1) + Work::of(Kind::GaussianSamples, &[queries, ring.degree as u64]));
    let words = Work::of(Kind::WordsRead, &[queries, ring.degree as u64, ring.primes as u64]);
    plan.step("answer", "parse", each(2) + words);
    plan.step("answer", "leaves", of_queries(leaves_work(engine)));
    plan.step("answer", "selectors", of_queries(selectors_work(engine)));
    plan.step("answer", "first_dimension", product_work(layout, ring, queries, passes));
    plan.step("answer", "folding", of_queries(further_work(engine)));
    let coefficients = if switched { count(&[queries, parts, 2, ring.degree as u64]) } else { 0 };
    plan.step("answer", "response", Work::of(Kind::CoefficientsSwitched, &[coefficients]));
    plan.phase("extract", AnswerKey::work(ring, params.switch) * queries * parts);
    plan.phase("update_server", ring.transforms(count(&[2, touched])));
    plan.operations()
}

/// The work of a tree that ends at these coefficients, and the bytes of its keys.
fn expansion_work(engine: &Engine, places: &[usize]) -> Work {
    let switch = engine.switch.shape();
    let keys = u64::from(engine.depth) * engine.params.ring.key_bytes();
    tree_work(switch.ring, switch.level_work(), places, engine.depth) + Work::of(Kind::KeyBytes, &[keys])
}

/// The work of making the vector that selects a row.
fn leaves_work(engine: &Engine) -> Work {
    let (ring, rows) = (engine.params.ring.shape(), engine.layout.matrix_rows() as u64);
    expansion_work(engine, &engine.places[0])
        + ring.transforms(2 * rows)
        + ring.moves(2 * rows)
        + Work::of(Kind::AllocatedBytes, &[small_pages(&engine.layout, ring)])
}

/// The work of making selectors.
fn selectors_work(engine: &Engine) -> Work {
    let rows = engine.places[1].len() as u64;
    if rows == 0 {
        return Work::of(Kind::KeyBytes, &[0]);
    }
    let (ring, conversion) = (engine.params.ring.shape(), engine.conversion.shape());
    expansion_work(engine, &engine.places[1])
        + (conversion.external_product_work() + ring.transforms(4)) * rows
        + Work::of(Kind::KeyBytes, &[4 * conversion.length as u64, ring.poly_bytes()])
}

/// The work of selecting in the further dimensions of every part. Missing columns take no products with unit vectors.
fn further_work(engine: &Engine) -> Work {
    let (layout, selector) = (&engine.layout, engine.selector.shape());
    if engine.params.further == Further::Binary {
        return folding_work(layout, selector.cmux_work());
    }
    let mut left = layout.columns as u64;
    let mut number = 0;
    for width in engine.widths.iter().rev() {
        number += left;
        left = left.div_ceil(1 << width);
    }
    (selector.external_product_work() + engine.params.ring.shape().moves(2)) * number * layout.parts as u64
}
