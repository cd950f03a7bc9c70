//! Seeds of masks, and the public seed from which protocols without hints expand all their masks.

use rand::RngCore;
use ring::Seed;

use crate::core::error::Result;
use crate::core::protocol::{Messages, only};
use crate::core::wire::Frame;

/// Bytes of the seed.
pub const SEED_BYTES: usize = 16;

/// A fresh seed.
pub(crate) fn fresh_seed(rng: &mut impl RngCore) -> Seed {
    let mut seed = Seed([0; SEED_BYTES]);
    rng.fill_bytes(&mut seed.0);
    seed
}

/// The seed as a message of the protocol.
pub(crate) fn publish(protocol: &'static str, seed: &Seed) -> Messages {
    vec![("seed", Frame::of(protocol, "seed", &seed.0))]
}

/// The seed in a server's message.
pub(crate) fn received(protocol: &'static str, messages: &Messages) -> Result<Seed> {
    let message = only("seed", messages)?.clone().check(protocol, "seed", SEED_BYTES as u64)?;
    let mut seed = Seed([0; SEED_BYTES]);
    seed.0.copy_from_slice(message.payload());
    Ok(seed)
}
