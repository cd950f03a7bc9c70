//! HintlessPIR's layout, bytes, memory, operations and LWE instances.

use bfv::{PlainModulus, Scheme, SwitchShape};
use lattice::lwe::{QUERY_CHUNK_ROWS, encrypt_zero_work};
use ring::matrix::packed::{matmul_work, matvec_work, queries_work};
use ring::{Kind, PolyMatrix, PolyVector, RingShape, Work};

use super::Set;
use super::blocks::{CHUNK, GROUP, segment_turns};
use super::layout::{Layout, Skewed};
use super::server::{answer_bytes, key_bytes};
use crate::core::plan::{Plan, count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::seed::SEED_BYTES;
use crate::core::{Direction, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::bfv::{AnswerKey, RingTable, Switch};
use crate::parts::lwe_matrix::{LinearNumbers, hint_buffers_bytes};
use crate::parts::ring_matrix::{Digits, Gadget, GadgetNumbers};

numbers! {
    /// HintlessPIR's layout.
    pub struct Numbers(set: &Set, layout: &Layout, touched: u64) {
        #[serde(flatten)]
        linear: LinearNumbers = LinearNumbers::new(&layout.linear),
        block_rows: usize = layout.block_rows,
        blocks: usize = layout.blocks(),
        blocks_rebuilt: u64 = touched,
        rotations: usize = layout.babies,
        #[serde(skip_serializing_if = "Option::is_none")]
        giant_steps: Option<usize> = (layout.giants() > 1).then_some(layout.giants()),
        slot_moduli: Vec<u64> = set.ring.slot_moduli.clone(),
        ring_degree: usize = set.ring.degree,
        automorphism_gadget: GadgetNumbers = gadget(set, set.ring.digit_bits),
        #[serde(skip_serializing_if = "Option::is_none")]
        giant_gadget: Option<GadgetNumbers> = set.rotations(layout).get(1).map(|(_, digit_bits)| gadget(set, *digit_bits)),
        #[serde(skip_serializing_if = "Option::is_none")]
        mask_modulus: Option<u64> = set.switch.map(|switch| switch.mask_modulus),
        #[serde(skip_serializing_if = "Option::is_none")]
        body_modulus: Option<u64> = set.switch.map(|switch| switch.body_modulus),
        quoted_answer_bytes: u64 = quoted_answer_bytes(set, layout),
    }
}

fn gadget(set: &Set, base_log2: u32) -> GadgetNumbers {
    GadgetNumbers::new(Gadget { base_log2, dropped: 0, digits: Digits::Balanced }, set.ring.digits_of(base_log2))
}

/// The answer by the formula from which InsPIRe's tables are: two ciphertexts modulo Q for every N rows and for N more, and a word a row.
pub(super) fn quoted_answer_bytes(set: &Set, layout: &Layout) -> u64 {
    let rows = layout.linear.rows as u64;
    4 * rows + count(&[4, rows + set.ring.degree as u64, set.ring.coefficient_bits()]) / 8
}

pub(super) fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = set.layout(workload.shape)?;
    let load =
        Load { set, layout, ring: set.ring.shape(), queries: workload.queries, touched: layout.touched(workload) };
    let mut sizes = Sizes::of(&Numbers::new(set, &layout, load.touched));
    let (queries, columns) = (workload.queries, layout.linear.columns as u64);
    let [keys, answer] = [key_bytes(set, &layout), answer_bytes(set, &layout)].map(|bytes| count(&[bytes, queries]));
    sizes.message("seed", Direction::Download, "offline", SEED_BYTES as u64, "16", None);
    let formula = if layout.giants() > 1 { "(2 + l + l_g) N log2(Q) k / 8" } else { "(2 + l) N log2(Q) k / 8" };
    sizes.message("keys", Direction::Upload, "query", keys, formula, Some(queries));
    sizes.message("query", Direction::Upload, "query", count(&[4, columns, queries]), "4 columns k", Some(queries));
    let formula = if set.switch.is_some() {
        "(4 rows + 2 ceil(rows / B) N (log2(q_a) + log2(q_b)) / 8) k"
    } else {
        "(4 rows + 4 ceil(rows / B) N log2(Q) / 8) k"
    };
    sizes.message("answer", Direction::Download, "answer", answer, formula, Some(queries));
    sizes.memory = load.memory()?;
    sizes.operations = load.operations(workload);
    let samples = count(&[set.key_polynomials(&layout) as u64, set.ring.degree as u64]);
    sizes.instances = vec![
        set.lwe.instance("query", columns, "the column of the record asked for"),
        set.ring.instance("keys", set.ring.primes(), Some(samples), "the secret of the query"),
    ];
    Ok(sizes)
}

/// The quantities from which memory and work are counted.
struct Load<'a> {
    set: &'a Set,
    layout: Layout,
    ring: RingShape,
    queries: u64,
    /// Blocks that an update touches.
    touched: u64,
}

