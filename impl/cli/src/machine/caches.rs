//! Empties caches before a call, so that every call finds them in the same state.

use ring::Kernel;
use ring::bandwidth::{Probe, ProbeError, Reading};

use super::{bandwidth, memory, pin};

/// Least bytes that are read: other work may read that much between the arrival of a message and its use.
pub const LEAST_BYTES: usize = 64 << 20;
/// Most bytes that are read.
const MOST_BYTES: usize = 1 << 30;

/// Memory several times as large as the last-level cache: reading it leaves nothing else there, and says how fast memory is read now.
pub struct Caches {
    probe: Probe,
    way: Reading,
}

impl Caches {
    /// Eight times the last-level cache, which may prefer reused lines to streamed ones; not more than an
    /// eighth of the free memory.
    pub fn new() -> Result<Self, ProbeError> {
        let several = bandwidth::largest_cache().unwrap_or(0).saturating_mul(8);
        let bytes = several.clamp(LEAST_BYTES as u64, MOST_BYTES as u64);
        let bytes = memory::free().map_or(bytes, |free| bytes.min(free / 8));
        let probe = Probe::new(Kernel::best(), bytes as usize)?;
        Ok(Self { way: probe.fastest(), probe })
    }

    /// Empties all caches of the core this thread is on, and returns the bytes a second that it read.
    pub fn empty(&self) -> f64 {
        self.probe.once(self.way.streams, self.way.ahead)
    }

    /// Reads `bytes` bytes, or the whole memory.
    pub fn read(&self, bytes: usize) {
        self.probe.part(bytes, self.way.streams, self.way.ahead);
    }

    /// Empties the caches of the core to which rows of one thread are pinned, and the last-level cache that it shares; as [`Self::empty`].
    pub fn flush(&self) -> f64 {
        std::thread::scope(|scope| {
            // A separate thread is pinned, because workers started later inherit the pinning of this one.
            let pinned = scope.spawn(|| {
                pin::to_one_core();
                self.empty()
            });
            pinned.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

#[cfg(test)]
mod tests;
