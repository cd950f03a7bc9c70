//! BFV and GBFV: encryptions of polynomials modulo X^N + 1 and a plaintext modulus, an integer or a polynomial t(X), with slots.
//!
//! Above [`lattice`], whose ciphertexts and keys these are: a plaintext m travels as the phase round(q m / t).

mod algebraic;
mod base;
mod error;
mod multiply;
pub mod noise;
mod plain;
mod products;
mod scheme;
pub mod switching;
#[cfg(test)]
mod tests;

pub use algebraic::{Algebraic, AlgebraicCiphertext};
pub use error::BfvError;
pub use multiply::{Lifted, Multiplier, MultiplyShape};
pub use plain::{Family, ModulusId, PlainModulus};
pub use products::{Diagonals, sum_products, sum_products_work};
pub use scheme::Scheme;
pub use switching::{
    ChainKeys, KeyHalf, LevelKeys, RnsGadget, RotationChain, SeededKey, SwitchShape, SwitchingKey, expansion_exponents,
};
