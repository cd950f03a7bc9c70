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
    /// Values and sum of their squares under each key.
    of_keys: Vec<(u64, f64)>,
    /// The index in `of_keys` of each key that has a number.
    places: BTreeMap<u64, usize>,
    sum: f64,
    max: f64,
    threshold: f64,
}

/// Collects errors by stage.
#[derive(Debug, Default)]
pub struct NoiseLog {
    stages: BTreeMap<String, Sums>,
}

impl Sums {
    fn samples(&self) -> u64 {
        self.of_keys.iter().map(|(values, _)| values).sum()
    }

    fn squares(&self) -> f64 {
        self.of_keys.iter().map(|(_, squares)| squares).sum()
    }

    /// The relative standard error of the mean square. Errors under one key may be correlated, so it is computed from the spread between keys;
    /// keys may have different numbers of values, so it is computed as the error of a ratio.
    fn uncertainty(&self) -> f64 {
        if self.of_keys.len() < 2 {
            return f64::INFINITY;
        }
        let squares = self.squares();
        if squares <= 0.0 {
            return 0.0;
        }
        let (keys, mean) = (self.of_keys.len() as f64, squares / self.samples() as f64);
        let spread: f64 = self.of_keys.iter().map(|(values, squares)| (squares - *values as f64 * mean).powi(2)).sum();
        (spread * keys / (keys - 1.0)).sqrt() / squares
    }
}

/// How much data the noise of a run rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Number of keys of the stage with the fewest.
    pub keys: u64,
    /// The largest relative standard error of a stage's mean square.
    pub uncertainty: f64,
    /// Number of values of the stage with the fewest.
    pub least_samples: u64,
    /// Number of values of the stage with the most.
    pub most_samples: u64,
}

/// How accurately every stage of the noise must be measured.
#[derive(Clone, Copy, Debug)]
pub struct Certainty {
    /// The largest relative standard error of a mean square, computed from the spread between keys, because errors under one key may be
    /// correlated.
    pub uncertainty: f64,
    /// The least number of values; a standard deviation needs them too.
    pub samples: u64,
}

impl Certainty {
    /// Whether the data measured so far suffice.
    pub fn is_reached(&self, coverage: &Coverage) -> bool {
        coverage.uncertainty <= self.uncertainty && coverage.least_samples >= self.samples
    }
}

impl NoiseLog {
    /// Adds the errors of values decrypted under one key.
    pub fn add(&mut self, stage: &str, threshold: f64, errors: impl IntoIterator<Item = impl Into<f64>>) {
        self.add_under(None, stage, threshold, errors);
    }

    /// Like [`Self::add`], for a key that serves several queries: it counts once, however often errors under it are added. `key`
    /// identifies it; `None` stands for a new key.
    pub fn add_under(
        &mut self,
        key: Option<u64>,
        stage: &str,
        threshold: f64,
        errors: impl IntoIterator<Item = impl Into<f64>>,
    ) {
        let Sums { of_keys, places, sum, max, threshold: kept } = self.stages.entry(stage.into()).or_default();
        let fresh = of_keys.len();
        let place = key.map_or(fresh, |key| *places.entry(key).or_insert(fresh));
        if place == fresh {
            of_keys.push((0, 0.0));
        }
        *kept = threshold;
        for error in errors {
            let error: f64 = error.into();
            of_keys[place].0 += 1;
            of_keys[place].1 += error * error;
            *sum += error;
            *max = max.max(error.abs());
        }
    }

    /// Adds, stage by stage, all errors of a log as errors under one key: the outputs of one query share its secret, its errors and its
    /// packing keys.
    pub fn add_of_one_key(&mut self, log: Self) {
        for (stage, errors) in log.stages {
            let all = self.stages.entry(stage).or_default();
            all.of_keys.push((errors.samples(), errors.squares()));
            all.sum += errors.sum;
            all.max = all.max.max(errors.max);
            all.threshold = errors.threshold;
        }
    }

    /// The amount of data; `None` if there is no stage.
    pub fn coverage(&self) -> Option<Coverage> {
        let samples = || self.stages.values().map(Sums::samples);
        Some(Coverage {
            keys: self.stages.values().map(|sums| sums.of_keys.len() as u64).min()?,
            uncertainty: self.stages.values().map(Sums::uncertainty).fold(0.0, f64::max),
            least_samples: samples().min()?,
            most_samples: samples().max()?,
        })
    }

    /// The statistics.
    pub fn summary(&self) -> Vec<StageNoise> {
        let one = |(stage, sums): (&String, &Sums)| {
            let count = sums.samples().max(1) as f64;
            let stddev = (sums.squares() / count).sqrt();
            StageNoise {
                stage: stage.clone(),
                samples: sums.samples(),
                keys: sums.of_keys.len() as u64,
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

#[cfg(test)]
mod tests;
