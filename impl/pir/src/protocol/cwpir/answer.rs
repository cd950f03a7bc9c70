//! The steps of an answer.

use std::borrow::Cow;
use std::ops::Range;

use bfv::Lifted;
use lattice::convert::CoefficientTree;
use ring::{PolyMatrix, PolyPairs};

use super::Selection;
use super::engine::Engine;
use crate::core::threads::side_by_side;
use crate::core::{Result, Turns};
use crate::parts::bfv::{Asked, ServerKeys};
use crate::parts::folding::rows;
use crate::parts::ring_matrix::workspace;
use crate::parts::selection::{Ciphertext, sum_segments};

/// What products are made of.
pub enum Operands {
    /// Ciphertexts.
    Whole(Vec<Ciphertext>),
    /// Ciphertexts that are lifted, each for all its products.
    Lifted(Vec<Lifted<u32>>),
}

impl Engine {
    /// The bits of a query's word: its expanded ciphertexts.
    pub(super) fn expand(&self, asked: &Asked, threads: usize) -> Result<Vec<Ciphertext>> {
        let (layout, ring) = (&self.layout, &self.exchange.ring);
        let expand = |(number, input): (usize, &Ciphertext)| {
            let positions: Vec<usize> = (0..layout.bits_of(number).len()).collect();
            let (levels, mut workspace) = (asked.keys.levels(&self.exchange.gadget), workspace());
            let input = input.clone().inverse(ring);
            let tree = CoefficientTree::new(levels, &input, layout.depth, &positions, &mut workspace)?;
            Ok(rows(tree)?.into_iter().map(|bit| bit.forward(ring)).collect::<Vec<_>>())
        };
        Ok(side_by_side(asked.ciphertexts.iter().enumerate(), threads, expand)?.into_iter().flatten().collect())
    }

    /// The operands that the bits of a word give.
    pub(super) fn operands(&self, bits: Vec<Ciphertext>, threads: usize) -> Result<Operands> {
        let operands = match self.set.selection {
            Selection::Folklore {} => bits.into_iter().flat_map(|bit| [bit.clone(), self.complement(bit)]).collect(),
            _ => bits,
        };
        match (&self.multiplier, self.set.selection) {
            (None, _) | (_, Selection::Arithmetic { .. }) => Ok(Operands::Whole(operands)),
            (Some(multiplier), _) => {
                let lift = |bit: Ciphertext| Ok(multiplier.lift(bit)?);
                Ok(Operands::Lifted(side_by_side(operands.into_iter(), threads, lift)?))
            }
        }
    }

    /// 1 - x.
    fn complement(&self, mut bit: Ciphertext) -> Ciphertext {
        self.exchange.ring.neg_assign(&mut bit.a);
        self.exchange.ring.neg_assign(&mut bit.b);
        self.exchange.ring.add_assign(&mut bit.b, &self.constants[1]);
        bit
    }

    /// An encryption of [`Engine::factor`] if the word is the item's, else of 0.
    fn select(&self, operands: &Operands, item: usize, keys: &ServerKeys) -> Result<Ciphertext> {
        let chosen = self.layout.operands_of(self.word(item));
        let whole = match operands {
            Operands::Lifted(all) => {
                return self.product(chosen.into_iter().map(|i| Cow::Borrowed(&all[i])).collect(), keys);
            }
            Operands::Whole(all) => all,
        };
        let mut sum = whole[chosen[0]].clone();
        chosen[1..].iter().for_each(|i| sum.add_assign(&self.exchange.ring, &whole[*i]));
        let Some(multiplier) = &self.multiplier else { return Ok(sum) };
        let term = |i: usize| {
            let mut term = sum.clone();
            self.exchange.ring.sub_assign(&mut term.b, &self.constants[i]);
            Ok(Cow::Owned(multiplier.lift(term)?))
        };
        self.product((0..chosen.len()).map(term).collect::<Result<_>>()?, keys)
    }

    /// The product of two operands or more: of neighbours, then of neighbouring products, and so on.
    fn product(&self, mut factors: Vec<Cow<Lifted<u32>>>, keys: &ServerKeys) -> Result<Ciphertext> {
        let Some(multiplier) = &self.multiplier else { return Ok(factors[0].ciphertext().clone()) };
        let key = keys.relinearisation()?;
        let multiply =
            |left: &Lifted<u32>, right: &Lifted<u32>| multiplier.multiply(left, right, &self.exchange.gadget, key);
        loop {
            if let [left, right] = &factors[..] {
                return Ok(multiply(left, right)?);
            }
            let next = factors.chunks(2).map(|pair| match pair {
                [left, right] => Ok(Cow::Owned(multiplier.lift(multiply(left, right)?)?)),
                _ => Ok(pair[0].clone()),
            });
            factors = next.collect::<Result<_>>()?;
        }
    }

    /// Encryptions of [`Engine::factor`] or 0 for some items.
    pub(super) fn select_all(
        &self,
        (asked, operands): (&Asked, &Operands),
        items: Range<usize>,
        threads: usize,
    ) -> Result<Vec<Ciphertext>> {
        side_by_side(items, threads, |item| self.select(operands, item, asked.keys))
    }

    /// The sums of products of all queries, in one pass over the database.
    pub(super) fn products(
        &self,
        segments: &[PolyMatrix],
        asked: &[Asked],
        steps: &mut Turns,
        threads: usize,
    ) -> Result<Vec<PolyPairs>> {
        let mut operands = Vec::with_capacity(asked.len());
        for asked in asked {
            let bits = steps.time("answer_expansion", || self.expand(asked, threads))?;
            operands.push(steps.time("answer_selection", || self.operands(bits, threads))?);
        }
        sum_segments(segments, steps, threads, |segment, steps| {
            steps.time("answer_selection", || {
                let vector = |query| {
                    let selected = self.select_all(query, self.layout.segments().rows_of(segment), threads)?;
                    Ok(PolyPairs::new(&self.exchange.ring, selected.iter().map(|selected| [&selected.a, &selected.b]))?)
                };
                asked.iter().zip(&operands).map(vector).collect()
            })
        })
    }
}
