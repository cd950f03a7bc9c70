//! Where records stand, what is encrypted and what is stored, as both parties know it.

use bfv::Multiplier;
use lattice::wire::Writer;
use rand_chacha::ChaCha20Rng;
use ring::{Kernel, PolyMatrix};

use super::column::encode;
use super::keys::exponents;
use super::set::NAME;
use super::update::rewrite;
use super::{Layout, Set};
use crate::core::protocol::none_expected;
use crate::core::{Context, Database, Messages, Record, Result, Shape, Turns};
use crate::parts::bfv::Asked;
use crate::parts::buckets::{Buckets, Places};
use crate::parts::selection::{Ciphertext, Exchange, Selector, Stage, Wanted};
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
        let multiplier = (layout.code.weight > 1).then(|| Multiplier::new(&exchange.scheme, 1)).transpose()?;
        Ok(Self { layout, exchange, multiplier, buckets: set.buckets(shape)?, places: None, set: set.clone() })
    }

    fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// A matrix for each segment.
    fn matrices(&self) -> Vec<(usize, usize)> {
        let layout = &self.layout;
        (0..layout.segments()).map(|segment| (layout.matrix_rows(segment), layout.matrix_columns())).collect()
    }

    fn encode(&self, matrices: &mut [PolyMatrix], database: &Database, context: &Context) -> Result<()> {
        let (layout, laid_out) = (&self.layout, self.laid_out(database));
        context.progress.begin("encode", layout.columns as u64);
        for column in 0..layout.columns {
            encode(self, &mut matrices[column / layout.segment_columns()], column, &laid_out, context)?;
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

    fn draw(&mut self, rng: &mut ChaCha20Rng) {
        self.places = self.buckets.map(|buckets| Places::draw(buckets, rng));
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

impl Engine {
    /// The records in the order of the layout.
    fn laid_out(&self, database: &Database) -> Database {
        let Some(places) = self.places.clone() else { return database.clone() };
        let layout = self.layout;
        database.selected(layout.shape, move |number| {
            let (bucket, position) = layout.in_buckets(number);
            if position < places.buckets.each.records { places.record_at(bucket, position) } else { None }
        })
    }

    /// The numbers of a record in the order of the layout.
    fn numbers(&self, index: u64) -> Vec<u64> {
        match &self.places {
            None => vec![index],
            Some(places) => places.of(index).map(|(bucket, at)| self.layout.in_classes(bucket, at)).collect(),
        }
    }

    /// The plaintext of slots that are one in every repetition of the classes of these records.
    fn units(&self, numbers: impl Iterator<Item = u64>) -> Result<Vec<i64>> {
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
    fn record(&self, number: u64, answers: &[Vec<u64>]) -> Vec<u8> {
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
