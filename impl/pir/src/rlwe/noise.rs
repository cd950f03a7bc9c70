//! Measured noise of switched answers.

use lattice::{SplitKey, SplitRlwe};

use super::Switch;
use super::hint::internal;
use crate::error::Result;

/// The distances of a ciphertext's phases from the nearest messages modulo p, coefficient by coefficient, and the distance at
/// which decryption fails. In units of the masks' modulus, of which rounding to integers is fine enough.
pub(crate) fn switched_errors(
    opener: &SplitKey,
    ciphertext: &SplitRlwe,
    switch: Switch,
    p: u64,
) -> Result<(f64, Vec<i32>)> {
    let (unit, scale) = (switch.mask as f64 / switch.body as f64, switch.mask as f64 / p as f64);
    let error = |phase: &f64| {
        let phase = phase * unit;
        (phase - (phase / scale).round() * scale).round() as i32
    };
    let errors = opener.phase(ciphertext).map_err(internal)?.iter().map(error).collect();
    Ok((scale / 2.0, errors))
}
