//! The public seed of protocols whose clients hold nothing of the database: every mask is expanded from it.

use rand::RngCore;
use ring::Seed;

use crate::core::error::Result;
use crate::core::scheme::{Context, Messages, only};
use crate::core::wire::FrameBuilder;

/// Bytes of the seed.
pub const SEED_BYTES: usize = 16;

/// A fresh seed.
pub(crate) fn public_seed(context: &mut Context) -> Seed {
    let mut seed = Seed([0; SEED_BYTES]);
    context.rng.fill_bytes(&mut seed.0);
    seed
}

/// The seed as a message of that protocol.
pub(crate) fn publish(protocol: &'static str, seed: &Seed) -> Messages {
    let mut builder = FrameBuilder::new(SEED_BYTES);
    builder.payload_mut().copy_from_slice(&seed.0);
    vec![("seed", builder.finish(protocol, "seed"))]
}

/// The seed that a server published.
pub(crate) fn received(protocol: &'static str, messages: &Messages) -> Result<Seed> {
    let message = only("seed", messages)?.clone().check(protocol, "seed", SEED_BYTES as u64)?;
    let mut seed = Seed([0; SEED_BYTES]);
    seed.0.copy_from_slice(message.payload());
    Ok(seed)
}
