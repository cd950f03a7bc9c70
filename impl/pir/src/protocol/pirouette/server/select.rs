//! Selects the requested item: row, column, position.

use lattice::convert::selector_subtrees;
use lattice::{Rgsw, Rlwe};
use ring::{Coefficient, PolyPairs};

use super::super::convert::Selectors;
use super::super::form::Selecting;
use super::super::keys::ServerKeys;
use super::super::trace::Trace;
use super::Server;
use crate::core::{Context, Group, Result, Turns};
use crate::parts::folding::Folding;
use crate::parts::ring_matrix::workspace;

/// Cells of an encrypted database that are copied at a time.
pub(in super::super) const CELLS: usize = 64;

/// Bits of a selector tree that is grown as a whole: its leaves are moved into the vector, where they take a half or a quarter of the
/// memory, before the next tree is grown.
pub(in super::super) const TREE_BITS: usize = 8;

type Cell = Rlwe<u32, Coefficient>;

impl<F: Selecting> Server<F> {
    /// For each query the ciphertext of each part of the requested cell. Columns are folded as they arrive.
    pub(super) fn select_cells<'a>(
        &'a self,
        keys: &[&'a ServerKeys],
        selectors: &'a [Selectors],
        mut trace: Option<&mut Trace<F>>,
        context: &Context,
    ) -> Result<Vec<Vec<Cell>>> {
        let clock = &context.clock;
        let vectors = clock.time("answer_selector", Group::Online, || {
            let mut seen = trace.as_deref_mut();
            let vector = |(keys, selectors): (&&ServerKeys, &Selectors)| {
                self.leaves(keys, selectors, seen.take(), context.threads)
            };
            keys.iter().zip(selectors).map(vector).collect::<Result<Vec<_>>>()
        })?;
        let folding = |(keys, selectors): (&&'a ServerKeys, &'a Selectors)| self.folding(keys, selectors);
        let mut foldings: Vec<Folding> = keys.iter().zip(selectors).map(folding).collect();
        let mut turns = Turns::new(clock);
        let vectors: Vec<_> = vectors.iter().collect();
        self.matrix.multiply(&self.selection, &vectors, context, |first, multiply| {
            let products = turns.time("answer_first_dimension", multiply)?;
            if let Some(trace) = &mut trace {
                trace.products(first, &products[0])?;
            }
            let mut queries = foldings.iter_mut().zip(products);
            turns.time("answer_folding", || queries.try_for_each(|(folding, products)| folding.extend(products)))
        })?;
        let folded = turns.time("answer_folding", || foldings.into_iter().map(Folding::finish).collect());
        turns.finish(Group::Online);
        folded
    }

    fn folding<'a>(&'a self, keys: &'a ServerKeys, selectors: &'a Selectors) -> Folding<'a> {
        let [_, columns, _] = self.split(selectors);
        Folding::new(&self.selection, keys.converter.output(), columns)
    }

    /// Like [`Self::select_cells`], for the client's own encrypted columns.
    pub(super) fn fold_encrypted(&self, keys: &ServerKeys, selectors: &Selectors) -> Result<Vec<Cell>> {
        let mut folding = self.folding(keys, selectors);
        keys.cells.chunks(CELLS).try_for_each(|cells| folding.extend(cells.to_vec()))?;
        folding.finish()
    }

    /// The selectors of the row, of the column and of the position.
    fn split<'a>(&self, selectors: &'a Selectors) -> [&'a [Rgsw<u32>]; 3] {
        let layout = self.layout();
        let (rows, rest) = selectors.split_at(layout.row_bits as usize);
        let (columns, positions) = rest.split_at(layout.column_bits as usize);
        [rows, columns, positions]
    }

    /// The vector that selects the row: it encrypts floor(Q / p) at the row and zero elsewhere.
    fn leaves(
        &self,
        keys: &ServerKeys,
        selectors: &Selectors,
        mut trace: Option<&mut Trace<F>>,
        threads: usize,
    ) -> Result<PolyPairs> {
        let [rows, _, _] = self.split(selectors);
        let mut workspaces: Vec<_> = (0..threads.max(1)).map(|_| workspace()).collect();
        let scale = u128::from(self.params.scale());
        let trees = selector_subtrees(keys.converter.output(), &[scale], rows, TREE_BITS, &mut workspaces);
        let leaves = trees?.enumerate().map(|(number, tree)| {
            let leaves = tree?.into_ciphertexts();
            if let Some(trace) = &mut trace {
                // All trees are of one size.
                trace.leaves(number * leaves.len(), &leaves)?;
            }
            Ok(leaves)
        });
        self.selection.leaves_ntt(leaves)
    }

    /// Moves the requested item to position 0.
    pub(super) fn rotate(
        &self,
        keys: &ServerKeys,
        selectors: &Selectors,
        parts: Vec<Rlwe<u32, Coefficient>>,
    ) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        let [_, _, positions] = self.split(selectors);
        let mut workspace = workspace();
        let rotate = |part| self.selection.position(keys.converter.output(), positions, part, &mut workspace);
        parts.into_iter().map(rotate).collect()
    }
}
