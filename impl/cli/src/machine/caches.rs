//! Caches emptied before a call, so that every call finds them alike.

use std::hint::black_box;

use super::{bandwidth, memory, pin};

/// Least bytes that are read; as much as other work may read between a message and what is done with it.
pub const LEAST_BYTES: usize = 64 << 20;
/// Most bytes that are read.
const MOST_BYTES: usize = 1 << 30;

/// Memory several times as large as the last-level cache: reading it leaves nothing else there.
pub struct Caches {
    words: Vec<u64>,
}

impl Caches {
    /// Eight times the last-level cache, which may prefer what was used before to what only streams past; not more than an
    /// eighth of what memory is free.
    pub fn new() -> Self {
        let several = bandwidth::largest_cache().unwrap_or(0).saturating_mul(8);
        let bytes = several.clamp(LEAST_BYTES as u64, MOST_BYTES as u64);
        let bytes = memory::free().map_or(bytes, |free| bytes.min(free / 8));
        // Written, since untouched pages are all the same one.
        Self { words: vec![1; bytes as usize / 8] }
    }

    /// Empties all caches of the core this thread is on.
    pub fn empty(&self) {
        self.read(usize::MAX);
    }

    /// Reads that number of bytes, or all there are.
    pub fn read(&self, bytes: usize) {
        let words = &self.words[..self.words.len().min(bytes / 8)];
        black_box(words.iter().fold(0, |sum: u64, &word| sum.wrapping_add(word)));
    }

    /// Empties the caches of the core to which rows of one thread are pinned, and the last-level cache that it shares.
    pub fn flush(&self) {
        std::thread::scope(|scope| {
            // A thread of its own, since workers started later inherit where this one may run.
            scope.spawn(|| {
                pin::to_one_core();
                self.empty();
            });
        });
    }
}

#[cfg(test)]
mod tests;
