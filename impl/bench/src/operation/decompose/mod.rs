//! Digit decompositions: whole vectors, single scalars by sub-algorithm, counted operations, norms of digits.

mod magnitude;
mod operations;
mod scalar;
mod vector;

pub use magnitude::Magnitude;
pub use operations::Operations;
pub use scalar::Scalars;
pub use vector::Vectors;

use std::fmt::Display;

use gadget::{Family, Residue};
use rand::Rng;
use ring::primes;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::settings::{Refusal, complete};

fn family(name: &str) -> Result<Family, Refusal> {
    name.parse().map_err(|error| Refusal::new("family", format!("{error}.")))
}

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

/// Refuses a number of residues below 1 or above 2^20.
fn in_range(value: usize, key: &str, example: usize) -> Result<(), Refusal> {
    if (1..=1 << 20).contains(&value) {
        return Ok(());
    }
    Err(Refusal::new(key, format!("{value} is not between 1 and 2^20. Give {example}.")))
}

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
