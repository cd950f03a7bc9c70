//! KSPIR's layout, bytes, memory, operations and RLWE instances.

use bfv::{Family, PlainModulus};
use lattice::{SplitKey, SplitRlwe};
use ring::{Kind, PolyMatrix, PolyPairs, RingShape, Work};

use super::blocks::{block_work, making_bytes};
use super::keys::key_bytes;
use super::server::query_bytes;
use super::{Layout, Set};
use crate::core::plan::{Plan, count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::bfv::party_bytes;
use crate::parts::ring_matrix::GadgetNumbers;

numbers! {
    /// KSPIR's layout.
    pub struct Numbers(set: &Set, load: &Load) {
        ring_degree: usize = set.rlwe.degree,
        ring_modulus: u64 = set.rlwe.modulus(),
        special_modulus: u64 = set.special_modulus,
        slot_moduli: Vec<u64> = vec![set.slot_modulus],
        entry_bits: u32 = load.layout.entry_bits,
        items: u64 = load.layout.shape.records.div_ceil(load.layout.records_per_item),
        records_per_item: u64 = load.layout.records_per_item,
        parts: usize = load.layout.parts,
        columns: usize = load.layout.columns,
        blocks: usize = load.layout.blocks(),
        blocks_rebuilt: u64 = load.touched,
        classes: usize = load.layout.classes,
        baby_steps: usize = load.layout.baby,
        baby_keys: usize = load.layout.baby_keys(set.baby_keys),
        giant_steps: usize = load.layout.giants(),
        baby_gadget: GadgetNumbers = set.baby_gadget.describe(set.rlwe.modulus()),
        giant_gadget: GadgetNumbers = set.giant_gadget.describe(set.rlwe.modulus()),
        selector_gadget: GadgetNumbers = set.selector_gadget.describe(set.rlwe.modulus()),
        packing_gadget: GadgetNumbers = set.packing_gadget.describe(set.rlwe.modulus()),
        #[serde(skip_serializing_if = "Option::is_none")]
        mask_modulus: Option<u64> = set.switch.map(|switch| switch.mask_modulus),
        #[serde(skip_serializing_if = "Option::is_none")]
        body_modulus: Option<u64> = set.switch.map(|switch| switch.body_modulus),
        stored_bytes: u64 = load.stored_bytes(),
        information_bytes: u64 = load.layout.shape.database_bytes(),
        expansion: f64 = load.stored_bytes() as f64 / load.layout.shape.database_bytes() as f64,
        quoted_key_bytes: u64 = quoted_key_bytes(set, &load.layout),
        quoted_query_bytes: u64 = set.poly_bytes() / 2,
        quoted_answer_bytes: u64 = 8 * set.poly_bytes(),
    }
}

/// The keys by the formula from which InsPIRe's tables are: 16 keys of four rows, two of two rows, and one of four rows for each level of a
/// packing of a quarter of the blocks, all modulo q. The query by theirs is half a polynomial, the answer four ciphertexts.
fn quoted_key_bytes(set: &Set, layout: &Layout) -> u64 {
    let levels = layout.blocks().next_power_of_two().ilog2().saturating_sub(2);
    count(&[u64::from(levels) * 4 + 16 * 4 + 2 * 2, set.poly_bytes()])
}

pub(super) fn describe(set: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = set.layout(workload.shape)?;
    let load = Load {
        set,
        layout,
        ring: set.ring_shape(),
        queries: workload.queries,
        touched: layout.touched(workload),
        updates: workload.updates,
    };
    let mut sizes = Sizes::of(&Numbers::new(set, &load));
    let [keys, query, answer] = load.message_bytes();
    let baby_keys = if load.bases() > 2 { "(K + B / K - 2)" } else { "K" };
    let formula = format!(
        "8 + {baby_keys} (24 + l_b N (log2(q) + log2(P)) / 8) + (G - 1) (24 + l_g N log2(q) / 8) + log2(r) (24 + l_p N log2(q) / 8)"
    );
    sizes.message("keys", Direction::Upload, "offline", keys, &formula, None);
    let formula = "(48 + (1 + 2 l_s) N log2(q) / 8) k";
    sizes.message("query", Direction::Upload, "query", query, formula, Some(workload.queries));
    let formula = match set.switch {
        Some(_) => "S N (log2(q_a) + log2(q_b)) / 8 k",
        None => "2 S N log2(q) / 8 k",
    };
    sizes.message("answer", Direction::Download, "answer", answer, formula, Some(workload.queries));
    sizes.memory = load.memory()?;
    sizes.operations = load.operations();
    let baby_samples = count(&[load.baby_keys(), set.baby_shape().rows as u64, set.rlwe.degree as u64]);
    sizes.instances = set.instances(baby_samples);
    Ok(sizes)
}

/// The quantities from which memory and work are counted.
pub struct Load<'a> {
    set: &'a Set,
    layout: Layout,
    ring: RingShape,
    queries: u64,
    /// Blocks that an update touches.
    touched: u64,
    updates: u64,
}

