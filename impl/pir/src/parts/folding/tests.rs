//! Layouts, encoding and selection at toy sizes, with selectors and leaves encrypted directly.

use std::sync::Arc;

use gadget::Family;
use lattice::{Masks, RingGadget, Rlwe, RlweKey, Secret, SeededRgsw};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{Coefficient, DiscreteGaussian, Kernel, Ring, Seed, StdDev};

use super::*;
use crate::core::clock::Clock;
use crate::core::database::Database;
use crate::core::progress::Silent;
use crate::core::protocol::Context;
use crate::core::workload::Shape;
use crate::parts::ring_matrix::workspace;
use crate::protocol::tests_support::ALL_SHAPES;

const PRIMES: [u64; 2] = [268369921, 249561089];

fn context(threads: usize) -> Context<'static> {
    Context {
        kernel: Kernel::best(),
        threads,
        streamed: false,
        rng: ChaCha20Rng::seed_from_u64(1),
        clock: Arc::new(Clock::default()),
        noise: Default::default(),
        progress: &Silent,
    }
}

/// Keys and gadgets of a toy.
struct Toy {
    ring: Arc<Ring<u32>>,
    key: RlweKey<u32>,
    gadget: RingGadget<u32>,
    error: DiscreteGaussian,
    masks: Masks,
    rng: ChaCha20Rng,
}

impl Toy {
    fn new(degree: usize) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let ring = Ring::new(degree, &PRIMES, Kernel::best()).unwrap();
        let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap();
        let gadget = RingGadget::new(&ring, Family::Symmetric, 1 << 7, 0).unwrap();
        let error = DiscreteGaussian::new(StdDev(3.2)).unwrap();
        Self { ring, key, gadget, error, masks: Masks::new(Seed([3; 16])), rng }
    }

    /// RLWE(q / p) if `bit`, else RLWE(0).
    fn leaf(&mut self, bit: bool, p: u64) -> Rlwe<u32, Coefficient> {
        let mut message = vec![0u64; self.ring.n()];
        message[0] = if bit { PRIMES[0] * PRIMES[1] / p } else { 0 };
        let message = self.ring.from_u64(&message);
        self.key.encrypt(&message, &self.error, &mut self.masks, &mut self.rng).expand(&self.ring).inverse(&self.ring)
    }

    fn selector(&mut self, bit: bool) -> lattice::Rgsw<u32> {
        let mut message = vec![0i64; self.ring.n()];
        message[0] = i64::from(bit);
        let message = self.ring.forward(self.ring.from_signed(&message));
        let Self { key, gadget, error, masks, rng, ring } = self;
        SeededRgsw::new(key, &message, gadget, error, masks, rng).unwrap().expand(ring)
    }
}

fn layout(records: u64, bits: u64, plain_bits: u32, rows: u32) -> Layout {
    let dimensions = Dimensions { degree: 256, response_degree: 64, item_slots: 1, stacked: 1, plain_bits };
    Layout::new(Shape::new(records, bits).unwrap(), dimensions, rows).unwrap()
}

/// Retrieves records through every step, from a matrix in one block and in several, before and after a change.
fn retrieves(layout: Layout, primes: usize, threads: usize) {
    let p = 1u64 << layout.dimensions.plain_bits;
    let mut toy = Toy::new(layout.dimensions.degree);
    let context = context(threads);
    let mut database = Database::seeded([8; 16], layout.shape);
    let selection = Selection::new(layout, &toy.ring, primes, threads).unwrap();
    let encoder = Encoder::new(layout, selection.matrix_ring());
    let columns = layout.matrix_columns();
    let mut whole = encoder.block(&database, 0..columns, &context).unwrap();
    assert_eq!(whole.bytes(), layout.stored_bytes(primes));
    let responder =
        Responder::new(ResponseParams { degree: 64, mask_modulus: 16760833, body_modulus: 4096, base: 2 }, &toy.ring)
            .unwrap();
    let response_key = responder.sample(&Secret::Ternary, &mut toy.rng).unwrap();
    let switch = responder
        .switching_key(&toy.key, &response_key, &toy.error, &mut toy.masks, &mut toy.rng)
        .unwrap()
        .expand(responder.gadget().ring());
    for (turn, index) in [0, layout.shape.records - 1, layout.shape.records / 3].into_iter().enumerate() {
        if turn == 2 {
            let mut record = database.record(index).unwrap();
            record[0] ^= 1;
            encoder.change(&mut whole, index, &record).unwrap();
            database.change(index, record).unwrap();
        }
        let place = layout.place(index);
        let leaves: Vec<_> = (0..layout.rows).map(|row| toy.leaf(row == place.row, p)).collect();
        let vector = if turn == 0 {
            selection.leaves(leaves.chunks(3).map(|leaves| Ok(leaves.to_vec()))).unwrap()
        } else {
            let ring = &toy.ring;
            let leaves: Vec<_> = leaves.into_iter().map(|leaf| leaf.forward(ring)).collect();
            selection.leaves_ntt(leaves.chunks(3).map(|leaves| Ok(leaves.to_vec()))).unwrap()
        };
        let selected = selection.rows(&whole, 0..whole.columns(), &[&vector]).unwrap().remove(0);
        if turn == 0 {
            let mut streamed = Vec::new();
            let mut block = encoder.block(&database, columns - columns.min(3)..columns, &context).unwrap();
            assert!(encoder.refill(&mut block, &database, 0..columns.min(3) + 1, &context).is_err());
            assert_eq!(encoder.polynomial(&database, place.row, 0).unwrap(), whole.get(place.row, 0).unwrap());
            for (row, column) in [(layout.rows, 0), (0, columns)] {
                assert!(encoder.polynomial(&database, row, column).is_err() && whole.get(row, column).is_err());
            }
            for first in (0..columns).step_by(3) {
                let range = first..columns.min(first + 3);
                if range.len() == block.columns() {
                    encoder.refill(&mut block, &database, range, &context).unwrap();
                } else {
                    block = encoder.block(&database, range, &context).unwrap();
                }
                streamed.extend(selection.rows(&block, 0..block.columns(), &[&vector]).unwrap().remove(0));
            }
            assert!(selected.iter().zip(&streamed).all(|(x, y)| x.a == y.a && x.b == y.b));
            assert_eq!(selected.len(), streamed.len());
        }
        let column_bits: Vec<_> = layout.column_bits_of(&place).map(|bit| toy.selector(bit)).collect();
        let position_bits: Vec<_> = layout.position_bits_of(&place).map(|bit| toy.selector(bit)).collect();
        let mut workspace = workspace();
        // Folding columns as they arrive gives the same bits.
        let fold = |each: usize| {
            let mut folding = Folding::new(&selection, &toy.gadget, &column_bits);
            selected.chunks(each).for_each(|columns| folding.extend(columns.to_vec()).unwrap());
            folding.finish().unwrap()
        };
        let folded = fold(columns);
        assert_eq!(folded.len(), layout.parts);
        for each in [1, 3, 4] {
            assert!(fold(each).iter().zip(&folded).all(|(x, y)| x.a == y.a && x.b == y.b));
        }
        let turn = |part| selection.position(&toy.gadget, &position_bits, part, &mut workspace).unwrap();
        let parts: Vec<_> = folded.into_iter().map(turn).collect();
        let slots: Vec<Vec<u64>> = selection
            .slots(&parts)
            .iter()
            .map(|slot| {
                let bytes = responder.compress(slot, &switch, &mut workspace).unwrap().to_bytes();
                assert_eq!(bytes.len(), responder.response_bytes());
                responder.open(&response_key, &bytes, p).unwrap()
            })
            .collect();
        assert_eq!(slots.len(), layout.slots);
        assert_eq!(Encoder::record(&layout, &place, &slots), database.record(index).unwrap(), "{layout:?}, {index}");
    }
}

