//! The randomness of the subgaussian decompositions.

use crate::residue::Residue;
use ring::Prg;
use ring::prg::{OsRandomError, Seed};
use std::any::Any;

/// A stream of fair bits. Every decomposition takes the next ones, so that none is used twice.
pub struct Coins {
    prg: Prg,
    next_byte: u64,
    /// A buffer kept between calls, so that a decomposition allocates nothing.
    spare: Option<Box<dyn Any + Send + Sync>>,
}

impl Coins {
    /// The coins of a seed: the same seed gives the same decompositions, on every kernel.
    pub fn from_seed(seed: Seed) -> Self {
        Self { prg: seed.prg(), next_byte: 0, spare: None }
    }

    /// Coins from the operating system's generator.
    pub fn from_os() -> Result<Self, OsRandomError> {
        Ok(Self::from_seed(Seed::from_os()?))
    }

    /// The kept buffer if it has this type, else a new one.
    pub(crate) fn take_buffer<T: Any + Default>(&mut self) -> Box<T> {
        self.spare.take().and_then(|kept| kept.downcast().ok()).unwrap_or_default()
    }

    /// Keeps a buffer for the next call.
    pub(crate) fn keep_buffer<T: Any + Send + Sync>(&mut self, buffer: Box<T>) {
        self.spare = Some(buffer);
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
