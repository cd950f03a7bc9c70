//! The client's keys, on the wire and in the server's form.

use lattice::{
    Masks, Rgsw, RingGadget, RlweKey, SeededRgsw, SeededRlwePrime, SplitKey, SplitRing, TraceKeys, VectorPrime,
    seeded_vector, trace_keys,
};
use rand::RngCore;

use super::engine::Engine;
use crate::core::seed::fresh_seed;
use crate::core::{Error, FINGERPRINT_BYTES, Result};
use crate::parts::folding::{next_prime, next_rgsw, next_traces};

/// A client's secrets.
pub struct Secrets {
    /// The key of queries, s.
    pub main: RlweKey<u32>,
    /// The key of each body of a vector, S_0 to S_(n-1).
    pub vector: Vec<RlweKey<u32>>,
    /// The same, as they open answers.
    pub openers: Vec<SplitKey>,
}

impl Secrets {
    /// Fresh secrets.
    pub fn sample(engine: &Engine, rng: &mut impl RngCore) -> Result<Self> {
        let distribution = engine.params.rlwe.secret.distribution();
        let mut sample = || RlweKey::sample(&engine.ring, &distribution, rng);
        let main = sample()?;
        let vector: Vec<_> =
            (0..engine.params.vector_length).map(|_| sample()).collect::<std::result::Result<_, _>>()?;
        let opening = SplitRing::new(engine.ring.n())?;
        let openers = vector.iter().map(|key| opening.key(key)).collect::<std::result::Result<_, _>>()?;
        Ok(Self { main, vector, openers })
    }
}

/// Length of the keys' message.
pub fn key_bytes(engine: &Engine) -> usize {
    let (ring, length) = (&engine.ring, engine.params.vector_length);
    let prime = |digits: usize| SeededRlwePrime::wire_bytes(ring, digits);
    let trees = engine.trees().map(|(gadget, depth)| depth as usize * prime(gadget.length())).sum::<usize>();
    let digits = engine.conversion.length();
    let conversion = match engine.converts() {
        false => 0,
        true if engine.params.variant.packs() => SeededRgsw::wire_bytes(ring, digits),
        true => 2 * length * prime(digits),
    };
    FINGERPRINT_BYTES + trees + conversion + length * length * prime(digits)
}

/// Makes the message: automorphism keys of both trees; for the conversion RGSW(-s), or the vectors of all S_j s and of all -S_j; the
/// encryption of -s at each place of a vector.
pub fn write_keys(engine: &Engine, secrets: &Secrets, rng: &mut impl RngCore) -> Result<Vec<u8>> {
    let ring = &engine.ring;
    let error = engine.params.rlwe.error.sampler()?;
    let mut masks = Masks::new(fresh_seed(rng));
    let mut out = Vec::with_capacity(key_bytes(engine));
    out.extend(engine.fingerprint()?);
    for (gadget, depth) in engine.trees() {
        let keys = trace_keys(&secrets.main, engine.levels(depth), gadget, &error, &mut masks, rng)?;
        keys.iter().for_each(|key| out.extend(key.to_bytes(ring)));
    }
    let mut negated = secrets.main.ntt().clone();
    ring.neg_assign(&mut negated);
    let vector = |messages: &[_], out: &mut Vec<u8>, rng: &mut _| -> Result<()> {
        let key = seeded_vector(&secrets.vector, messages, &engine.conversion, &error, fresh_seed(rng), rng)?;
        key.iter().for_each(|part| out.extend(part.to_bytes(ring)));
        Ok(())
    };
    if engine.converts() && engine.params.variant.packs() {
        let key = SeededRgsw::new(&secrets.main, &negated, &engine.conversion, &error, &mut masks, rng)?;
        out.extend(key.to_bytes(ring));
    } else if engine.converts() {
        // Minus the key of each body, times -s and times 1.
        let mut bodies: Vec<_> = secrets.vector.iter().map(|key| key.ntt().clone()).collect();
        bodies.iter_mut().for_each(|body| ring.neg_assign(body));
        let mut masks = bodies.clone();
        masks.iter_mut().for_each(|mask| ring.mul_assign(mask, &negated));
        vector(&masks, &mut out, rng)?;
        vector(&bodies, &mut out, rng)?;
    }
    for place in 0..secrets.vector.len() {
        let message = |j: usize| if j == place { negated.clone() } else { ring.zero() };
        vector(&(0..secrets.vector.len()).map(message).collect::<Vec<_>>(), &mut out, rng)?;
    }
    Ok(out)
}

