//! Parameters of BFV encryption, as protocols share them: the ring, the moduli of slots, the digits of keys, and answers.

mod answer;
mod family;
mod keyed;
mod keys;
mod query;
mod secret;

pub use answer::{AnswerOpener, Switch, for_each_answer, half_bytes, write_ciphertexts, write_half};
pub use family::{FamilyRing, Plaintext};
pub use keyed::KeyedRing;
pub use keys::{ServerKeys, keys_bytes, write_keys};
pub use query::{Asked, query_bytes, read_queries, write_query};
pub use secret::BfvSecret;

use std::sync::Arc;

use bfv::{Family, PlainModulus, RnsGadget, Scheme};
use ring::{Kernel, Ring, RingShape, primes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ErrorSize, LweInstance, Result, SecretKind, in_range, power_of_two};
use crate::parts::ring_matrix::{MAX_STDDEV, PrimeProduct, check_secret, product_text};

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

/// Bits of the largest prime of Q.
const MAX_PRIME_BITS: u32 = 31;

impl BfvRing {
    /// Refuses values out of range, and other than `slot_moduli` moduli of slots.
    pub fn check(&self, slot_moduli: usize) -> Result<()> {
        power_of_two("ring.degree", self.degree, 64..=1 << 13, "")?;
        let refuse = |key: &str, problem: String| Err(Error::value(key, problem));
        let primes = self.primes();
        if primes.is_empty() || primes.iter().any(|prime| prime >> MAX_PRIME_BITS != 0) {
            return refuse("ring.modulus", format!("write primes below 2^{MAX_PRIME_BITS}, \"p1 * p2 * p3\"."));
        }
        let ring = self.ring(Kernel::Scalar).map_err(|e| Error::value("ring.modulus", e.to_string()))?;
        if self.slot_moduli.len() != slot_moduli {
            return refuse("ring.slot_moduli", format!("{} moduli, not {slot_moduli}.", self.slot_moduli.len()));
        }
        for (i, &t) in self.slot_moduli.iter().enumerate() {
            if t >> MAX_PRIME_BITS != 0 || t % (2 * self.degree as u64) != 1 || !primes::is_prime(t) {
                return refuse("ring.slot_moduli", format!("{t} is no prime below 2^31 that is 1 modulo 2 degree."));
            }
            if self.slot_moduli[..i].contains(&t) {
                return refuse("ring.slot_moduli", format!("{t} is there twice."));
            }
        }
        self.schemes(&ring).map_err(|e| Error::value("ring.modulus", e.to_string()))?;
        self.error.check("ring.error", MAX_STDDEV)?;
        check_secret("ring.secret", self.secret, self.degree)?;
        in_range("ring.digit_bits", self.digit_bits, 2..=MAX_PRIME_BITS)
    }

    /// The primes of Q.
    pub fn primes(&self) -> &[u64] {
        self.modulus.primes()
    }

    /// The ring.
    pub fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        Ring::new(self.degree, self.primes(), kernel).map_err(Error::from)
    }

    /// The encryption scheme of each modulus of slots.
    pub fn schemes(&self, ring: &Arc<Ring<u32>>) -> Result<Vec<Scheme<u32>>> {
        let scheme = |t: &u64| Scheme::new(ring, &PlainModulus::new(Family::Integer { t: *t }, self.degree)?);
        self.slot_moduli.iter().map(|t| scheme(t).map_err(Error::from)).collect()
    }

    /// The decomposition of masks.
    pub fn gadget(&self, ring: &Arc<Ring<u32>>) -> Result<RnsGadget<u32>> {
        Ok(RnsGadget::new(ring, 0, self.digit_bits)?)
    }

    /// The shape of the ring, on which the cost of operations depends.
    pub fn shape(&self) -> RingShape {
        RingShape { degree: self.degree, primes: self.primes().len() }
    }

    /// Bits of a coefficient on the wire, residue by residue.
    pub fn coefficient_bits(&self) -> u64 {
        bits(self.primes())
    }

    /// Bytes of a polynomial on the wire.
    pub fn wire_bytes(&self) -> u64 {
        self.degree as u64 * self.coefficient_bits() / 8
    }

    /// Bytes of a polynomial in memory.
    pub fn poly_bytes(&self) -> u64 {
        self.shape().poly_bytes()
    }

    /// Digits of a mask, rows of a key.
    pub fn digits(&self) -> usize {
        let digits = |prime: &u64| (u64::BITS - prime.leading_zeros()).div_ceil(self.digit_bits) as usize;
        self.primes().iter().map(digits).sum()
    }

    /// The RLWE instance of `samples` samples under one secret.
    pub fn instance(&self, name: &str, samples: u64, protects: &str) -> LweInstance {
        LweInstance {
            name: name.into(),
            kind: "rlwe".into(),
            dimension: self.degree as u64,
            modulus: product_text(self.primes()),
            log2_modulus: self.primes().iter().map(|prime| (*prime as f64).log2()).sum(),
            secret: self.secret,
            error_stddev: self.error.stddev().0,
            samples: Some(samples),
            protects: protects.into(),
        }
    }
}

/// Bits of a residue modulo each prime.
fn bits(primes: &[u64]) -> u64 {
    primes.iter().map(|prime| u64::from(lattice::wire::residue_bits(*prime))).sum()
}
