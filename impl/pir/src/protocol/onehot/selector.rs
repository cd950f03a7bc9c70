//! What one-hot PIR encrypts, stores and multiplies.

use bfv::Multiplier;
use lattice::wire::Writer;
use ring::{Kernel, PolyMatrix};

use super::Set;
use super::encode::{encode, group, rewrite};
use super::engine::Engine;
use super::set::NAME;
use crate::core::{Context, Database, Record, Result, Shape, Turns};
use crate::parts::bfv::Asked;
use crate::parts::selection::{Ciphertext, Exchange, Selector, Stage};
use crate::parts::slots::{read_entry, write_value};
impl Selector for Engine {
    const NAME: &'static str = NAME;
    const UPDATE: &'static str = "update_items";
    type Set = Set;

    fn new(set: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        let layout = set.layout(shape)?;
        let ciphertexts = [layout.ciphertexts(), layout.answers];
        let exponents = |id| layout.exponents(id);
        let exchange = Exchange::new(set, (&set.ring, set.switch), (shape, ciphertexts), exponents, kernel)?;
        Ok(Self { multiplier: Multiplier::new(&exchange.scheme)?, exchange, layout, set: set.clone() })
    }

    fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// A matrix for each entry of an item.
    fn matrices(&self) -> Vec<(usize, usize)> {
        vec![(self.layout.matrix_rows(), self.layout.giants); self.layout.entries]
    }

    fn encode(&self, matrices: &mut [PolyMatrix], database: &Database, context: &Context) -> Result<()> {
        let group = group(&self.set, &self.layout)?;
        context.progress.begin("encode", self.layout.entries as u64);
        for (number, matrices) in matrices.chunks_mut(group).enumerate() {
            let first = number * group;
            context.progress.advance(matrices.len() as u64);
            encode(self, matrices, first, database, context)?;
        }
        Ok(())
    }

    fn rewrite(&self, matrices: &mut [PolyMatrix], database: &Database, indices: &[u64], _: &Context) -> Result<()> {
        self.layout.items.of_records(indices).into_iter().try_for_each(|item| rewrite(self, matrices, database, item))
    }

    fn answer(
        &self,
        matrices: &[PolyMatrix],
        asked: &[Asked],
        steps: &mut Turns,
        threads: usize,
    ) -> Result<Vec<Vec<Ciphertext>>> {
        self.sums(matrices, asked, steps, threads)
    }

    /// The unit vector of a record's class, and that of its column, repeated along the slots, in the block's ciphertext.
    fn query(&self, numbers: &[u64]) -> impl Iterator<Item = Result<Vec<i64>>> {
        let Self { layout, exchange, .. } = self;
        numbers.iter().flat_map(move |number| {
            let (column, class) = layout.place(*number);
            let of_block = move |block: usize| {
                let all = if block == column / layout.width { exchange.scheme.modulus().slots() } else { 0 };
                exchange.units((0..all).filter(|slot| slot % layout.width == column % layout.width))
            };
            std::iter::once_with(move || exchange.units([class])).chain((0..layout.blocks).map(of_block))
        })
    }

    fn records(&self, numbers: &[u64], answer: Vec<Vec<i64>>) -> Result<Vec<Record>> {
        let (layout, words, slots) = (&self.layout, self.exchange.words(), self.exchange.decode(&answer)?);
        let record = |number: &u64| {
            let mut out = Writer::default();
            for entry in 0..layout.entries {
                let (answer, slot) = layout.found(layout.place(*number).1, entry);
                write_value(&mut out, &slots[answer][slot * words..][..words], layout.entry_bits);
            }
            layout.items.record(&out.finish(), *number)
        };
        Ok(numbers.iter().map(record).collect())
    }

    fn known(&self, database: &Database, numbers: &[u64]) -> Result<Vec<Vec<i64>>> {
        let (layout, words) = (&self.layout, self.exchange.words());
        let mut answers = vec![self.exchange.zeros(); layout.answers];
        for number in numbers {
            let item = layout.items.item(database, number / layout.items.records)?;
            for entry in 0..layout.entries {
                let (answer, slot) = layout.found(layout.place(*number).1, entry);
                let value = &mut answers[answer][slot * words..][..words];
                read_entry((&item, layout.items.bits()), layout.entry_bits, entry, value);
            }
        }
        self.exchange.encode(&answers)
    }

    /// What diagonals select of the first entry.
    fn stages(
        &self,
        matrices: &[PolyMatrix],
        asked: &Asked,
        (database, numbers): (&Database, &[u64]),
        _: &Context,
    ) -> Result<Vec<Stage>> {
        let selectors = self.selectors(asked, 1)?;
        let ciphertext = self.giants(&matrices[0].multiply(&[&selectors], 1)?[0], asked.keys)?;
        let stage = |number: &u64| {
            let plaintext = self.column(database, *number)?;
            Ok(Stage { name: "column", ciphertext: ciphertext.clone(), plaintext })
        };
        numbers.iter().map(stage).collect()
    }
}
