//! Queries: one ciphertext with a coefficient for each row of the matrix and for each row of a selector.

use bfv::LevelKeys;
use lattice::convert::CoefficientTree;
use lattice::wire::{Reader, WireError, Writer, poly_bits};
use lattice::{Masks, Rgsw, Rlwe, Workspace};
use rand::RngCore;
use ring::Coefficient;

use super::engine::Engine;
use super::keys::ServerKeys;
use crate::core::seed::{SEED_BYTES, fresh_seed};
use crate::core::{Error, Result};
use crate::parts::bfv::BfvSecret;
use crate::parts::folding::{Place, leaves, rows, selectors};

/// Bytes of one query: a seed, and the body of the ciphertext.
pub fn query_bytes(engine: &Engine) -> usize {
    SEED_BYTES + poly_bits(&engine.ring).div_ceil(8)
}

/// The query for an item: q B^k / t for each digit of its row, and what each selector of its column encrypts times the weights.
pub fn write_query(engine: &Engine, place: &Place, secret: &BfvSecret, rng: &mut impl RngCore) -> Vec<u8> {
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
    let seed = fresh_seed(rng);
    let mut writer = Writer::with_capacity(query_bytes(engine));
    writer.write_seed(&seed);
    let ciphertext = secret.key.encrypt(&ring.from_u128(&message), &secret.error, &mut Masks::new(seed), rng);
    writer.write_poly(ring, &ciphertext.b);
    writer.finish()
}

/// A query in the server's form.
pub struct Query(Rlwe<u32, Coefficient>);

impl Query {
    /// Parses a query.
    pub fn read(engine: &Engine, bytes: &[u8]) -> Result<Self> {
        let ring = &engine.ring;
        let bad = |e: WireError| Error::message("query", e.to_string());
        let mut reader = Reader::new(bytes, query_bytes(engine)).map_err(bad)?;
        let prg = reader.seed().prg();
        let ciphertext = Rlwe { a: ring.expand(&prg, 0), b: reader.poly(ring).map_err(bad)? };
        reader.finish().map_err(bad)?;
        Ok(Self(ciphertext.inverse(ring)))
    }

    fn tree<'a>(
        &self,
        engine: &Engine,
        places: &[usize],
        keys: &'a ServerKeys,
        workspace: &'a mut Workspace<u32>,
    ) -> Result<CoefficientTree<'a, u32, &'a LevelKeys<u32>>> {
        Ok(CoefficientTree::new(&keys.levels, &self.0, engine.depth, places, workspace)?)
    }

    /// A leaf for each row of the matrix, a few at a time.
    pub fn leaves<'a>(
        &self,
        engine: &Engine,
        keys: &'a ServerKeys,
        workspace: &'a mut Workspace<u32>,
    ) -> Result<impl Iterator<Item = Result<Vec<Rlwe<u32, Coefficient>>>> + use<'a>> {
        Ok(leaves(self.tree(engine, &engine.places[0], keys, workspace)?))
    }

    /// The selectors of each further dimension, most significant first.
    pub fn selectors(
        &self,
        engine: &Engine,
        keys: &ServerKeys,
        workspace: &mut Workspace<u32>,
    ) -> Result<Vec<Vec<Rgsw<u32>>>> {
        let Some(key) = &keys.conversion else { return Ok(Vec::new()) };
        let rows = rows(self.tree(engine, &engine.places[1], keys, workspace)?)?;
        let mut all = selectors(rows, &engine.selector, (&engine.conversion, key), workspace)?.into_iter();
        let of = |&width: &u32| all.by_ref().take(engine.params.selectors_of(width)).collect();
        Ok(engine.widths.iter().map(of).collect())
    }
}
