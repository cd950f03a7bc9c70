//! CwPIR's layout, bytes, memory, operations and RLWE instances.

use bfv::Scheme;
use lattice::convert::tree_work;
use ring::{Kind, PolyMatrix, RingShape, Work};

use super::engine::exponents;
use super::{Layout, Selection, Set};
use crate::core::plan::{Plan, count, numbers};
use crate::core::{MemoryMap, Result, Shape, Sizes, Workload};
use crate::parts::bfv::RingTable;
use crate::parts::selection::{RingNumbers, Sent, StoredNumbers};

numbers! {
    /// CwPIR's layout.
    pub struct Numbers(set: &Set, load: &Load) {
        #[serde(flatten)]
        ring: RingNumbers = RingNumbers::new(&set.ring),
        selection: Selection = set.selection,
        #[serde(skip_serializing_if = "Option::is_none")]
        keyword_bits: Option<u32> = set.keyword_bits,
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
        #[serde(flatten)]
        stored: StoredNumbers = StoredNumbers::new(set.switch, load.shape, load.stored_bytes()),
    }
}

pub(super) fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = set.layout(workload.shape)?;
    let load = Load {
        set,
        layout,
        shape: workload.shape,
        ring: set.ring.shape(),
        sent: Sent {
            ring: &set.ring,
            switch: set.switch,
            keys: exponents(&layout, set.ring.degree).len() as u64,
            queries: workload.queries,
            ciphertexts: [layout.ciphertexts(), layout.polynomials],
        },
        touched: workload.touched(layout.items.count(), |index| vec![layout.item_of(index)]),
    };
    let mut sizes = Sizes::of(&Numbers::new(set, &load));
    load.sent.describe(&mut sizes, workload.queries, ["l", "C", "T"]);
    sizes.memory = load.memory()?;
    sizes.operations = load.operations()?;
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
    sent: Sent<'a>,
    /// Items that an update touches.
    touched: u64,
}

impl Load<'_> {
    fn stored_bytes(&self) -> u64 {
        PolyMatrix::bytes_for(self.ring.degree, self.ring.primes, self.layout.count(), self.layout.polynomials)
    }

    /// Bytes of a ciphertext and of one that is lifted.
    fn ciphertext_bytes(&self) -> Result<[u64; 2]> {
        let whole = 2 * self.ring.poly_bytes();
        if self.layout.products() == 0 {
            return Ok([whole, 0]);
        }
        Ok([whole, self.set.ring.multiply_shape()?.lifted_bytes()])
    }

    fn memory(&self) -> Result<MemoryMap> {
        let Self { set, layout, ring, sent: Sent { queries, .. }, .. } = *self;
        let (poly, stored, [whole, lifted]) = (ring.poly_bytes(), self.stored_bytes(), self.ciphertext_bytes()?);
        // Of every query its operands, which the bits become one by one; of one of them the nodes on the way to a bit, or a segment's
        // selections as they are and as products read them; and the products of two segments.
        let operand = match set.selection {
            Selection::Arithmetic { .. } => whole,
            _ => lifted.max(whole),
        };
        let operands = count(&[layout.operands() as u64, operand]);
        let selected = count(&[layout.segments().each as u64, whole]);
        let vector = if selected < HUGE_PAGE { selected } else { selected.next_multiple_of(HUGE_PAGE) };
        let products = count(&[2, layout.polynomials as u64, whole]);
        let each = operands.saturating_add(vector).saturating_add(products);
        let nodes = count(&[u64::from(layout.depth) + 2, whole]);
        // A segment's selections stay with the allocator while the next one's are made.
        let selected = if layout.segments().count() > 1 { 2 * selected } else { selected };
        let online = count(&[queries, each])
            .saturating_add(nodes.max(selected))
            .saturating_add(count(&[layout.code.weight as u64, lifted]));
        let making = count(&[layout.polynomials as u64, poly + 8 * ring.degree as u64]);
        self.sent.memory(stored, making, online, layout.products() > 0)
    }

    /// The work of making the plaintexts of an item.
    fn item_work(&self) -> Work {
        let cut = Work::of(Kind::CutEntries, &[self.ring.degree as u64]);
        (Scheme::<u32>::prepare_work(self.ring) + self.ring.moves(1) + cut) * self.layout.polynomials as u64
    }

    /// The work of expanding a query.
    fn expansion_work(&self) -> Work {
        let (layout, ring, level) = (&self.layout, self.ring, self.set.ring.switch_shape().level_work());
        let expansion = |number: usize| {
            let positions: Vec<usize> = (0..layout.bits_of(number).len()).collect();
            tree_work(ring, level.clone(), &positions, layout.depth) + ring.transforms(2 * (1 + positions.len() as u64))
        };
        // All ciphertexts but the last are full.
        let last = layout.ciphertexts() - 1;
        expansion(0) * last as u64 + expansion(last)
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
        let Self { layout, ring, sent: Sent { queries, .. }, .. } = *self;
        let answers = layout.polynomials as u64;
        let mut plan = Plan::default();
        plan.phase(
            "encode",
            self.item_work() * layout.items.count() + Work::of(Kind::BytesWritten, &[self.stored_bytes()]),
        );

        self.sent.ask(&mut plan, Work::default())?;
        plan.step("answer", "expansion", self.expansion_work() * queries);
        plan.step("answer", "selection", self.selection_work()? * queries);
        let segments = layout.segments().count() as u64;
        let read = self.stored_bytes().saturating_add(count(&[queries, layout.items.count(), 2 * ring.poly_bytes()]));
        let moved = ring.moves(count(&[2, layout.items.count() + (segments - 1) * answers, queries]));
        let multiply = PolyMatrix::multiply_work(ring, (layout.count(), layout.polynomials), 2 * queries, read);
        plan.step("answer", "product", multiply + moved);
        self.sent.respond(&mut plan, Work::default())?;
        plan.phase("update_items", self.item_work() * self.touched);
        Ok(plan.operations())
    }
}
