//! The `[ring]` table of ciphertexts whose plaintexts have slots modulo one of several primes.

use std::sync::Arc;

use bfv::{Family, PlainModulus, Scheme};
use ring::{Kernel, Ring, primes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RingTable;
use super::table::{MAX_PRIME_BITS, party_bytes, ring_table};
use crate::core::{Error, ErrorSize, Result, SecretKind};
use crate::parts::ring_matrix::PrimeProduct;

/// The `[ring]` table: ciphertexts over Z_Q[X]/(X^N + 1) of plaintexts whose N slots are modulo one of several primes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BfvRing {
    /// Ring degree N, a power of two.
    pub degree: usize,
    /// The prime factors of the modulus Q, below 2^31, `p1 * p2 * ...`.
    modulus: PrimeProduct,
    /// Moduli of slots: primes = 1 modulo 2 N.
    pub slot_moduli: Vec<u64>,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: ErrorSize,
    /// Bits of a digit of the rotation key: residues modulo each prime of Q are cut into digits of their own.
    pub digit_bits: u32,
}

ring_table!(BfvRing, |_this| &[]);

impl BfvRing {
    /// Refuses values out of range, and other than `slot_moduli` moduli of slots.
    pub fn check(&self, slot_moduli: usize) -> Result<()> {
        self.check_ring(1 << 13)?;
        let refuse = |problem: String| Err(Error::value("ring.slot_moduli", problem));
        if self.slot_moduli.len() != slot_moduli {
            return refuse(format!("{} moduli, not {slot_moduli}.", self.slot_moduli.len()));
        }
        for (i, &t) in self.slot_moduli.iter().enumerate() {
            if t >> MAX_PRIME_BITS != 0 || t % (2 * self.degree as u64) != 1 || !primes::is_prime(t) {
                return refuse(format!("{t} is not a prime below 2^31 that is 1 modulo 2 degree."));
            }
            if self.slot_moduli[..i].contains(&t) {
                return refuse(format!("{t} is there twice."));
            }
        }
        let schemes = self.schemes(&self.ring(Kernel::Scalar)?);
        schemes.map(drop).map_err(|e| Error::value("ring.modulus", e.to_string()))
    }

    /// Bytes of what one party makes of these parameters.
    pub fn table_bytes(&self) -> Result<u64> {
        let families: Vec<Family> = self.slot_moduli.iter().map(|t| Family::Integer { t: *t }).collect();
        party_bytes(self.shape(), self.primes().len(), &families)
    }

    /// The encryption scheme of each modulus of slots.
    pub fn schemes(&self, ring: &Arc<Ring<u32>>) -> Result<Vec<Scheme<u32>>> {
        let scheme = |t: &u64| Scheme::new(ring, &PlainModulus::new(Family::Integer { t: *t }, self.degree)?);
        self.slot_moduli.iter().map(|t| scheme(t).map_err(Error::from)).collect()
    }
}