impl Load<'_> {
    /// Columns of the matrix of plaintexts.
    fn columns(&self) -> usize {
        self.layout.blocks().saturating_mul(self.layout.giants())
    }

    /// Keys of baby steps.
    fn baby_keys(&self) -> u64 {
        self.layout.baby_places(self.set.baby_keys).count() as u64
    }

    /// Rotations of the query from which baby steps turn on, itself among them.
    fn bases(&self) -> u64 {
        self.layout.baby.div_ceil(self.set.baby_keys) as u64
    }

    fn stored_bytes(&self) -> u64 {
        PolyMatrix::bytes_for(self.ring.degree, self.ring.primes, self.layout.baby, self.columns())
    }

    /// Bytes of all keys, queries and answers.
    fn message_bytes(&self) -> [u64; 3] {
        let query = query_bytes(self.set).iter().sum::<usize>() as u64;
        let answer = count(&[self.queries, self.layout.parts as u64, self.set.answer_bytes()]);
        [key_bytes(self.set, &self.layout), count(&[self.queries, query]), answer]
    }

    /// The shape of the ring modulo q P.
    fn key_ring(&self) -> RingShape {
        RingShape { primes: self.ring.primes + 1, ..self.ring }
    }

    /// Bytes of a client's keys with the server: masks and bodies of all rows, and the tables of the automorphisms.
    fn key_bytes(&self) -> u64 {
        let (set, layout, poly) = (self.set, &self.layout, self.ring.poly_bytes());
        let wide = self.key_ring().poly_bytes();
        // Two tables of words.
        let map = 8 * self.ring.degree as u64;
        let (baby, giant, packing) = (self.baby_keys(), layout.giants() as u64 - 1, u64::from(layout.levels()));
        // Masks and bodies of switching keys have a table each.
        baby * 2 * (set.baby_shape().rows as u64 * wide + map)
            + giant * 2 * (set.giant_shape().rows as u64 * poly + map)
            + packing * (2 * set.length(set.packing_gadget) as u64 * poly + map)
    }

    fn memory(&self) -> Result<MemoryMap> {
        let Self { set, layout, ring, queries, .. } = *self;
        let (poly, columns, stored) = (ring.poly_bytes(), self.columns() as u64, self.stored_bytes());
        let [key_message, query, answer] = self.message_bytes();
        let server = vec![TableBytes::new("database", stored), TableBytes::new("keys", self.key_bytes())];
        let vectors = count(&[queries, PolyPairs::bytes_for(ring.degree, ring.primes, layout.baby)]);
        let wide = self.key_ring().poly_bytes();
        let digits = set.baby_shape().rows as u64 * wide;
        // Rotations that wait to be stored, what they are made from, and its digits; a sum that has not been divided yet.
        let turned = 2 * poly * layout.baby.min(PolyPairs::TOGETHER) as u64
            + (2 * self.bases().max(2) - 1) * poly
            + digits
            + wide;
        let products = count(&[queries, 2 * columns, poly]);
        // A query as received, its column and its selector; columns, selected ones and those that are packed, and the sums of a block.
        let selector = (2 + 4 * set.length(set.selector_gadget) as u64) * poly;
        let blocks = count(&[6 * layout.blocks() as u64 + 2 * layout.giants() as u64, poly]);
        let online = count(&[queries, selector])
            .saturating_add(2 * query)
            .saturating_add(2 * answer)
            .saturating_add((vectors + turned).max(vectors + products).max(products + blocks));
        // As it was made, on the wire, and as received; and the bodies of the key that is read, and half of it before it is mapped.
        let exchange = 3 * key_message + 2 * digits;
        let secrets = 5 * poly;
        let making = making_bytes(poly, &layout);
        // Both parties have tables of their own.
        let tables = 2 * party_bytes(self.key_ring(), ring.primes, &[Family::Integer { t: set.slot_modulus }])?;
        Ok(MemoryMap {
            server,
            client: vec![TableBytes::new("secrets", secrets)],
            peak_bytes: stored
                .saturating_add(making.max(self.key_bytes().saturating_add(online.max(exchange))))
                .saturating_add(secrets + tables + PROCESS_BYTES),
        })
    }

    fn operations(&self) -> serde_json::Map<String, serde_json::Value> {
        let Self { set, layout, ring, queries, .. } = *self;
        let (degree, columns) = (ring.degree as u64, layout.columns as u64);
        let (blocks, parts, baby) = (layout.blocks() as u64, layout.parts as u64, layout.baby as u64);
        let selector = set.selector_gadget.shape(&set.rlwe);
        let rows = 2 * selector.length as u64;
        let mut plan = Plan::default();
        let encoded = block_work(ring, &layout, columns) * blocks;
        plan.phase("encode", encoded + Work::of(Kind::BytesWritten, &[self.stored_bytes()]));

        let sent = [
            (Kind::GaussianSamples, count(&[1 + rows, degree, queries])),
            (Kind::WordsWritten, count(&[(1 + rows) * degree * ring.primes as u64, queries])),
        ];
        let slots = PlainModulus::integer_slots_work(layout.slots);
        plan.phase("query", (ring.transforms(3 + rows) + slots.clone()) * queries + sent.into());

        let words = count(&[1 + rows, degree, ring.primes as u64, queries]);
        let masks = Work::of(Kind::PrgBytes, &[4 * words]);
        plan.step("answer", "parse", Work::of(Kind::WordsRead, &[words]) + masks);
        let shape = set.baby_shape();
        // A base that is not turned further needs no digits.
        let cut = if set.baby_keys > 1 { self.bases() } else { 1 };
        let turns = shape.digits_work() * cut.min(baby - 1) + shape.switch_work() * (baby - 1) + ring.moves(2 * baby);
        // Keys are too many to stay in cache: every turn reads its own from memory.
        let wide = self.key_ring().poly_bytes();
        let read = Work::of(Kind::KeyBytes, &[baby - 1, 2 * shape.rows as u64, wide]);
        plan.step("answer", "rotations", (turns + read) * queries);
        let vectors = count(&[queries, PolyPairs::bytes_for(ring.degree, ring.primes, layout.baby)]);
        let read = self.stored_bytes().saturating_add(vectors);
        plan.step(
            "answer",
            "product",
            PolyMatrix::multiply_work(ring, (layout.baby, self.columns()), 2 * queries, read),
        );
        let giants = set.giant_shape().automorphism_work() + ring.moves(2);
        plan.step("answer", "giant_steps", giants * count(&[layout.giants() as u64 - 1, blocks, queries]));
        let selected = selector.external_product_work() + ring.transforms(2);
        plan.step("answer", "selection", selected * count(&[blocks, queries]));
        let joined = set.packing_gadget.shape(&set.rlwe).join_work(layout.classes as u64);
        plan.step("answer", "packing", joined * count(&[parts, queries]));
        let written = match set.switch {
            Some(_) => SplitRlwe::switch_work(ring.degree),
            None => ring.transforms(2),
        };
        let words = Work::of(Kind::WordsWritten, &[self.message_bytes()[2] / 4]);
        plan.step("answer", "write", written * count(&[parts, queries]) + words);

        let opened = match set.switch {
            Some(switch) => SplitKey::work(ring.degree, switch.mask_modulus),
            None => ring.transforms(3),
        };
        plan.phase("extract", (opened + slots) * count(&[parts, queries]));
        let changed = block_work(ring, &layout, columns.min(self.updates)) + (ring.ntts(1) + ring.moves(1)) * columns;
        plan.phase("update_blocks", changed * self.touched);
        plan.operations()
    }
}
