//! CwPIR's layout, bytes, memory, operations and RLWE instances.

use bfv::Scheme;
use ring::{Kind, PolyMatrix, RingShape, Work};

use super::engine::exponents;
use super::{Layout, Selection, Set};
use crate::core::plan::{Plan, count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, MemoryMap, Result, Shape, Sizes, TableBytes, Workload};
use crate::parts::bfv::{Plaintext, Switch, keys_bytes, query_bytes};
use crate::parts::ring_matrix::{Digits, Gadget, GadgetNumbers};

numbers! {
    /// CwPIR's layout.
    pub struct Numbers(set: &Set, load: &Load) {
        ring_degree: usize = set.ring.degree,
        plaintext: Plaintext = set.ring.plaintext,
        #[serde(skip_serializing_if = "Option::is_none")]
        special_modulus: Option<u64> = set.ring.special_modulus,
        automorphism_gadget: GadgetNumbers = GadgetNumbers::new(
            Gadget { base_log2: set.ring.digit_bits, dropped: 0, digits: Digits::Balanced },
            set.ring.digits(),
        ),
        selection: Selection = set.selection,
        entry_bits: u32 = load.layout.entry_bits,
        entries_per_record: usize = load.layout.entries,
        records_per_item: u64 = load.layout.items.records,
        items: u64 = load.layout.items.count(),
        items_rebuilt: u64 = load.touched,
        codeword_bits: usize = load.layout.code.bits,
        codeword_weight: usize = load.layout.code.weight,
        selector_depth: u32 = load.layout.depth,
        query_ciphertexts: usize = load.layout.ciphertexts(),
        answer_ciphertexts: usize = load.layout.polynomials,
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
    let load = Load {
        set,
        layout,
        shape: workload.shape,
        ring: set.ring.shape(),
        queries: workload.queries,
        touched: workload.touched(layout.items.count(), |index| vec![layout.item_of(index)]),
    };
    let mut sizes = Sizes::of(&Numbers::new(set, &load));
    let [keys, query, answer] = load.message_bytes();
    let formula = "8 + K (24 + l N (log2(q) + log2(P)) / 8)";
    sizes.message("keys", Direction::Upload, "offline", keys, formula, None);
    let formula = "(16 + C N log2(q) / 8) k";
    sizes.message("query", Direction::Upload, "query", query, formula, Some(workload.queries));
    let formula = match set.switch {
        Some(_) => "T N (log2(q_a) + log2(q_b)) / 8 k",
        None => "2 T N log2(q) / 8 k",
    };
    sizes.message("answer", Direction::Download, "answer", answer, formula, Some(workload.queries));
    sizes.memory = load.memory()?;
    sizes.operations = load.operations()?;
    sizes.instances = set.ring.instances(load.keys() * set.ring.digits() as u64);
    Ok(sizes)
}

/// Vectors of that many bytes or more lie on whole huge pages.
const HUGE_PAGE: u64 = 2 << 20;

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
        PolyMatrix::bytes_for(self.ring.degree, self.ring.primes, self.layout.count(), self.layout.polynomials)
    }

    /// Number of a client's keys.
    fn keys(&self) -> u64 {
        exponents(&self.layout, self.ring.degree).len() as u64
    }

    /// Bytes of all keys, queries and answers.
    fn message_bytes(&self) -> [u64; 3] {
        let query = query_bytes(&self.set.ring, self.layout.ciphertexts()) as u64;
        let answer = count(&[self.queries, self.layout.polynomials as u64, self.set.answer_bytes() as u64]);
        [keys_bytes(&self.set.ring, self.keys()), count(&[self.queries, query]), answer]
    }

    /// Bytes of a ciphertext and of one that is lifted.
    fn ciphertext_bytes(&self) -> Result<[u64; 2]> {
        let whole = 2 * self.ring.poly_bytes();
        if self.layout.products() == 0 {
            return Ok([whole, 0]);
        }
        let extension = self.set.ring.multiply_shape()?.extension;
        Ok([whole, whole + 2 * RingShape { primes: extension, ..self.ring }.poly_bytes()])
    }

    fn memory(&self) -> Result<MemoryMap> {
        let Self { set, layout, ring, queries, .. } = *self;
        let (poly, stored, [whole, lifted]) = (ring.poly_bytes(), self.stored_bytes(), self.ciphertext_bytes()?);
        let [key_message, query, answer] = self.message_bytes();
        let keys = self.keys() * set.ring.key_bytes();
        let server = vec![TableBytes::new("database", stored), TableBytes::new("keys", keys)];
        // Of every query its operands; of one of them the bits beside these, or a segment's selections as they are and as products read
        // them; and the products of two segments.
        let operand = match set.selection {
            Selection::Arithmetic { .. } => whole,
            _ => lifted.max(whole),
        };
        let operands = count(&[layout.operands() as u64, operand]);
        let selected = count(&[layout.segment_items() as u64, whole]);
        let vector = if selected < HUGE_PAGE { selected } else { selected.next_multiple_of(HUGE_PAGE) };
        let products = count(&[2, layout.polynomials as u64, whole]);
        let each = operands.saturating_add(vector).saturating_add(products);
        let bits = count(&[layout.operands() as u64, whole]);
        // A segment's selections stay with the allocator while the next one's are made.
        let selected = if layout.segments() > 1 { 2 * selected } else { selected };
        let online = count(&[queries, each])
            .saturating_add(bits.max(selected))
            .saturating_add(count(&[layout.code.weight as u64, lifted]))
            .saturating_add(2 * query)
            .saturating_add(2 * answer)
            .max(3 * key_message);
        let making = count(&[layout.polynomials as u64, poly + 8 * ring.degree as u64]);
        let secrets = 5 * poly;
        let peak =
            stored.saturating_add(making.max(keys.saturating_add(online))).saturating_add(secrets + PROCESS_BYTES);
        Ok(MemoryMap { server, client: vec![TableBytes::new("secrets", secrets)], peak_bytes: peak })
    }

    /// The work of making the plaintexts of an item.
    fn item_work(&self) -> Work {
        let cut = Work::of(Kind::CutEntries, &[self.ring.degree as u64]);
        (Scheme::<u32>::prepare_work(self.ring) + self.ring.moves(1) + cut) * self.layout.polynomials as u64
    }

    /// The work of selecting all items.
    fn selection_work(&self) -> Result<Work> {
        let Self { set, layout, ring, .. } = *self;
        let (items, products) = (layout.items.count(), layout.products() as u64);
        let complements = match set.selection {
            Selection::Folklore {} => ring.moves(4) * layout.code.bits as u64,
            _ => Work::default(),
        };
        if products == 0 {
            return Ok(complements + ring.moves(2) * items);
        }
        let (shape, switch) = (set.ring.multiply_shape()?, set.ring.switch_shape());
        // Products of products are lifted again.
        let product = shape.multiply_work(switch) * products + shape.lift_work() * (products - 1);
        Ok(match set.selection {
            Selection::Arithmetic { .. } => {
                let terms = products + 1;
                (product + shape.lift_work() * terms + ring.moves(2 * products + 3 * terms)) * items
            }
            _ => complements + shape.lift_work() * layout.operands() as u64 + product * items,
        })
    }

    fn operations(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let Self { set, layout, ring, queries, .. } = *self;
        let (sent, answers) = (layout.ciphertexts() as u64, layout.polynomials as u64);
        let family = set.ring.plaintext.family();
        let residues = count(&[sent, (ring.degree * ring.primes) as u64, queries]);
        let mut plan = Plan::default();
        plan.phase(
            "encode",
            self.item_work() * layout.items.count() + Work::of(Kind::BytesWritten, &[self.stored_bytes()]),
        );

        let scaled = family.shorten_work(ring.degree)? + ring.transforms(2) + ring.products(2);
        let samples =
            [(Kind::GaussianSamples, count(&[sent, ring.degree as u64, queries])), (Kind::WordsWritten, residues)];
        plan.phase("query", scaled * count(&[sent, queries]) + samples.into());

        let parsed = [(Kind::WordsRead, residues), (Kind::PrgBytes, residues.saturating_mul(4))];
        plan.step("answer", "parse", parsed.into());
        let expansions = (0..layout.ciphertexts().min(2)).map(|number| {
            // All ciphertexts but the last are full.
            let number = if number == 0 { layout.ciphertexts() - 1 } else { 0 };
            let times = if number == 0 && sent > 1 { sent - 1 } else { 1 };
            set.ring.switch_shape().expand_work(layout.depth, layout.bits_of(number).len() as u64) * times
        });
        plan.step("answer", "expansion", expansions.sum::<Work>() * queries);
        plan.step("answer", "selection", self.selection_work()? * queries);
        let segments = layout.segments() as u64;
        let read = self.stored_bytes().saturating_add(count(&[queries, layout.items.count(), 2 * ring.poly_bytes()]));
        let moved = ring.moves(count(&[2, layout.items.count() + (segments - 1) * answers, queries]));
        let multiply = PolyMatrix::multiply_work(ring, (layout.count(), layout.polynomials), queries, read);
        plan.step("answer", "product", multiply + moved);
        let written = if set.switch.is_some() { Switch::half_work(ring) * 2 } else { Work::default() };
        let words = Work::of(Kind::WordsWritten, &[self.message_bytes()[2] / 4]);
        plan.step("answer", "write", written * count(&[answers, queries]) + words);

        let opened = ring.transforms(3) + family.shorten_work(ring.degree)?;
        plan.phase("extract", opened * count(&[answers, queries]));
        plan.phase("update_items", self.item_work() * self.touched);
        Ok(plan.operations())
    }
}
