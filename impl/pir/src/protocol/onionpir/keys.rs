//! The client's keys, on the wire and in the server's form.

use bfv::{LevelKeys, SeededKey};
use lattice::{Masks, Rgsw, SeededRgsw};
use rand::RngCore;

use super::engine::Engine;
use crate::core::seed::fresh_seed;
use crate::core::{Error, FINGERPRINT_BYTES, Result};
use crate::parts::bfv::BfvSecret;
use crate::parts::folding::next_rgsw;

/// A fresh secret.
pub fn sample(engine: &Engine, rng: &mut impl RngCore) -> Result<BfvSecret> {
    BfvSecret::sample(&engine.switch, engine.params.ring.secret, engine.params.ring.error, rng)
}

/// Bytes of the key that makes selectors, which a database without columns has not.
fn conversion_bytes(engine: &Engine) -> usize {
    if engine.widths.is_empty() { 0 } else { SeededRgsw::wire_bytes(&engine.ring, engine.conversion.length()) }
}

/// Length of the keys' message.
pub fn key_bytes(engine: &Engine) -> usize {
    FINGERPRINT_BYTES + engine.depth as usize * SeededKey::wire_bytes(&engine.switch) + conversion_bytes(engine)
}

/// Makes the message: a key for each level of the expansion, and RGSW(-s).
pub fn write_keys(engine: &Engine, secret: &BfvSecret, rng: &mut impl RngCore) -> Result<Vec<u8>> {
    let (gadget, mut masks) = (&engine.switch, Masks::new(fresh_seed(rng)));
    let mut out = Vec::with_capacity(key_bytes(engine));
    out.extend(engine.fingerprint()?);
    let keys = LevelKeys::seeded(gadget, &secret.wide, engine.levels(), &secret.error, &mut masks, rng)?;
    keys.iter().for_each(|key| out.extend(key.to_bytes(gadget)));
    if conversion_bytes(engine) > 0 {
        let mut negated = secret.key.ntt().clone();
        engine.ring.neg_assign(&mut negated);
        let key = SeededRgsw::new(&secret.key, &negated, &engine.conversion, &secret.error, &mut masks, rng)?;
        out.extend(key.to_bytes(&engine.ring));
    }
    Ok(out)
}

/// The keys in the server's form.
pub struct ServerKeys {
    /// Of the expansion.
    pub levels: LevelKeys<u32>,
    /// RGSW(-s), if there are selectors.
    pub conversion: Option<Rgsw<u32>>,
}

impl ServerKeys {
    /// Parses the message, which has [`key_bytes`].
    pub fn read(engine: &Engine, bytes: &[u8]) -> Result<Self> {
        let (fingerprint, rest) = bytes.split_at(FINGERPRINT_BYTES.min(bytes.len()));
        if fingerprint != engine.fingerprint()? {
            return Err(Error::message("keys", "they were made with another parameter set than the server's."));
        }
        let each = SeededKey::wire_bytes(&engine.switch);
        let (levels, mut rest) = rest.split_at((engine.depth as usize * each).min(rest.len()));
        let refused = |e: bfv::BfvError| {
            Error::message("keys", format!("{e}. The sender uses other parameters, or the keys are corrupted."))
        };
        Ok(Self {
            levels: LevelKeys::read(&engine.switch, *engine.levels().start(), levels.chunks(each)).map_err(refused)?,
            conversion: match conversion_bytes(engine) {
                0 => None,
                _ => Some(next_rgsw(&engine.conversion, &mut rest)?),
            },
        })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.levels.bytes() + self.conversion.as_ref().map_or(0, Rgsw::bytes)
    }

    /// Bytes in memory, predicted.
    pub fn memory_bytes(engine: &Engine) -> u64 {
        let ring = &engine.params.ring;
        let conversion = if engine.widths.is_empty() { 0 } else { 4 * engine.conversion.length() as u64 };
        ring.level_key_bytes(engine.depth, engine.switch.shape()) + conversion * ring.shape().poly_bytes()
    }
}
