//! What PIRANA encrypts, stores and multiplies.

use bfv::Multiplier;
use rand_chacha::ChaCha20Rng;
use ring::{Kernel, PolyMatrix};

use super::Set;
use super::column::encode;
use super::engine::Engine;
use super::keys::exponents;
use super::set::NAME;
use super::update::rewrite;
use crate::core::protocol::none_expected;
use crate::core::{Context, Database, Messages, Record, Result, Shape, Turns};
use crate::parts::bfv::Asked;
use crate::parts::buckets::Places;
use crate::parts::selection::{Ciphertext, Exchange, Selector, Stage, Wanted};

/// Most selected columns of a query whose errors are logged.
const MOST_COLUMNS: usize = 8;

impl Selector for Engine {
    const NAME: &'static str = NAME;
    const UPDATE: &'static str = "update_columns";
    type Set = Set;

    fn new(set: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        let layout = set.layout(shape)?;
        let ciphertexts = [layout.code.bits, layout.answers];
        let exponents = |id| exponents(&layout, id);
        let exchange = Exchange::new(set, (&set.ring, set.switch), (shape, ciphertexts), exponents, kernel)?;
        let multiplier = (layout.code.weight > 1).then(|| Multiplier::new(&exchange.scheme)).transpose()?;
        Ok(Self { layout, exchange, multiplier, buckets: set.buckets(shape)?, places: None, set: set.clone() })
    }

    fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// A matrix for each segment.
    fn matrices(&self) -> Vec<(usize, usize)> {
        self.layout.segments().matrices(self.layout.turned_columns(), self.layout.matrix_columns())
    }

    fn encode(&self, matrices: &mut [PolyMatrix], database: &Database, context: &Context) -> Result<()> {
        let (layout, laid_out) = (&self.layout, self.laid_out(database));
        context.progress.begin("encode", layout.columns as u64);
        for column in 0..layout.columns {
            encode(self, &mut matrices[layout.segments().place(column).0], column, &laid_out, context)?;
            context.progress.advance(1);
        }
        Ok(())
    }

    fn rewrite(
        &self,
        matrices: &mut [PolyMatrix],
        database: &Database,
        indices: &[u64],
        context: &Context,
    ) -> Result<()> {
        let changed: Vec<u64> = indices.iter().flat_map(|index| self.numbers(*index)).collect();
        rewrite(self, matrices, (&self.laid_out(database), &changed), context)
    }

    fn answer(
        &self,
        matrices: &[PolyMatrix],
        asked: &[Asked],
        steps: &mut Turns,
        threads: usize,
    ) -> Result<Vec<Vec<Ciphertext>>> {
        let products = self.products(matrices, asked, steps, threads)?;
        let sum = |(asked, products)| self.sum(asked, products, threads);
        steps.time("answer_giant_steps", || asked.iter().zip(&products).map(sum).collect())
    }

    /// The bits of the codewords of columns, each of them in the slots of its record's class.
    fn query(&self, numbers: &[u64]) -> impl Iterator<Item = Result<Vec<i64>>> {
        let layout = &self.layout;
        let ones: Vec<_> = numbers.iter().map(|number| layout.code.ones(layout.place(*number).0 as u64)).collect();
        (0..layout.code.bits).map(move |bit| {
            let set = numbers.iter().zip(&ones).filter(|(_, ones)| ones.contains(&bit));
            self.units(set.map(|(number, _)| *number))
        })
    }

    fn records(&self, numbers: &[u64], answer: Vec<Vec<i64>>) -> Result<Vec<Record>> {
        let slots = self.exchange.decode(&answer)?;
        Ok(numbers.iter().map(|number| self.record(*number, &slots)).collect())
    }

    fn known(&self, database: &Database, numbers: &[u64]) -> Result<Vec<Vec<i64>>> {
        let (layout, laid_out, words) = (&self.layout, self.laid_out(database), self.exchange.words());
        let mut answers = vec![self.exchange.zeros(); layout.answers];
        for number in numbers {
            let item = layout.items().item(&laid_out, number / layout.records_per_item)?;
            self.for_each_entry(layout.place(*number).1, |entry, answer, slot| {
                self.read_entry(&item, entry, &mut answers[answer][slot * words..][..words]);
            });
        }
        self.exchange.encode(&answers)
    }

    /// The first selected columns.
    fn stages(
        &self,
        _: &[PolyMatrix],
        asked: &Asked,
        (_, numbers): (&Database, &[u64]),
        _: &Context,
    ) -> Result<Vec<Stage>> {
        let selected = self.select((asked, &self.lift(asked, 1)?), 0..self.layout.columns.min(MOST_COLUMNS), 1)?;
        let stage = |(column, ciphertext)| {
            let here = numbers.iter().copied().filter(|number| self.layout.place(*number).0 == column);
            Ok(Stage { name: "selection", ciphertext, plaintext: self.units(here)? })
        };
        selected.into_iter().enumerate().map(stage).collect()
    }

    fn assign(&self, indices: &[u64]) -> Result<Vec<Wanted>> {
        let Some(buckets) = &self.buckets else { return self.exchange.one_each(indices) };
        let wanted = |(place, position): (usize, u64)| {
            let (query, bucket) = (place / buckets.count(), place % buckets.count());
            Wanted { query, number: self.layout.in_classes(bucket, position) }
        };
        Ok(Places::known(&self.places)?.assign(indices)?.into_iter().map(wanted).collect())
    }

    fn queries(&self, indices: u64) -> u64 {
        self.set.queries(indices)
    }

    fn prepare(&mut self, _: &Database, rng: &mut ChaCha20Rng) -> Result<()> {
        self.places = self.buckets.map(|buckets| Places::draw(buckets, rng));
        Ok(())
    }

    fn publish(&self) -> Messages {
        self.places.as_ref().map_or_else(Messages::new, |places| places.publish(NAME))
    }

    fn receive(&mut self, messages: &Messages) -> Result<()> {
        self.places = match self.buckets {
            None => none_expected(messages).map(|()| None)?,
            Some(buckets) => Some(Places::received(buckets, NAME, messages)?),
        };
        Ok(())
    }
}
