//! Respire's layout, bytes, memory, operations and RLWE instances.

use lattice::convert::{Extraction, extraction_automorphisms};
use lattice::wire::{SEED_BYTES, residue_bits};
use ring::PolyPairs;
use serde_json::json;

use super::engine::{coefficients, positions};
use super::keys::ServerKeys;
use super::params::{Bases, Lengths, Params};
use super::query::{LEAVES_AT_A_TIME, query_bytes};
use super::server::BATCH;
use crate::core::description::{Direction, LweInstance, MemoryMap, TableBytes};
use crate::core::error::Result;
use crate::core::params::FINGERPRINT_BYTES;
use crate::core::runner::PROCESS_BYTES;
use crate::core::scheme::{Sizes, count, ntt, operations};
use crate::core::workload::Workload;
use crate::parts::buckets::Buckets;
use crate::parts::folding::{Layout, Matrix};

/// Bytes of a seed and a stream index before a key's bodies.
const ORIGIN_BYTES: u64 = SEED_BYTES as u64 + 8;

/// A vector that is shorter lies on small pages.
const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// What is asked of a set.
struct Load<'a> {
    workload: &'a Workload,
    buckets: &'a Buckets,
    /// Of a bucket.
    layout: &'a Layout,
    /// Queries to buckets, all together.
    queries: u64,
}

impl Load<'_> {
    /// Bytes of all buckets.
    fn stored_bytes(&self, params: &Params) -> u64 {
        count(&[self.buckets.count() as u64, self.layout.stored_bytes(params.matrix_primes)])
    }

    /// Queries to each bucket.
    fn rounds(&self) -> u64 {
        self.queries / self.buckets.count() as u64
    }
}

pub(super) fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
    let buckets = params.buckets(workload.shape)?;
    let layout = params.layout(buckets.each)?;
    let records = workload.queries;
    let all = Load { workload, buckets: &buckets, layout: &layout, queries: buckets.queries(records)? };
    let mut sizes = Sizes { layout: layout_numbers(params, &all), ..Sizes::default() };
    let formula = "8 + 24 (2 log2(d1) + 1 + n^2 + n) + (log2(d1) (t_leaf + t_sel) + 2 t_conv + n^2 t_vec) d1 log2(q1) / 8 \
                   + n t_resp d1 log2(q2) / 8";
    sizes.message("keys", Direction::Upload, "offline", key_bytes(params), formula, None);
    let bytes = query_bytes(&layout, params.rlwe.primes(), params.lengths.selector as usize) as u64;
    let formula = "k (16 + (rows + t_GSW (v2 + v3)) log2(q1) / 8), k = buckets a batch";
    sizes.message("query", Direction::Upload, "query", count(&[all.queries, bytes]), formula, Some(records));
    let slots = count(&[all.queries, layout.slots as u64]);
    let answer = params.response_bytes(usize::try_from(slots).unwrap_or(usize::MAX)) as u64;
    let formula = "d2 (masks log2(q2) + bodies log2(q3)) / 8";
    sizes.message("answer", Direction::Download, "answer", answer, formula, Some(records));
    sizes.memory = memory(params, &all, bytes, answer);
    sizes.operations = operation_counts(params, &all);
    sizes.instances = instances(params);
    Ok(sizes)
}

fn layout_numbers(params: &Params, load: &Load) -> serde_json::Map<String, serde_json::Value> {
    let (stored, information) = (load.stored_bytes(params), load.workload.shape.database_bytes());
    let Bases { selector, leaf_expansion, selector_expansion, conversion, vector } = params.bases;
    let mut numbers = load.layout.describe(params.matrix_primes);
    numbers.extend(operations(json!({
        "stored_bytes": stored,
        "information_bytes": information,
        "expansion": stored as f64 / information as f64,
        "buckets": params.batch.buckets,
        "copies": params.batch.copies,
        "batch_queries": params.batch.queries,
        "queries": load.queries,
        "ring_modulus": params.rlwe.modulus(),
        "matrix_modulus": params.rlwe.primes()[..params.matrix_primes].iter().product::<u64>(),
        "mask_modulus": params.response.mask_modulus,
        "body_modulus": params.response.body_modulus,
        "answer_degree": params.response.degree,
        "slots_per_body": params.slots_per_body(),
        "vector_length": params.vector_length,
        "bases": {
            "selector": selector,
            "leaf_expansion": leaf_expansion,
            "selector_expansion": selector_expansion,
            "conversion": conversion,
            "vector": vector,
            "response": params.response.base,
        },
    })));
    numbers
}

