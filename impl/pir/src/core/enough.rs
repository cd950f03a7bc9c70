//! When noise was measured over enough keys and values.

use crate::core::noise::{Certainty, Coverage};

/// Noise is measured over at least 20 keys
const NOISE_KEYS: u64 = 20;
/// and 2^14 values,
const NOISE_SAMPLES: u64 = 1 << 14;
/// unless, beyond the keys, these take longer than two seconds;
const NOISE_SECONDS: f64 = 2.0;
/// over more until every stage is known well: four standard errors of its mean square are the 1/16 by which formulas are judged,
const KNOWN_WELL: Certainty = Certainty { uncertainty: 1.0 / 64.0, samples: 1 << 13 };
/// or, after the two seconds, known to a few percent; where a client has one key for all its queries, every further key costs an offline
/// exchange, and only the whole time ends the wish to know it well;
const KNOWN: Certainty = Certainty { uncertainty: 0.05, samples: 1 << 10 };
/// unless that takes longer than 20 seconds, and longer than the repetitions took: many repetitions are a wish for certainty.
const NOISE_LEAST_SECONDS: f64 = 20.0;

/// How long a run measures noise.
pub(crate) struct Enough {
    /// Whether one key of a client serves all its queries.
    one_key: bool,
    /// Whether keys are asked for no longer than `least_seconds`.
    is_bounded: bool,
    least_seconds: f64,
}

impl Enough {
    /// Of a run; `repetitions`: the seconds that its repetitions took, `noise_seconds`: stands instead of the least seconds.
    pub fn new(one_key: bool, noise_seconds: Option<f64>, repetitions: f64) -> Self {
        let least_seconds = noise_seconds.unwrap_or_else(|| NOISE_LEAST_SECONDS.max(repetitions));
        Self { one_key, is_bounded: one_key || noise_seconds.is_some(), least_seconds }
    }

    /// Whether what is known after `spent` seconds is enough.
    pub fn is_reached(&self, coverage: &Coverage, spent: f64) -> bool {
        let is_over = spent > self.least_seconds;
        let keys = coverage.keys >= NOISE_KEYS || self.is_bounded && is_over;
        let samples = coverage.most_samples >= NOISE_SAMPLES || spent > NOISE_SECONDS || is_over;
        let known = KNOWN_WELL.is_reached(coverage)
            || !self.one_key && spent > NOISE_SECONDS && KNOWN.is_reached(coverage)
            || is_over;
        keys && samples && known
    }
}
