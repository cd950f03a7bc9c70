//! How many errors are measured, and under how many keys.

use crate::setting::{MOST_KEYS, bounded};
use crate::settings::Refusal;

/// Refuses numbers out of range.
pub fn check(keys: u64, samples: u64) -> Result<(), Refusal> {
    bounded(keys, "keys", 1..=MOST_KEYS)?;
    bounded(samples, "samples", 1..=1 << 30)
}

/// Errors that a key is measured for on average, at least one.
pub fn each(keys: u64, samples: u64) -> f64 {
    samples.max(keys) as f64 / keys as f64
}
