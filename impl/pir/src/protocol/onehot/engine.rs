//! Ring, scheme, products and key switches, as both parties use them.

use std::sync::Arc;

use bfv::{Multiplier, RnsGadget, Scheme};
use lattice::Rlwe;
use lattice::wire::Writer;
use ring::{Kernel, Ntt, PolyPairs, Ring};

use super::{Layout, Set};
use crate::core::{Database, Result, Shape};
use crate::parts::bfv::{AnswerOpener, ServerKeys};
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
    pub multiplier: Multiplier<u32>,
    pub opener: AnswerOpener,
}

impl Engine {
    pub fn new(set: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        let (ring, layout) = (set.ring.ring(kernel)?, set.layout(shape)?);
        let scheme = set.ring.scheme(&ring)?;
        Ok(Self {
            exponents: layout.exponents(scheme.modulus().id()),
            multiplier: Multiplier::new(&scheme, 1)?,
            gadget: set.ring.gadget(kernel)?,
            opener: AnswerOpener::new(set.ring.degree, set.switch)?,
            layout,
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

    /// The plaintext of slots that are one where `wanted` says so.
    pub fn units(&self, wanted: impl Fn(usize) -> bool) -> Result<Vec<i64>> {
        let (mut values, words) = (self.zeros(), self.words());
        (0..values.len() / words).filter(|slot| wanted(*slot)).for_each(|slot| values[slot * words] = 1);
        Ok(self.scheme.modulus().encode(&values)?)
    }

    /// A column selector at every baby step: by digits that are cut once, or by a whole automorphism a step.
    fn turned(&self, selector: &Rlwe<u32, Ntt>, keys: &ServerKeys) -> Result<Vec<Rlwe<u32, Ntt>>> {
        let id = self.scheme.modulus().id();
        let digits = (self.set.hoisted && self.layout.baby > 1).then(|| self.gadget.digits(&selector.a));
        let turn = |places: usize| {
            let key = keys.of(id.rotation(places))?;
            Ok(match &digits {
                Some(digits) => self.gadget.switch(digits, &selector.b, key)?,
                None => self.gadget.automorphism(selector, key)?,
            })
        };
        std::iter::once(Ok(selector.clone())).chain((1..self.layout.baby).map(turn)).collect()
    }

    /// All column selectors at every baby step, as products read them.
    pub fn selectors(&self, selectors: &[Rlwe<u32, Ntt>], keys: &ServerKeys) -> Result<PolyPairs> {
        let turned = selectors.iter().map(|selector| self.turned(selector, keys)).collect::<Result<Vec<_>>>()?;
        Ok(PolyPairs::new(&self.ring, turned.iter().flatten().map(|turned| [&turned.a, &turned.b]))?)
    }

    /// The sum of the giant steps of an entry's products, each turned.
    pub fn giants(&self, products: &PolyPairs, keys: &ServerKeys) -> Result<Rlwe<u32, Ntt>> {
        let giant = self.scheme.modulus().id().rotation(self.layout.baby);
        let mut sum: Option<Rlwe<u32, Ntt>> = None;
        for number in (0..products.len()).rev() {
            let [a, b] = products.get(number)?;
            let mut next = Rlwe { a, b };
            if let Some(sum) = &sum {
                next.add_assign(&self.ring, &self.gadget.automorphism(sum, keys.of(giant)?)?);
            }
            sum = Some(next);
        }
        Ok(sum.unwrap_or_else(|| Rlwe::zero(&self.ring)))
    }

    /// The plaintexts of the ciphertexts of an answer to a query for a record.
    pub fn answer(&self, database: &Database, index: u64) -> Result<Vec<Vec<i64>>> {
        let (layout, words) = (&self.layout, self.words());
        let item = layout.items.item(database, index / layout.items.records)?;
        let mut answers = vec![self.zeros(); layout.answers];
        for entry in 0..layout.entries {
            let (answer, slot) = layout.found(layout.place(index).1, entry);
            let value = &mut answers[answer][slot * words..][..words];
            read_entry((&item, layout.items.bits()), layout.entry_bits, entry, value);
        }
        answers.iter().map(|values| Ok(self.scheme.modulus().encode(values)?)).collect()
    }

    /// The record in the slots of an answer.
    pub fn record(&self, index: u64, answers: &[Vec<u64>]) -> Vec<u8> {
        let (layout, words, mut out) = (&self.layout, self.words(), Writer::default());
        for entry in 0..layout.entries {
            let (answer, slot) = layout.found(layout.place(index).1, entry);
            write_value(&mut out, &answers[answer][slot * words..][..words], layout.entry_bits);
        }
        layout.items.record(&out.finish(), index)
    }
}
