//! Queries: one packed ciphertext, or a ciphertext for each row of the database and for each row of a selector.

use lattice::wire::{Reader, WireError, Writer, poly_bits};
use lattice::{Masks, Rlwe, Workspace};
use rand::RngCore;
use ring::{Coefficient, DiscreteGaussian, Ntt, PolyPairs};

use super::engine::Engine;
use super::keys::{Secrets, ServerKeys};
use crate::core::seed::{SEED_BYTES, fresh_seed};
use crate::core::{Error, Result};
use crate::parts::folding::{LEAVES_AT_A_TIME, Place, Selection, constant, leaves, rows};
use crate::parts::ring_matrix::workspace;

/// Rows that a query has of each selector, if it is not packed.
fn rows_of_selector(engine: &Engine) -> usize {
    if engine.params.variant.converts() { engine.selector.length() } else { 2 * engine.selector.length() }
}

/// Ciphertexts of a query.
pub fn ciphertexts(engine: &Engine) -> usize {
    if engine.params.variant.expands() {
        return 1;
    }
    engine.layout.rows + engine.layout.column_bits as usize * rows_of_selector(engine)
}

/// Bytes of one query: a seed, and the body of each ciphertext.
pub fn query_bytes(engine: &Engine) -> usize {
    SEED_BYTES + (ciphertexts(engine) * poly_bits(&engine.ring)).div_ceil(8)
}

/// The query for an item: floor(q / p) for its row and zero for the others, and each bit of its column times the weights of a selector,
/// whose rows of -s times the bit come first where the server does not make them.
pub fn write_query(
    engine: &Engine,
    place: &Place,
    (secrets, error): (&Secrets, &DiscreteGaussian),
    rng: &mut impl RngCore,
) -> Vec<u8> {
    let (ring, layout, weights) = (&engine.ring, &engine.layout, engine.selector.weights());
    let seed = fresh_seed(rng);
    let mut masks = Masks::new(seed);
    let mut writer = Writer::with_capacity(query_bytes(engine));
    writer.write_seed(&seed);
    let scale = engine.params.rlwe.scale(engine.params.plain_modulus());
    if engine.params.variant.expands() {
        let mut message = vec![0u64; ring.n()];
        message[engine.places.leaves[place.row]] = scale;
        for (bit, at) in layout.column_bits_of(place).zip(engine.places.rows.chunks(weights.len())) {
            for (&at, &weight) in at.iter().zip(weights) {
                message[at] = if bit { weight as u64 } else { 0 };
            }
        }
        writer.write_poly(ring, &secrets.main.encrypt(&ring.from_u64(&message), error, &mut masks, rng).b);
        return writer.finish();
    }
    for row in 0..layout.rows {
        let message = constant(ring, if row == place.row { scale.into() } else { 0 });
        writer.write_poly(ring, &secrets.main.encrypt(&message, error, &mut masks, rng).b);
    }
    let mut negated = secrets.main.ntt().clone();
    ring.neg_assign(&mut negated);
    for bit in layout.column_bits_of(place) {
        let row = |weight: &u128| ring.forward(constant(ring, if bit { *weight } else { 0 }));
        let masked = |weight: &u128| {
            let mut row = row(weight);
            ring.mul_assign(&mut row, &negated);
            row
        };
        let of_mask = if engine.params.variant.converts() { &[][..] } else { weights };
        for message in of_mask.iter().map(masked).chain(weights.iter().map(row)) {
            writer.write_poly(ring, &secrets.main.encrypt_ntt(&message, error, &mut masks, rng).b);
        }
    }
    writer.finish()
}

/// A query in the server's form.
pub enum Query {
    /// One ciphertext with a coefficient for each row of the database and for each row of a selector.
    Packed(Rlwe<u32, Coefficient>),
    /// A ciphertext for each of them.
    Sent {
        /// For each row of the database.
        leaves: Vec<Rlwe<u32, Ntt>>,
        /// For each row of a selector.
        rows: Vec<Rlwe<u32, Ntt>>,
    },
}

