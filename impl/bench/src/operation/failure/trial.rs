//! Trials of a decision.

use crate::primitive::Failed;

/// Trials under one key.
pub(super) trait Trials {
    /// Makes `trials` trials, at most a batch.
    fn run(&mut self, count: usize) -> Result<Vec<Trial>, Failed>;
    /// Exactly the errors for which outcomes are right, if the input's error alone decides.
    fn decides(&self) -> Option<std::ops::Range<i64>>;
}

/// One trial.
pub(super) struct Trial {
    /// The error of the rotation's input, modulo 2N.
    pub(super) error: i64,
    pub(super) wrong: bool,
    /// Errors of the resulting rows, if the outcome is right.
    pub(super) rows: Vec<f64>,
}
