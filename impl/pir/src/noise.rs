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
    /// Values and sum of the errors under the last key.
    of_key: (u64, f64),
    /// Over all keys before, the sum of the squared sums of a key's errors, each divided by their number.
    between: f64,
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

impl Sums {
    /// The part of the variance that all errors under a key have in common, less what chance makes it look (two standard errors).
    fn common_share(&self) -> f64 {
        let (samples, keys) = (self.samples as f64, self.keys as f64);
        let mean = squared_sum((self.samples, self.sum));
        let variance = (self.squares - mean) / samples;
        if self.keys < 2 || self.samples <= self.keys || variance <= 0.0 {
            return 0.0;
        }
        let between = (self.between + squared_sum(self.of_key) - mean) / (keys - 1.0);
        let chance = 1.0 + 2.0 * (2.0 / keys).sqrt();
        (between / variance - chance) / (samples / keys - 1.0)
    }
}

/// The squared sum of so many values, divided by their number.
fn squared_sum((values, sum): (u64, f64)) -> f64 {
    sum * sum / values.max(1) as f64
}

/// Over how much noise is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Keys of the stage that has fewest.
    pub keys: u64,
    /// The largest part of a stage's variance that seems common to all values under a key: those count as one.
    pub common_share: f64,
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
            sums.between += squared_sum(std::mem::take(&mut sums.of_key));
        }
        sums.last_key = key;
        sums.threshold = threshold;
        for error in errors {
            let error: f64 = error.into();
            sums.samples += 1;
            sums.sum += error;
            sums.of_key.0 += 1;
            sums.of_key.1 += error;
            sums.squares += error * error;
            sums.max = sums.max.max(error.abs());
        }
    }

    /// How much is there; `None` without a stage.
    pub fn coverage(&self) -> Option<Coverage> {
        let samples = || self.stages.values().map(|sums| sums.samples);
        Some(Coverage {
            keys: self.stages.values().map(|sums| sums.keys).min()?,
            common_share: self.stages.values().map(Sums::common_share).fold(0.0, f64::max),
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use ring::{DiscreteGaussian, StdDev};

    /// 40 keys of 100 errors, of which each has the key's part and its own.
    fn share(common: f64, own: f64, mean: i64) -> f64 {
        let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(7);
        let mut sample = |stddev: f64| {
            let mut sample = [0i32];
            DiscreteGaussian::new(StdDev(stddev)).unwrap().fill(&mut rng, &mut sample);
            i64::from(sample[0])
        };
        let mut log = NoiseLog::default();
        for _ in 0..40 {
            let of_key = mean + sample(common);
            let errors: Vec<f64> = (0..100).map(|_| (of_key + sample(own)) as f64).collect();
            log.add("stage", 1.0, errors);
        }
        log.coverage().unwrap().common_share
    }

    #[test]
    fn what_errors_have_in_common_is_found() {
        let half = share(50.0, 50.0, 0);
        assert!((0.3..0.7).contains(&half), "{half}");
        for mean in [0, 1000] {
            let none = share(0.6, 50.0, mean);
            assert!(none < 0.01, "{none}");
        }
    }
}
