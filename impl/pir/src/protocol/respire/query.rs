//! Queries, which are two ciphertexts sent without their unused coefficients, and their expansion.

use lattice::wire::{Reader, Writer, residue_bits};
use lattice::{Masks, Rgsw, Rlwe, Workspace};
use rand::RngCore;
use ring::{Coefficient, DiscreteGaussian, Poly, Seed};

use super::engine::{Engine, coefficients};
use super::keys::{Secrets, ServerKeys};
use crate::core::seed::{SEED_BYTES, fresh_seed};
use crate::core::{Error, Result};
use crate::parts::folding::{Layout, Place, leaves, positions, rows, selectors};

/// A requested index.
pub struct Asked {
    /// Number, within the request, of the query that asks for it.
    pub query: usize,
    /// Its position in that query's bucket.
    pub place: Place,
}

/// Bytes of one query.
pub fn query_bytes(layout: &Layout, primes: &[u64], digits: usize) -> usize {
    let bits: usize = primes.iter().map(|&prime| residue_bits(prime) as usize).sum();
    SEED_BYTES + (coefficients(layout, digits).iter().sum::<usize>() * bits).div_ceil(8)
}

/// Both ciphertexts in the server's form: unsent coefficients of the bodies are zero, which makes their phases random; the expansion
/// uses only the others.
pub struct Query {
    ciphertexts: [Rlwe<u32, Coefficient>; 2],
}

/// The query for an item: floor(q / p) at its row's place; bit times weight at the places of the digits of the selectors.
pub fn write_query(
    engine: &Engine,
    layout: &Layout,
    place: &Place,
    (secrets, error): (&Secrets, &DiscreteGaussian),
    rng: &mut impl RngCore,
) -> Vec<u8> {
    let (ring, n) = (&engine.ring, engine.ring.n());
    let seed = fresh_seed(rng);
    let mut masks = Masks::new(seed);
    let counts = coefficients(layout, engine.gadgets.selector.length());
    let mut messages = [vec![0u64; n], vec![0u64; n]];
    let at = positions(n.ilog2(), counts[0].max(counts[1]));
    messages[0][at[place.row]] = engine.params.rlwe.scale(engine.params.plain_modulus());
    for (bit, at) in selected_bits(layout, place).zip(at.chunks(engine.gadgets.selector.length())) {
        for (&at, &weight) in at.iter().zip(engine.gadgets.selector.weights()) {
            messages[1][at] = if bit { weight as u64 } else { 0 };
        }
    }
    let mut writer = Writer::with_capacity(query_bytes(layout, ring.primes(), engine.gadgets.selector.length()));
    writer.write_seed(&seed);
    for (message, count) in messages.iter().zip(counts) {
        let body = secrets.main.encrypt(&ring.from_u64(message), error, &mut masks, rng).b;
        let body: Poly<u32, Coefficient> = ring.inverse(body);
        for (limb, &prime) in body.limbs().zip(ring.primes()) {
            let sent: Vec<u32> = at[..count].iter().map(|&at| limb[at]).collect();
            writer.write_all(&sent, residue_bits(prime));
        }
    }
    writer.finish()
}

/// The bits that a query's selectors encrypt: of the column, then of the position, most significant first.
pub fn selected_bits(layout: &Layout, place: &Place) -> impl Iterator<Item = bool> + use<> {
    layout.column_bits_of(place).chain(layout.position_bits_of(place))
}

impl Query {
    /// Parses a query.
    pub fn read(engine: &Engine, layout: &Layout, bytes: &[u8]) -> Result<Self> {
        let bad = |e: lattice::wire::WireError| Error::message("query", e.to_string());
        let (ring, n) = (&engine.ring, engine.ring.n());
        let expected = query_bytes(layout, ring.primes(), engine.gadgets.selector.length());
        let mut reader = Reader::new(bytes, expected).map_err(bad)?;
        let seed: Seed = reader.seed();
        let prg = seed.prg();
        let counts = coefficients(layout, engine.gadgets.selector.length());
        let at = positions(n.ilog2(), counts[0].max(counts[1]));
        let mut ciphertext = |stream: usize| -> Result<Rlwe<u32, Coefficient>> {
            let mut b: Poly<u32, Coefficient> = ring.zero();
            for (limb, &prime) in b.limbs_mut().zip(ring.primes()) {
                let sent: Vec<u32> = reader.residues(counts[stream], prime).map_err(bad)?;
                at.iter().zip(sent).for_each(|(&at, residue)| limb[at] = residue);
            }
            Ok(Rlwe { a: ring.inverse(ring.expand(&prg, stream as u64)), b })
        };
        let ciphertexts = [ciphertext(0)?, ciphertext(1)?];
        reader.finish().map_err(bad)?;
        Ok(Self { ciphertexts })
    }

    /// One leaf for each row, in the order of the rows, a few at a time.
    pub fn leaves<'a>(
        &self,
        engine: &'a Engine,
        layout: &Layout,
        keys: &'a ServerKeys,
        workspace: &'a mut Workspace<u32>,
    ) -> Result<impl Iterator<Item = Result<Vec<Rlwe<u32, Coefficient>>>> + use<'a>> {
        let depth = engine.ring.n().ilog2();
        let at = positions(depth, layout.rows);
        let gadget = &engine.gadgets.leaf_expansion;
        Ok(leaves(gadget.coefficient_tree(&self.ciphertexts[0], depth, &at, &keys.leaf_expansion, workspace)?))
    }

    /// One selector for each bit.
    pub fn selectors(
        &self,
        engine: &Engine,
        layout: &Layout,
        keys: &ServerKeys,
        workspace: &mut Workspace<u32>,
    ) -> Result<Vec<Rgsw<u32>>> {
        let (depth, gadgets) = (engine.ring.n().ilog2(), &engine.gadgets);
        let at = positions(depth, coefficients(layout, gadgets.selector.length())[1]);
        let (gadget, query) = (&gadgets.selector_expansion, &self.ciphertexts[1]);
        let rows = rows(gadget.coefficient_tree(query, depth, &at, &keys.selector_expansion, workspace)?)?;
        selectors(rows, &gadgets.selector, (&gadgets.conversion, &keys.conversion), workspace)
    }
}
