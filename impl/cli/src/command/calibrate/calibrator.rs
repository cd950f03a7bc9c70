//! Times of calls, warm and cold, and the unit costs that they give.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ring::{Kernel, Kind, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::caches::{self, Caches};

pub(super) type Failed = Box<dyn std::error::Error>;

/// Seconds of one of each, by the name that operations of descriptions have; `pirlab_estimator.cost` says what each is.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct UnitCosts(pub(super) BTreeMap<String, UnitCost>);

/// The seconds of one, or what they are for tables of different sizes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum UnitCost {
    /// Whatever the size.
    One(f64),
    /// By the size of the table, ascending; in between by interpolation over the logarithm of the size.
    BySize(Vec<AtSize>),
}

/// A unit cost where a table has that many bytes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtSize {
    /// Bytes of the table.
    pub bytes: u64,
    /// Seconds of one.
    pub seconds: f64,
}

/// Where a call finds its tables.
#[derive(Clone, Copy)]
pub(super) enum Found {
    /// In cache.
    Warm,
    /// In no cache, as a phase does after the client's work.
    Cold,
    /// Just written by the other party: other work has come in between, but not so much that a large last-level cache has lost them.
    Recent,
}

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

/// Times calls, and keeps what they cost.
pub(super) struct Calibrator {
    pub(super) kernel: Kernel,
    quick: bool,
    caches: Caches,
    pub(super) costs: UnitCosts,
}

impl Calibrator {
    pub(super) fn new(kernel: Kernel, quick: bool) -> Self {
        Self { kernel, quick, caches: Caches::new(), costs: UnitCosts::default() }
    }

    /// The first, or the second where seconds must do.
    pub(super) fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Takes turns for the time of one cost, at least five.
    pub(super) fn turns(&self, mut turn: impl FnMut(&Caches) -> Result<(), Failed>) -> Result<(), Failed> {
        let (start, time) = (Instant::now(), self.pick(Duration::from_millis(500), Duration::from_millis(10)));
        let mut turns = 0;
        while turns < 5 || start.elapsed() < time {
            turn(&self.caches)?;
            turns += 1;
        }
        Ok(())
    }

    /// Seconds of a call: the lower quartile of as many as fit in the time, after one to warm up. What else the machine does only ever adds.
    pub(super) fn seconds<D: Done>(&self, found: Found, mut call: impl FnMut() -> D) -> Result<f64, Failed> {
        call().done()?;
        let mut samples = Vec::new();
        self.turns(|caches| {
            match found {
                Found::Warm => {}
                Found::Cold => caches.empty(),
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

    /// Sets the cost `name` to what a call takes for each of the `of` things that it does.
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

    /// Sets the cost of a kind: what a call takes beside the other kinds of its work, at least a tenth of it, for each of that kind.
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

    /// A cost that was set; zero where none was.
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

/// What is left of a call without a part of it: at least a tenth, since a disturbed part may even take longer than the whole.
pub(super) fn rest(call: f64, part: f64) -> f64 {
    (call - part).max(0.1 * call)
}