/// Exact bytes of the keys' message.
fn key_bytes(params: &Params) -> u64 {
    let Lengths { selector: _, leaf_expansion, selector_expansion, conversion, vector, response } = params.lengths;
    let degree = params.rlwe.degree as u64;
    let poly: u64 = params.rlwe.primes().iter().map(|&prime| degree * u64::from(residue_bits(prime))).sum();
    let key = |length: u64| ORIGIN_BYTES + (length * poly).div_ceil(8);
    let levels = u64::from(params.rlwe.degree.ilog2());
    let vectors = params.vector_length as u64;
    let small = ORIGIN_BYTES + (response * degree * u64::from(residue_bits(params.response.mask_modulus))).div_ceil(8);
    FINGERPRINT_BYTES as u64
        + levels * (key(leaf_expansion) + key(selector_expansion))
        + key(2 * conversion)
        + vectors * vectors * key(vector)
        + vectors * small
}

fn memory(params: &Params, load: &Load, query: u64, answer: u64) -> MemoryMap {
    let Load { workload, layout, queries, .. } = *load;
    let poly = params.rlwe.poly_bytes();
    let stored = load.stored_bytes(params);
    let keys = ServerKeys::memory_bytes(params);
    let database = if workload.streamed { 0 } else { stored };
    let server = vec![TableBytes::new("database", database), TableBytes::new("keys", keys)];
    let group = load.rounds().min(BATCH as u64);
    let matrix_poly = 4 * (params.rlwe.degree * params.matrix_primes) as u64;
    let rows = layout.rows as u64;
    // Columns at a time, and what they take where they are built: all of a matrix that is in memory.
    let (columns, block) = if workload.streamed {
        let columns = Matrix::columns_of_blocks(layout, params.matrix_primes);
        (columns as u64, columns as u64 * layout.stored_bytes(params.matrix_primes) / layout.matrix_columns() as u64)
    } else {
        (layout.matrix_columns() as u64, 0)
    };
    let selectors = u64::from(layout.column_bits + layout.position_bits) * 4 * params.lengths.selector * poly;
    // Leaves: those of the tree that wait and the few that are written into the vector; then the vectors, the columns as products and
    // as ciphertexts, and what is folded and waits a level each.
    let levels = u64::from(params.rlwe.degree.ilog2());
    let leaves = 2 * (levels + LEAVES_AT_A_TIME as u64) * (poly + matrix_poly);
    let vectors = group * rows * 2 * matrix_poly;
    let waiting = layout.parts as u64 + u64::from(layout.column_bits);
    let products = group * 2 * (columns * (matrix_poly + poly) + waiting * poly);
    // Projected, and in the order of the request.
    let slots = count(&[queries, layout.slots as u64, 4 * poly]);
    let online = count(&[queries, 2 * query + 4 * poly])
        .saturating_add(group * selectors)
        .saturating_add(vectors + leaves.max(products + block))
        .saturating_add(slots)
        .saturating_add(2 * answer);
    // The message as it was made and as it travels.
    let exchange = 2 * key_bytes(params);
    let secrets = (1 + params.vector_length as u64) * 3 * poly;
    MemoryMap {
        server,
        client: vec![TableBytes::new("secrets", secrets)],
        peak_bytes: (database + keys).saturating_add(online.max(exchange)).saturating_add(secrets + PROCESS_BYTES),
    }
}

/// What a step computes with polynomials of the large ring.
#[derive(Clone, Copy, Default)]
struct Work {
    transforms: u64,
    digits: u64,
    /// In bases that are no powers of two.
    divided_digits: u64,
    multiply_adds: u64,
    moved: u64,
}

impl Work {
    /// Transforms alone.
    fn transforms(transforms: u64) -> Self {
        Self { transforms, ..Self::default() }
    }

    /// Products of `parts` polynomials of n coefficients with keys of `length` digits in a base, modulo so many primes, and back.
    fn product(parts: u64, (base, length): (u64, u64), n: u64, primes: u64) -> Self {
        let rows = parts * length;
        let [digits, divided_digits] = if base.is_power_of_two() { [rows * n, 0] } else { [0, rows * n] };
        let transforms = (rows + 2) * primes;
        Self { transforms, digits, divided_digits, multiply_adds: 2 * rows * n * primes, moved: 0 }
    }

