//! Times of calls, warm and cold.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::machine::bandwidth;

pub(super) type Failed = Box<dyn std::error::Error>;

/// How long each cost is measured, and between which calls the caches are emptied.
pub(super) struct Timer {
    time: Duration,
    /// Larger than the caches, so that reading it leaves nothing else in them.
    other: Vec<u64>,
}

/// Least bytes read between cold calls.
const LEAST_EVICTED_BYTES: usize = 64 << 20;

/// Bytes read between cold calls: several times what the last-level cache holds, which may prefer what was used before to what only
/// streams past, up to a gigabyte.
fn evicted_bytes() -> usize {
    let several = bandwidth::largest_cache().unwrap_or(0).saturating_mul(8);
    several.clamp(LEAST_EVICTED_BYTES as u64, 1 << 30) as usize
}

fn read(words: &[u64]) {
    black_box(words.iter().fold(0, |sum: u64, &word| sum.wrapping_add(word)));
}

impl Timer {
    pub(super) fn new(time: Duration) -> Self {
        Self { time, other: vec![1; evicted_bytes() / 8] }
    }

    /// Seconds of a call whose tables are in cache: the lower quartile of as many as fit in the time, at least five, after
    /// one to warm up. What else the machine does only ever adds.
    pub(super) fn warm<E: Into<Failed>>(&self, call: impl FnMut() -> Result<(), E>) -> Result<f64, Failed> {
        self.quartile(call, || {})
    }

    /// The same of a call that finds none of its tables in cache, as a phase does after the client's work.
    pub(super) fn cold<E: Into<Failed>>(&self, call: impl FnMut() -> Result<(), E>) -> Result<f64, Failed> {
        self.quartile(call, || read(&self.other))
    }

    /// The same of a call whose tables the other party has just written: other work has come in between, but not so much that a large
    /// last-level cache has lost them.
    pub(super) fn recent<E: Into<Failed>>(&self, call: impl FnMut() -> Result<(), E>) -> Result<f64, Failed> {
        self.quartile(call, || read(&self.other[..LEAST_EVICTED_BYTES / 8]))
    }

    fn quartile<E: Into<Failed>>(
        &self,
        mut call: impl FnMut() -> Result<(), E>,
        mut between: impl FnMut(),
    ) -> Result<f64, Failed> {
        call().map_err(Into::into)?;
        let start = Instant::now();
        let mut samples = Vec::new();
        while samples.len() < 5 || start.elapsed() < self.time {
            between();
            let begun = Instant::now();
            call().map_err(Into::into)?;
            samples.push(begun.elapsed().as_secs_f64());
        }
        samples.sort_by(f64::total_cmp);
        Ok(samples[samples.len() / 4])
    }
}
