//! Spiral's layout, bytes, memory, operations and RLWE instances.

use lattice::SplitKey;
use ring::{Kernel, Kind, RingShape, Work};

use super::engine::Engine;
use super::keys::{ServerKeys, key_bytes};
use super::query::{ciphertexts, query_bytes};
use super::set::{Set, Variant};
use crate::core::plan::{Plan, count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, LweInstance, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::folding::{
    BATCH, FoldingNumbers, LEAVES_AT_A_TIME, Matrix, folding_work, matrix_shape, of_ciphertexts, product_work,
    small_pages,
};

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let engine = &Engine::new(params, workload.shape, Kernel::Scalar)?;
    let queries = workload.queries;
    let mut sizes = Sizes::of(&Numbers::new(engine));
    let keys = key_bytes(engine) as u64;
    let formula = match params.variant {
        Variant::Base => "8 + 24 keys + (g t_leaf + (stop + 1) t_row + (2 n + n^2) t_conv) N log2(q) / 8",
        Variant::Pack => "8 + 24 keys + (g t_leaf + (stop + 1) t_row + (2 + n^2) t_conv) N log2(q) / 8",
        Variant::Stream => "8 + 24 keys + (2 n + n^2) t_conv N log2(q) / 8",
        Variant::StreamPack => "8 + 24 keys + n^2 t_conv N log2(q) / 8",
    };
    sizes.message("keys", Direction::Upload, "offline", keys, formula, None);
    let query = query_bytes(engine) as u64;
    let formula = match params.variant {
        Variant::Base | Variant::Pack => "k (16 + N log2(q) / 8)",
        Variant::Stream => "k (16 + (rows + t_GSW v2) N log2(q) / 8)",
        Variant::StreamPack => "k (16 + (rows + 2 t_GSW v2) N log2(q) / 8)",
    };
    sizes.message("query", Direction::Upload, "query", count(&[queries, query]), formula, Some(queries));
    let answer = params.answer_bytes(&engine.layout) as u64;
    let formula = "k T (n N log2(q2) + n^2 N log2(4 p)) / 8";
    sizes.message("answer", Direction::Download, "answer", count(&[queries, answer]), formula, Some(queries));
    sizes.memory = memory(engine, workload, [keys, query, answer]);
    sizes.operations = operations(engine, workload);
    sizes.instances = instances(engine);
    Ok(sizes)
}

numbers! {
    /// Bases of the digits of each step; 1 where queries are not expanded.
    pub struct Bases(params: &Set) {
        selector: u64 = params.bases.selector,
        conversion: u64 = params.bases.conversion,
        leaf_expansion: u64 = params.expansion.map_or(1, |bases| bases.leaf),
        selector_expansion: u64 = params.expansion.map_or(1, |bases| bases.selector),
    }
}

numbers! {
    /// Spiral's layout.
    pub struct Numbers(engine: &Engine) {
        #[serde(flatten)]
        folding: FoldingNumbers = folding(engine),
        ring_modulus: u64 = engine.params.rlwe.modulus(),
        matrix_modulus: u64 = engine.params.rlwe.primes()[..engine.params.matrix_primes].iter().product(),
        mask_modulus: u64 = engine.params.switch.mask_modulus,
        body_modulus: u64 = engine.params.switch.body_modulus,
        vector_length: usize = engine.params.vector_length,
        leaf_depth: u32 = if engine.params.variant.expands() { engine.places.leaf_depth } else { 0 },
        selector_depth: u32 = if engine.params.variant.expands() { engine.places.row_depth } else { 0 },
        variant: Variant = engine.params.variant,
        bases: Bases = Bases::new(&engine.params),
    }
}

fn folding(engine: &Engine) -> FoldingNumbers {
    let (layout, primes) = (&engine.layout, engine.params.matrix_primes);
    let (stored, information) = (layout.stored_bytes(primes), layout.shape.database_bytes());
    FoldingNumbers::new(layout, primes, stored, information, stored as f64 / information as f64)
}

