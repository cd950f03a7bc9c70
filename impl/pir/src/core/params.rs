//! The building blocks of parameter sets. Each protocol defines its own set, which is used as it is read from TOML.

use std::fmt::Display;
use std::ops::RangeInclusive;

use lattice::lwe::Secret;
use ring::{DiscreteGaussian, StdDev, Width};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::core::error::{Error, Result};

/// Distribution of a secret's coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SecretKind {
    /// Uniform modulo q.
    Uniform {},
    /// Discrete Gaussian of this standard deviation.
    Gaussian {
        /// Standard deviation.
        stddev: f64,
    },
    /// Uniform on {-1, 0, 1}.
    Ternary {},
    /// Uniform on {0, 1}.
    Binary {},
    /// Uniform on the integers from `low` to `high`.
    UniformRange {
        /// Smallest coefficient.
        low: i32,
        /// Largest coefficient.
        high: i32,
    },
    /// A fixed number of ones and of minus ones; the other coefficients are zero.
    FixedWeight {
        /// Number of ones.
        plus: usize,
        /// Number of minus ones.
        minus: usize,
    },
}

impl SecretKind {
    /// The lattice crate's distribution.
    pub fn distribution(self) -> Secret {
        match self {
            SecretKind::Uniform {} => Secret::Uniform,
            SecretKind::Gaussian { stddev } => Secret::Gaussian(StdDev(stddev)),
            SecretKind::Ternary {} => Secret::Ternary,
            SecretKind::Binary {} => Secret::Binary,
            SecretKind::UniformRange { low, high } => Secret::UniformRange { low, high },
            SecretKind::FixedWeight { plus, minus } => Secret::FixedWeight { plus, minus },
        }
    }

    /// Refuses standard deviations, ranges and weights that are out of range; `key` is their key in the file.
    pub fn check(self, key: &str, dimension: usize, most_stddev: f64) -> Result<()> {
        match self {
            SecretKind::Gaussian { stddev } => check_stddev(&format!("{key}.stddev"), stddev, most_stddev),
            SecretKind::FixedWeight { plus, minus } if !(1..=dimension).contains(&plus.saturating_add(minus)) => {
                let problem = format!(
                    "{plus} ones and {minus} minus ones in dimension {dimension}: from 1 to {dimension} in all, since a secret of \
                     zeros hides nothing."
                );
                Err(Error::value(key, problem))
            }
            SecretKind::UniformRange { low, high } if low >= high || low < -MAX_RANGE || high > MAX_RANGE => {
                let problem = format!(
                    "coefficients from {low} to {high}: give low < high, both from -{MAX_RANGE} to {MAX_RANGE}."
                );
                Err(Error::value(key, problem))
            }
            _ => Ok(()),
        }
    }
}

/// Largest absolute value of a coefficient of a secret uniform in a range.
const MAX_RANGE: i32 = 64;

/// Size of an error distribution, with its convention.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ErrorSize {
    /// Standard deviation.
    Stddev(f64),
    /// Width s = stddev * sqrt(2 pi).
    Width(f64),
    /// Uniform on {-1, 0, 1}.
    Ternary {},
}

impl ErrorSize {
    /// As a standard deviation.
    pub fn stddev(self) -> StdDev {
        match self {
            ErrorSize::Stddev(stddev) => StdDev(stddev),
            ErrorSize::Width(width) => StdDev::from(Width(width)),
            ErrorSize::Ternary {} => StdDev((2.0f64 / 3.0).sqrt()),
        }
    }

    /// Draws errors of that size.
    pub fn sampler(self) -> Result<DiscreteGaussian> {
        Ok(match self {
            ErrorSize::Ternary {} => DiscreteGaussian::ternary(),
            ErrorSize::Stddev(_) | ErrorSize::Width(_) => DiscreteGaussian::new(self.stddev())?,
        })
    }

    /// Refuses a size that is not between 0.3 and `most`; `key` is its key in the file.
    pub fn check(self, key: &str, most: f64) -> Result<()> {
        let convention = match self {
            ErrorSize::Stddev(_) => "stddev",
            ErrorSize::Width(_) => "width",
            ErrorSize::Ternary {} => "ternary",
        };
        check_stddev(&format!("{key}.{convention}"), self.stddev().0, most)
    }
}

/// Largest standard deviation of an LWE error, except modulo 2^32.
pub const MAX_LWE_STDDEV: f64 = 65536.0;

fn check_stddev(key: &str, stddev: f64, most: f64) -> Result<()> {
    if (0.3..=most).contains(&stddev) {
        return Ok(());
    }
    Err(Error::value(key, format!("standard deviation {stddev} is not between 0.3 and {most}.")))
}

/// Refuses a value out of its range.
pub fn in_range<T: PartialOrd + Display>(key: &str, value: T, range: RangeInclusive<T>) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::value(key, format!("{value} is not between {} and {}.", range.start(), range.end())))
}

/// Refuses a value that is not a power of two in a range; `why` ends the message's sentence.
pub fn power_of_two(key: &str, value: usize, range: RangeInclusive<usize>, why: &str) -> Result<()> {
    if value.is_power_of_two() && range.contains(&value) {
        return Ok(());
    }
    let problem = format!("{value} is not a power of two from {} to {}{why}.", range.start(), range.end());
    Err(Error::value(key, problem))
}

/// A protocol's parameter set: the tables of a file without its header.
pub trait ParameterSet: Clone + Serialize + DeserializeOwned + JsonSchema {
    /// Refuses values that are out of range or do not go together: [`Error::Value`] naming key, value and bound.
    fn check(&self) -> Result<()>;
}

/// Bytes of a [`fingerprint`].
pub(crate) const FINGERPRINT_BYTES: usize = 8;

/// A hash of everything in a set that its keys depend on, which is all but the tables and keys in `without`. A server that checks it refuses
/// keys of another set that have the same number of bytes.
pub(crate) fn fingerprint(set: &impl ParameterSet, without: &[&str]) -> Result<[u8; FINGERPRINT_BYTES]> {
    let mut set = serde_json::to_value(set).map_err(|e| Error::Workload(e.to_string()))?;
    if let Some(tables) = set.as_object_mut() {
        tables.retain(|key, _| !without.contains(&key.as_str()));
    }
    let mut out = [0; FINGERPRINT_BYTES];
    out.copy_from_slice(&Sha256::digest(set.to_string())[..FINGERPRINT_BYTES]);
    Ok(out)
}
