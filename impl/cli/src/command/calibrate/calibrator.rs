//! Times of calls, warm and cold, and the unit costs that follow from them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ring::{Kernel, Kind, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::caches::{self, Caches};

pub(super) type Failed = Box<dyn std::error::Error>;

/// Seconds of one operation of each kind, by its name in descriptions; `pirlab_estimator.cost` explains them.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct UnitCosts(pub(super) BTreeMap<String, UnitCost>);

/// The seconds of one operation, or of one for tables of different sizes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum UnitCost {
    /// The same for every size.
    One(f64),
    /// By ascending size of the table; between sizes they are interpolated over the logarithm of the size.
    BySize(Vec<AtSize>),
}

/// A unit cost for a table of a given size.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtSize {
    /// Bytes of the table.
    pub bytes: u64,
    /// Seconds of one.
    pub seconds: f64,
}

/// The state of the caches that a call finds.
#[derive(Clone, Copy)]
pub(super) enum Found {
    /// Its tables are in cache.
    Warm,
    /// Its tables are not in any cache, as for a phase after the client's work.
    Cold,
    /// Its tables were just written by the other party; the work since then was too little to evict them from a large last-level cache.
    Recent,
}

/// The result of a timed call: nothing, or a value that may be an error and is dropped under the clock.
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

/// Times calls, and collects their costs.
pub(super) struct Calibrator {
    pub(super) kernel: Kernel,
    quick: bool,
    caches: Caches,
    pub(super) costs: UnitCosts,
}

impl Calibrator {
    pub(super) fn new(kernel: Kernel, quick: bool) -> Result<Self, Failed> {
        Ok(Self { kernel, quick, caches: Caches::new()?, costs: UnitCosts::default() })
    }

    /// The first value, or the second for a quick calibration.
    pub(super) fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Repeats turns for the time of one cost, at least five times.
    pub(super) fn turns(&self, mut turn: impl FnMut(&Caches) -> Result<(), Failed>) -> Result<(), Failed> {
        let (start, time) = (Instant::now(), self.pick(Duration::from_millis(100), Duration::from_millis(10)));
        let mut turns = 0;
        while turns < 5 || start.elapsed() < time {
            turn(&self.caches)?;
            turns += 1;
        }
        Ok(())
    }

    /// Seconds of a call: the lower quartile of the calls that fit in the time, after a warm-up. Other activity of the machine only adds time.
    pub(super) fn seconds<D: Done>(&self, found: Found, mut call: impl FnMut() -> D) -> Result<f64, Failed> {
        call().done()?;
        let mut samples = Vec::new();
        self.turns(|caches| {
            match found {
                Found::Warm => {}
                Found::Cold => drop(caches.empty()),
                Found::Recent => caches.read(caches::LEAST_BYTES),
            }
            let begun = Instant::now();
            call().done()?;
            samples.push(begun.elapsed().as_secs_f64());
            Ok(())
        })?;
        samples.sort_by(f64::total_cmp);
        Ok(samples[samples.len() / 4])
    }

    /// Sets the cost `name` to the seconds of a call over its number `of` of operations.
    pub(super) fn each<D: Done>(
        &mut self,
        name: &str,
        found: Found,
        of: usize,
        call: impl FnMut() -> D,
    ) -> Result<(), Failed> {
        let call = self.seconds(found, call)?;
        self.set(name, call / of as f64);
        Ok(())
    }

    /// Sets the cost of a kind: the seconds of a call without the other kinds of its work, at least a tenth of them, over the number of that kind.
    pub(super) fn beside<D: Done>(
        &mut self,
        kind: Kind,
        found: Found,
        work: &Work,
        call: impl FnMut() -> D,
    ) -> Result<(), Failed> {
        let (call, name) = (self.seconds(found, call)?, kind.name());
        let others = work.counts().filter(|(other, _)| *other != name);
        let known: f64 = others.map(|(other, count)| self.of(&other) * count as f64).sum();
        self.set(&name, rest(call, known) / work.get(kind) as f64);
        Ok(())
    }

    /// Sets a cost.
    pub(super) fn set(&mut self, name: &str, seconds: f64) {
        self.costs.0.insert(name.to_owned(), UnitCost::One(seconds));
    }

    /// A cost that was set; zero if it was not.
    fn of(&self, name: &str) -> f64 {
        match self.costs.0.get(name) {
            Some(UnitCost::One(seconds)) => *seconds,
            _ => 0.0,
        }
    }

    /// Adds a size to a cost; larger than those before.
    pub(super) fn at(&mut self, name: &str, bytes: u64, seconds: f64) {
        let sizes = self.costs.0.entry(name.to_owned()).or_insert_with(|| UnitCost::BySize(Vec::new()));
        if let UnitCost::BySize(sizes) = sizes {
            sizes.push(AtSize { bytes, seconds });
        }
    }
}

/// The seconds of a call without those of a part, at least a tenth of them, because a disturbed part may even take longer than the whole.
pub(super) fn rest(call: f64, part: f64) -> f64 {
    (call - part).max(0.1 * call)
}
