//! The `[ring]` table of protocols whose ciphertexts are modulo q, and whose automorphism keys are modulo q P.

use std::sync::Arc;

use bfv::{LevelKeys, RnsGadget, SwitchShape};
use ring::{Kernel, Ring, RingShape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::family::instances;
use super::{MAX_PRIME_BITS, bits};
use crate::core::{Error, ErrorSize, LweInstance, Result, SecretKind, in_range, power_of_two};
use crate::parts::ring_matrix::{MAX_STDDEV, PrimeProduct, check_secret};

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

impl KeyedRing {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        power_of_two("ring.degree", self.degree, 64..=1 << 13, "")?;
        let special = self.special_modulus.as_ref().map(PrimeProduct::primes);
        for (key, primes) in [("ring.modulus", Some(self.primes())), ("ring.special_modulus", special)] {
            let unfit = |primes: &&[u64]| primes.is_empty() || primes.iter().any(|prime| prime >> MAX_PRIME_BITS != 0);
            if primes.is_some_and(|primes| unfit(&primes)) {
                return Err(Error::value(key, format!("write primes below 2^{MAX_PRIME_BITS}, \"p1 * p2 * p3\".")));
            }
        }
        let ring = self.ring(Kernel::Scalar).map_err(|e| Error::value("ring.modulus", e.to_string()))?;
        if ring.modulus_u128().is_none_or(|q| q >> 126 != 0) {
            return Err(Error::value("ring.modulus", "digits are of moduli below 2^126."));
        }
        in_range("ring.digit_bits", self.digit_bits, 2..=MAX_PRIME_BITS)?;
        self.gadget(Kernel::Scalar).map_err(|e| Error::value("ring.special_modulus", e.to_string()))?;
        self.error.check("ring.error", MAX_STDDEV)?;
        check_secret("ring.secret", self.secret, self.degree)
    }

    /// The primes of q.
    pub fn primes(&self) -> &[u64] {
        self.modulus.primes()
    }

    /// The primes of P; none without it.
    pub fn special_primes(&self) -> &[u64] {
        self.special_modulus.as_ref().map_or(&[], PrimeProduct::primes)
    }

    fn key_primes(&self) -> Vec<u64> {
        [self.primes(), self.special_primes()].concat()
    }

    /// The ring of ciphertexts.
    pub fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        Ring::new(self.degree, self.primes(), kernel).map_err(Error::from)
    }

    /// The decomposition of masks.
    pub fn gadget(&self, kernel: Kernel) -> Result<RnsGadget<u32>> {
        let key_ring = Ring::new(self.degree, &self.key_primes(), kernel)?;
        Ok(RnsGadget::new(&key_ring, self.special_primes().len(), self.digit_bits)?)
    }

    /// The shape of the ring, on which the cost of operations depends.
    pub fn shape(&self) -> RingShape {
        RingShape { degree: self.degree, primes: self.primes().len() }
    }

    /// Bits of a coefficient of a ciphertext on the wire, residue by residue.
    pub fn coefficient_bits(&self) -> u64 {
        bits(self.primes())
    }

    /// Bytes in memory of the keys of that many levels of an expansion.
    pub fn level_key_bytes(&self, levels: u32, switch: SwitchShape) -> u64 {
        u64::from(levels) * LevelKeys::<u32>::memory_bytes(switch)
    }

    /// The instances that an observer sees where one secret encrypts all queries and keys, whose automorphisms have that many rows.
    pub fn instances(&self, key_rows: u64) -> Vec<LweInstance> {
        let primes = [self.primes(), &self.key_primes()].map(<[u64]>::to_vec);
        instances(self.degree, primes, (self.secret, self.error), key_rows)
    }
}
