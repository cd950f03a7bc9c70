//! Folds columns as they arrive.

use lattice::{RingGadget, Rlwe, Workspace};
use rayon::prelude::*;
use ring::Coefficient;

use super::{Selected, Selection};
use crate::core::Result;
use crate::parts::ring_matrix::workspace;

/// Columns that are folded breadth first, so that the selector of a level stays in cache for all of them.
const TOGETHER: usize = 64;

/// Selects in each part the column whose number the selectors encrypt bit by bit: 2^v2 - 1 CMUXes if no column is missing.
///
/// Columns arrive in order, and the lowest bit of their numbers is folded first: 2^k adjacent columns become one ciphertext, so that at
/// most v2 ciphertexts wait. Columns that are not stored are zero.
pub struct Folding<'a, C: Selected = Rlwe<u32, Coefficient>> {
    selection: &'a Selection,
    gadget: &'a RingGadget<u32>,
    /// Selectors of the bits, most significant first.
    selectors: &'a [C::Selector],
    /// Columns of this part so far.
    count: usize,
    /// Folded columns of this part and the levels they have passed, the highest first.
    pending: Vec<(u32, C)>,
    /// The selected columns of earlier parts.
    parts: Vec<C>,
    workspace: Workspace<u32>,
    scratch: Option<C>,
}

impl<'a, C: Selected> Folding<'a, C> {
    /// `selectors` encrypt the bits of a column's number, most significant first.
    pub fn new(selection: &'a Selection, gadget: &'a RingGadget<u32>, selectors: &'a [C::Selector]) -> Self {
        Self {
            selection,
            gadget,
            selectors,
            count: 0,
            pending: Vec::new(),
            parts: Vec::new(),
            workspace: workspace(),
            scratch: None,
        }
    }

    /// Takes the next columns, of one part or of several.
    pub fn extend(&mut self, ciphertexts: Vec<C>) -> Result<()> {
        let mut rest = ciphertexts.into_iter();
        while rest.len() > 0 {
            let left = self.selection.layout().columns - self.count;
            self.extend_part(rest.by_ref().take(left).collect())?;
            if self.count == self.selection.layout().columns {
                self.end_part()?;
            }
        }
        Ok(())
    }

    /// The column selected of each part.
    pub fn finish(mut self) -> Result<Vec<C>> {
        if self.count > 0 {
            self.end_part()?;
        }
        Ok(self.parts)
    }

    /// Folds subtrees of one size side by side, then their results.
    fn extend_part(&mut self, mut columns: Vec<C>) -> Result<()> {
        let threads = self.selection.threads();
        let level = (columns.len() / threads).clamp(1, TOGETHER).ilog2();
        // Subtrees begin at multiples of their size.
        let before = (self.count.next_multiple_of(1 << level) - self.count).min(columns.len());
        self.count += columns.len();
        columns.drain(..before).try_for_each(|column| self.push(0, column))?;
        let rest = columns.split_off(columns.len() >> level << level);
        let trees: Vec<C> = if threads > 1 {
            let trees = columns.into_par_iter().chunks(1 << level);
            trees.map_init(workspace, |workspace, columns| self.subtree(columns, workspace)).collect::<Result<_>>()?
        } else {
            let (mut workspace, mut columns) = (workspace(), columns.into_iter());
            let trees = (0..columns.len() >> level).map(|_| columns.by_ref().take(1 << level).collect());
            trees.map(|columns| self.subtree(columns, &mut workspace)).collect::<Result<_>>()?
        };
        trees.into_iter().try_for_each(|tree| self.push(level, tree))?;
        rest.into_iter().try_for_each(|column| self.push(0, column))
    }

    /// Folds 2^k adjacent columns, from a multiple of 2^k on, to one ciphertext.
    fn subtree(&self, mut columns: Vec<C>, workspace: &mut Workspace<u32>) -> Result<C> {
        let mut out = columns[0].zero_like(self.selection.ring());
        let mut level = 0;
        while columns.len() > 1 {
            for j in 0..columns.len() / 2 {
                let pair = (&columns[2 * j], &columns[2 * j + 1]);
                C::cmux(self.gadget, self.selector(level), pair, workspace, &mut out)?;
                std::mem::swap(&mut columns[j], &mut out);
            }
            columns.truncate(columns.len() / 2);
            level += 1;
        }
        Ok(columns.swap_remove(0))
    }

    /// The selector for a ciphertext that has passed `level` levels.
    fn selector(&self, level: u32) -> &'a C::Selector {
        &self.selectors[self.selectors.len() - 1 - level as usize]
    }

    /// Adds a ciphertext that has passed `level` levels, carrying as a binary counter does.
    fn push(&mut self, mut level: u32, mut ciphertext: C) -> Result<()> {
        while let Some((_, before)) = self.pending.pop_if(|(before, _)| *before == level) {
            self.cmux(level, &before, &mut ciphertext)?;
            level += 1;
        }
        self.pending.push((level, ciphertext));
        Ok(())
    }

    /// Replaces `one` by itself or `zero`, as the selector of that level says.
    fn cmux(&mut self, level: u32, zero: &C, one: &mut C) -> Result<()> {
        let selector = self.selector(level);
        let scratch = self.scratch.get_or_insert_with(|| zero.zero_like(self.selection.ring()));
        C::cmux(self.gadget, selector, (zero, one), &mut self.workspace, scratch)?;
        std::mem::swap(one, scratch);
        Ok(())
    }

    /// Folds zeros for the missing columns.
    fn end_part(&mut self) -> Result<()> {
        while let Some((level, ciphertext)) = self.pending.pop() {
            if level as usize == self.selectors.len() {
                self.parts.push(ciphertext);
                break;
            }
            // The columns after it are missing.
            let mut folded = ciphertext.zero_like(self.selection.ring());
            self.cmux(level, &ciphertext, &mut folded)?;
            self.push(level + 1, folded)?;
        }
        self.count = 0;
        Ok(())
    }
}
