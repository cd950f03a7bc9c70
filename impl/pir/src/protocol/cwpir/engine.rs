//! Where items stand, what is encrypted and what is stored, as both parties know it.

use std::sync::Arc;

use bfv::{Multiplier, expansion_exponents};
use rand_chacha::ChaCha20Rng;
use ring::{Kernel, Modulus, Ntt, Poly, PolyMatrix, PolyPairs};

use super::layout::words_of;
use super::set::NAME;
use super::{Layout, Selection, Set};
use crate::core::database::Keys;
use crate::core::threads::side_by_side;
use crate::core::{Context, Database, Error, Record, Result, Shape, Turns};
use crate::parts::bfv::{Asked, Plaintext};
use crate::parts::selection::{Ciphertext, Exchange, Selector, Stage, Wanted};

/// What a set and a shape determine.
pub struct Engine {
    pub set: Set,
    pub layout: Layout,
    pub exchange: Exchange,
    /// Products, if there are any.
    pub multiplier: Option<Multiplier<u32>>,
    /// The phases of encryptions of 0, 1, 2, ..., which words are compared with.
    pub constants: Vec<Poly<u32, Ntt>>,
    /// What the selected item is multiplied by: 1, or k!.
    factor: i64,
    /// 1 / factor.
    inverse: i64,
    /// The keys of records, which the server knows, if they are asked for by key.
    keys: Option<Arc<Keys>>,
}

/// Most selected items of a query whose errors are logged.
const MOST_ITEMS: usize = 8;

/// The exponents of the keys that a layout needs: of products, if there are any, and of the expansion.
pub fn exponents(layout: &Layout, degree: usize) -> Vec<u64> {
    let relinearisation = (layout.products() > 0).then_some(1);
    relinearisation.into_iter().chain(expansion_exponents(degree, layout.depth)).collect()
}

impl Selector for Engine {
    const NAME: &'static str = NAME;
    const UPDATE: &'static str = "update_items";
    type Set = Set;

    fn new(set: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        let layout = set.layout(shape)?;
        let ciphertexts = [layout.ciphertexts(), layout.polynomials];
        let of_layout = |_| exponents(&layout, set.ring.degree);
        let exchange = Exchange::new(set, (&set.ring, set.switch), (shape, ciphertexts), of_layout, kernel)?;
        let weight = match set.selection {
            Selection::Arithmetic { weight } => weight as u64,
            _ => 1,
        };
        let t = Modulus::new(modulus(set))?;
        let factorial = (1..=weight).fold(1, |product, i| t.mul(product, i));
        let constant = |i: u64| {
            let mut z = vec![0; set.ring.degree];
            z[0] = i as i64;
            Ok(exchange.scheme.scale(&exchange.scheme.modulus().shorten(&z)?)?)
        };
        Ok(Self {
            multiplier: (layout.products() > 0).then(|| Multiplier::new(&exchange.scheme)).transpose()?,
            constants: (0..weight.max(2)).map(constant).collect::<Result<_>>()?,
            factor: factorial as i64,
            // Fermat's little theorem: t is a prime above k.
            inverse: t.pow(factorial, t.value() - 2) as i64,
            keys: None,
            layout,
            exchange,
            set: set.clone(),
        })
    }

    fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    fn prepare(&mut self, database: &Database, _: &mut ChaCha20Rng) -> Result<()> {
        self.keys = database.keys().cloned();
        let refuse = |problem: String| Err(Error::Workload(problem));
        match (&self.keys, self.set.keyword_bits) {
            (None, None) => Ok(()),
            (None, Some(bits)) => {
                refuse(format!("records are asked for by keys of {bits} bits, and have none. Give --keys."))
            }
            (Some(_), None) => {
                refuse("the set has no keyword_bits, so that records are asked for by number. Leave --keys out.".into())
            }
            (Some(keys), Some(bits)) => match keys.list().iter().find(|key| **key >= words_of(bits)) {
                Some(key) if bits < u64::BITS => {
                    refuse(format!("key {key} has more than the set's {bits} keyword_bits."))
                }
                _ => Ok(()),
            },
        }
    }

    /// A query for each key, of the records that have one.
    fn assign(&self, names: &[u64]) -> Result<Vec<Wanted>> {
        let Some(bits) = self.set.keyword_bits else { return self.exchange.one_each(names) };
        if let Some(key) = names.iter().find(|key| bits < u64::BITS && **key >= words_of(bits)) {
            return Err(Error::Workload(format!("key {key} has more than the set's {bits} keyword_bits.")));
        }
        Ok(names.iter().enumerate().map(|(query, &number)| Wanted { query, number }).collect())
    }

    /// A row an item, a matrix for each segment.
    fn matrices(&self) -> Vec<(usize, usize)> {
        self.layout.segments().matrices(1, self.layout.polynomials)
    }

    fn encode(&self, matrices: &mut [PolyMatrix], database: &Database, context: &Context) -> Result<()> {
        context.progress.begin("encode", self.layout.count() as u64);
        (0..self.layout.count()).try_for_each(|item| {
            context.progress.advance(1);
            self.encode_item(matrices, database, item, context)
        })
    }

    fn rewrite(
        &self,
        matrices: &mut [PolyMatrix],
        database: &Database,
        indices: &[u64],
        context: &Context,
    ) -> Result<()> {
        let items = self.layout.items.of_records(indices);
        items.into_iter().try_for_each(|item| self.encode_item(matrices, database, item, context))
    }

