//! The client's keys, on the wire and in the server's form.

use lattice::{
    Masks, Rgsw, RingGadget, RlweKey, RlwePrime, SeededRgsw, SeededRlwePrime, TraceKeys, switching_key, trace_keys,
};
use rand::RngCore;

use super::engine::Engine;
use super::set::{Set, Steps};
use crate::core::seed::fresh_seed;
use crate::core::{Error, FINGERPRINT_BYTES, Result, SecretKind};
use crate::parts::folding::{ResponseKey, next_prime, next_rgsw, next_traces};

/// A client's secrets.
pub struct Secrets {
    /// The key of queries.
    pub main: RlweKey<u32>,
    /// The key of each body of a vector.
    pub vector: Vec<RlweKey<u32>>,
    /// The key of each body of a response.
    pub response: Vec<ResponseKey>,
}

impl Secrets {
    /// Fresh secrets.
    pub fn sample(engine: &Engine, rng: &mut impl RngCore) -> Result<Self> {
        let Set { rlwe, vector, response, .. } = &engine.params;
        let sample = |secret: SecretKind, rng: &mut _| RlweKey::sample(&engine.ring, &secret.distribution(), rng);
        let of_response = |rng: &mut _| engine.responder.sample(&response.secret.distribution(), rng);
        Ok(Self {
            main: sample(rlwe.secret, rng)?,
            vector: (0..vector.length).map(|_| Ok(sample(vector.secret, rng)?)).collect::<Result<_>>()?,
            response: (0..vector.length).map(|_| of_response(rng)).collect::<Result<_>>()?,
        })
    }
}

/// Lengths of the parts of the keys' message, in order: RLWE' keys by gadget length; the bodies modulo q, those of responses modulo q2.
pub fn key_bytes(engine: &Engine) -> usize {
    let ring = &engine.ring;
    let prime = |gadget: &RingGadget<u32>| SeededRlwePrime::wire_bytes(gadget.ring(), gadget.length());
    let levels = engine.levels().count();
    let vectors = engine.params.vector.length;
    FINGERPRINT_BYTES
        + levels * (prime(&engine.gadgets.leaf_expansion) + prime(&engine.gadgets.selector_expansion))
        + SeededRgsw::wire_bytes(ring, engine.gadgets.conversion.length())
        + vectors * vectors * prime(&engine.gadgets.vector)
        + vectors * prime(engine.responder.gadget())
}

/// Makes the message: automorphism keys of both expansions, RGSW(-s) for the conversion, the switches of part i of a vector to the key
/// of body j (-s for i = j, else 0; one mask for all j), the switches of the bodies to the keys of responses (one mask for all).
pub fn write_keys(engine: &Engine, secrets: &Secrets, rng: &mut impl RngCore) -> Result<Vec<u8>> {
    let (ring, params) = (&engine.ring, &engine.params);
    let error = params.rlwe.error.sampler()?;
    let mut masks = Masks::new(fresh_seed(rng));
    let mut out = engine.fingerprint()?.to_vec();
    for gadget in [&engine.gadgets.leaf_expansion, &engine.gadgets.selector_expansion] {
        let keys = trace_keys(&secrets.main, engine.levels(), gadget, &error, &mut masks, rng)?;
        keys.iter().for_each(|key| out.extend(key.to_bytes(ring)));
    }
    let mut negated = secrets.main.ntt().clone();
    ring.neg_assign(&mut negated);
    let conversion = SeededRgsw::new(&secrets.main, &negated, &engine.gadgets.conversion, &error, &mut masks, rng);
    out.extend(conversion?.to_bytes(ring));
    let vector_error = params.vector.error.sampler()?;
    let zero = ring.zero();
    for i in 0..secrets.vector.len() {
        let seed = fresh_seed(rng);
        for (j, to) in secrets.vector.iter().enumerate() {
            let from = if i == j { secrets.main.ntt() } else { &zero };
            let key = switching_key(from, to, &engine.gadgets.vector, &vector_error, &mut Masks::new(seed), rng);
            out.extend(key?.to_bytes(ring));
        }
    }
    let (response_error, seed) = (params.response.error.sampler()?, fresh_seed(rng));
    for (from, to) in secrets.vector.iter().zip(&secrets.response) {
        let key = engine.responder.switching_key(from, to, &response_error, &mut Masks::new(seed), rng)?;
        out.extend(key.to_bytes(engine.responder.gadget().ring()));
    }
    Ok(out)
}

/// The keys in the server's form.
pub struct ServerKeys {
    pub leaf_expansion: TraceKeys<u32>,
    pub selector_expansion: TraceKeys<u32>,
    pub conversion: Rgsw<u32>,
    /// `vector[i][j]` switches part i to body j.
    pub vector: Vec<Vec<RlwePrime<u32>>>,
    pub response: Vec<RlwePrime<u32>>,
}

impl ServerKeys {
    /// Parses the message.
    pub fn read(engine: &Engine, bytes: &[u8]) -> Result<Self> {
        let (fingerprint, mut rest) = bytes.split_at(FINGERPRINT_BYTES.min(bytes.len()));
        if bytes.len() != key_bytes(engine) || fingerprint != engine.fingerprint()? {
            return Err(Error::message("keys", "they were made with another parameter set than the server's."));
        }
        let rest = &mut rest;
        let Steps { leaf_expansion, selector_expansion, conversion, vector, .. } = &engine.gadgets;
        let leaf_expansion = next_traces(leaf_expansion, engine.levels(), rest)?;
        let selector_expansion = next_traces(selector_expansion, engine.levels(), rest)?;
        let conversion = next_rgsw(conversion, rest)?;
        let length = engine.params.vector.length;
        let mut primes = |gadget: &RingGadget<u32>| {
            (0..length).map(|_| Ok(next_prime(gadget, rest)?.expand(gadget.ring()))).collect::<Result<Vec<_>>>()
        };
        let vector = (0..length).map(|_| primes(vector)).collect::<Result<_>>()?;
        let response = primes(engine.responder.gadget())?;
        Ok(Self { leaf_expansion, selector_expansion, conversion, vector, response })
    }

    /// Bytes in memory of these keys.
    pub fn bytes(&self) -> usize {
        let Self { leaf_expansion, selector_expansion, conversion, vector, response } = self;
        let primes = vector.iter().flatten().chain(response).map(RlwePrime::bytes).sum::<usize>();
        leaf_expansion.bytes() + selector_expansion.bytes() + conversion.bytes() + primes
    }

    /// Bytes in memory, predicted.
    pub fn memory_bytes(params: &Set) -> u64 {
        let Steps { selector: _, leaf_expansion, selector_expansion, conversion, vector } = params.lengths();
        let response = params.response_length();
        let levels = u64::from(params.rlwe.degree.ilog2());
        let vectors = params.vector.length as u64;
        let rows = levels * (leaf_expansion + selector_expansion) + 2 * conversion + vectors * vectors * vector;
        // Masks and bodies; tables of an automorphism for each level and gadget; keys modulo q2 have one limb.
        2 * rows * params.rlwe.poly_bytes()
            + 2 * levels * params.rlwe.poly_bytes()
            + vectors * response * params.rlwe.poly_bytes()
    }
}
