//! Decides when noise was measured over enough keys and values.

use crate::core::noise::{Certainty, Coverage};

/// Noise is measured over at least this many keys, where a client has more than one.
const NOISE_KEYS: u64 = 20;
/// Noise is measured over at least this many values at every stage.
const NOISE_SAMPLES: u64 = 1 << 14;
/// More values than the keys bring are measured for at most this many seconds.
const NOISE_SECONDS: f64 = 2.0;
/// A stage is known well if four standard errors of its mean square are at most the 1/16 by which formulas are judged.
const KNOWN_WELL: Certainty = Certainty { uncertainty: 1.0 / 64.0, samples: 1 << 13 };
/// After the two seconds it suffices to know a stage to a few percent, unless a client has one key for all its queries: every further key
/// then costs an offline exchange, and noise is measured until it is known well or the whole time is over.
const KNOWN: Certainty = Certainty { uncertainty: 0.05, samples: 1 << 10 };
/// Noise is measured for no longer than this many seconds or the time of the repetitions: whoever wants many of them wants certainty.
const NOISE_LEAST_SECONDS: f64 = 20.0;

/// How long a run measures noise.
pub(crate) struct Enough {
    /// Whether one key of a client serves all its queries.
    one_key: bool,
    /// Whether `least_seconds` also ends the wait for enough keys.
    is_bounded: bool,
    least_seconds: f64,
}

impl Enough {
    /// `repetitions` are the seconds that a run's repetitions took; `noise_seconds` replaces the least seconds.
    pub fn new(one_key: bool, noise_seconds: Option<f64>, repetitions: f64) -> Self {
        let least_seconds = noise_seconds.unwrap_or_else(|| NOISE_LEAST_SECONDS.max(repetitions));
        Self { one_key, is_bounded: one_key || noise_seconds.is_some(), least_seconds }
    }

    /// Whether the noise measured in `spent` seconds suffices.
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
