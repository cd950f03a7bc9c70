//! Digit decompositions: whole vectors, single scalars by sub-algorithm, counted operations, norms of digits.

pub mod magnitude;
pub mod operations;
pub mod scalar;
pub mod vector;

use std::fmt::Display;

use gadget::Residue;
use rand::Rng;
use ring::primes;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::settings::{Refusal, complete};

/// The largest prime below 2^`bits`, up to 62 bits; above, 2^`bits` - 33 (no decomposition needs a prime).
fn modulus(bits: u32) -> Result<u128, Refusal> {
    match bits {
        8..=62 => primes::primes_below(bits, 2)
            .next()
            .map(u128::from)
            .ok_or_else(|| Refusal::new("modulus_bits", format!("there is no prime below 2^{bits}."))),
        63..=126 => Ok((1 << bits) - 33),
        _ => Err(Refusal::new("modulus_bits", format!("{bits} is not between 8 and 126. Give 60."))),
    }
}

/// Numbers of residues.
const COUNTS: std::ops::RangeInclusive<usize> = 1..=1 << 20;

/// Completed settings, with the modulus and the number of digits.
fn completed(own: &impl Serialize, modulus: impl Display, length: usize) -> Result<Map<String, Value>, Refusal> {
    let mut settings = complete(own)?;
    settings.insert("modulus".into(), modulus.to_string().into());
    settings.insert("length".into(), length.into());
    Ok(settings)
}

/// Uniform residues.
fn uniform<W: Residue>(rng: &mut impl Rng, modulus: u128, count: usize) -> Vec<W> {
    (0..count).map(|_| W::from_u128(rng.random_range(0..modulus))).collect()
}
