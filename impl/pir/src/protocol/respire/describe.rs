//! Respire's layout, bytes, memory, operations and RLWE instances.

use lattice::convert::Extraction;
use lattice::{GadgetShape, SplitKey, SplitRlwe};
use ring::{Kernel, Kind, RingShape, Work};

use super::engine::{Engine, coefficients};
use super::keys::{ServerKeys, key_bytes};
use super::query::query_bytes;
use super::set::{Set, Steps};
use crate::core::plan::{Plan, count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, LweInstance, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::buckets::Buckets;
use crate::parts::folding::{
    BATCH, FoldingNumbers, LEAVES_AT_A_TIME, Layout, Matrix, folding_work, matrix_shape, of_ciphertexts, positions,
    product_work, small_pages,
};

/// The input of a description.
pub struct Load<'a> {
    workload: &'a Workload,
    buckets: &'a Buckets,
    /// The layout of a bucket.
    layout: &'a Layout,
    /// Number of queries to all buckets together.
    queries: u64,
}

impl Load<'_> {
    /// Bytes of all buckets.
    fn stored_bytes(&self, params: &Set) -> u64 {
        count(&[self.buckets.count() as u64, self.layout.stored_bytes(params.matrix_primes)])
    }

    fn folding(&self, params: &Set) -> FoldingNumbers {
        let (stored, information) = (self.stored_bytes(params), self.workload.shape.database_bytes());
        FoldingNumbers::new(self.layout, params.matrix_primes, stored, information, stored as f64 / information as f64)
    }

    /// Queries to each bucket.
    fn rounds(&self) -> u64 {
        self.queries / self.buckets.count() as u64
    }
}

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let buckets = params.buckets(workload.shape)?;
    let layout = params.layout(buckets.each)?;
    let records = workload.queries;
    let all = Load { workload, buckets: &buckets, layout: &layout, queries: buckets.queries(records)? };
    let mut sizes = Sizes::of(&Numbers::new(params, &all));
    let formula = "8 + 24 (2 log2(d1) + 1 + n^2 + n) + (log2(d1) (t_leaf + t_sel) + 2 t_conv + n^2 t_vec) d1 log2(q1) / 8 \
                   + n t_resp d1 log2(q2) / 8";
    let keys = key_bytes(&Engine::new(params, Kernel::Scalar)?) as u64;
    buckets.describe(&mut sizes);
    sizes.message("keys", Direction::Upload, "offline", keys, formula, None);
    let bytes = query_bytes(&layout, params.rlwe.primes(), params.lengths().selector as usize) as u64;
    let formula = "k (16 + (rows + t_GSW (v2 + v3)) log2(q1) / 8), k = buckets a batch";
    sizes.message("query", Direction::Upload, "query", count(&[all.queries, bytes]), formula, Some(records));
    let slots = count(&[all.queries, layout.slots as u64]);
    let answer = params.response_bytes(usize::try_from(slots).unwrap_or(usize::MAX)) as u64;
    let formula = "d2 (masks log2(q2) + bodies log2(q3)) / 8";
    sizes.message("answer", Direction::Download, "answer", answer, formula, Some(records));
    sizes.memory = memory(params, &all, [keys, bytes, answer]);
    sizes.operations = operations_of(params, &all);
    sizes.instances = instances(params);
    Ok(sizes)
}

numbers! {
    /// Bases of the digits of each step.
    pub struct Bases(params: &Set) {
        selector: u64 = params.bases.selector,
        leaf_expansion: u64 = params.bases.leaf_expansion,
        selector_expansion: u64 = params.bases.selector_expansion,
        conversion: u64 = params.bases.conversion,
        vector: u64 = params.bases.vector,
        response: u64 = params.response.base,
    }
}

numbers! {
    /// Respire's layout: of a bucket, and of the bytes of all.
    pub struct Numbers(params: &Set, load: &Load) {
        #[serde(flatten)]
        folding: FoldingNumbers = load.folding(params),
        buckets: u32 = params.batch.buckets,
        copies: u32 = params.batch.copies,
        batch_queries: u32 = params.batch.queries,
        queries: u64 = load.queries,
        ring_modulus: u64 = params.rlwe.modulus(),
        matrix_modulus: u64 = params.rlwe.primes()[..params.matrix_primes].iter().product(),
        mask_modulus: u64 = params.response.mask_modulus,
        body_modulus: u64 = params.response.body_modulus,
        answer_degree: usize = params.response.degree,
        slots_per_body: usize = params.slots_per_body(),
        vector_length: usize = params.vector.length,
        bases: Bases = Bases::new(params),
    }
}

