//! Queries: seeded ciphertexts of one secret.

use lattice::wire::{Reader, SEED_BYTES, Writer};
use lattice::{Masks, Rlwe};
use rand::RngCore;
use ring::{Ntt, Poly, Ring};

use super::{BfvSecret, RingTable, ServerKeys};
use crate::core::seed::fresh_seed;
use crate::core::{Error, Request, Result, client_of, for_each_query};

/// Bytes of a query of that many ciphertexts: the seed of its masks, and bodies.
pub fn query_bytes(ring: &impl RingTable, ciphertexts: usize) -> usize {
    SEED_BYTES + (ciphertexts as u64).saturating_mul(ring.wire_bytes()) as usize
}

/// Makes the bytes of a query, encryptions of these phases.
pub fn write_query(
    secret: &BfvSecret,
    phases: impl IntoIterator<Item = Result<Poly<u32, Ntt>>>,
    rng: &mut impl RngCore,
) -> Result<Vec<u8>> {
    let seed = fresh_seed(rng);
    let (masks, mut out) = (&mut Masks::new(seed), Writer::default());
    out.write_seed(&seed);
    for phase in phases {
        let ciphertext = secret.key.encrypt_ntt(&phase?, &secret.error, masks, rng);
        out.write_poly(secret.key.ring(), &ciphertext.b);
    }
    Ok(out.finish())
}

/// A query, with the keys of the client that asks.
pub struct Asked<'a, K = ServerKeys> {
    /// The client's keys.
    pub keys: &'a K,
    /// The ciphertexts.
    pub ciphertexts: Vec<Rlwe<u32, Ntt>>,
}

/// The queries of some requests, each of that many ciphertexts.
pub fn read_queries<'a, K>(
    protocol: &'static str,
    requests: &[Request],
    clients: &'a [K],
    (ring, bytes, ciphertexts): (&Ring<u32>, usize, usize),
) -> Result<Vec<Asked<'a, K>>> {
    let mut asked = Vec::new();
    for request in requests {
        let keys = client_of(clients, request.session)?;
        for_each_query(protocol, std::slice::from_ref(request), &[("query", bytes)], |parts| {
            let mut input = Reader::of(parts[0]);
            let masks = input.seed().prg();
            let ciphertext = |number: u64| {
                let b = input.poly(ring).map_err(Error::in_message("query"))?;
                Ok(Rlwe { a: ring.expand(&masks, number), b })
            };
            asked.push(Asked { keys, ciphertexts: (0..ciphertexts as u64).map(ciphertext).collect::<Result<_>>()? });
            Ok(())
        })?;
    }
    Ok(asked)
}