/// Leaves, a few at a time.
type Leaves<'a> = Box<dyn Iterator<Item = Result<Vec<Rlwe<u32, Coefficient>>>> + 'a>;

impl Query {
    /// Parses a query.
    pub fn read(engine: &Engine, bytes: &[u8]) -> Result<Self> {
        let ring = &engine.ring;
        let bad = |e: WireError| Error::message("query", e.to_string());
        let mut reader = Reader::new(bytes, query_bytes(engine)).map_err(bad)?;
        let prg = reader.seed().prg();
        let mut ciphertext =
            |stream: usize| Ok(Rlwe { a: ring.expand(&prg, stream as u64), b: reader.poly(ring).map_err(bad)? });
        let mut leaves = (0..ciphertexts(engine)).map(&mut ciphertext).collect::<Result<Vec<_>>>()?;
        reader.finish().map_err(bad)?;
        if engine.params.variant.expands() {
            return Ok(Self::Packed(leaves.swap_remove(0).inverse(ring)));
        }
        let rows = leaves.split_off(engine.layout.rows);
        Ok(Self::Sent { leaves, rows })
    }

    /// A leaf for each row of the database.
    pub fn leaves<'a>(
        &'a self,
        engine: &'a Engine,
        keys: &'a ServerKeys,
        workspace: &'a mut Workspace<u32>,
    ) -> Result<Leaves<'a>> {
        match self {
            Self::Packed(query) => {
                let (gadget, depth, trace) = keys.tree(engine, 0)?;
                Ok(Box::new(leaves(gadget.coefficient_tree(query, depth, &engine.places.leaves, trace, workspace)?)))
            }
            Self::Sent { leaves, .. } => {
                let back = |leaf: &Rlwe<u32, Ntt>| leaf.clone().inverse(&engine.ring);
                let parts = leaves.chunks(LEAVES_AT_A_TIME);
                Ok(Box::new(parts.map(move |part| Ok(part.iter().map(back).collect()))))
            }
        }
    }

    /// The vectors that select the row.
    pub fn vectors(
        &self,
        engine: &Engine,
        selection: &Selection,
        keys: &ServerKeys,
        workspace: &mut Workspace<u32>,
    ) -> Result<Vec<PolyPairs>> {
        if !engine.params.variant.packs() {
            let mut spreading = self::workspace();
            let parts = self.leaves(engine, keys, workspace)?.map(|part| {
                let mut spread = |leaf| engine.conversion.spread(&leaf, &keys.packing, &mut spreading);
                let vectors = part?.into_iter().map(&mut spread).collect::<std::result::Result<Vec<_>, _>>()?;
                Ok(vectors.into_iter().flatten().collect())
            });
            return selection.leaves_of_vectors(engine.params.vector_length, parts);
        }
        let vector = match self {
            Self::Packed(_) => selection.leaves(self.leaves(engine, keys, workspace)?),
            Self::Sent { leaves, .. } => {
                selection.leaves_ntt(leaves.chunks(LEAVES_AT_A_TIME).map(|part| Ok(part.to_vec())))
            }
        };
        Ok(vec![vector?])
    }

    /// The rows of selectors, bit by bit.
    pub fn rows(
        self,
        engine: &Engine,
        keys: &ServerKeys,
        workspace: &mut Workspace<u32>,
    ) -> Result<Vec<Rlwe<u32, Coefficient>>> {
        match self {
            Self::Packed(query) => {
                let (gadget, depth, trace) = keys.tree(engine, 1)?;
                rows(gadget.coefficient_tree(&query, depth, &engine.places.rows, trace, workspace)?)
            }
            Self::Sent { rows, .. } => Ok(rows.into_iter().map(|row| row.inverse(&engine.ring)).collect()),
        }
    }
}