    fn answer(
        &self,
        matrices: &[PolyMatrix],
        asked: &[Asked],
        steps: &mut Turns,
        threads: usize,
    ) -> Result<Vec<Vec<Ciphertext>>> {
        let ciphertexts = |sums: PolyPairs| -> Result<_> {
            Ok(sums.tuples(0..sums.len())?.into_iter().map(|[a, b]| Ciphertext { a, b }).collect())
        };
        self.products(matrices, asked, steps, threads)?.into_iter().map(ciphertexts).collect()
    }

    /// The word of a record's item, a bit a coefficient.
    fn query(&self, numbers: &[u64]) -> impl Iterator<Item = Result<Vec<i64>>> {
        let layout = &self.layout;
        numbers.iter().flat_map(move |number| {
            let ones = layout.ones(self.word_of(*number));
            (0..layout.ciphertexts()).map(move |ciphertext| {
                let (mut z, bits) = (vec![0; self.set.ring.degree], layout.bits_of(ciphertext));
                ones.iter().filter(|bit| bits.contains(bit)).for_each(|bit| z[bit - bits.start] = 1);
                Ok(z)
            })
        })
    }

    /// Where records have keys, one of zeros alone stands for none: an empty record.
    fn records(&self, numbers: &[u64], answer: Vec<Vec<i64>>) -> Result<Vec<Record>> {
        let coefficients: Vec<i64> = answer.into_iter().flatten().map(|z| self.coefficient(z)).collect();
        if self.layout.is_keyed && coefficients.iter().all(|z| *z == 0) {
            return Ok(vec![Record::new(); numbers.len()]);
        }
        let item = self.layout.bits(coefficients.into_iter());
        Ok(numbers.iter().map(|number| self.layout.items.record(&item, *number)).collect())
    }

    fn known(&self, database: &Database, numbers: &[u64]) -> Result<Vec<Vec<i64>>> {
        let mut known = Vec::with_capacity(self.layout.polynomials);
        for number in numbers {
            let Some(index) = database.find(*number) else {
                known.resize(known.len() + self.layout.polynomials, vec![0; self.set.ring.degree]);
                continue;
            };
            let item = self.layout.item_of(index);
            let bits = self.layout.items.item(database, item as u64)?;
            for z in self.layout.plaintexts(item, &bits) {
                let multiple: Vec<i64> = z.iter().map(|z| z * self.factor).collect();
                known.push(self.exchange.scheme.modulus().shorten(&multiple)?);
            }
        }
        Ok(known)
    }

    /// The bits of the word, and the selections of the first items.
    fn stages(
        &self,
        _: &[PolyMatrix],
        asked: &Asked,
        (database, numbers): (&Database, &[u64]),
        _: &Context,
    ) -> Result<Vec<Stage>> {
        let found = numbers.iter().filter_map(|number| database.find(*number));
        let items: Vec<usize> = found.map(|index| self.layout.item_of(index)).collect();
        let ones: Vec<usize> = numbers.iter().flat_map(|number| self.layout.ones(self.word_of(*number))).collect();
        // The bits are made twice, so that they and the operands are never in memory together.
        let operands = self.operands(self.expand(asked, 1)?, 1)?;
        let selected = self.select_all((asked, &operands), 0..self.layout.count().min(MOST_ITEMS), 1)?;
        drop(operands);
        let bits = self.expand(asked, 1)?;
        let stage = |name, (ciphertext, constant): (Ciphertext, i64)| {
            let mut z = vec![0; self.set.ring.degree];
            z[0] = constant;
            Ok(Stage { name, ciphertext, plaintext: self.exchange.scheme.modulus().shorten(&z)? })
        };
        let bits = bits.into_iter().enumerate().map(|(bit, found)| (found, i64::from(ones.contains(&bit))));
        let factor = |item| if items.contains(&item) { self.factor } else { 0 };
        let selected = selected.into_iter().enumerate().map(|(item, found)| (found, factor(item)));
        bits.map(|bit| stage("expansion", bit)).chain(selected.map(|item| stage("selection", item))).collect()
    }
}

impl Engine {
    /// The number of an item's word.
    pub(super) fn word(&self, item: usize) -> u64 {
        self.keys.as_ref().and_then(|keys| keys.of(item as u64)).unwrap_or(item as u64)
    }

    /// The number of the word of what is asked for: a key, or the number of a record.
    fn word_of(&self, number: u64) -> u64 {
        if self.layout.is_keyed { number } else { self.layout.item_of(number) as u64 }
    }

    /// Makes the plaintexts of an item and stores them.
    fn encode_item(
        &self,
        segments: &mut [PolyMatrix],
        database: &Database,
        item: usize,
        context: &Context,
    ) -> Result<()> {
        let (layout, scheme) = (&self.layout, &self.exchange.scheme);
        let bits = layout.items.item(database, item as u64)?;
        let (segment, row) = layout.segments().place(item);
        let prepare = |(column, z): (usize, Vec<i64>)| Ok(((row, column), scheme.prepare(&z)?));
        let entries = side_by_side(layout.plaintexts(item, &bits).into_iter().enumerate(), context.threads, prepare)?;
        Ok(segments[segment].set(&entries, context.threads)?)
    }

    /// The coefficient of an item, from that of the short plaintext that was decrypted.
    fn coefficient(&self, z: i64) -> i64 {
        let t = i128::from(modulus(&self.set));
        let residue = (i128::from(z) * i128::from(self.inverse)).rem_euclid(t);
        (if 2 * residue > t { residue - t } else { residue }) as i64
    }
}

/// t.
fn modulus(set: &Set) -> u64 {
    match set.ring.plaintext {
        Plaintext::Integer { modulus } => modulus,
        _ => 0,
    }
}
