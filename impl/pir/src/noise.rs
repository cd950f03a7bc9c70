//! Measured noise: the distance of every decrypted phase from the message it was rounded to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Statistics of one stage's errors over a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageNoise {
    /// Name of the stage, as in the prediction.
    pub stage: String,
    /// Number of decrypted values.
    pub samples: u64,
    /// Number of keys (secrets) they come from.
    pub keys: u64,
    /// Mean error.
    pub mean: f64,
    /// Root of the mean square error about zero.
    pub stddev: f64,
    /// Largest absolute error.
    pub max: f64,
    /// An error of this size or more is decrypted wrongly.
    pub threshold: f64,
    /// threshold / stddev.
    pub margin: f64,
}

#[derive(Debug, Default)]
struct Sums {
    samples: u64,
    keys: u64,
    last_key: Option<u64>,
    sum: f64,
    squares: f64,
    max: f64,
    threshold: f64,
}

/// Collects errors by stage.
#[derive(Debug, Default)]
pub struct NoiseLog {
    stages: BTreeMap<String, Sums>,
}

/// Over how much noise is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Keys of the stage that has fewest.
    pub keys: u64,
    /// Values of the stage that has fewest.
    pub least_samples: u64,
    /// Values of the stage that has most.
    pub most_samples: u64,
}

impl NoiseLog {
    /// Adds the errors of values decrypted under one key.
    pub fn add(&mut self, stage: &str, threshold: f64, errors: impl IntoIterator<Item = impl Into<f64>>) {
        self.add_under(None, stage, threshold, errors);
    }

    /// As [`Self::add`] for a key that serves several queries: it counts once, however often errors under it are added. `key`
    /// tells it from the one before; `None` is a key of its own.
    pub fn add_under(
        &mut self,
        key: Option<u64>,
        stage: &str,
        threshold: f64,
        errors: impl IntoIterator<Item = impl Into<f64>>,
    ) {
        let sums = self.stages.entry(stage.into()).or_default();
        if key.is_none() || sums.last_key != key {
            sums.keys += 1;
        }
        sums.last_key = key;
        sums.threshold = threshold;
        for error in errors {
            let error: f64 = error.into();
            sums.samples += 1;
            sums.sum += error;
            sums.squares += error * error;
            sums.max = sums.max.max(error.abs());
        }
    }

    /// How much is there; `None` without a stage.
    pub fn coverage(&self) -> Option<Coverage> {
        let samples = || self.stages.values().map(|sums| sums.samples);
        Some(Coverage {
            keys: self.stages.values().map(|sums| sums.keys).min()?,
            least_samples: samples().min()?,
            most_samples: samples().max()?,
        })
    }

    /// The statistics.
    pub fn summary(&self) -> Vec<StageNoise> {
        let one = |(stage, sums): (&String, &Sums)| {
            let count = sums.samples.max(1) as f64;
            let stddev = (sums.squares / count).sqrt();
            StageNoise {
                stage: stage.clone(),
                samples: sums.samples,
                keys: sums.keys,
                mean: sums.sum / count,
                stddev,
                max: sums.max,
                threshold: sums.threshold,
                // Errors of exactly zero are possible at toy sizes; JSON has no infinity.
                margin: if stddev > 0.0 { sums.threshold / stddev } else { f64::MAX },
            }
        };
        self.stages.iter().map(one).collect()
    }
}
