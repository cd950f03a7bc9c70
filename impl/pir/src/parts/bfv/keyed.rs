//! The `[ring]` table of protocols whose ciphertexts are modulo q, and whose automorphism keys are modulo q P.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RingTable;
use super::table::ring_table;
use crate::core::{Error, ErrorSize, Result, SecretKind};
use crate::parts::ring_matrix::PrimeProduct;

/// Ciphertexts over Z_q[X]/(X^N + 1), and the keys that map them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyedRing {
    /// Ring degree N, a power of two.
    pub degree: usize,
    /// The prime factors of the modulus q, below 2^31, `p1 * p2 * ...`.
    modulus: PrimeProduct,
    /// The prime factors of P: automorphism keys are modulo q P. Without it they are modulo q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    special_modulus: Option<PrimeProduct>,
    /// Bits of a digit of a mask that is switched: residues modulo each prime of q are cut into digits of their own.
    pub digit_bits: u32,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: ErrorSize,
}

ring_table!(KeyedRing, |table| table.special_modulus.as_ref().map_or(&[], PrimeProduct::primes));

/// Bits of the largest q, whose integers are cut into digits.
const MAX_BITS: f64 = 126.0;

impl KeyedRing {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        self.check_ring(1 << 13)?;
        if self.primes().iter().map(|prime| (*prime as f64).log2()).sum::<f64>() >= MAX_BITS {
            return Err(Error::value("ring.modulus", "digits are of moduli below 2^126."));
        }
        Ok(())
    }
}
