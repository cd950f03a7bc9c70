//! Folds columns as they arrive.

use lattice::{RingGadget, Rlwe, Workspace};
use rayon::prelude::*;
use ring::Coefficient;

use super::{Selected, Selection};
use crate::core::Result;
use crate::parts::ring_matrix::workspace;

/// Columns that are folded breadth first, so that the selector of a level stays in cache for all of them.
const TOGETHER: usize = 64;

/// Selects in each part the column whose number the selectors encrypt, some bits each: 2^v2 - 1 CMUXes if each has one bit and no column
/// is missing.
///
/// Columns arrive in order, and the lowest bits of their numbers are folded first: adjacent columns become one ciphertext, so that few
/// ciphertexts wait on each level. Columns that are not stored are zero.
pub struct Folding<'a, C: Selected = Rlwe<u32, Coefficient>> {
    selection: &'a Selection,
    gadget: &'a RingGadget<u32>,
    /// Selectors of the bits, most significant first.
    selectors: &'a [C::Selector],
    /// log2 of the number of columns that are in a ciphertext, by the levels that it has passed.
    spans: Vec<u32>,
    /// Columns of this part so far.
    count: usize,
    /// The levels that folded columns of this part have passed, the highest first, and these.
    levels: Vec<usize>,
    pending: Vec<C>,
    /// The selected columns of earlier parts.
    parts: Vec<C>,
    workspace: Workspace<u32>,
    scratch: Option<C>,
}

impl<'a, C: Selected> Folding<'a, C> {
    /// `selectors` encrypt the bits of a column's number, most significant first.
    pub fn new(selection: &'a Selection, gadget: &'a RingGadget<u32>, selectors: &'a [C::Selector]) -> Self {
        let mut spans = vec![0];
        spans.extend(selectors.iter().rev().scan(0, |span, selector| {
            *span += C::bits(selector);
            Some(*span)
        }));
        Self {
            selection,
            gadget,
            selectors,
            spans,
            count: 0,
            levels: Vec::new(),
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
        let most = (columns.len() / threads).clamp(1, TOGETHER).ilog2();
        let level = self.spans.partition_point(|span| *span <= most) - 1;
        let size = 1 << self.spans[level];
        // Subtrees begin at multiples of their size.
        let before = (self.count.next_multiple_of(size) - self.count).min(columns.len());
        self.count += columns.len();
        columns.drain(..before).try_for_each(|column| self.push(0, column))?;
        let rest = columns.split_off(columns.len() / size * size);
        let trees: Vec<C> = if threads > 1 {
            let trees = columns.into_par_iter().chunks(size);
            trees.map_init(workspace, |workspace, columns| self.subtree(columns, workspace)).collect::<Result<_>>()?
        } else {
            let (mut workspace, mut columns) = (workspace(), columns.into_iter());
            let trees = (0..columns.len() / size).map(|_| columns.by_ref().take(size).collect());
            trees.map(|columns| self.subtree(columns, &mut workspace)).collect::<Result<_>>()?
        };
        trees.into_iter().try_for_each(|tree| self.push(level, tree))?;
        rest.into_iter().try_for_each(|column| self.push(0, column))
    }

    /// Folds adjacent columns, from a multiple of their number on, to one ciphertext.
    fn subtree(&self, mut columns: Vec<C>, workspace: &mut Workspace<u32>) -> Result<C> {
        let mut out = columns[0].zero_like(self.selection.ring());
        let mut level = 0;
        while columns.len() > 1 {
            let (selector, each) = (self.selector(level), self.candidates(level));
            for j in 0..columns.len() / each {
                C::select(self.gadget, selector, &columns[each * j..][..each], workspace, &mut out)?;
                std::mem::swap(&mut columns[j], &mut out);
            }
            columns.truncate(columns.len() / each);
            level += 1;
        }
        Ok(columns.swap_remove(0))
    }

    /// The selector for ciphertexts that have passed `level` levels.
    fn selector(&self, level: usize) -> &'a C::Selector {
        &self.selectors[self.selectors.len() - 1 - level]
    }

    /// Number of ciphertexts that become one on that level.
    fn candidates(&self, level: usize) -> usize {
        1 << (self.spans[level + 1] - self.spans[level])
    }

    /// Adds a ciphertext that has passed `level` levels, carrying as a counter does.
    fn push(&mut self, level: usize, ciphertext: C) -> Result<()> {
        self.levels.push(level);
        self.pending.push(ciphertext);
        while let Some(&level) = self.levels.last().filter(|level| **level < self.selectors.len()) {
            if self.waiting(level) < self.candidates(level) {
                break;
            }
            self.select(level)?;
        }
        Ok(())
    }

    /// Number of ciphertexts that have passed as many levels as the last one, `level`.
    fn waiting(&self, level: usize) -> usize {
        self.levels.iter().rev().take_while(|passed| **passed == level).count()
    }

    /// Replaces the last ciphertexts, which have passed `level` levels, by the one among them that the selector of that level selects.
    fn select(&mut self, level: usize) -> Result<()> {
        let first = self.levels.len() - self.waiting(level);
        let selector = self.selector(level);
        let candidates = &self.pending[first..];
        let scratch = self.scratch.get_or_insert_with(|| candidates[0].zero_like(self.selection.ring()));
        C::select(self.gadget, selector, candidates, &mut self.workspace, scratch)?;
        std::mem::swap(&mut self.pending[first], scratch);
        self.pending.truncate(first + 1);
        self.levels.truncate(first);
        self.levels.push(level + 1);
        Ok(())
    }

    /// Folds zeros for the missing columns.
    fn end_part(&mut self) -> Result<()> {
        while let Some(&level) = self.levels.last().filter(|level| **level < self.selectors.len()) {
            // The columns after it are missing.
            self.select(level)?;
        }
        self.parts.append(&mut self.pending);
        self.levels.clear();
        self.count = 0;
        Ok(())
    }
}
