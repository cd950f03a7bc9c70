//! DEPIR's layout, bytes, memory, operations and RLWE instances.

use bfv::{Algebraic, PlainModulus};
use ring::{Kind, RingShape, Work};

use super::engine::{answer_bytes, query_bytes};
use super::evaluate::{batch, evaluate_work, workspace_bytes};
use super::interpolate::interpolate_work;
use super::monomials::monomials;
use super::plan::{Plan, Uses};
use super::points;
use super::set::{Evaluator, Set};
use super::table::{Layout, padded_bytes};
use super::tables::{PARTS, make_bytes, make_work};
use crate::core::plan::{count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, LweInstance, MemoryMap, Result, Shape, Sizes, TableBytes, Workload};
use crate::parts::ring_matrix::product_text;

numbers! {
    /// DEPIR's layout.
    pub struct Numbers(load: &Load) {
        ring_degree: usize = load.set.ring.degree,
        plain_modulus: u64 = load.set.ring.plaintext_modulus,
        plaintext_slots: usize = load.set.slots(),
        variables: usize = load.set.variables,
        degree: usize = load.set.degree,
        points: usize = load.set.points(),
        polynomial_records: u64 = monomials(load.set.variables, load.set.degree),
        entry_bits: u32 = load.set.entry_bits(),
        entries_per_record: usize = load.set.columns(load.shape),
        coefficient_bound: u64 = load.set.coefficient_bound(),
        query_primes: usize = load.set.primes.query,
        answer_primes: usize = load.set.primes.answer,
        modulus_log2: f64 = log2(&load.primes),
        answer_modulus_log2: f64 = log2(&load.primes[..load.set.primes.answer]),
        derivatives: bool = load.set.tables.evaluator == Evaluator::Derivatives,
        memory_tables: usize = load.plan.memory.len(),
        largest_memory_prime: u64 = first(&load.plan.memory),
        disk_tables: usize = load.plan.disk.len(),
        largest_disk_prime: u64 = first(&load.plan.disk),
        level1_primes: usize = load.plan.level1.len(),
        largest_level1_prime: u64 = load.plan.level1.first().map_or(0, |uses: &Uses| uses.modulus),
        table_bytes: u64 = load.plan.bytes()[0],
        disk_bytes: u64 = load.plan.bytes()[1],
        memory_reads: u64 = count(&[load.plan.reads()[0], load.evaluations()]),
        disk_reads: u64 = count(&[load.plan.reads()[1], load.evaluations()]),
        stored_bytes: u64 = load.stored_bytes(),
        information_bytes: u64 = load.shape.database_bytes(),
        expansion: f64 = load.stored_bytes() as f64 / load.shape.database_bytes() as f64,
    }
}

fn log2(primes: &[u64]) -> f64 {
    primes.iter().map(|prime| (*prime as f64).log2()).sum()
}

fn first(primes: &[u64]) -> u64 {
    primes.first().copied().unwrap_or_default()
}

pub(super) fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
    set.check_shape(workload.shape)?;
    let columns = set.columns(workload.shape) as u64;
    let plan = Plan::new(set, columns)?;
    // Sets that are only described have tables on disk, and no folder for them.
    let runs = plan.disk.is_empty() || set.tables.folder.is_some();
    let layouts = if runs { plan.layouts(set, columns as usize)? } else { Vec::new() };
    let load = Load {
        set,
        shape: workload.shape,
        plan,
        layouts,
        primes: set.ciphertext_primes(),
        ring: set.shape(),
        columns,
        queries: set.queries(workload.queries),
        updated: workload.updates > 0,
    };
    let mut sizes = Sizes::of(&Numbers::new(&load));
    let [query, answer] = load.message_bytes();
    let (one, formula) = (Some(workload.queries), "(16 + m n log2(Q) / 8) ceil(k / slots)");
    sizes.message("query", Direction::Upload, "query", query, formula, one);
    let formula = "C (D + 1) n log2(Q') / 8 ceil(k / slots)";
    sizes.message("answer", Direction::Download, "answer", answer, formula, one);
    sizes.memory = load.memory();
    sizes.operations = load.operations();
    sizes.instances = vec![LweInstance {
        name: "query".into(),
        kind: "rlwe".into(),
        dimension: set.ring.degree as u64,
        modulus: product_text(&load.primes),
        log2_modulus: log2(&load.primes),
        secret: set.ring.secret,
        error_stddev: set.ring.error.stddev().0,
        samples: Some((set.variables * set.ring.degree) as u64),
        protects: "the indices".into(),
    }];
    Ok(sizes)
}