    /// Automorphisms with keys of such digits.
    fn automorphism(gadget: (u64, u64), n: u64, primes: u64) -> Self {
        Self { moved: 2 * n * primes, ..Self::product(1, gadget, n, primes) }
    }

    /// Steps of an oblivious expansion: an automorphism, the sum with the ciphertext, the difference, turned.
    fn expansion(gadget: (u64, u64), n: u64, primes: u64) -> Self {
        Self { moved: 4 * n * primes, ..Self::automorphism(gadget, n, primes) }
    }

    /// CMUXes with selectors of such digits: a product, a difference before and a sum after it.
    fn cmux(gadget: (u64, u64), n: u64, primes: u64) -> Self {
        Self { moved: 4 * n * primes, ..Self::product(2, gadget, n, primes) }
    }

    /// Slots written in another place.
    fn moved(moved: u64) -> Self {
        Self { moved, ..Self::default() }
    }

    fn times(self, factor: u64) -> Self {
        Self {
            transforms: count(&[self.transforms, factor]),
            digits: count(&[self.digits, factor]),
            divided_digits: count(&[self.divided_digits, factor]),
            multiply_adds: count(&[self.multiply_adds, factor]),
            moved: count(&[self.moved, factor]),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            transforms: self.transforms.saturating_add(other.transforms),
            digits: self.digits.saturating_add(other.digits),
            divided_digits: self.divided_digits.saturating_add(other.divided_digits),
            multiply_adds: self.multiply_adds.saturating_add(other.multiply_adds),
            moved: self.moved.saturating_add(other.moved),
        }
    }

    fn describe(self, n: u64) -> serde_json::Value {
        json!({
            (ntt(n)): self.transforms,
            "digits": self.digits,
            "divided_digits": self.divided_digits,
            "residue_multiply_adds": self.multiply_adds,
            "automorphism_slots": self.moved,
        })
    }
}

