//! The client's keys: of the expansion, and of the conversion of selectors.

use lattice::{Masks, Rgsw, SeededRgsw};
use rand::RngCore;

use super::engine::Engine;
use crate::core::Result;
use crate::core::seed::fresh_seed;
use crate::parts::bfv::{self, BfvSecret, RingTable};
use crate::parts::folding::next_rgsw;

/// Bytes of the keys of the expansion, and of the key that makes selectors, which a database without columns has not.
fn parts_bytes(engine: &Engine) -> [usize; 2] {
    let switching = engine.params.ring.keys_bytes(u64::from(engine.depth)) as usize;
    let conversion = SeededRgsw::wire_bytes(&engine.ring, engine.conversion.length());
    [switching, if engine.widths.is_empty() { 0 } else { conversion }]
}

/// Length of the keys' message.
pub fn key_bytes(engine: &Engine) -> usize {
    parts_bytes(engine).iter().sum()
}

/// Makes the message: a key for each level of the expansion, and RGSW(-s).
pub fn write_keys(engine: &Engine, secret: &BfvSecret, rng: &mut impl RngCore) -> Result<Vec<u8>> {
    let mut masks = Masks::new(fresh_seed(rng));
    let fingerprint = engine.fingerprint()?;
    let mut out = bfv::write_keys(&engine.switch, secret, fingerprint, &engine.exponents(), (&mut masks, rng))?;
    if !engine.widths.is_empty() {
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
    pub switching: bfv::ServerKeys,
    /// RGSW(-s), if there are selectors.
    pub conversion: Option<Rgsw<u32>>,
}

impl ServerKeys {
    /// Parses the message, which has [`key_bytes`].
    pub fn read(engine: &Engine, bytes: &[u8]) -> Result<Self> {
        let [switching, conversion] = parts_bytes(engine);
        let (switching, mut rest) = bytes.split_at(switching.min(bytes.len()));
        Ok(Self {
            switching: bfv::ServerKeys::read(&engine.switch, engine.fingerprint()?, &engine.exponents(), switching)?,
            conversion: if conversion > 0 { Some(next_rgsw(&engine.conversion, &mut rest)?) } else { None },
        })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.switching.bytes() + self.conversion.as_ref().map_or(0, Rgsw::bytes)
    }

    /// Bytes in memory, predicted.
    pub fn memory_bytes(engine: &Engine) -> u64 {
        let ring = &engine.params.ring;
        let conversion = if engine.widths.is_empty() { 0 } else { 4 * engine.conversion.length() as u64 };
        u64::from(engine.depth) * ring.key_bytes() + conversion * ring.shape().poly_bytes()
    }
}