/// The quantities from which memory and work are counted.
pub struct Load<'a> {
    set: &'a Set,
    shape: Shape,
    plan: Plan,
    /// Its tables, if it can be run.
    layouts: Vec<Layout>,
    primes: Vec<u64>,
    ring: RingShape,
    /// Polynomials of a record.
    columns: u64,
    /// Queries, of a record in each slot.
    queries: u64,
    updated: bool,
}

impl Load<'_> {
    /// Points modulo a prime at which a query is evaluated.
    fn evaluations(&self) -> u64 {
        (self.set.points() * self.set.ring.degree) as u64
    }

    fn stored_bytes(&self) -> u64 {
        let of = |prime: &u64| padded_bytes(self.plan.table_bytes(*prime, false).saturating_mul(self.columns));
        self.plan.memory.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Bytes of all queries and answers.
    fn message_bytes(&self) -> [u64; 2] {
        [query_bytes(self.set), answer_bytes(self.set, self.shape)].map(|bytes| count(&[bytes, self.queries]))
    }

    fn memory(&self) -> MemoryMap {
        let (set, poly, stored) = (self.set, self.ring.poly_bytes(), self.stored_bytes());
        let [query, answer] = self.message_bytes();
        let parts = count(&[self.columns, set.degree as u64 + 1, poly]);
        let parsed = count(&[self.queries, 2 * set.variables as u64, poly]);
        // Residues of the values, then the values; the polynomials that a switch makes.
        let online = parsed.saturating_add(count(&[3, parts])).saturating_add(8 * poly);
        let online = online.saturating_add(2 * query).saturating_add(3 * answer);
        // A thread has a workspace, and there are no more of them than primes.
        let batch = workspace_bytes(set.variables, self.columns, batch(&self.plan, set.ring.degree), set.points());
        let online = online.saturating_add(count(&[set.primes.query as u64, batch]));
        let records = monomials(set.variables, set.degree);
        let largest = self.plan.tables().max().unwrap_or_default();
        // Values and coefficients of all columns, then what tables are made of, and parts of one that are written.
        let parts = self.layouts.iter().map(|layout| layout.part_bytes(set.variables) as u64).max().unwrap_or_default();
        let written = if set.tables.folder.is_some() { count(&[PARTS as u64, parts]) } else { 0 };
        let encode = count(&[records, 12 * self.columns + 96]).saturating_add(written);
        let encode = encode.saturating_add(make_bytes(set, self.columns, largest));
        let secrets = 2 * poly;
        let peak = stored.saturating_add(online.max(encode)).saturating_add(PROCESS_BYTES + secrets);
        let server = vec![TableBytes::new("tables", stored)];
        MemoryMap { server, client: Vec::new(), peak_bytes: peak }
    }

    fn operations(&self) -> serde_json::Map<String, serde_json::Value> {
        let Self { set, plan, ring, columns, queries, .. } = self;
        let (n, m, parts) = (ring.degree as u64, set.variables as u64, set.degree as u64 + 1);
        let slots = PlainModulus::integer_slots_work(ring.degree);
        let short = RingShape { primes: set.primes.answer, ..*ring };
        let records = monomials(set.variables, set.degree);
        let made = (interpolate_work(set.variables, set.degree, records) + make_work(set, plan)) * *columns;
        let words = |shape: RingShape, polys: u64| count(&[polys, n, shape.primes as u64, *queries]);
        let mut steps = crate::core::plan::Plan::default();
        steps.phase("encode", made.clone());

        let sent = words(*ring, m);
        let encrypted = slots.clone() * m + (ring.transforms(1) + ring.products(2)) * m + ring.transforms(1);
        let drawn = Work::from([(Kind::GaussianSamples, count(&[m, n, *queries])), (Kind::WordsWritten, sent)]);
        steps.phase("query", encrypted * *queries + drawn);

        let parsed = Work::from([(Kind::WordsRead, sent), (Kind::PrgBytes, sent.saturating_mul(4))]);
        steps.step("answer", "parse", parsed + ring.products(2 * m) * *queries);
        let values = points::evaluate_work(set, *ring)
            + evaluate_work(plan, set.tables.evaluator, *columns, self.evaluations())
            + points::coefficients_work(set, *ring, *columns);
        steps.step("answer", "values", values * *queries);
        let switched = Algebraic::<u32>::switch_work(*ring, set.primes.answer, count(&[parts, *columns]));
        let written = Work::of(Kind::WordsWritten, &[words(short, parts), *columns]);
        steps.step("answer", "switch", switched * *queries + written);

        let read = Work::of(Kind::WordsRead, &[words(short, parts), *columns]);
        let opened = Algebraic::<u32>::decrypt_work(short, parts) + slots + short.transforms(1);
        steps.phase("extract", opened * count(&[*columns, *queries]) + read);
        if self.updated {
            steps.phase("update_tables", made);
        }
        steps.operations()
    }
}
