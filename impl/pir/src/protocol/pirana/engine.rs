//! Where records stand, what is encrypted and what is stored, as both parties know it.

use bfv::Multiplier;
use lattice::wire::Writer;

use super::{Layout, Set};
use crate::core::{Database, Result};
use crate::parts::buckets::{Buckets, Places};
use crate::parts::selection::Exchange;
use crate::parts::slots::{read_entry, write_value};

/// What a set and a shape determine.
pub struct Engine {
    pub set: Set,
    pub layout: Layout,
    pub exchange: Exchange,
    /// Products, where codewords have two ones.
    pub multiplier: Option<Multiplier<u32>>,
    /// Where records are asked for in batches.
    pub buckets: Option<Buckets>,
    /// Where records stand in buckets; a client knows it once the server has said so.
    pub places: Option<Places>,
}

impl Engine {
    /// The records in the order of the layout.
    pub fn laid_out(&self, database: &Database) -> Database {
        let Some(places) = self.places.clone() else { return database.clone() };
        let layout = self.layout;
        database.selected(layout.shape, move |number| {
            let (bucket, position) = layout.in_buckets(number);
            if position < places.buckets.each.records { places.record_at(bucket, position) } else { None }
        })
    }

    /// The numbers of a record in the order of the layout.
    pub fn numbers(&self, index: u64) -> Vec<u64> {
        match &self.places {
            None => vec![index],
            Some(places) => places.of(index).map(|(bucket, at)| self.layout.in_classes(bucket, at)).collect(),
        }
    }

    /// The plaintext of slots that are one in every repetition of the classes of these records.
    pub fn units(&self, numbers: impl Iterator<Item = u64>) -> Result<Vec<i64>> {
        let layout = &self.layout;
        let slots = |number| (0..layout.repetitions).map(move |part| layout.slot(part, layout.place(number).1));
        let mut slots = numbers.flat_map(slots).peekable();
        if slots.peek().is_none() {
            return Ok(vec![0; self.exchange.ring.n()]);
        }
        self.exchange.units(slots)
    }

    /// Writes an entry of an item into a slot's value; zeros beyond the item.
    pub fn read_entry(&self, item: &[u8], entry: usize, value: &mut [u64]) {
        read_entry((item, self.layout.item_bits()), self.layout.entry_bits, entry, value);
    }

    /// The record in the slots of an answer.
    pub fn record(&self, number: u64, answers: &[Vec<u64>]) -> Vec<u8> {
        let (layout, words) = (&self.layout, self.exchange.words());
        let mut places = vec![(0, 0); layout.entries];
        self.for_each_entry(layout.place(number).1, |entry, answer, slot| places[entry] = (answer, slot));
        let mut out = Writer::default();
        for (answer, slot) in places {
            write_value(&mut out, &answers[answer][slot * words..][..words], layout.entry_bits);
        }
        layout.items().record(&out.finish(), number)
    }

    /// Calls `each` with every entry of an item of that class, its ciphertext of an answer and its slot there.
    pub fn for_each_entry(&self, class: usize, mut each: impl FnMut(usize, usize, usize)) {
        let layout = &self.layout;
        for repetition in 0..layout.repetitions {
            let slot = layout.slot(repetition, class);
            for polynomial in 0..layout.polynomials {
                let (entry, turn) = (layout.entry(polynomial, repetition), layout.turn(polynomial));
                if entry < layout.entries {
                    let places = turn.baby * layout.giants + turn.giant;
                    each(entry, turn.answer, layout.turned(slot, turn.half, places));
                }
            }
        }
    }
}
