//! Numbers of measured errors and of keys.

use crate::setting::{MOST_KEYS, bounded};
use crate::settings::Refusal;

/// Refuses numbers out of range.
pub fn check(keys: u64, samples: u64) -> Result<(), Refusal> {
    bounded(keys, "keys", 1..=MOST_KEYS)?;
    bounded(samples, "samples", 1..=1 << 30)
}

/// Mean number of errors measured under a key, at least one.
pub fn each(keys: u64, samples: u64) -> f64 {
    samples.max(keys) as f64 / keys as f64
}
