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
    /// Where in `of_keys` a key is that is told from others.
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

    /// The standard error of the mean square, relative to it, as the spread between keys shows it: errors under one key may have much
    /// in common. That of a ratio, since keys may differ in their values.
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

/// Over how much noise is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Keys of the stage that has fewest.
    pub keys: u64,
    /// The largest standard error of a stage's mean square, relative to it.
    pub uncertainty: f64,
    /// Values of the stage that has fewest.
    pub least_samples: u64,
    /// Values of the stage that has most.
    pub most_samples: u64,
}

/// How well every stage of the noise is to be known.
#[derive(Clone, Copy, Debug)]
pub struct Certainty {
    /// The largest standard error of a mean square, relative to it, as the spread between keys shows it: errors under one key may have
    /// most of their variance in common.
    pub uncertainty: f64,
    /// The fewest values, which tell a standard deviation too.
    pub samples: u64,
}

impl Certainty {
    /// Whether what is there is enough.
    pub fn is_reached(&self, coverage: &Coverage) -> bool {
        coverage.uncertainty <= self.uncertainty && coverage.least_samples >= self.samples
    }
}

impl NoiseLog {
    /// Adds the errors of values decrypted under one key.
    pub fn add(&mut self, stage: &str, threshold: f64, errors: impl IntoIterator<Item = impl Into<f64>>) {
        self.add_under(None, stage, threshold, errors);
    }

    /// As [`Self::add`] for a key that serves several queries: it counts once, however often errors under it are added. `key`
    /// tells it from others; `None` is a key of its own.
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

    /// Adds all that a log has of a stage as errors under one key, for every stage: outputs of one query share its secret, its errors
    /// and its packing keys.
    pub fn add_of_one_key(&mut self, log: Self) {
        for (stage, errors) in log.stages {
            let all = self.stages.entry(stage).or_default();
            all.of_keys.push((errors.samples(), errors.squares()));
            all.sum += errors.sum;
            all.max = all.max.max(errors.max);
            all.threshold = errors.threshold;
        }
    }

    /// How much is there; `None` without a stage.
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
