//! PIRANA's layout, bytes, memory, operations and RLWE instances.

use ring::{Kind, PolyMatrix, RingShape, Work};

use super::column::{column_work, making_bytes};
use super::keys::exponents;
use super::update::rewrite_work;
use super::{Layout, Set};
use crate::core::plan::{Plan, count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, MemoryMap, Result, Shape, Sizes, TableBytes, Workload};
use crate::parts::bfv::{Plaintext, Switch, keys_bytes, query_bytes};
use crate::parts::ring_matrix::{Digits, Gadget, GadgetNumbers};

numbers! {
    /// PIRANA's layout.
    pub struct Numbers(set: &Set, load: &Load) {
        ring_degree: usize = set.ring.degree,
        plaintext: Plaintext = set.ring.plaintext,
        plaintext_slots: usize = set.ring.plaintext.family().slots(set.ring.degree),
        #[serde(skip_serializing_if = "Option::is_none")]
        special_modulus: Option<u64> = set.ring.special_modulus,
        automorphism_gadget: GadgetNumbers = GadgetNumbers::new(
            Gadget { base_log2: set.ring.digit_bits, dropped: 0, digits: Digits::Balanced },
            set.ring.digits(),
        ),
        entry_bits: u32 = load.layout.entry_bits,
        entries_per_record: usize = load.layout.entries,
        records_per_item: u64 = load.layout.records_per_item,
        classes: usize = load.layout.classes,
        repetitions: usize = load.layout.repetitions,
        columns: usize = load.layout.columns,
        columns_rebuilt: u64 = load.touched,
        codeword_bits: usize = load.layout.code.bits,
        codeword_weight: usize = load.layout.code.weight,
        polynomials_per_record: usize = load.layout.polynomials,
        answer_ciphertexts: usize = load.layout.answers,
        halves: usize = load.layout.halves,
        baby_steps: usize = load.layout.baby,
        giant_steps: usize = load.layout.giants,
        #[serde(skip_serializing_if = "Option::is_none")]
        batch_queries: Option<u32> = set.batch.map(|batch| batch.queries),
        #[serde(skip_serializing_if = "Option::is_none")]
        buckets: Option<u32> = set.batch.map(|batch| batch.buckets),
        #[serde(skip_serializing_if = "Option::is_none")]
        copies: Option<u32> = set.batch.map(|batch| batch.copies),
        #[serde(skip_serializing_if = "Option::is_none")]
        mask_modulus: Option<u64> = set.switch.map(|switch| switch.mask_modulus),
        #[serde(skip_serializing_if = "Option::is_none")]
        body_modulus: Option<u64> = set.switch.map(|switch| switch.body_modulus),
        stored_bytes: u64 = load.stored_bytes(),
        information_bytes: u64 = load.shape.database_bytes(),
        expansion: f64 = load.stored_bytes() as f64 / load.shape.database_bytes() as f64,
    }
}

pub(super) fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = set.layout(workload.shape)?;
    let buckets = set.buckets(workload.shape)?;
    // A record has the same position in all its buckets.
    let of_record = |index: u64| {
        let number = buckets.map_or(index, |buckets| layout.in_classes(0, buckets.position(index)));
        [layout.place(number).0]
    };
    let load = Load {
        set,
        layout,
        shape: workload.shape,
        ring: set.ring.shape(),
        queries: set.queries(workload.queries),
        touched: workload.touched(layout.columns as u64, of_record),
    };
    let mut sizes = Sizes::of(&Numbers::new(set, &load));
    let [keys, query, answer] = load.message_bytes();
    if let Some(buckets) = buckets {
        buckets.describe(&mut sizes);
    }
    let formula = "8 + K (24 + l N (log2(q) + log2(P)) / 8)";
    sizes.message("keys", Direction::Upload, "offline", keys, formula, None);
    let formula = "(16 + m N log2(q) / 8) k";
    sizes.message("query", Direction::Upload, "query", query, formula, Some(workload.queries));
    let formula = match set.switch {
        Some(_) => "R N (log2(q_a) + log2(q_b)) / 8 k",
        None => "2 R N log2(q) / 8 k",
    };
    sizes.message("answer", Direction::Download, "answer", answer, formula, Some(workload.queries));
    sizes.memory = load.memory()?;
    sizes.operations = load.operations()?;
    sizes.instances = set.ring.instances(load.keys() * set.ring.digits() as u64);
    Ok(sizes)
}

/// The quantities from which memory and work are counted.
pub struct Load<'a> {
    set: &'a Set,
    layout: Layout,
    /// The database.
    shape: Shape,
    ring: RingShape,
    /// Queries, of one record or of a batch.
    queries: u64,
    /// Columns that an update touches.
    touched: u64,
}