impl Load<'_> {
    /// Moduli of slots.
    fn moduli(&self) -> u64 {
        self.set.ring.slot_moduli.len() as u64
    }

    /// Bytes of the plaintexts of some blocks for one modulus of slots, and of a vector of the turns of a segment.
    fn matrix_bytes(&self, blocks: usize) -> (u64, u64) {
        let (n, primes, layout) = (self.ring.degree, self.ring.primes, &self.layout);
        (
            PolyMatrix::bytes_for(n, primes, layout.babies, layout.columns_of(0..blocks).len()),
            PolyVector::<1>::bytes_for(n, primes, segment_turns(&self.layout)),
        )
    }

    /// The work of multiplying the plaintexts of some blocks for one modulus of slots with vectors of turns.
    fn product(&self, blocks: usize, vectors: u64) -> Work {
        let (layout, turns) = (&self.layout, segment_turns(&self.layout));
        let (matrix, vector) = self.matrix_bytes(blocks);
        let bytes = matrix.saturating_add(count(&[(layout.babies / turns) as u64, vectors, vector]));
        let columns = layout.columns_of(0..blocks).len();
        PolyMatrix::multiply_work(self.ring, (layout.babies, columns), vectors, bytes)
    }

    /// The chains of one modulus of slots, those of turns and of sums: how many, the ciphertexts of each, and how they are rotated.
    fn chains(&self) -> Vec<(u64, u64, SwitchShape)> {
        let numbers = [(1, self.layout.babies), (self.layout.blocks(), self.layout.giants())];
        let of = |((chains, length), (_, digit_bits)): ((usize, usize), (usize, u32))| {
            let key = SwitchShape { rows: self.set.ring.digits_of(digit_bits), ..self.set.ring.switch_shape() };
            (chains as u64, length as u64, key)
        };
        numbers.into_iter().zip(self.set.rotations(&self.layout)).map(of).collect()
    }

    /// Bytes of the digits of the chains of one modulus of slots.
    fn digit_bytes(&self) -> u64 {
        let bytes = |(chains, length, key): &(u64, u64, SwitchShape)| {
            count(&[*chains, length - 1, key.rows as u64, self.ring.poly_bytes()])
        };
        self.chains().iter().map(bytes).fold(0, u64::saturating_add)
    }

    fn memory(&self) -> Result<MemoryMap> {
        let Self { set, layout, ring, queries, .. } = *self;
        let (linear, blocks, giants) = (layout.linear, layout.blocks() as u64, layout.giants() as u64);
        let (rows, columns, n) = (linear.rows as u64, linear.columns as u64, set.lwe.dimension as u64);
        let (matrix, vector) = self.matrix_bytes(layout.blocks());
        let chains = layout.babies as u64 * ring.poly_bytes() + self.digit_bytes();
        let server = vec![
            TableBytes::new("database", linear.stored_bytes()),
            TableBytes::new("hint", count(&[4, rows, n])),
            TableBytes::new("hint in slots", count(&[self.moduli(), matrix])),
            TableBytes::new("rotations", count(&[self.moduli(), chains])),
            TableBytes::new("answer masks", count(&[self.moduli(), blocks, set.answer_bytes()[0]])),
        ];
        let group = GROUP.min(layout.blocks()) as u64;
        let made = Skewed::bytes(&layout) + (CHUNK as u64).min(layout.terms() as u64) * ring.poly_bytes();
        let making = (group * made).max(vector + 3 * group * giants * ring.poly_bytes());
        // Keys as received and as polynomials with their images, queries in three forms, the turns, the sums of all blocks and those of one
        // as polynomials, and the answers three times.
        let keys = 2 * key_bytes(set, &layout) + 2 * set.key_polynomials(&layout) as u64 * ring.poly_bytes();
        let each = keys + 12 * columns + 4 * rows + 2 * answer_bytes(set, &layout);
        let sums = count(&[self.moduli() * (giants + 1) * blocks + giants, queries, ring.poly_bytes()]);
        // The allocator keeps about one of several queries more, in blocks that the next does not fill, and as much as the masks of the turns take:
        // their digits were freed between them.
        let online = count(&[queries + u64::from(queries > 1), each])
            .saturating_add(count(&[self.moduli(), layout.babies as u64, ring.poly_bytes()]))
            .saturating_add(count(&[self.moduli(), queries, vector]))
            .saturating_add(sums)
            .saturating_add(4 * n * columns.min(QUERY_CHUNK_ROWS as u64));
        // Both parties have tables of their own.
        let tables = 2 * set.ring.table_bytes()?;
        let buffers = hint_buffers_bytes(linear.columns, set.lwe.dimension);
        let kept = server
            .iter()
            .map(|table| table.bytes)
            .fold(linear.memory_bytes() - linear.stored_bytes(), u64::saturating_add);
        Ok(MemoryMap {
            server,
            client: vec![TableBytes::new("seed", SEED_BYTES as u64)],
            peak_bytes: kept.saturating_add(tables + PROCESS_BYTES + buffers.max(making).max(online)),
        })
    }

    /// The work of making some blocks for all moduli of slots.
    fn making(&self, blocks: u64) -> Work {
        let (set, terms, degree) = (self.set, self.layout.terms(), self.ring.degree as u64);
        let skewed = Work::of(Kind::MovedSlots, &[self.layout.block_rows as u64, set.lwe.dimension as u64]);
        let plaintext = PlainModulus::integer_slots_work(self.ring.degree)
            + Scheme::<u32>::prepare_work(self.ring)
            + Work::of(Kind::MovedSlots, &[self.ring.primes as u64 + 1, degree]);
        let sums = self.chains().get(1).map(|(_, giants, key)| key.chain_work(*giants)).unwrap_or_default();
        let masks = self.product(usize::try_from(blocks).unwrap_or(usize::MAX), 1);
        ((skewed + plaintext * terms as u64 + sums + self.switched()) * blocks + masks) * self.moduli()
    }

    /// The work of switching half a ciphertext of an answer.
    fn switched(&self) -> Work {
        if self.set.switch.is_some() { Switch::half_work(self.ring) } else { Work::default() }
    }

    fn operations(&self, workload: &Workload) -> serde_json::Map<String, serde_json::Value> {
        let Self { set, layout, ring, queries, .. } = *self;
        let (linear, degree, n) = (layout.linear, ring.degree as u64, set.lwe.dimension as u64);
        let (rows, columns, stored) = (linear.rows as u64, linear.columns as u64, linear.stored_bytes());
        let (babies, blocks, moduli) = (layout.babies as u64, layout.blocks() as u64, self.moduli());
        let polynomials = set.key_polynomials(&layout) as u64;
        let mut plan = Plan::default();
        plan.phase("encode", linear.encode_work());
        let hint = [(Kind::PrgBytes, 4 * columns * n), (Kind::AllocatedBytes, 4 * rows * n)];
        plan.phase("hint", matmul_work(rows, columns, n) + hint.into());
        plan.phase("rotations", set.ring.switch_shape().chain_work(babies) * moduli);
        plan.phase("blocks", self.making(blocks));

        let sent = [
            (Kind::GaussianSamples, count(&[polynomials, degree, queries])),
            (Kind::WordsWritten, count(&[columns + polynomials * degree * ring.primes as u64, queries])),
        ];
        let encrypted = (ring.transforms(1 + moduli + polynomials)
            + PlainModulus::integer_slots_work(ring.degree) * moduli)
            * queries;
        plan.phase("query", encrypt_zero_work(columns, n, queries) + encrypted + sent.into());

        let read = columns + polynomials * degree * ring.primes as u64;
        let parsed = Work::of(Kind::WordsRead, &[read, queries]) + ring.moves(polynomials - moduli) * queries;
        plan.step("answer", "parse", parsed);
        plan.step(
            "answer",
            "product",
            matvec_work(rows, columns, stored, queries) + queries_work(rows, columns, queries),
        );
        // Turns are stored in vectors, and sums that are turned are taken from them.
        let chain = |(chains, length, key): (u64, u64, SwitchShape)| {
            (key.chain_bodies_work(length) + ring.moves(length)) * count(&[chains, queries])
        };
        let turns = self.chains().into_iter().map(chain).fold(Work::default(), |sum, work| sum + work);
        plan.step("answer", "rotations", (turns + Work::of(Kind::BytesRead, &[self.digit_bytes()])) * moduli);
        plan.step("answer", "blocks", self.product(layout.blocks(), queries) * moduli);
        let words = rows + moduli * blocks * set.answer_bytes().iter().sum::<u64>() / 4;
        let written = Work::of(Kind::WordsWritten, &[words, queries]);
        plan.step("answer", "write", self.switched() * count(&[moduli, blocks, queries]) + written);

        let of_record = linear.code.entries_per_record().div_ceil(layout.block_rows as u64);
        let opened = AnswerKey::work(ring, set.switch) + PlainModulus::integer_slots_work(ring.degree);
        plan.phase("extract", opened * count(&[of_record, moduli, queries]));
        let changed = count(&[workload.updates, linear.code.entries_per_record(), n]);
        let drawn = Work::of(Kind::PrgBytes, &[4, workload.updates, n]);
        plan.phase("update_hint", Work::of(Kind::MultiplyAddsU32, &[changed]) + drawn);
        plan.phase("update_blocks", self.making(self.touched));
        plan.operations()
    }
}