/// The key that converts rows of selectors.
pub enum Conversion {
    /// RGSW(-s).
    Pair(Rgsw<u32>),
    /// The vectors of all S_j s and of all -S_j, for the digits of a mask and of a body.
    Vector([VectorPrime<u32>; 2]),
}

/// The keys in the server's form.
pub struct ServerKeys {
    /// Of the tree of leaves, and of that of selectors' rows.
    pub trees: Vec<TraceKeys<u32>>,
    /// If rows are converted.
    pub conversion: Option<Conversion>,
    /// -s at each place of a vector.
    pub packing: Vec<VectorPrime<u32>>,
}

impl ServerKeys {
    /// Parses the message, which has [`key_bytes`].
    pub fn read(engine: &Engine, bytes: &[u8]) -> Result<Self> {
        let (fingerprint, mut rest) = bytes.split_at(FINGERPRINT_BYTES.min(bytes.len()));
        if fingerprint != engine.fingerprint()? {
            return Err(Error::message("keys", "they were made with another parameter set than the server's."));
        }
        let (rest, gadget, length) = (&mut rest, &engine.conversion, engine.params.vector_length);
        let trees = engine.trees().map(|(gadget, depth)| next_traces(gadget, engine.levels(depth), rest));
        let trees = trees.collect::<Result<_>>()?;
        let vector = |rest: &mut &[u8]| -> Result<VectorPrime<u32>> {
            let parts: Vec<_> = (0..length).map(|_| next_prime(gadget, rest)).collect::<Result<_>>()?;
            Ok(VectorPrime::new(&engine.ring, &parts)?)
        };
        let conversion = match engine.converts() {
            false => None,
            true if engine.params.variant.packs() => Some(Conversion::Pair(next_rgsw(gadget, rest)?)),
            true => Some(Conversion::Vector([vector(rest)?, vector(rest)?])),
        };
        let packing = (0..length).map(|_| vector(rest)).collect::<Result<_>>()?;
        Ok(Self { trees, conversion, packing })
    }

    /// The gadget, the depth and the keys of a tree: number 0 has leaves, number 1 rows of selectors.
    pub fn tree<'a>(
        &'a self,
        engine: &'a Engine,
        number: usize,
    ) -> Result<(&'a RingGadget<u32>, u32, &'a TraceKeys<u32>)> {
        let tree = engine.trees().zip(&self.trees).nth(number);
        let tree = tree.ok_or_else(|| Error::message("keys", "a packed query needs keys that expand it."))?;
        Ok((tree.0.0, tree.0.1, tree.1))
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        let Self { trees, conversion, packing } = self;
        let conversion = match conversion {
            None => 0,
            Some(Conversion::Pair(key)) => key.bytes(),
            Some(Conversion::Vector(keys)) => keys.iter().map(VectorPrime::bytes).sum(),
        };
        trees.iter().map(TraceKeys::bytes).sum::<usize>()
            + conversion
            + packing.iter().map(VectorPrime::bytes).sum::<usize>()
    }

    /// Bytes in memory, predicted: masks and bodies, and the tables of each automorphism.
    pub fn memory_bytes(engine: &Engine) -> u64 {
        let poly = engine.params.rlwe.poly_bytes();
        let trees = engine.trees().map(|(gadget, depth)| u64::from(depth) * (2 * gadget.length() as u64 + 1));
        let (digits, length) = (engine.conversion.length() as u64, engine.params.vector_length as u64);
        let conversion = match engine.converts() {
            false => 0,
            true if engine.params.variant.packs() => 4 * digits,
            true => 2 * (1 + length) * digits,
        };
        (trees.sum::<u64>() + conversion + length * (1 + length) * digits) * poly
    }
}
