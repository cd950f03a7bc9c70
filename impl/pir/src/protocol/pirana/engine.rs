//! Ring, scheme, products and key switches, as both parties use them.

use std::sync::Arc;

use bfv::{Multiplier, RnsGadget, Scheme};
use lattice::wire::Writer;
use ring::{Kernel, Ring};

use super::keys::exponents;
use super::{Layout, Set};
use crate::core::{Database, Result, Shape};
use crate::parts::bfv::AnswerOpener;
use crate::parts::buckets::{Buckets, Places};
use crate::parts::slots::{read_entry, write_value};

/// What a set and a shape determine.
pub struct Engine {
    pub set: Set,
    pub layout: Layout,
    /// The ring of ciphertexts.
    pub ring: Arc<Ring<u32>>,
    pub scheme: Scheme<u32>,
    /// Key switches.
    pub gadget: RnsGadget<u32>,
    /// The keys that a client uploads.
    pub exponents: Vec<u64>,
    /// Products, where codewords have two ones.
    pub multiplier: Option<Multiplier<u32>>,
    pub opener: AnswerOpener,
    /// The shape of the database.
    pub shape: Shape,
    /// Where its records are asked for in batches.
    pub buckets: Option<Buckets>,
    /// Where records stand in buckets; a client knows it once the server has said so.
    pub places: Option<Places>,
}

/// A record that is asked for: the number of its query, and its number in the order of the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub query: usize,
    pub number: u64,
}

impl Engine {
    pub fn new(set: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        let (ring, layout) = (set.ring.ring(kernel)?, set.layout(shape)?);
        let scheme = set.ring.scheme(&ring)?;
        let multiplier = if layout.code.weight > 1 { Some(Multiplier::new(&scheme, 1)?) } else { None };
        Ok(Self {
            exponents: exponents(&layout, scheme.modulus().id()),
            layout,
            multiplier,
            gadget: set.ring.gadget(kernel)?,
            opener: AnswerOpener::new(set.ring.degree, set.switch)?,
            shape,
            buckets: set.buckets(shape)?,
            places: None,
            scheme,
            ring,
            set: set.clone(),
        })
    }

    /// Words of the value of a slot.
    pub fn words(&self) -> usize {
        self.scheme.modulus().words()
    }

    /// The values of the slots of a plaintext, all of them zero.
    pub fn zeros(&self) -> Vec<u64> {
        vec![0; self.scheme.modulus().slots() * self.words()]
    }

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

    /// Which queries ask for these records: one each, or one for every batch.
    pub fn assign(&self, indices: &[u64]) -> Result<Vec<Asked>> {
        let Some(buckets) = &self.buckets else {
            indices.iter().try_for_each(|&index| self.shape.check_index(index))?;
            return Ok(indices.iter().enumerate().map(|(query, &number)| Asked { query, number }).collect());
        };
        let asked = |(place, position): (usize, u64)| {
            let (query, bucket) = (place / buckets.count(), place % buckets.count());
            Asked { query, number: self.layout.in_classes(bucket, position) }
        };
        Ok(Places::known(&self.places)?.assign(indices)?.into_iter().map(asked).collect())
    }

    /// The plaintext of slots that are one in every repetition of the classes of these records.
    pub fn units(&self, numbers: impl IntoIterator<Item = u64>) -> Result<Vec<i64>> {
        let (mut numbers, words) = (numbers.into_iter().peekable(), self.words());
        if numbers.peek().is_none() {
            return Ok(vec![0; self.ring.n()]);
        }
        let mut values = self.zeros();
        for number in numbers {
            for repetition in 0..self.layout.repetitions {
                values[self.layout.slot(repetition, self.layout.place(number).1) * words] = 1;
            }
        }
        Ok(self.scheme.modulus().encode(&values)?)
    }

    /// Writes an entry of an item into a slot's value; zeros beyond the item.
    pub fn read_entry(&self, item: &[u8], entry: usize, value: &mut [u64]) {
        read_entry((item, self.layout.item_bits()), self.layout.entry_bits, entry, value);
    }

    /// The plaintexts of the ciphertexts of an answer to a query for these records of a database in the order of the layout.
    pub fn answer(&self, laid_out: &Database, numbers: &[u64]) -> Result<Vec<Vec<i64>>> {
        let (layout, words) = (&self.layout, self.words());
        let mut answers = vec![self.zeros(); layout.answers];
        for number in numbers {
            let item = layout.items().item(laid_out, number / layout.records_per_item)?;
            self.for_each_entry(layout.place(*number).1, |entry, answer, slot| {
                self.read_entry(&item, entry, &mut answers[answer][slot * words..][..words]);
            });
        }
        answers.iter().map(|values| Ok(self.scheme.modulus().encode(values)?)).collect()
    }

    /// The record in the slots of an answer.
    pub fn record(&self, number: u64, answers: &[Vec<u64>]) -> Vec<u8> {
        let (layout, words) = (&self.layout, self.words());
        let mut places = vec![(0, 0); layout.entries];
        self.for_each_entry(layout.place(number).1, |entry, answer, slot| places[entry] = (answer, slot));
        let mut out = Writer::default();
        for (answer, slot) in places {
            write_value(&mut out, &answers[answer][slot * words..][..words], layout.entry_bits);
        }
        layout.items().record(&out.finish(), number)
    }

    /// Calls `each` with every entry of an item of that class, its ciphertext of an answer and its slot there.
    fn for_each_entry(&self, class: usize, mut each: impl FnMut(usize, usize, usize)) {
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
