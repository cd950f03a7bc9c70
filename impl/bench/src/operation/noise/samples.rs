//! How many errors are measured, and under how many keys.

use serde::{Deserialize, Serialize};

use crate::setting::bounded;
use crate::settings::{Refusal, Settings};

/// Errors measured over fresh keys.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Samples {
    /// Fresh secret keys.
    pub keys: u64,
    /// Errors in all, at least.
    pub samples: u64,
}

#[derive(Deserialize)]
struct All {
    #[serde(default = "samples")]
    samples: u64,
}

fn samples() -> u64 {
    1 << 14
}

impl Samples {
    /// Takes the number of errors out of the settings.
    pub fn take(settings: &mut Settings, keys: u64) -> Result<Self, Refusal> {
        let All { samples } = settings.take(&["samples"])?;
        bounded(samples, "samples", 1..=1 << 30)?;
        Ok(Self { keys, samples })
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
