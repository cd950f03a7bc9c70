//! The phase clock: named phases, grouped, every sample kept.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a phase happens; tables never add phases of different groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Before the index is known.
    Offline,
    /// From the index to the record.
    Online,
    /// After records changed.
    Update,
}

/// All samples of one phase, seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name of the phase.
    pub name: String,
    /// When it happens.
    pub group: Group,
    /// One entry a repetition.
    pub seconds: Vec<f64>,
}

/// Measures phases in the order in which they first occur. Shared between the runner and the protocol.
#[derive(Debug, Default)]
pub struct Clock {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    phases: Vec<Phase>,
    paused: bool,
    /// Seconds spent so far within [`Clock::outside`].
    outside: f64,
}

impl Clock {
    /// Runs `work` and adds its duration to the samples of `name`.
    pub fn time<T>(&self, name: &str, group: Group, work: impl FnOnce() -> T) -> T {
        let (result, seconds) = self.measure(work);
        self.add(name, group, seconds);
        result
    }

    /// Runs `work`; returns its result and its seconds, without those of [`Self::outside`].
    pub fn measure<T>(&self, work: impl FnOnce() -> T) -> (T, f64) {
        let (start, outside) = (Instant::now(), self.state().outside);
        let result = work();
        let outside = self.state().outside - outside;
        (result, (start.elapsed().as_secs_f64() - outside).max(0.0))
    }

    /// Runs `work`, which no phase counts. Calls must not be nested.
    pub fn outside<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.state().outside += start.elapsed().as_secs_f64();
        result
    }

    /// Adds a sample.
    pub fn add(&self, name: &str, group: Group, seconds: f64) {
        let mut state = self.state();
        if state.paused {
            return;
        }
        match state.phases.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => phase.seconds.push(seconds),
            None => state.phases.push(Phase { name: name.into(), group, seconds: vec![seconds] }),
        }
    }

    /// While paused (warm-up), durations are not kept.
    pub fn pause(&self, paused: bool) {
        self.state().paused = paused;
    }

    /// All phases so far.
    pub fn phases(&self) -> Vec<Phase> {
        self.state().phases.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held leaves plain numbers behind; they stay usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds of phases that take turns: each becomes one sample, the sum of its turns.
#[derive(Debug)]
pub struct Turns<'a> {
    clock: &'a Clock,
    seconds: Vec<(&'static str, f64)>,
}

impl<'a> Turns<'a> {
    /// Turns that are reported to that clock.
    pub fn new(clock: &'a Clock) -> Self {
        Self { clock, seconds: Vec::new() }
    }

    /// Runs `work` and adds its duration to the sum of `name`; see [`Clock::measure`].
    pub fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let (result, seconds) = self.clock.measure(work);
        match self.seconds.iter_mut().find(|turns| turns.0 == name) {
            Some(turns) => turns.1 += seconds,
            None => self.seconds.push((name, seconds)),
        }
        result
    }

    /// Reports the sums to the clock.
    pub fn finish(self, group: Group) {
        self.seconds.iter().for_each(|(name, seconds)| self.clock.add(name, group, *seconds));
    }
}

#[cfg(test)]
mod tests;