/// Memory, with the lengths of the messages.
fn memory(params: &Set, load: &Load, [key_message, query, answer]: [u64; 3]) -> MemoryMap {
    let Load { workload, layout, queries, .. } = *load;
    let poly = params.rlwe.poly_bytes();
    let stored = load.stored_bytes(params);
    let keys = ServerKeys::memory_bytes(params);
    let database = if workload.streamed { 0 } else { stored };
    let server = vec![TableBytes::new("database", database), TableBytes::new("keys", keys)];
    let group = load.rounds().min(BATCH as u64);
    let matrix_poly = 4 * (params.rlwe.degree * params.matrix_primes) as u64;
    let rows = layout.rows as u64;
    // Columns that are built at a time, with their buffers: all columns if the matrix is in memory.
    let (columns, block) = if workload.streamed {
        let columns = Matrix::columns_of_blocks(layout, params.matrix_primes);
        (columns as u64, columns as u64 * layout.stored_bytes(params.matrix_primes) / layout.matrix_columns() as u64)
    } else {
        (layout.matrix_columns() as u64, 0)
    };
    let selectors = u64::from(layout.column_bits + layout.position_bits) * 4 * params.lengths().selector * poly;
    // Leaves: those of the tree that wait and the few that are written into the vector; then the vectors, the columns as products and
    // as ciphertexts, and a folded ciphertext that waits on each level.
    let levels = u64::from(params.rlwe.degree.ilog2());
    let leaves = 2 * (levels + LEAVES_AT_A_TIME as u64) * (poly + matrix_poly);
    let vectors = group * rows * 2 * matrix_poly;
    let waiting = layout.parts as u64 + u64::from(layout.column_bits);
    let products = group * 2 * (columns * (matrix_poly + poly) + waiting * poly);
    // Slots when projected, and in the order of the request.
    let slots = count(&[queries, layout.slots as u64, 4 * poly]);
    let online = count(&[queries, 2 * query + 4 * poly])
        .saturating_add(group * selectors)
        .saturating_add(vectors + leaves.max(products + block))
        .saturating_add(slots)
        .saturating_add(2 * answer);
    // The message as it was made and on the wire.
    let exchange = 2 * key_message;
    let secrets = (1 + params.vector.length as u64) * 3 * poly;
    MemoryMap {
        server,
        client: vec![TableBytes::new("secrets", secrets)],
        peak_bytes: (database + keys).saturating_add(online.max(exchange)).saturating_add(secrets + PROCESS_BYTES),
    }
}

/// Work by phase and step.
fn operations_of(params: &Set, load: &Load) -> serde_json::Map<String, serde_json::Value> {
    let Load { workload, buckets, layout, queries } = *load;
    let (ring, matrix) = (params.rlwe.shape(), matrix_shape(params.rlwe.shape(), params.matrix_primes));
    let each = |polynomials: u64| ring.transforms(count(&[queries, polynomials]));
    let cells = count(&[layout.rows as u64, layout.matrix_columns() as u64]);
    let whole_buckets = buckets.count() as u64;
    let touched = count(&[workload.updates, u64::from(params.batch.copies), layout.parts as u64]);
    let elements = count(&[queries, layout.slots as u64]).div_ceil(params.slots_per_body() as u64);
    let words = coefficients(layout, params.lengths().selector as usize).iter().sum::<usize>() as u64;
    let mut plan = Plan::default();
    plan.kept(
        "encode",
        workload.streamed,
        matrix.transforms(count(&[whole_buckets, cells]))
            + Work::of(Kind::BytesWritten, &[whole_buckets, layout.shape.database_bytes()]),
    );
    plan.phase("query", each(6) + Work::of(Kind::GaussianSamples, &[queries, 2 * ring.degree as u64]));
    plan.step("answer", "parse", each(2) + Work::of(Kind::WordsRead, &[queries, words, ring.primes as u64]));
    for (step, work) in steps_work(params, load, elements) {
        plan.step("answer", step, work);
    }
    plan.phase("extract", SplitKey::work(params.response.degree, params.response.mask_modulus) * elements);
    plan.phase("update_server", matrix.transforms(count(&[2, touched])));
    plan.operations()
}

