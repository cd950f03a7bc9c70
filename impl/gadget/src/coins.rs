//! The randomness of the subgaussian decompositions.

use crate::draws::Precomputed;
use crate::residue::Residue;
use ring::Prg;
use ring::prg::{OsRandomError, Seed};

/// A stream of fair bits. Every decomposition takes the next ones: nothing is used twice.
pub struct Coins {
    prg: Prg,
    next_byte: u64,
    /// Buffers kept between calls, so that a decomposition allocates nothing.
    pub(crate) spare64: Precomputed<u64>,
    pub(crate) spare128: Precomputed<u128>,
}

impl Coins {
    /// The coins of a seed: the same seed gives the same decompositions, on every kernel.
    pub fn from_seed(seed: Seed) -> Self {
        Self { prg: seed.prg(), next_byte: 0, spare64: Precomputed::default(), spare128: Precomputed::default() }
    }

    /// Coins from the operating system's generator.
    pub fn from_os() -> Result<Self, OsRandomError> {
        Ok(Self::from_seed(Seed::from_os()?))
    }

    /// Fills `out` with fresh uniform words.
    pub fn fill<W: Residue>(&mut self, out: &mut [W]) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(out);
        self.prg.fill_at(self.next_byte, bytes);
        // Whole blocks of the generator, so that the next draw starts at one.
        self.next_byte = self.next_byte.wrapping_add((bytes.len() as u64).next_multiple_of(16));
        if cfg!(target_endian = "big") {
            out.iter_mut().for_each(|word| *word = W::from_le(*word));
        }
    }
}

impl std::fmt::Debug for Coins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coins").field("next_byte", &self.next_byte).finish_non_exhaustive()
    }
}
