//! BFV and GBFV: encryptions of polynomials modulo X^N + 1 and a plaintext modulus, an integer or a polynomial t(X), with slots.
//!
//! Above [`lattice`], whose ciphertexts and keys these are: a plaintext m travels as the phase round(q m / t).

mod error;
mod plain;
#[cfg(test)]
mod tests;

pub use error::BfvError;
pub use plain::{Family, PlainModulus};
