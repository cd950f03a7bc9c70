//! Where the randomness of a run comes from.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator of the indices that a run retrieves, which are not secret here. Without a seed a fixed stream makes runs comparable; with
/// a seed they depend on it, so that runs with different seeds retrieve different records.
pub fn choices(seed: Option<[u8; 32]>) -> ChaCha20Rng {
    let Some(seed) = seed else { return ChaCha20Rng::seed_from_u64(1) };
    let mut apart = ChaCha20Rng::from_seed(seed);
    apart.set_stream(u64::MAX);
    ChaCha20Rng::from_rng(&mut apart)
}

/// The parts of a session, each of which has its own stream of randomness.
#[derive(Clone, Copy)]
pub enum Stream {
    /// Server and client, until the offline exchange is done.
    Parties,
    /// Exchanges before the first repetition (0), or one right before repetition `turn - 1`.
    WarmUp(u64),
    /// One repetition, or one exchange more for the noise.
    Exchange(u64),
    /// One update and the exchanges after it.
    Update(u64),
}

impl Stream {
    /// The number of the stream.
    pub fn number(self) -> u64 {
        match self {
            Self::Parties => 0,
            Self::WarmUp(turn) => 1 + (turn << 32),
            Self::Exchange(turn) => 2 + 2 * turn,
            Self::Update(turn) => 3 + 2 * turn,
        }
    }
}
