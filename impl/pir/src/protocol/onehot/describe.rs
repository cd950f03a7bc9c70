//! The layout, bytes, memory, operations and RLWE instances of one-hot PIR.

use ring::{Kind, PolyMatrix, RingShape, Work};

use super::encode::{encode_work, making_bytes, rewrite_work};
use super::{Layout, Set};
use crate::core::plan::{Plan, count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, MemoryMap, Result, Shape, Sizes, TableBytes, Workload};
use crate::parts::bfv::{Plaintext, Switch, keys_bytes, query_bytes};
use crate::parts::ring_matrix::{Digits, Gadget, GadgetNumbers};

numbers! {
    /// The layout of one-hot PIR.
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
        hoisted: bool = set.hoisted,
        entry_bits: u32 = load.layout.entry_bits,
        entries_per_record: usize = load.layout.entries,
        records_per_item: u64 = load.layout.items.records,
        classes: usize = load.layout.classes,
        columns: usize = load.layout.columns,
        block_columns: usize = load.layout.width,
        column_blocks: usize = load.layout.blocks,
        baby_steps: usize = load.layout.baby,
        giant_steps: usize = load.layout.giants,
        items_rebuilt: u64 = load.touched,
        query_ciphertexts: usize = load.layout.ciphertexts(),
        answer_ciphertexts: usize = load.layout.answers,
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
    let records = layout.items.records;
    let load = Load {
        set,
        layout,
        shape: workload.shape,
        ring: set.ring.shape(),
        queries: workload.queries,
        touched: workload.touched(layout.items.count(), |index| vec![(index / records) as usize]),
    };
    let mut sizes = Sizes::of(&Numbers::new(set, &load));
    let [keys, query, answer] = load.message_bytes();
    let formula = "8 + K (24 + l_d N (log2(q) + log2(P)) / 8)";
    sizes.message("keys", Direction::Upload, "offline", keys, formula, None);
    let formula = "(16 + C N log2(q) / 8) k";
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
    queries: u64,
    /// Items that an update touches.
    touched: u64,
}

impl Load<'_> {
    fn stored_bytes(&self) -> u64 {
        let columns = self.layout.giants.saturating_mul(self.layout.entries);
        PolyMatrix::bytes_for(self.ring.degree, self.ring.primes, self.layout.matrix_rows(), columns)
    }

    /// Number of a client's keys.
    fn keys(&self) -> u64 {
        self.layout.exponents(self.set.ring.modulus_id()).len() as u64
    }

    /// Bytes of all keys, queries and answers.
    fn message_bytes(&self) -> [u64; 3] {
        let query = query_bytes(&self.set.ring, self.layout.ciphertexts()) as u64;
        let answer = count(&[self.queries, self.layout.answers as u64, self.set.answer_bytes() as u64]);
        [keys_bytes(&self.set.ring, self.keys()), count(&[self.queries, query]), answer]
    }

    fn memory(&self) -> Result<MemoryMap> {
        let Self { set, layout, ring, queries, .. } = *self;
        let (poly, stored) = (ring.poly_bytes(), self.stored_bytes());
        let [key_message, query, answer] = self.message_bytes();
        let keys = self.keys() * set.ring.key_bytes();
        let server = vec![TableBytes::new("database", stored), TableBytes::new("keys", keys)];
        let extension = RingShape { primes: set.ring.multiply_shape()?.extension, ..ring };
        let lifted = 2 * poly + 2 * extension.poly_bytes();
        // Of every query its ciphertexts, the lifted row, turned selectors, products of an entry and sums.
        let vector = count(&[layout.matrix_rows() as u64, 2 * poly]);
        let ciphertexts = count(&[(layout.ciphertexts() + layout.giants + layout.answers) as u64, 2 * poly]);
        let each = ciphertexts.saturating_add(lifted).saturating_add(vector);
        let online = count(&[queries, each])
            .saturating_add(vector)
            .saturating_add(2 * lifted)
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
        let (sent, answers, entries) = (layout.ciphertexts() as u64, layout.answers as u64, layout.entries as u64);
        let (blocks, baby) = (layout.blocks as u64, layout.baby as u64);
        let family = set.ring.plaintext.family();
        let (slots, switch) = (family.slots_work(ring.degree)?, set.ring.switch_shape());
        let residues = count(&[sent, (ring.degree * ring.primes) as u64, queries]);
        let mut plan = Plan::default();
        plan.phase("encode", encode_work(set, &layout)? + Work::of(Kind::BytesWritten, &[self.stored_bytes()]));

        let samples =
            [(Kind::GaussianSamples, count(&[sent, ring.degree as u64, queries])), (Kind::WordsWritten, residues)];
        let scaled = slots.clone() + family.shorten_work(ring.degree)? + ring.transforms(2) + ring.products(2);
        plan.phase("query", scaled * count(&[sent, queries]) + samples.into());

        let parsed = [(Kind::WordsRead, residues), (Kind::PrgBytes, residues.saturating_mul(4))];
        plan.step("answer", "parse", parsed.into());
        let babies = if set.hoisted {
            let cut = if baby > 1 { switch.digits_work() } else { Work::default() };
            (cut + switch.switch_work() * (baby - 1) + ring.moves(2 * baby)) * blocks
        } else {
            (switch.automorphism_work() * (baby - 1) + ring.moves(2 * baby)) * count(&[blocks, entries])
        };
        plan.step("answer", "rotations", babies * queries);
        let vectors = count(&[entries, queries, layout.matrix_rows() as u64, 2 * ring.poly_bytes()]);
        let read = self.stored_bytes().saturating_add(vectors);
        let places = (layout.matrix_rows(), layout.giants.saturating_mul(layout.entries));
        plan.step("answer", "product", PolyMatrix::multiply_work(ring, places, queries, read));
        let turn = switch.automorphism_work() + ring.moves(2);
        plan.step("answer", "giant_steps", turn.clone() * count(&[layout.giants as u64 - 1, entries, queries]));
        let shape = set.ring.multiply_shape()?;
        let products = shape.lift_work() * (entries + 1) + shape.multiply_work(switch) * entries;
        plan.step("answer", "selection", products * queries);
        plan.step("answer", "sum", turn * count(&[entries - answers, queries]));
        let written = if set.switch.is_some() { Switch::half_work(ring) * 2 } else { Work::default() };
        let words = Work::of(Kind::WordsWritten, &[self.message_bytes()[2] / 4]);
        plan.step("answer", "write", written * count(&[answers, queries]) + words);

        let opened = ring.transforms(3) + family.shorten_work(ring.degree)? + slots;
        plan.phase("extract", opened * count(&[answers, queries]));
        plan.phase("update_items", rewrite_work(set, &layout)? * self.touched);
        Ok(plan.operations())
    }
}
