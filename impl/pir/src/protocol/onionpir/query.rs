//! Queries: one ciphertext with a coefficient for each row of the matrix and for each row of a selector.

use lattice::convert::CoefficientTree;
use lattice::{Rgsw, Rlwe};
use ring::{Coefficient, Ntt, Poly, PolyPairs};

use super::engine::Engine;
use super::keys::ServerKeys;
use crate::core::Result;
use crate::core::threads::side_by_side;
use crate::parts::bfv::Asked;
use crate::parts::folding::{Place, Selection, leaves, rows, selectors};
use crate::parts::ring_matrix::workspace;

/// The phase of the query for an item: q B^k / t for each digit of its row, and what each selector of its column encrypts times the
/// weights.
pub fn phase(engine: &Engine, place: &Place) -> Poly<u32, Ntt> {
    let (ring, weights) = (&engine.ring, engine.selector.weights());
    let mut message = vec![0; ring.n()];
    let first = place.row * engine.scales.len();
    for (&at, &scale) in engine.places[0][first..].iter().zip(&engine.scales) {
        message[at] = scale;
    }
    for (bit, at) in engine.units(place).concat().into_iter().zip(engine.places[1].chunks(weights.len())) {
        for (&at, &weight) in at.iter().zip(weights) {
            message[at] = if bit { weight } else { 0 };
        }
    }
    ring.forward(ring.from_u128(&message))
}

/// A query in the server's form, with the keys of the client that asks.
pub struct Query<'a> {
    keys: &'a ServerKeys,
    ciphertext: Rlwe<u32, Coefficient>,
}

impl<'a> Query<'a> {
    /// The query of a parsed message.
    pub fn new(engine: &Engine, mut asked: Asked<'a, ServerKeys>) -> Self {
        Self { keys: asked.keys, ciphertext: asked.ciphertexts.swap_remove(0).inverse(&engine.ring) }
    }

    /// The leaves at some places, in their order: as many trees as there are threads, which share no automorphism.
    fn leaves(&self, engine: &Engine, places: &[usize], threads: usize) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        let levels = self.keys.switching.levels(&engine.switch);
        let part = |places: &[usize]| {
            let mut workspace = workspace();
            rows(CoefficientTree::new(levels, &self.ciphertext, engine.depth, places, &mut workspace)?)
        };
        Ok(side_by_side(places.chunks(places.len().div_ceil(threads).max(1)), threads, part)?.concat())
    }

    /// Some leaves, for each row of the matrix.
    pub fn first_leaves(&self, engine: &Engine, count: usize) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        self.leaves(engine, &engine.places[0][..count.min(engine.places[0].len())], 1)
    }

    /// The leaves for all rows of the matrix as it reads them, a few at a time if they are made on one thread.
    pub fn vector(&self, engine: &Engine, selection: &Selection, threads: usize) -> Result<PolyPairs> {
        let places = &engine.places[0];
        if threads > 1 {
            return selection.leaves([self.leaves(engine, places, threads)]);
        }
        let (levels, mut workspace) = (self.keys.switching.levels(&engine.switch), workspace());
        let tree = CoefficientTree::new(levels, &self.ciphertext, engine.depth, places, &mut workspace)?;
        selection.leaves(leaves(tree))
    }

    /// The selectors of each further dimension, most significant first.
    pub fn selectors(&self, engine: &Engine, threads: usize) -> Result<Vec<Vec<Rgsw<u32>>>> {
        let Some(key) = &self.keys.conversion else { return Ok(Vec::new()) };
        let rows = self.leaves(engine, &engine.places[1], threads)?;
        let convert = |rows: &[Rlwe<u32, Coefficient>]| {
            selectors(rows.to_vec(), &engine.selector, (&engine.conversion, key), &mut workspace())
        };
        let all = side_by_side(rows.chunks(engine.selector.length()), threads, convert)?;
        let mut all = all.into_iter().flatten();
        let of = |&width: &u32| all.by_ref().take(engine.params.selectors_of(width)).collect();
        Ok(engine.widths.iter().map(of).collect())
    }
}
