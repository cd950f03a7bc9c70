//! The layout, bytes, memory, operations and RLWE instances of one-hot PIR.

use ring::{Kind, PolyMatrix, RingShape, Work};

use super::encode::{encode_work, making_bytes, rewrite_work};
use super::{Layout, Set};
use crate::core::plan::{Plan, count, numbers};
use crate::core::{MemoryMap, Result, Shape, Sizes, Workload};
use crate::parts::bfv::RingTable;
use crate::parts::selection::{RingNumbers, Sent, StoredNumbers};

numbers! {
    /// The layout of one-hot PIR.
    pub struct Numbers(set: &Set, load: &Load) {
        #[serde(flatten)]
        ring: RingNumbers = RingNumbers::new(&set.ring),
        plaintext_slots: usize = set.ring.plaintext.family().slots(set.ring.degree),
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
        #[serde(flatten)]
        stored: StoredNumbers = StoredNumbers::new(set.switch, load.shape, load.stored_bytes()),
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
        sent: Sent {
            ring: &set.ring,
            switch: set.switch,
            keys: layout.exponents(set.ring.modulus_id()).len() as u64,
            queries: workload.queries,
            ciphertexts: [layout.ciphertexts(), layout.answers],
        },
        touched: workload.touched(layout.items.count(), |index| vec![(index / records) as usize]),
    };
    let mut sizes = Sizes::of(&Numbers::new(set, &load));
    load.sent.describe(&mut sizes, workload.queries, ["l_d", "C", "R"]);
    sizes.memory = load.memory()?;
    sizes.operations = load.operations()?;
    Ok(sizes)
}

/// The quantities from which memory and work are counted.
pub struct Load<'a> {
    set: &'a Set,
    layout: Layout,
    /// The database.
    shape: Shape,
    ring: RingShape,
    sent: Sent<'a>,
    /// Items that an update touches.
    touched: u64,
}

impl Load<'_> {
    fn stored_bytes(&self) -> u64 {
        let columns = self.layout.giants.saturating_mul(self.layout.entries);
        PolyMatrix::bytes_for(self.ring.degree, self.ring.primes, self.layout.matrix_rows(), columns)
    }

    fn memory(&self) -> Result<MemoryMap> {
        let Self { set, layout, ring, sent: Sent { queries, .. }, .. } = *self;
        let (poly, stored) = (ring.poly_bytes(), self.stored_bytes());
        let lifted = set.ring.multiply_shape()?.lifted_bytes();
        // Of every query its ciphertexts, the lifted row, turned selectors, products of an entry and sums.
        let vector = count(&[layout.matrix_rows() as u64, 2 * poly]);
        let ciphertexts = count(&[(layout.ciphertexts() + layout.giants + layout.answers) as u64, 2 * poly]);
        let each = ciphertexts.saturating_add(lifted).saturating_add(vector);
        let online = count(&[queries, each]).saturating_add(vector).saturating_add(2 * lifted);
        self.sent.memory(stored, making_bytes(set, &layout)?, online, true)
    }

    fn operations(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let Self { set, layout, ring, sent: Sent { queries, .. }, .. } = *self;
        let (sent, answers, entries) = (layout.ciphertexts() as u64, layout.answers as u64, layout.entries as u64);
        let (blocks, baby) = (layout.blocks as u64, layout.baby as u64);
        let (slots, switch) = (set.ring.plaintext.family().slots_work(ring.degree)?, set.ring.switch_shape());
        let mut plan = Plan::default();
        plan.phase("encode", encode_work(set, &layout)? + Work::of(Kind::BytesWritten, &[self.stored_bytes()]));

        self.sent.ask(&mut plan, slots.clone() * count(&[sent, queries]))?;
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
        plan.step("answer", "product", PolyMatrix::multiply_work(ring, places, 2 * queries, read));
        let turn = switch.automorphism_work() + ring.moves(2);
        plan.step("answer", "giant_steps", turn.clone() * count(&[layout.giants as u64 - 1, entries, queries]));
        let shape = set.ring.multiply_shape()?;
        let products = shape.lift_work() * (entries + 1) + shape.multiply_work(switch) * entries;
        plan.step("answer", "selection", products * queries);
        plan.step("answer", "sum", turn * count(&[entries - answers, queries]));
        self.sent.respond(&mut plan, slots)?;
        plan.phase("update_items", rewrite_work(set, &layout)? * self.touched);
        Ok(plan.operations())
    }
}