#[test]
fn every_shape_is_retrieved() {
    for (i, &(records, bits)) in ALL_SHAPES.iter().enumerate() {
        retrieves(layout(records, bits, 4, 2), 1 + i % 2, 1 + i % 2);
    }
    for plain_bits in [1, 2, 3, 5] {
        retrieves(layout(123, 77, plain_bits, 3), 2, 1);
        retrieves(layout(50, 300, plain_bits, 1), 1, 1);
    }
}

#[test]
fn published_dimensions() {
    let dimensions = Dimensions { degree: 2048, response_degree: 512, item_slots: 1, stacked: 1, plain_bits: 4 };
    for (log_records, rows, v) in [(18, 8, (8, 8, 2)), (20, 9, (9, 9, 2)), (22, 10, (10, 10, 2)), (25, 11, (11, 12, 2))]
    {
        let layout = Layout::new(Shape::new(1 << log_records, 2048).unwrap(), dimensions, rows).unwrap();
        assert_eq!((layout.row_bits, layout.column_bits, layout.position_bits), v);
        assert_eq!(layout.stored_bytes(2), 16 * layout.shape.database_bytes());
    }
}

#[test]
fn places_cover_every_record_once() {
    for (records, bits, rows) in [(1000, 1, 1), (777, 7, 2), (100, 2048, 2), (37, 2049, 3), (1, 5000, 4)] {
        let layout = layout(records, bits, 4, rows);
        let mut seen = std::collections::HashSet::new();
        for index in 0..records {
            let place = layout.place(index);
            assert!(place.row < layout.rows && place.column < layout.columns && place.position < layout.positions());
            assert!(place.first_bit + bits <= layout.slots as u64 * layout.dimensions.slot_bits());
            assert!(seen.insert((place.row, place.column, place.position, place.first_bit)));
        }
        assert!(layout.rows <= 1 << layout.row_bits && layout.rows <= 1 << rows);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let dimensions = Dimensions { degree: 256, response_degree: 64, item_slots: 1, stacked: 1, plain_bits: 4 };
    let error = Layout::new(Shape::new(3, 300_000).unwrap(), dimensions, 2).unwrap_err().to_string();
    assert!(error.contains("at most 1024") && error.contains("262144 bits"), "{error}");
    let toy = Toy::new(256);
    let encoder = Encoder::new(layout(100, 9, 4, 2), &toy.ring);
    let database = Database::seeded([8; 16], encoder.layout().shape);
    assert!(encoder.block(&database, 0..1000, &context(1)).is_err());
    assert!(Selection::new(*encoder.layout(), &toy.ring, 3, 1).is_err());
    for (degree, modulus) in [(512, 16760833), (64, 16760832), (64, 97), (48, 16760833)] {
        let params = ResponseParams { degree, mask_modulus: modulus, body_modulus: 256, base: 2 };
        assert!(params.check(&toy.ring, 16).is_err(), "{degree} {modulus}");
    }
    let params = ResponseParams { degree: 64, mask_modulus: 16760833, body_modulus: 31, base: 2 };
    assert!(params.check(&toy.ring, 16).unwrap_err().to_string().contains("body_modulus"));
    let responder = Responder::new(ResponseParams { body_modulus: 256, ..params }, &toy.ring).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let key = responder.sample(&Secret::Ternary, &mut rng).unwrap();
    assert!(responder.open(&key, &[0; 3], 16).is_err());
    assert!(responder.open(&key, &vec![0xff; responder.response_bytes()], 16).is_err());
}