/// Memory, with the lengths of the messages.
fn memory(engine: &Engine, workload: &Workload, [key_message, query, answer]: [u64; 3]) -> MemoryMap {
    let (params, layout, queries) = (&engine.params, &engine.layout, workload.queries);
    let length = params.vector_length as u64;
    let (poly, stored) = (params.rlwe.poly_bytes(), layout.stored_bytes(params.matrix_primes));
    let keys = ServerKeys::memory_bytes(engine);
    let database = if workload.streamed { 0 } else { stored };
    let server = vec![TableBytes::new("database", database), TableBytes::new("keys", keys)];
    let group = queries.min(BATCH as u64);
    let matrix_poly = matrix_shape(params.rlwe.shape(), params.matrix_primes).poly_bytes();
    let rows = layout.matrix_rows() as u64;
    // Polynomials of a ciphertext of a column, and of the pairs of which it is made.
    let (polys, paired) = if params.variant.packs() { (2, 2) } else { (1 + length, (1 + length).next_multiple_of(2)) };
    // Columns that are multiplied at a time, and those of a block that is made while it is streamed.
    let columns = Matrix::columns_together(layout, params.matrix_primes, workload.streamed) as u64;
    let block = if workload.streamed {
        let columns = Matrix::columns_of_blocks(layout, params.matrix_primes) as u64;
        count(&[columns, stored / layout.matrix_columns() as u64])
    } else {
        0
    };
    let selectors = u64::from(layout.column_bits) * polys * polys * engine.selector.length() as u64 * poly;
    // Queries in the server's form wait for their turn.
    let parsed = 2 * ciphertexts(engine) as u64 * poly;
    // Leaves: those of the tree that wait and the few that are written into the vector; then the vectors, the columns as products and
    // as ciphertexts, and a folded ciphertext that waits on each level.
    let leaves = 2 * (u64::from(engine.places.leaf_depth) + LEAVES_AT_A_TIME as u64) * (poly + matrix_poly);
    let vectors = group * rows * paired * matrix_poly;
    let waiting = layout.parts as u64 + u64::from(layout.column_bits);
    let products = group * (columns * paired * (matrix_poly + poly) + waiting * polys * poly);
    let items = count(&[queries, params.vectors(layout) as u64, (1 + length) * poly]);
    let online = count(&[queries, 2 * query + parsed])
        .saturating_add(group * selectors)
        .saturating_add(vectors + leaves.max(products + block))
        .saturating_add(items)
        .saturating_add(count(&[2, queries, answer]));
    // The message as it was made and on the wire.
    let exchange = 2 * key_message;
    let secrets = (1 + length) * 3 * poly;
    MemoryMap {
        server,
        client: vec![TableBytes::new("secrets", secrets)],
        peak_bytes: (database + keys).saturating_add(online.max(exchange)).saturating_add(secrets + PROCESS_BYTES),
    }
}

/// Work by phase and step.
fn operations(engine: &Engine, workload: &Workload) -> serde_json::Map<String, serde_json::Value> {
    let (params, layout, queries) = (&engine.params, &engine.layout, workload.queries);
    let ring = params.rlwe.shape();
    let matrix = matrix_shape(ring, params.matrix_primes);
    let each = |polynomials: u64| ring.transforms(count(&[queries, polynomials]));
    let cells = count(&[layout.matrix_rows() as u64, layout.matrix_columns() as u64]);
    let written = Work::of(Kind::BytesWritten, &[layout.shape.database_bytes()]);
    let touched = count(&[workload.updates, layout.polynomials() as u64]);
    let bodies = count(&[queries, layout.slots as u64]);
    // Ciphertexts of a query, of which those of a packed one are transformed back.
    let sent = ciphertexts(engine) as u64;
    let words = count(&[queries, sent, ring.degree as u64, ring.primes as u64]);
    let unpacked = if params.variant.expands() { 2 } else { 0 };
    let mut plan = Plan::default();
    plan.kept("encode", workload.streamed, matrix.transforms(cells) + written);
    plan.phase("query", each(2 * sent) + Work::of(Kind::GaussianSamples, &[queries, sent, ring.degree as u64]));
    plan.step("answer", "parse", each(unpacked) + Work::of(Kind::WordsRead, &[words]));
    for (step, work) in steps(engine, ring, matrix, workload) {
        plan.step("answer", step, work);
    }
    plan.phase("extract", SplitKey::work(ring.degree, params.switch.mask_modulus) * bodies);
    plan.phase("update_server", matrix.transforms(count(&[2, touched])));
    plan.operations()
}

