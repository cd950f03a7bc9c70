//! The interface of an operation that can be measured alone, its description and its measurement.

use std::collections::BTreeMap;

use lattice::noise::Moments;
use pir::core::record::Correct;
use ring::{Kernel, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::settings::Refusal;
use crate::timing;

/// The name of the format of [`Described`], which every document contains.
pub const DESCRIPTION_SCHEMA: &str = "pirlab/primitive-description/1";

/// One operation that can be measured alone, with its checked settings.
pub trait Primitive {
    /// Describes the settings; uses little memory.
    fn describe(&self) -> Result<Described, Refusal>;
    /// Prepares everything that is not measured: inputs, keys, plans.
    fn start(self: Box<Self>, context: &Context) -> Started;
}

/// The name of an operation in experiment files, and one line that says what is measured.
pub type About = (&'static str, &'static str);

/// An operation with its settings, or the setting that is unknown, missing or out of range.
pub type Read = Result<Box<dyn Primitive>, Refusal>;

/// A prepared operation, or why the preparation failed.
pub type Started = Result<Box<dyn Session>, Failed>;

/// An operation under measurement.
pub trait Session {
    /// Measures once. The first repetition is a warm-up: the runner drops its times, values and noise, not its comparisons.
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed>;
    /// Adds results that are only known at the end, such as noise over all keys.
    fn finish(self: Box<Self>, _: &mut Measured) -> Result<(), Failed> {
        Ok(())
    }
}

/// A session of repetitions alone.
impl<F: FnMut(&mut Measured) -> Result<(), Failed>> Session for F {
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed> {
        self(out)
    }
}

/// Why a measurement failed, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(pub String);

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// The runner's input to an operation, beside its settings.
#[derive(Clone, Debug)]
pub struct Context {
    /// Kernel path to take.
    pub kernel: Kernel,
    /// Seed of all randomness, if one was given.
    pub seed: Option<[u8; 32]>,
}

impl Context {
    /// A seed for one purpose: from the given one, else from the operating system. Different labels give independent seeds.
    pub fn seed(&self, label: &str) -> Result<Seed, Failed> {
        match self.seed {
            None => Ok(Seed::from_os()?),
            Some(seed) => {
                let (first, second) = seed.split_at(16);
                Ok(Seed(first.try_into()?).derive(&format!("{label} {}", pir::core::set_file::hex(second))))
            }
        }
    }
}

/// The description of settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Described {
    /// The settings with every default and derived value filled in.
    pub settings: Map<String, Value>,
    /// Counts that need no measurement, by name.
    pub counts: BTreeMap<String, f64>,
    /// Rough seconds of one repetition.
    pub predicted_seconds: f64,
    /// Peak memory of a row.
    pub peak_bytes: u64,
}

/// The measurement of an operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Seconds, by name.
    pub times: BTreeMap<String, Times>,
    /// Other quantities, by name: a number for each repetition, or for each occurrence.
    pub values: BTreeMap<String, Vec<f64>>,
    /// Counts that do not change between repetitions, by name.
    pub counts: BTreeMap<String, f64>,
    /// Errors against known values, by stage.
    pub noise: BTreeMap<String, Noise>,
    /// How often a decision went wrong, by stage; only records of kind `failure` have any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, Failures>,
    /// Results that were compared with their expected values.
    pub correct: Correct,
}

/// Times of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// Always `s`.
    pub unit: String,
    /// Calls timed together for the last sample, which is their mean.
    pub per: u64,
    /// Seconds of one call, a sample a repetition.
    pub samples: Vec<f64>,
}

/// Errors at one stage, over all repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Number of errors.
    pub samples: u64,
    /// Number of independent keys.
    pub keys: u64,
    /// Mean of the errors.
    pub mean: f64,
    /// Mean square of the errors about zero, as formulas give it.
    pub variance: f64,
    /// Largest absolute value.
    pub max: f64,
}

impl Noise {
    /// The errors of one stage under `keys` keys.
    pub fn of(moments: &Moments, keys: u64) -> Self {
        let Moments { samples, max, .. } = *moments;
        Self { samples, keys, mean: moments.mean(), variance: moments.mean_square(), max }
    }
}

/// Decisions of one stage, over all repetitions and the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failures {
    /// Decisions taken.
    pub trials: u64,
    /// Those that went wrong.
    pub failures: u64,
}

impl Measured {
    /// Adds a sample: `calls` calls took `seconds` together.
    pub fn time(&mut self, name: &str, calls: u64, seconds: f64) {
        let times =
            self.times.entry(name.into()).or_insert_with(|| Times { unit: "s".into(), per: 0, samples: Vec::new() });
        times.per = calls;
        times.samples.push(seconds / calls.max(1) as f64);
    }

    /// Adds a sample of enough calls to be timed.
    pub fn sample(&mut self, name: &str, mut call: impl FnMut()) {
        let calls = timing::calls_per_sample(&mut call);
        self.time(name, calls, timing::seconds(calls, call));
    }

    /// Adds a value.
    pub fn value(&mut self, name: &str, value: f64) {
        self.values.entry(name.into()).or_default().push(value);
    }

    /// Sets a count.
    pub fn count(&mut self, name: &str, count: f64) {
        self.counts.insert(name.into(), count);
    }

    /// Adds the numbers of compared and of right results.
    pub fn compared(&mut self, compared: u64, right: u64) {
        self.correct.compared += compared;
        self.correct.right += right;
    }
}

#[cfg(test)]
mod tests;
