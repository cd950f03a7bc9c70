//! Blind rotation: a ciphertext's phase times X^(-phase of an LWE ciphertext modulo 2N), from RGSW encryptions of the small LWE key.
//!
//! The phase b - <a, z> is unrolled over the key: X^(-b) is public, and X^(a_i z_i) is chosen among a few monomials by *indicators*, bits
//! that say which one it is. With indicators y_k of monomials X^(c_k), at most one of which is 1,
//!
//!   acc <- acc + sum_k (X^(c_k) - 1) (RGSW(y_k) x acc).
//!
//! | secret | form | a step | indicators: monomials | noise of a step (in units of one external product) |
//! |---|---|---|---|---|
//! | binary | CMUX | one bit z | z: X^a | 1 |
//! | binary | joint | two bits y, z | y(1-z): X^a, z(1-y): X^b, yz: X^(a+b) | 6 |
//! | ternary | CMUX | one of the two indicators of z | z = 1: X^a, then z = -1: X^-a | 1 |
//! | ternary | joint | one coefficient z | z = 1: X^a, z = -1: X^-a | 4 |
//!
//! CMUX multiplies by X^c - 1 before the external product, in the coefficient domain, so that its noise is added once (Chillotti, Gama,
//! Georgieva, Izabachene, TFHE, Journal of Cryptology 2020, Algorithm 9). The joint forms decompose the accumulator once for all
//! indicators of a step and multiply by X^c - 1 afterwards, in the NTT domain (Zhou, Yang, Liu, Zhang, ISPEC 2018; Bourse, Minelli, Minihold,
//! Paillier, CRYPTO 2018): half as many transforms, but each X^c - 1 doubles the noise. Since at most one indicator is 1, the noise of two bits
//! stays at 2 + 2 + 2; the published formula with y, z, yz and (X^a - 1)(X^b - 1) has 2 + 2 + 4.

mod buffers;
mod key;
mod monomials;
mod prepared;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use buffers::Buffers;
pub use key::SeededBlindRotationKey;
pub use prepared::BlindRotationKey;
pub use shape::{Form, RotationShape, SmallSecret};