/// The steps of an answer after its request was parsed.
fn steps(engine: &Engine, ring: RingShape, matrix: RingShape, workload: &Workload) -> Vec<(&'static str, Work)> {
    let (params, layout, queries) = (&engine.params, &engine.layout, workload.queries);
    let (vectors, length) = (params.vectors(layout) as u64, params.vector_length);
    let passes = (queries.div_ceil(BATCH as u64), layout.stored_bytes(params.matrix_primes));
    let (conversion, selector) = (engine.conversion.shape(), engine.selector.shape());
    let of_ciphertexts = |work: Work| of_ciphertexts(ring, work * queries);
    let mut steps = vec![
        ("leaves", of_ciphertexts(leaves_work(engine, ring, matrix))),
        ("selectors", of_ciphertexts(selectors_work(engine, ring))),
    ];
    let (product, folding) = if params.variant.packs() {
        (product_work(layout, matrix, queries, passes), folding_work(layout, selector.cmux_work()))
    } else {
        // Mask and bodies in pairs, each of which is multiplied as a vector of its own.
        let pairs = count(&[queries, (1 + length as u64).div_ceil(2)]);
        (product_work(layout, matrix, pairs, passes), folding_work(layout, selector.vector_cmux_work(length)))
    };
    steps.extend([("first_dimension", product), ("folding", of_ciphertexts(folding))]);
    if params.variant.packs() {
        let key_bytes = (length * (1 + length) * conversion.length) as u64 * params.rlwe.poly_bytes();
        let packing = conversion.pack_vector_work(length, length) * vectors + Work::of(Kind::KeyBytes, &[key_bytes]);
        steps.push(("packing", of_ciphertexts(packing)));
    }
    let switched = count(&[queries, vectors, (1 + length) as u64, ring.degree as u64]);
    steps.push(("response", Work::of(Kind::CoefficientsSwitched, &[switched])));
    steps
}

/// The work of making the vectors that select a row.
fn leaves_work(engine: &Engine, ring: RingShape, matrix: RingShape) -> Work {
    let (params, layout, length) = (&engine.params, &engine.layout, engine.params.vector_length);
    let rows = layout.rows as u64;
    let (narrow, packs, paired) = (matrix != ring, params.variant.packs(), (1 + length).next_multiple_of(2) as u64);
    let expanded = engine.trees().next().map(|(gadget, depth)| {
        gadget.shape().coefficient_tree_work(&engine.places.leaves, depth)
            + Work::of(Kind::KeyBytes, &[u64::from(depth), gadget.length() as u64, 2 * params.rlwe.poly_bytes()])
    });
    let made = match (expanded, packs) {
        (Some(expanded), true) => expanded + matrix.transforms(2 * rows) + matrix.moves(2 * rows),
        // Leaves that are sent are switched to fewer primes in the coefficient domain.
        (None, true) if narrow => ring.transforms(2 * rows) + matrix.transforms(2 * rows) + matrix.moves(2 * rows),
        (None, true) => matrix.moves(2 * rows),
        (expanded, false) => {
            let back = ring.transforms(2 * rows);
            let narrowed = if narrow { ring.transforms(1) + matrix.transforms(1) } else { Work::default() };
            expanded.unwrap_or(back)
                + engine.conversion.shape().spread_work(length) * rows
                + (narrowed + matrix.moves(1)) * (layout.matrix_rows() as u64 * paired)
        }
    };
    made + Work::of(Kind::AllocatedBytes, &[small_pages(layout, matrix)])
}

/// The work of making selectors of their rows.
fn selectors_work(engine: &Engine, ring: RingShape) -> Work {
    if !engine.converts() {
        return Work::of(Kind::KeyBytes, &[0]);
    }
    let (conversion, length) = (engine.conversion.shape(), engine.params.vector_length);
    let (rows, poly) = (engine.places.rows.len() as u64, engine.params.rlwe.poly_bytes());
    let tree = engine.trees().nth(1).map(|(gadget, depth)| {
        gadget.shape().coefficient_tree_work(&engine.places.rows, depth)
            + Work::of(Kind::KeyBytes, &[u64::from(depth), gadget.length() as u64, 2 * poly])
    });
    let (converted, key_polys) = if engine.params.variant.packs() {
        (conversion.external_product_work() + ring.transforms(4), 4)
    } else {
        (conversion.vector_product_ntt_work(2, length) + conversion.spread_work(length), 2 * (1 + length))
    };
    tree.unwrap_or_else(|| ring.transforms(2 * rows))
        + converted * rows
        + Work::of(Kind::KeyBytes, &[(key_polys * conversion.length) as u64, poly])
}

fn instances(engine: &Engine) -> Vec<LweInstance> {
    // Beside the keys of the expansion and of the conversion, every query is encrypted under the main secret.
    let rlwe = &engine.params.rlwe;
    let main = rlwe.instance("queries_and_keys", None, "every record asked for under the key");
    // Each body has its own secret; encryptions for each place of a vector, and those that convert rows to vectors, have a body under it.
    let vectors = engine.params.vector_length + if engine.converts() && !engine.params.variant.packs() { 2 } else { 0 };
    let samples = (rlwe.degree * vectors * engine.conversion.length()) as u64;
    vec![main, rlwe.instance("packing_keys", Some(samples), "the secret of queries")]
}
