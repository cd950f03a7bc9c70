//! PIRANA's layout, bytes, memory, operations and RLWE instances.

use ring::{Kind, PolyMatrix, RingShape, Work};

use super::column::{column_work, making_bytes};
use super::keys::exponents;
use super::update::rewrite_work;
use super::{Layout, Set};
use crate::core::plan::{Plan, count, numbers};
use crate::core::{MemoryMap, Result, Shape, Sizes, Workload};
use crate::parts::bfv::RingTable;
use crate::parts::selection::{RingNumbers, Sent, StoredNumbers};

numbers! {
    /// PIRANA's layout.
    pub struct Numbers(set: &Set, load: &Load) {
        #[serde(flatten)]
        ring: RingNumbers = RingNumbers::new(&set.ring),
        plaintext_slots: usize = set.ring.plaintext.family().slots(set.ring.degree),
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
        #[serde(flatten)]
        stored: StoredNumbers = StoredNumbers::new(set.switch, load.shape, load.stored_bytes()),
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
        sent: Sent {
            ring: &set.ring,
            switch: set.switch,
            keys: exponents(&layout, set.ring.modulus_id()).len() as u64,
            queries: set.queries(workload.queries),
            ciphertexts: [layout.code.bits, layout.answers],
        },
        touched: workload.touched(layout.columns as u64, of_record),
    };
    let mut sizes = Sizes::of(&Numbers::new(set, &load));
    if let Some(buckets) = buckets {
        buckets.describe(&mut sizes);
    }
    load.sent.describe(&mut sizes, workload.queries, ["l", "m", "R"]);
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
    /// Columns that an update touches.
    touched: u64,
}

impl Load<'_> {
    fn stored_bytes(&self) -> u64 {
        let rows = self.layout.columns.saturating_mul(self.layout.turned_columns());
        PolyMatrix::bytes_for(self.ring.degree, self.ring.primes, rows, self.layout.matrix_columns())
    }

    /// Bytes of the vector of a segment's turned columns of a query.
    fn vector_bytes(&self) -> u64 {
        count(&[2, (self.layout.segments().each * self.layout.turned_columns()) as u64, self.ring.poly_bytes()])
    }

    fn memory(&self) -> Result<MemoryMap> {
        let Self { set, layout, ring, sent: Sent { queries, .. }, .. } = *self;
        let (poly, stored) = (ring.poly_bytes(), self.stored_bytes());
        let bits = layout.code.bits as u64;
        // Of every query its bits, what they are lifted to, a segment's turned columns, and the sums of products.
        let multiplies = layout.code.weight > 1;
        let lifted = if multiplies { set.ring.multiply_shape()?.lifted_bytes() } else { 0 };
        let products = count(&[2, layout.matrix_columns() as u64, poly]);
        let each = count(&[bits, 2 * poly + lifted]).saturating_add(self.vector_bytes()).saturating_add(products);
        // A segment's columns before they are turned, and turned.
        let online = count(&[queries, each]).saturating_add(2 * self.vector_bytes());
        self.sent.memory(stored, making_bytes(set, &layout)?, online, multiplies)
    }

    fn operations(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let Self { set, layout, ring, sent: Sent { queries, .. }, .. } = *self;
        let (bits, columns, answers) = (layout.code.bits as u64, layout.columns as u64, layout.answers as u64);
        let (slots, switch) = (set.ring.plaintext.family().slots_work(ring.degree)?, set.ring.switch_shape());
        let mut plan = Plan::default();
        let encoded = column_work(set, &layout)? * columns;
        plan.phase("encode", encoded + Work::of(Kind::BytesWritten, &[self.stored_bytes()]));

        // A query for one record has zeros alone in the other bits.
        let encoded = if set.batch.is_some() { bits } else { layout.code.weight as u64 };
        self.sent.ask(&mut plan, slots.clone() * count(&[encoded, queries]))?;
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
        let segments = layout.segments().count() as u64;
        let read = self.stored_bytes().saturating_add(count(&[segments, queries, self.vector_bytes()]));
        let places = (layout.columns.saturating_mul(layout.turned_columns()), layout.matrix_columns());
        plan.step("answer", "product", PolyMatrix::multiply_work(ring, places, 2 * queries, read));
        let giants = (switch.automorphism_work() + ring.moves(2)) * (layout.giants as u64 - 1);
        plan.step("answer", "giant_steps", giants * count(&[answers, queries]));
        self.sent.respond(&mut plan, slots)?;
        plan.phase("update_columns", rewrite_work(set, &layout)? * self.touched);
        Ok(plan.operations())
    }
}