fn operation_counts(params: &Params, load: &Load) -> serde_json::Map<String, serde_json::Value> {
    let Load { workload, buckets, layout, queries } = *load;
    let Lengths { selector, leaf_expansion, selector_expansion, conversion, vector, response } = params.lengths;
    let (degree, primes, kept) = (params.rlwe.degree, params.rlwe.primes().len() as u64, params.matrix_primes as u64);
    let n = degree as u64;
    let transform = ntt(n);
    let [leaf_count, row_count] = coefficients(layout, selector as usize);
    let switches = |count: usize| extraction_automorphisms(degree, &positions(degree, count), Extraction::Tree) as u64;
    let (rows, columns) = (layout.rows as u64, layout.matrix_columns() as u64);
    let (parts, slots) = (layout.parts as u64, layout.slots as u64);
    // A CMUX for every stored pair: missing columns make fewer.
    let cmuxes: u64 = (0..layout.column_bits).map(|bit| (layout.columns as u64).min(1 << bit)).sum();
    let bases = &params.bases;
    let expansion = (bases.selector_expansion, selector_expansion);
    let cmux = Work::cmux((bases.selector, selector), n, primes);
    let leaves = Work::expansion((bases.leaf_expansion, leaf_expansion), n, primes).times(switches(leaf_count));
    let selectors = Work::expansion(expansion, n, primes).times(switches(row_count));
    let converted = Work::product(2, (bases.conversion, conversion), n, primes)
        .plus(Work::transforms(4 * primes))
        .times(row_count as u64);
    let levels = u64::from(layout.dimensions.slots().ilog2());
    let projected = Work::automorphism(expansion, n, primes).times(levels * slots);
    let elements = count(&[queries, slots]).div_ceil(params.slots_per_body() as u64);
    let width = elements.min(params.vector_length as u64);
    let vectors = Work::product(1, (bases.vector, vector), n, primes).times(width).plus(Work::product(
        1,
        (params.response.base, response),
        n,
        1,
    ));
    // Rows of keys as they lie in memory, which each step that uses them first waits for: mask and body, modulo every prime.
    let row = 2 * params.rlwe.poly_bytes();
    let key_levels = u64::from(degree.ilog2());
    let width = params.vector_length as u64;
    let response_key_bytes = width * width * vector * row + width * response * 2 * 4 * n;
    let leaf_key_bytes = key_levels * leaf_expansion * row;
    let selector_key_bytes = if row_count == 0 { 0 } else { (key_levels * selector_expansion + 2 * conversion) * row };
    let with = |work: Work, more: serde_json::Value| {
        let mut counts = work.describe(n);
        if let (Some(counts), serde_json::Value::Object(more)) = (counts.as_object_mut(), more) {
            counts.extend(more);
        }
        counts
    };
    let touched = count(&[workload.updates, u64::from(params.batch.copies), parts]);
    // The matrix once for each group of queries, and their vectors.
    let vector_bytes = PolyPairs::bytes_for(degree, params.matrix_primes, layout.rows);
    // New in each answer; from a huge page on they cost little.
    let small_pages = if vector_bytes < HUGE_PAGE_BYTES { vector_bytes } else { 0 };
    let groups = load.rounds().div_ceil(BATCH as u64);
    let read = count(&[groups, load.stored_bytes(params)]).saturating_add(count(&[queries, vector_bytes]));
    let cells = count(&[rows, columns]);
    operations(json!({
        "encode": {
            (&transform): if workload.streamed { 0 } else { count(&[buckets.count() as u64, kept, cells]) },
            "bytes_written": if workload.streamed { 0 } else { count(&[buckets.count() as u64, layout.shape.database_bytes()]) },
        },
        "query": { (&transform): count(&[queries, 6 * primes]), "gaussian_samples": count(&[queries, 2 * n]) },
        "answer": {
            "parse": {
                (&transform): count(&[queries, 2 * primes]),
                "words_read": count(&[queries, (leaf_count + row_count) as u64 * primes]),
            },
            "leaves": with(
                leaves.plus(Work::transforms(2 * rows * kept)).plus(Work::moved(2 * rows * kept * n)).times(queries),
                json!({
                    "key_bytes": count(&[queries, leaf_key_bytes]),
                    "allocated_bytes": count(&[queries, small_pages]),
                }),
            ),
            "selectors": with(
                selectors.plus(converted).times(queries),
                json!({ "key_bytes": count(&[queries, selector_key_bytes]) }),
            ),
            "first_dimension": {
                "poly_matrix_bytes": read,
                "poly_matrix_multiply_adds": count(&[2, queries, kept, cells, n]),
                (&transform): count(&[queries, 2 * columns * kept]),
            },
            "folding": cmux.times(cmuxes).times(parts).times(queries).describe(n),
            "rotation": cmux.times(u64::from(layout.position_bits)).times(parts).times(queries).describe(n),
            "projection": projected.times(queries).describe(n),
            "response": with(
                vectors.times(elements),
                json!({
                    "key_bytes": response_key_bytes,
                    "coefficients_switched": count(&[elements, 2 * (n + params.response.degree as u64)]),
                }),
            ),
        },
        "extract": { (&transform): count(&[12, elements]) },
        "update_server": { (&transform): count(&[2, kept, touched]) },
    }))
}

fn instances(params: &Params) -> Vec<LweInstance> {
    // Beside the expansions' and the conversion's keys, every query is under the main secret.
    let Lengths { selector: _, leaf_expansion: _, selector_expansion: _, conversion: _, vector, response } =
        params.lengths;
    let n = params.rlwe.degree as u64;
    let main = params.rlwe.instance("queries_and_keys", None, "every record asked for under the key");
    let vector_length = params.vector_length as u64;
    let own = LweInstance {
        name: "vector_keys".into(),
        secret: params.vector.secret,
        error_stddev: params.vector.error.0,
        samples: Some(n * vector_length * vector),
        protects: "the secret of queries".into(),
        ..main.clone()
    };
    let q2 = params.response.mask_modulus;
    let responses = LweInstance {
        name: "response_keys".into(),
        dimension: params.response.degree as u64,
        modulus: q2.to_string(),
        log2_modulus: (q2 as f64).log2(),
        secret: params.response_small.secret,
        error_stddev: params.response_small.error.0,
        samples: Some(n * response),
        protects: "the secret of a vector's bodies".into(),
        ..main.clone()
    };
    vec![main, own, responses]
}