/// The steps of an answer after its request was parsed; `elements` is the number of bodies of all responses.
fn steps_work(params: &Set, load: &Load, elements: u64) -> [(&'static str, Work); 7] {
    let Load { layout, queries, .. } = *load;
    let (bases, lengths) = (&params.bases, &params.lengths());
    let (ring, matrix) = (params.rlwe.shape(), matrix_shape(params.rlwe.shape(), params.matrix_primes));
    let gadget = |base: u64, length: u64| GadgetShape { ring, base, length: length as usize };
    let degree = ring.degree;
    let [leaves, rows] = coefficients(layout, lengths.selector as usize).map(|count| positions(degree.ilog2(), count));
    let leaf_expansion = gadget(bases.leaf_expansion, lengths.leaf_expansion);
    let selector_expansion = gadget(bases.selector_expansion, lengths.selector_expansion);
    let conversion = gadget(bases.conversion, lengths.conversion);
    let vector = gadget(bases.vector, lengths.vector);
    let response = GadgetShape {
        ring: RingShape { primes: 1, ..ring },
        base: params.response.base,
        length: params.response_length() as usize,
    };
    let selector = gadget(bases.selector, lengths.selector);
    let rotation = selector.cmux_work() * layout.parts as u64 * u64::from(layout.position_bits);
    let vectors = elements.min(params.vector.length as u64);
    let [leaf_keys, selector_keys, response_keys] = key_bytes_read(params, rows.is_empty());
    let groups = load.rounds().div_ceil(BATCH as u64);
    let of_ciphertexts = |work: Work| of_ciphertexts(ring, work);
    let expanded = leaf_expansion.coefficients_work(&leaves, Extraction::Tree)
        + matrix.transforms(2 * layout.rows as u64)
        + matrix.moves(2 * layout.rows as u64)
        + [(Kind::KeyBytes, leaf_keys), (Kind::AllocatedBytes, small_pages(layout, matrix))].into();
    let selectors = selector_expansion.coefficients_work(&rows, Extraction::Tree)
        + (conversion.external_product_work() + ring.transforms(4)) * rows.len() as u64
        + Work::of(Kind::KeyBytes, &[selector_keys]);
    let product = product_work(layout, matrix, queries, (groups, load.stored_bytes(params)));
    let projection = selector_expansion.trace_work(layout.dimensions.response_degree) * layout.slots as u64;
    let responses = (vector.key_switch_work() * vectors
        + SplitRlwe::switch_work(degree)
        + response.key_switch_work()
        + SplitRlwe::switch_work(params.response.degree))
        * elements
        + Work::of(Kind::KeyBytes, &[response_keys]);
    [
        ("leaves", of_ciphertexts(expanded * queries)),
        ("selectors", of_ciphertexts(selectors * queries)),
        ("first_dimension", product),
        ("folding", of_ciphertexts(folding_work(layout, selector.cmux_work()) * queries)),
        ("rotation", of_ciphertexts(rotation * queries)),
        ("projection", of_ciphertexts(projection * queries)),
        ("response", of_ciphertexts(responses)),
    ]
}

/// Bytes of keys in memory, mask and body modulo every prime, for which the first step that uses them waits: those of the expansion of
/// leaves, of the expansion of selectors with their conversion, and of responses.
fn key_bytes_read(params: &Set, has_no_selectors: bool) -> [u64; 3] {
    let Steps { selector: _, leaf_expansion, selector_expansion, conversion, vector } = params.lengths();
    let response = params.response_length();
    let row = 2 * params.rlwe.poly_bytes();
    let levels = u64::from(params.rlwe.degree.ilog2());
    let width = params.vector.length as u64;
    let selectors = if has_no_selectors { 0 } else { (levels * selector_expansion + 2 * conversion) * row };
    let responses = width * width * vector * row + width * response * 2 * 4 * params.rlwe.degree as u64;
    [levels * leaf_expansion * row, selectors, responses]
}

fn instances(params: &Set) -> Vec<LweInstance> {
    // Beside the keys of the expansions and of the conversion, every query is encrypted under the main secret.
    let n = params.rlwe.degree as u64;
    let main = params.rlwe.instance("queries_and_keys", None, "every record asked for under the key");
    let vector_length = params.vector.length as u64;
    let own = LweInstance {
        name: "vector_keys".into(),
        secret: params.vector.secret,
        error_stddev: params.vector.error.stddev().0,
        samples: Some(n * vector_length * params.lengths().vector),
        protects: "the secret of queries".into(),
        ..main.clone()
    };
    let q2 = params.response.mask_modulus;
    let responses = LweInstance {
        name: "response_keys".into(),
        dimension: params.response.degree as u64,
        modulus: q2.to_string(),
        log2_modulus: (q2 as f64).log2(),
        secret: params.response.secret,
        error_stddev: params.response.error.stddev().0,
        samples: Some(n * params.response_length()),
        protects: "the secret of a vector's bodies".into(),
        ..main.clone()
    };
    vec![main, own, responses]
}