impl Load<'_> {
    fn stored_bytes(&self) -> u64 {
        let rows = self.layout.columns.saturating_mul(self.layout.turned_columns());
        PolyMatrix::bytes_for(self.ring.degree, self.ring.primes, rows, self.layout.matrix_columns())
    }

    /// Number of a client's keys.
    fn keys(&self) -> u64 {
        exponents(&self.layout, self.set.ring.modulus_id()).len() as u64
    }

    /// Bytes of all keys, queries and answers.
    fn message_bytes(&self) -> [u64; 3] {
        let query = query_bytes(&self.set.ring, self.layout.code.bits) as u64;
        let answer = count(&[self.queries, self.layout.answers as u64, self.set.answer_bytes() as u64]);
        [keys_bytes(&self.set.ring, self.keys()), count(&[self.queries, query]), answer]
    }

    /// Bytes of the vector of a segment's turned columns of a query.
    fn vector_bytes(&self) -> u64 {
        count(&[2, self.layout.matrix_rows(0) as u64, self.ring.poly_bytes()])
    }

    /// Primes of the second ring of products, if there are any.
    fn extension(&self) -> Result<usize> {
        Ok(if self.layout.code.weight > 1 { self.set.ring.multiply_shape()?.extension } else { 0 })
    }

    fn memory(&self) -> Result<MemoryMap> {
        let Self { set, layout, ring, queries, .. } = *self;
        let (poly, stored) = (ring.poly_bytes(), self.stored_bytes());
        let [key_message, query, answer] = self.message_bytes();
        let keys = self.keys() * set.ring.key_bytes();
        let server = vec![TableBytes::new("database", stored), TableBytes::new("keys", keys)];
        let bits = layout.code.bits as u64;
        // Of every query its bits, what they are lifted to, a segment's turned columns, and the products of two segments.
        let lifted = 2 * poly + 2 * RingShape { primes: self.extension()?, ..ring }.poly_bytes();
        let lifted = if layout.code.weight > 1 { lifted } else { 0 };
        let products = count(&[4, layout.matrix_columns() as u64, poly]);
        let each = count(&[bits, 2 * poly + lifted]).saturating_add(self.vector_bytes()).saturating_add(products);
        // A segment's columns before they are turned, and turned.
        let online = count(&[queries, each])
            .saturating_add(2 * self.vector_bytes())
            .saturating_add(2 * query)
            .saturating_add(2 * answer)
            .max(3 * key_message);
        let secrets = 5 * poly;
        let peak = stored
            .saturating_add(making_bytes(set, &layout)?.max(keys.saturating_add(online)))
            .saturating_add(secrets + PROCESS_BYTES);
        Ok(MemoryMap { server, client: vec![TableBytes::new("secrets", secrets)], peak_bytes: peak })
    }

    fn operations(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let Self { set, layout, ring, queries, .. } = *self;
        let (bits, columns, answers) = (layout.code.bits as u64, layout.columns as u64, layout.answers as u64);
        let family = set.ring.plaintext.family();
        let (slots, switch) = (family.slots_work(ring.degree)?, set.ring.switch_shape());
        let residues = count(&[bits, (ring.degree * ring.primes) as u64, queries]);
        let mut plan = Plan::default();
        let encoded = column_work(set, &layout)? * columns;
        plan.phase("encode", encoded + Work::of(Kind::BytesWritten, &[self.stored_bytes()]));

        let sent =
            [(Kind::GaussianSamples, count(&[bits, ring.degree as u64, queries])), (Kind::WordsWritten, residues)];
        let scaled = family.shorten_work(ring.degree)? + ring.transforms(2) + ring.products(2);
        // A query for one record has zeros alone in the other bits.
        let encoded = if set.batch.is_some() { bits } else { layout.code.weight as u64 };
        plan.phase(
            "query",
            slots.clone() * count(&[encoded, queries]) + scaled * count(&[bits, queries]) + sent.into(),
        );

        let parsed = [(Kind::WordsRead, residues), (Kind::PrgBytes, residues.saturating_mul(4))];
        plan.step("answer", "parse", parsed.into());
        let selection = if layout.code.weight > 1 {
            let shape = set.ring.multiply_shape()?;
            shape.lift_work() * bits + shape.multiply_work(switch) * columns
        } else {
            ring.moves(2) * columns
        };
        plan.step("answer", "selection", selection * queries);
        let turned = layout.turned_columns() as u64;
        let rotations = switch.automorphism_work() * (turned - 1) + ring.moves(2) * turned;
        plan.step("answer", "rotations", rotations * count(&[columns, queries]));
        let segments = layout.segments() as u64;
        let read = self.stored_bytes().saturating_add(count(&[segments, queries, self.vector_bytes()]));
        let places = (layout.columns.saturating_mul(layout.turned_columns()), layout.matrix_columns());
        let added = ring.moves(count(&[2 * (segments - 1), layout.matrix_columns() as u64, queries]));
        plan.step("answer", "product", PolyMatrix::multiply_work(ring, places, queries, read) + added);
        let giants = (switch.automorphism_work() + ring.moves(2)) * (layout.giants as u64 - 1);
        plan.step("answer", "giant_steps", giants * count(&[answers, queries]));
        let written = if set.switch.is_some() { Switch::half_work(ring) * 2 } else { Work::default() };
        let words = Work::of(Kind::WordsWritten, &[self.message_bytes()[2] / 4]);
        plan.step("answer", "write", written * count(&[answers, queries]) + words);

        let opened = ring.transforms(3) + family.shorten_work(ring.degree)? + slots;
        plan.phase("extract", opened * count(&[answers, queries]));
        plan.phase("update_columns", rewrite_work(set, &layout)? * self.touched);
        Ok(plan.operations())
    }
}
