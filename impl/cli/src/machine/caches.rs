//! Empties caches before a call, so that every call finds them in the same state.

use std::hint::black_box;

use super::{bandwidth, memory, pin};

/// Least bytes that are read: other work may read that much between the arrival of a message and its use.
pub const LEAST_BYTES: usize = 64 << 20;
/// Most bytes that are read.
const MOST_BYTES: usize = 1 << 30;

/// Memory several times as large as the last-level cache: reading it leaves nothing else there.
pub struct Caches {
    words: Vec<u64>,
}

impl Caches {
    /// Eight times the last-level cache, which may prefer reused lines to streamed ones; not more than an
    /// eighth of the free memory.
    pub fn new() -> Self {
        let several = bandwidth::largest_cache().unwrap_or(0).saturating_mul(8);
        let bytes = several.clamp(LEAST_BYTES as u64, MOST_BYTES as u64);
        let bytes = memory::free().map_or(bytes, |free| bytes.min(free / 8));
        // The pages are written, because untouched ones are all the same page.
        Self { words: vec![1; bytes as usize / 8] }
    }

    /// Empties all caches of the core this thread is on.
    pub fn empty(&self) {
        self.read(usize::MAX);
    }

    /// Reads `bytes` bytes, or the whole memory.
    pub fn read(&self, bytes: usize) {
        let words = &self.words[..self.words.len().min(bytes / 8)];
        black_box(words.iter().fold(0, |sum: u64, &word| sum.wrapping_add(word)));
    }

    /// Empties the caches of the core to which rows of one thread are pinned, and the last-level cache that it shares.
    pub fn flush(&self) {
        std::thread::scope(|scope| {
            // A separate thread is pinned, because workers started later inherit the pinning of this one.
            scope.spawn(|| {
                pin::to_one_core();
                self.empty();
            });
        });
    }
}

#[cfg(test)]
mod tests;
