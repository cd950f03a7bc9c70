//! The steps of an answer.

use std::ops::Range;

use bfv::Lifted;
use ring::{PolyMatrix, PolyPairs};

use super::engine::Engine;
use crate::core::threads::side_by_side;
use crate::core::{Result, Turns};
use crate::parts::bfv::{Asked, ServerKeys};
use crate::parts::selection::{Ciphertext, Exchange, sum_segments};

/// The lifted bits of a query; none where columns have a ciphertext each.
type Operands = Vec<Lifted<u32>>;

impl Engine {
    /// The bits of a query as operands of products.
    pub(super) fn lift(&self, asked: &Asked, threads: usize) -> Result<Operands> {
        let Some(multiplier) = &self.multiplier else { return Ok(Vec::new()) };
        side_by_side(asked.ciphertexts.iter(), threads, |bit| Ok(multiplier.lift(bit.clone())?))
    }

    /// For each of some columns an encryption of the unit vector of the class, or of zeros.
    pub(super) fn select(
        &self,
        (asked, operands): (&Asked, &Operands),
        columns: Range<usize>,
        threads: usize,
    ) -> Result<Vec<Ciphertext>> {
        let Self { layout, exchange, multiplier, .. } = self;
        let Some(multiplier) = multiplier else { return Ok(asked.ciphertexts[columns].to_vec()) };
        let key = asked.keys.relinearisation()?;
        let product = |column: usize| {
            let ones = layout.code.ones(column as u64);
            Ok(multiplier.multiply(&operands[ones[0]], &operands[ones[1]], &exchange.gadget, key)?)
        };
        side_by_side(columns, threads, product)
    }

    /// A selected column at every half and baby step.
    fn turn(&self, keys: &ServerKeys, column: Ciphertext) -> Result<Vec<Ciphertext>> {
        let (layout, Exchange { gadget, .. }, id) = (&self.layout, &self.exchange, self.exchange.id());
        let mut turned: Vec<Ciphertext> = Vec::with_capacity(layout.halves * layout.baby);
        for half in 0..layout.halves {
            let first = if half == 0 { column.clone() } else { gadget.automorphism(&column, keys.of(id.swap())?)? };
            turned.push(first);
            for _ in 1..layout.baby {
                turned.push(gadget.automorphism(&turned[turned.len() - 1], keys.of(id.rotation(layout.giants))?)?);
            }
        }
        Ok(turned)
    }

    /// The selected columns of a segment at every half and baby step, as the product reads them.
    fn turns(&self, asked: &Asked, selected: Vec<Ciphertext>, threads: usize) -> Result<PolyPairs> {
        let turned = side_by_side(selected.into_iter(), threads, |column| self.turn(asked.keys, column))?;
        let halves = turned.iter().flatten().map(|turned| [&turned.a, &turned.b]);
        Ok(PolyPairs::new(&self.exchange.ring, halves)?)
    }

    /// The sums of products of all queries, in one pass over the database.
    pub(super) fn products(
        &self,
        segments: &[PolyMatrix],
        asked: &[Asked],
        steps: &mut Turns,
        threads: usize,
    ) -> Result<Vec<PolyPairs>> {
        let operands = steps.time("answer_selection", || {
            asked.iter().map(|asked| self.lift(asked, threads)).collect::<Result<Vec<_>>>()
        })?;
        sum_segments(segments, steps, threads, |segment, steps| {
            let vector = |query: (&Asked, &Operands)| {
                let columns = self.layout.segments().rows_of(segment);
                let selected = steps.time("answer_selection", || self.select(query, columns, threads))?;
                steps.time("answer_rotations", || self.turns(query.0, selected, threads))
            };
            asked.iter().zip(&operands).map(vector).collect()
        })
    }

    /// The ciphertexts of an answer: the sums of each, turned and added.
    pub(super) fn sum(&self, asked: &Asked, products: &PolyPairs, threads: usize) -> Result<Vec<Ciphertext>> {
        let (giants, one) = (self.layout.giants, self.exchange.id().rotation(1));
        let sum = |first| self.exchange.sum_turned(products, first..first + giants, || asked.keys.of(one));
        side_by_side((0..products.len()).step_by(giants), threads, sum)
    }
}
