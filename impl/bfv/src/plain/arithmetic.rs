//! What every plaintext modulus can do.

use crate::error::BfvError;
use std::fmt;

/// Arithmetic modulo one t(X), of any size of p.
pub(super) trait Arithmetic: Send + Sync + fmt::Debug {
    /// The representative of `factor` z modulo t(X) with the coefficients t [m / t]_1; the factor in words, below p.
    fn shorten(&self, z: &[i64], factor: &[u64], out: &mut [i64]);
    /// The number in those little-endian words modulo p, negated, in as many words as p has.
    fn negated_residue(&self, words: &[u64]) -> Vec<u64>;
    /// The short plaintext with those values in the slots, each below p, as words one slot after the other.
    fn encode(&self, values: &[u64], out: &mut [i64]) -> Result<(), BfvError>;
    /// The values in the slots.
    fn decode(&self, z: &[i64], values: &mut [u64]) -> Result<(), BfvError>;
}
