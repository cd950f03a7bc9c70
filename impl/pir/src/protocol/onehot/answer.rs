//! The steps of an answer.

use ring::{PolyMatrix, PolyPairs};

use super::engine::Engine;
use crate::core::threads::side_by_side;
use crate::core::{Result, Turns};
use crate::parts::bfv::{Asked, ServerKeys};
use crate::parts::selection::{Ciphertext, Exchange};

impl Engine {
    /// All column selectors at every baby step, as products read them: by digits that are cut once, or by a whole automorphism a step.
    pub(super) fn selectors(&self, asked: &Asked, threads: usize) -> Result<PolyPairs> {
        let (Exchange { gadget, ring, .. }, id, baby) = (&self.exchange, self.exchange.id(), self.layout.baby);
        let mut turned = Vec::with_capacity(self.layout.matrix_rows());
        for selector in &asked.ciphertexts[1..] {
            let digits = (self.set.hoisted && baby > 1).then(|| gadget.digits(&selector.a));
            let turn = |places: usize| {
                let key = asked.keys.of(id.rotation(places))?;
                Ok(match &digits {
                    Some(digits) => gadget.switch(digits, &selector.b, key)?,
                    None => gadget.automorphism(selector, key)?,
                })
            };
            turned.push(selector.clone());
            turned.extend(side_by_side(1..baby, threads, turn)?);
        }
        Ok(PolyPairs::new(ring, turned.iter().map(|turned| [&turned.a, &turned.b]))?)
    }

    /// The sum of the giant steps of an entry's products, each turned.
    pub(super) fn giants(&self, products: &PolyPairs, keys: &ServerKeys) -> Result<Ciphertext> {
        let giant = self.exchange.id().rotation(self.layout.baby);
        self.exchange.sum_turned(products, 0..products.len(), || keys.of(giant))
    }

    /// The ciphertexts of the answers to all queries: entry after entry, the product with the row selector of what diagonals select, added to
    /// the sum of those after it, turned. As many entries as there are threads are multiplied together.
    pub(super) fn sums(
        &self,
        matrices: &[PolyMatrix],
        asked: &[Asked],
        steps: &mut Turns,
        threads: usize,
    ) -> Result<Vec<Vec<Ciphertext>>> {
        let (Self { layout, multiplier, .. }, Exchange { gadget, ring, .. }) = (self, &self.exchange);
        let one = self.exchange.id().rotation(1);
        let rows = steps.time("answer_selection", || {
            asked.iter().map(|asked| Ok(multiplier.lift(asked.ciphertexts[0].clone())?)).collect::<Result<Vec<_>>>()
        })?;
        let mut selectors = Vec::new();
        let mut answers: Vec<_> = asked.iter().map(|_| Vec::with_capacity(layout.answers)).collect();
        for answer in 0..layout.answers {
            let mut sums: Vec<Option<Ciphertext>> = asked.iter().map(|_| None).collect();
            for group in matrices[layout.entries_of(answer)].rchunks(threads.max(1)) {
                let mut products = Vec::with_capacity(group.len());
                for matrix in group.iter().rev() {
                    if selectors.is_empty() || !self.set.hoisted {
                        let turn = || asked.iter().map(|asked| self.selectors(asked, threads)).collect::<Result<_>>();
                        selectors = steps.time("answer_rotations", turn)?;
                    }
                    let selectors: Vec<_> = selectors.iter().collect();
                    products.push(steps.time("answer_product", || matrix.multiply(&selectors, threads))?);
                }
                for (query, (asked, row)) in asked.iter().zip(&rows).enumerate() {
                    let column = |products: &Vec<PolyPairs>| self.giants(&products[query], asked.keys);
                    let columns =
                        steps.time("answer_giant_steps", || side_by_side(products.iter(), threads, column))?;
                    let key = asked.keys.relinearisation()?;
                    let select = |column| Ok(multiplier.multiply(row, &multiplier.lift(column)?, gadget, key)?);
                    let selected =
                        steps.time("answer_selection", || side_by_side(columns.into_iter(), threads, select))?;
                    steps.time("answer_sum", || -> Result<()> {
                        for mut next in selected {
                            if let Some(sum) = &sums[query] {
                                next.add_assign(ring, &gadget.automorphism(sum, asked.keys.of(one)?)?);
                            }
                            sums[query] = Some(next);
                        }
                        Ok(())
                    })?;
                }
            }
            answers.iter_mut().zip(sums).for_each(|(answers, sum)| answers.extend(sum));
        }
        Ok(answers)
    }
}
