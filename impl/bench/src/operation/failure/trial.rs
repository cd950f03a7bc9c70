//! Trials of a decision, and what they share.

use lattice::BlindRotationKey;
use lattice::lwe::LweKey;
use ring::{Modulus, Word};

use super::settings::Failure;
use crate::lab::Lab;
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

/// A small key with its blind-rotation key.
pub(super) struct Rotations<W: Word> {
    pub(super) small: LweKey,
    pub(super) key: BlindRotationKey<W>,
    pub(super) order: Modulus<u64>,
}

impl<W: Word> Rotations<W> {
    pub(super) fn new(own: &Failure, lab: &mut Lab<W>) -> Result<Self, Failed> {
        let (shape, gadget) = (own.shape(), own.rotation_gadget(&lab.ring)?);
        let (small, key) = lab.rotation_keys(shape, &gadget)?;
        Ok(Self { small, key, order: Modulus::new(2 * lab.ring.n() as u64)? })
    }
}
