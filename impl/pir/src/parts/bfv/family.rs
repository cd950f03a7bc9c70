//! The `[ring]` table of protocols that multiply ciphertexts under a plaintext modulus of any family.

use std::sync::Arc;

use bfv::{Family, ModulusId, MultiplyShape, PlainModulus, Scheme};
use ring::{Kernel, Ring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::{party_bytes, ring_table};
use super::{RingTable, Switch};
use crate::core::{Error, ErrorSize, Result, SecretKind};
use crate::parts::ring_matrix::PrimeProduct;

/// A plaintext modulus t(X).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Plaintext {
    /// BFV: a prime = 1 modulo 2 N, which is the modulus of N slots.
    Integer {
        /// The prime.
        modulus: u64,
    },
    /// GBFV: X^slots - base, with slots modulo base^(N / slots) + 1.
    Binomial {
        /// Exponent of t(X), which divides N and is the number of slots.
        slots: usize,
        /// An even number such that base^(N / slots) + 1 is a prime = 1 modulo 2 N.
        base: u64,
    },
    /// GBFV: X^22k - 2 X^11k + 4 with k = N / 32 slots modulo 2^64 - 2^32 + 1.
    Goldilocks {},
}

impl Plaintext {
    /// The family of moduli, in numbers.
    pub fn family(self) -> Family {
        match self {
            Self::Integer { modulus } => Family::Integer { t: modulus },
            Self::Binomial { slots, base } => Family::Binomial { k: slots, b: base },
            Self::Goldilocks {} => Family::Goldilocks,
        }
    }
}

/// Ciphertexts over Z_q[X]/(X^N + 1), whose key switches have keys modulo q P.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FamilyRing {
    /// Ring degree N, a power of two.
    pub degree: usize,
    /// The prime factors of the modulus q, below 2^31, `p1 * p2 * ...`.
    modulus: PrimeProduct,
    /// The prime P, below 2^31: keys are modulo q P. Without it keys are modulo q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub special_modulus: Option<u64>,
    /// Bits of a digit of a mask: residues modulo each prime of q are cut into digits of their own.
    pub digit_bits: u32,
    /// Plaintext modulus.
    pub plaintext: Plaintext,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: ErrorSize,
}

ring_table!(FamilyRing, |table| table.special_modulus.as_slice());

impl FamilyRing {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        self.check_ring(1 << 14)?;
        let scheme =
            self.scheme(&self.ring(Kernel::Scalar)?).map_err(|e| Error::value("ring.plaintext", e.to_string()))?;
        // Only moduli with slots encode.
        let slots = vec![0; scheme.modulus().slots() * scheme.modulus().words()];
        scheme.modulus().encode(&slots).map(drop).map_err(|e| Error::value("ring.plaintext", e.to_string()))
    }

    /// Refuses moduli of answers that leave no room for plaintexts.
    pub fn check_switch(&self, switch: Option<Switch>) -> Result<()> {
        let least = self.sum_norm()? as u64;
        switch.map_or(Ok(()), |switch| switch.check(least))
    }

    /// The encryption scheme.
    pub fn scheme(&self, ring: &Arc<Ring<u32>>) -> Result<Scheme<u32>> {
        Ok(Scheme::new(ring, &PlainModulus::new(self.plaintext.family(), self.degree)?)?)
    }

    /// Which plaintext modulus it is.
    pub fn modulus_id(&self) -> ModulusId {
        ModulusId { family: self.plaintext.family(), n: self.degree, class: 1 }
    }

    /// What the cost of products of ciphertexts depends on.
    pub fn multiply_shape(&self) -> Result<MultiplyShape> {
        Ok(MultiplyShape::new(self.degree, self.primes(), self.sum_norm()?)?)
    }

    /// Bytes of what one party makes of these parameters, with what multiplies ciphertexts if anything does.
    pub fn table_bytes(&self, multiplies: bool) -> Result<u64> {
        let products = if multiplies { self.multiply_shape()?.bytes() } else { 0 };
        let tables = party_bytes(self.switch_shape().keys(), self.primes().len(), &[self.plaintext.family()])?;
        Ok(tables + products)
    }

    /// The sum of the magnitudes of the coefficients of t(X).
    pub fn sum_norm(&self) -> Result<f64> {
        Ok(self.plaintext.family().sum_norm(self.degree)?)
    }

    /// Bits of data in a slot.
    pub fn slot_bits(&self) -> Result<u32> {
        Ok(self.plaintext.family().prime_bits(self.degree)? - 1)
    }
}
