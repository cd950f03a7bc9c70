//! Times of calls, warm and cold.

use std::time::{Duration, Instant};

use crate::machine::caches::{self, Caches};

pub(super) type Failed = Box<dyn std::error::Error>;

/// What a timed call returns: nothing, or something that may have failed and is dropped under the clock.
pub(super) trait Done {
    fn done(self) -> Result<(), Failed>;
}

impl Done for () {
    fn done(self) -> Result<(), Failed> {
        Ok(())
    }
}

impl<T, E: Into<Failed>> Done for Result<T, E> {
    fn done(self) -> Result<(), Failed> {
        self.map(drop).map_err(Into::into)
    }
}

/// How long each cost is measured, and what empties the caches between calls.
pub(super) struct Timer {
    time: Duration,
    caches: Caches,
}

impl Timer {
    pub(super) fn new(time: Duration) -> Self {
        Self { time, caches: Caches::new() }
    }

    /// Seconds of a call whose tables are in cache: the lower quartile of as many as fit in the time, at least five, after
    /// one to warm up. What else the machine does only ever adds.
    pub(super) fn warm<D: Done>(&self, call: impl FnMut() -> D) -> Result<f64, Failed> {
        self.quartile(call, || {})
    }

    /// The same of a call that finds none of its tables in cache, as a phase does after the client's work.
    pub(super) fn cold<D: Done>(&self, call: impl FnMut() -> D) -> Result<f64, Failed> {
        self.quartile(call, || self.caches.empty())
    }

    /// The same of a call whose tables the other party has just written: other work has come in between, but not so much that a large
    /// last-level cache has lost them.
    pub(super) fn recent<D: Done>(&self, call: impl FnMut() -> D) -> Result<f64, Failed> {
        self.quartile(call, || self.caches.read(caches::LEAST_BYTES))
    }

    /// Takes turns for the time, at least five.
    pub(super) fn turns<E>(&self, mut turn: impl FnMut(&Caches) -> Result<(), E>) -> Result<(), E> {
        let start = Instant::now();
        let mut turns = 0;
        while turns < 5 || start.elapsed() < self.time {
            turn(&self.caches)?;
            turns += 1;
        }
        Ok(())
    }

    fn quartile<D: Done>(&self, mut call: impl FnMut() -> D, mut between: impl FnMut()) -> Result<f64, Failed> {
        call().done()?;
        let start = Instant::now();
        let mut samples = Vec::new();
        while samples.len() < 5 || start.elapsed() < self.time {
            between();
            let begun = Instant::now();
            call().done()?;
            samples.push(begun.elapsed().as_secs_f64());
        }
        Ok(quartile(samples))
    }
}

/// The lower quartile of at least one sample.
fn quartile(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 4]
}

/// The median of at least one sample.
pub(super) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
