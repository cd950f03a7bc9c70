//! How many errors are measured, and under how many keys.

use serde::{Deserialize, Serialize};

use crate::setting::{MOST_KEYS, bounded, twenty};
use crate::settings::{Refusal, Settings};

/// Errors measured over fresh keys.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    /// Fresh secret keys.
    #[serde(default = "twenty")]
    pub keys: u64,
    /// Errors in all, at least.
    #[serde(default = "samples")]
    pub samples: u64,
}

fn samples() -> u64 {
    1 << 14
}

impl Samples {
    /// Takes them out of the settings.
    pub fn take(settings: &mut Settings) -> Result<Self, Refusal> {
        let own: Self = settings.take(&["keys", "samples"])?;
        bounded(own.keys, "keys", 1..=MOST_KEYS)?;
        bounded(own.samples, "samples", 1..=1 << 30)?;
        Ok(own)
    }

    /// Errors of every stage that a key is measured for.
    pub fn wanted(&self) -> u64 {
        self.samples.div_ceil(self.keys)
    }

    /// The same as a mean, at least one.
    pub fn a_key(&self) -> f64 {
        self.samples.max(self.keys) as f64 / self.keys as f64
    }
}
