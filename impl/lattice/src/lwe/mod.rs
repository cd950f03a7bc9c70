//! LWE: the matrix form modulo 2^32 of the linear schemes, and single ciphertexts modulo any q below 2^62 with their key
//! switch.

mod ciphertext;
mod modulo32;
mod switch;
mod switcher;
#[cfg(test)]
mod tests;

pub use crate::secret::Secret;
pub use ciphertext::{Lwe, LweKey};
pub use modulo32::{PublicMatrix, QUERY_CHUNK_ROWS, encrypt_zero, encrypt_zero_work, residual, round};
pub use switch::SeededLweSwitchKey;
pub use switcher::{LweSwitchKey, LweSwitcher};

/// Errors of LWE operations modulo 2^32.
#[derive(Debug, thiserror::Error)]
pub enum LweError {
    /// Standard deviation out of the sampler's range, weight above the dimension, ...
    #[error("{0}")]
    Parameter(String),
    /// A matrix product refused its operands.
    #[error(transparent)]
    Product(#[from] ring::ProductError),
}
