//! RLWE: ciphertexts, secret keys, seeded encryption, and gadget encryptions RLWE' and RGSW.
//!
//! Throughout, R = Z[X]/(X^N + 1), q the ring's modulus, the phase of (a, b) is b - a s modulo q.

mod ciphertext;
mod gadget;
mod key;
mod seeded;

pub use ciphertext::Rlwe;
pub(crate) use ciphertext::check;
pub use gadget::{Rgsw, RlwePrime, SeededRgsw, SeededRlwePrime};
pub(crate) use gadget::{read_rows, write_rows};
pub use key::RlweKey;
pub use seeded::{Masks, SeededRlwe};
