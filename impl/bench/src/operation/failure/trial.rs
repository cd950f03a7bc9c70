//! Trials of a decision.

use crate::primitive::Failed;

/// Trials under one key.
pub(super) trait Trials {
    /// Makes that many trials, at most a batch.
    fn run(&mut self, count: usize) -> Result<Vec<Trial>, Failed>;
    /// The errors for which outcomes are right, and no others, where the input's error alone decides.
    fn decides(&self) -> Option<std::ops::Range<i64>>;
}

/// One trial.
pub(super) struct Trial {
    /// The rotation's input less what it should be, modulo 2N.
    pub(super) error: i64,
    pub(super) wrong: bool,
    /// Errors of the rows made, where the outcome is right.
    pub(super) rows: Vec<f64>,
}
