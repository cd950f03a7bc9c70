//! Folds columns as they arrive.

use lattice::{Rgsw, RingGadget, Rlwe, Workspace};
use rayon::prelude::*;
use ring::Coefficient;

use super::Selection;
use crate::core::Result;
use crate::parts::ring_matrix::workspace;

type Ciphertext = Rlwe<u32, Coefficient>;

/// Columns that are folded breadth first, so that the selector of a level stays in cache for all of them.
const TOGETHER: usize = 64;

/// Selects in each part the column whose number the selectors encrypt bit by bit: 2^v2 - 1 CMUXes if no column is missing.
///
/// Columns arrive in order, and the lowest bit of their numbers is folded first: 2^k adjacent columns become one ciphertext, so that at
/// most v2 ciphertexts wait. Columns that are not stored are zero.
pub struct Folding<'a> {
    selection: &'a Selection,
    gadget: &'a RingGadget<u32>,
    /// Selectors of the bits, most significant first.
    selectors: &'a [Rgsw<u32>],
    /// Columns of this part so far.
    count: usize,
    /// Folded columns of this part and the levels they have passed, the highest first.
    pending: Vec<(u32, Ciphertext)>,
    /// The selected columns of earlier parts.
    parts: Vec<Ciphertext>,
    workspace: Workspace<u32>,
    scratch: Ciphertext,
}

impl<'a> Folding<'a> {
    /// `selectors` encrypt the bits of a column's number, most significant first.
    pub fn new(selection: &'a Selection, gadget: &'a RingGadget<u32>, selectors: &'a [Rgsw<u32>]) -> Self {
        Self {
            selection,
            gadget,
            selectors,
            count: 0,
            pending: Vec::new(),
            parts: Vec::new(),
            workspace: workspace(),
            scratch: Rlwe::zero(selection.ring()),
        }
    }

    /// Takes the next columns, of one part or of several.
    pub fn extend(&mut self, ciphertexts: Vec<Ciphertext>) -> Result<()> {
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
    pub fn finish(mut self) -> Result<Vec<Ciphertext>> {
        if self.count > 0 {
            self.end_part()?;
        }
        Ok(self.parts)
    }

    /// Folds subtrees of one size side by side, then their results.
    fn extend_part(&mut self, mut columns: Vec<Ciphertext>) -> Result<()> {
        let threads = self.selection.threads();
        let level = (columns.len() / threads).clamp(1, TOGETHER).ilog2();
        // Subtrees begin at multiples of their size.
        let before = (self.count.next_multiple_of(1 << level) - self.count).min(columns.len());
        self.count += columns.len();
        columns.drain(..before).try_for_each(|column| self.push(0, column))?;
        let rest = columns.split_off(columns.len() >> level << level);
        let trees: Vec<Ciphertext> = if threads > 1 {
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
    fn subtree(&self, mut columns: Vec<Ciphertext>, workspace: &mut Workspace<u32>) -> Result<Ciphertext> {
        let mut out = Rlwe::zero(self.selection.ring());
        let mut level = 0;
        while columns.len() > 1 {
            for j in 0..columns.len() / 2 {
                let (zero, one) = (&columns[2 * j], &columns[2 * j + 1]);
                self.gadget.cmux(self.selector(level), zero, one, workspace, &mut out)?;
                std::mem::swap(&mut columns[j], &mut out);
            }
            columns.truncate(columns.len() / 2);
            level += 1;
        }
        Ok(columns.swap_remove(0))
    }

    /// The selector for a ciphertext that has passed `level` levels.
    fn selector(&self, level: u32) -> &'a Rgsw<u32> {
        &self.selectors[self.selectors.len() - 1 - level as usize]
    }

    /// Adds a ciphertext that has passed `level` levels, carrying as a binary counter does.
    fn push(&mut self, mut level: u32, mut ciphertext: Ciphertext) -> Result<()> {
        while let Some((_, before)) = self.pending.pop_if(|(before, _)| *before == level) {
            self.cmux(level, &before, &mut ciphertext)?;
            level += 1;
        }
        self.pending.push((level, ciphertext));
        Ok(())
    }

    /// Replaces `one` by itself or `zero`, as the selector of that level says.
    fn cmux(&mut self, level: u32, zero: &Ciphertext, one: &mut Ciphertext) -> Result<()> {
        let (selector, workspace) = (self.selector(level), &mut self.workspace);
        self.gadget.cmux(selector, zero, one, workspace, &mut self.scratch)?;
        std::mem::swap(one, &mut self.scratch);
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
            let mut folded = Rlwe::zero(self.selection.ring());
            self.cmux(level, &ciphertext, &mut folded)?;
            self.push(level + 1, folded)?;
        }
        self.count = 0;
        Ok(())
    }
}
