//! The `[ring]` table of protocols that multiply ciphertexts under a plaintext modulus of any family.

use std::sync::Arc;

use bfv::{Family, ModulusId, MultiplyShape, PlainModulus, RnsGadget, Scheme, SwitchShape};
use ring::{Kernel, Ring, RingShape, primes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MAX_PRIME_BITS, bits};
use crate::core::{Error, ErrorSize, LweInstance, Result, SecretKind, in_range, power_of_two};
use crate::parts::ring_matrix::{MAX_STDDEV, PrimeProduct, check_secret, product_text};

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

impl FamilyRing {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        power_of_two("ring.degree", self.degree, 64..=1 << 14, "")?;
        let refuse = |key: &str, problem: String| Err(Error::value(key, problem));
        let too_long = |prime: &u64| prime >> MAX_PRIME_BITS != 0;
        if self.primes().is_empty() || self.primes().iter().any(too_long) {
            return refuse("ring.modulus", format!("write primes below 2^{MAX_PRIME_BITS}, \"p1 * p2 * p3\"."));
        }
        let ring = self.ring(Kernel::Scalar).map_err(|e| Error::value("ring.modulus", e.to_string()))?;
        let unfit =
            |special: &u64| too_long(special) || special % (2 * self.degree as u64) != 1 || !primes::is_prime(*special);
        if let Some(special) = self.special_modulus.filter(unfit) {
            let problem = format!("{special} is no prime below 2^31 that is 1 modulo 2 degree.");
            return refuse("ring.special_modulus", problem);
        }
        in_range("ring.digit_bits", self.digit_bits, 2..=MAX_PRIME_BITS)?;
        self.gadget(Kernel::Scalar).map_err(|e| Error::value("ring.special_modulus", e.to_string()))?;
        let scheme = self.scheme(&ring).map_err(|e| Error::value("ring.plaintext", e.to_string()))?;
        // Only moduli with slots encode.
        let slots = vec![0; scheme.modulus().slots() * scheme.modulus().words()];
        scheme.modulus().encode(&slots).map_err(|e| Error::value("ring.plaintext", e.to_string()))?;
        self.error.check("ring.error", MAX_STDDEV)?;
        check_secret("ring.secret", self.secret, self.degree)
    }

    /// The primes of q.
    pub fn primes(&self) -> &[u64] {
        self.modulus.primes()
    }

    fn key_primes(&self) -> Vec<u64> {
        self.primes().iter().copied().chain(self.special_modulus).collect()
    }

    /// The ring of ciphertexts.
    pub fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        Ring::new(self.degree, self.primes(), kernel).map_err(Error::from)
    }

    /// The encryption scheme.
    pub fn scheme(&self, ring: &Arc<Ring<u32>>) -> Result<Scheme<u32>> {
        Ok(Scheme::new(ring, &PlainModulus::new(self.plaintext.family(), self.degree)?)?)
    }

    /// Which plaintext modulus it is.
    pub fn modulus_id(&self) -> ModulusId {
        ModulusId { family: self.plaintext.family(), n: self.degree, class: 1 }
    }

    /// The decomposition of masks.
    pub fn gadget(&self, kernel: Kernel) -> Result<RnsGadget<u32>> {
        let key_ring = Ring::new(self.degree, &self.key_primes(), kernel)?;
        Ok(RnsGadget::new(&key_ring, usize::from(self.special_modulus.is_some()), self.digit_bits)?)
    }

    /// Digits of a mask, rows of a key.
    pub fn digits(&self) -> usize {
        let digits = |prime: &u64| (u64::BITS - prime.leading_zeros()).div_ceil(self.digit_bits) as usize;
        self.primes().iter().map(digits).sum()
    }

    /// The shape of the ring, on which the cost of operations depends.
    pub fn shape(&self) -> RingShape {
        RingShape { degree: self.degree, primes: self.primes().len() }
    }

    /// What the cost of key switches depends on.
    pub fn switch_shape(&self) -> SwitchShape {
        let special = usize::from(self.special_modulus.is_some());
        SwitchShape { ring: self.shape(), special, rows: self.digits() }
    }

    /// What the cost of products of ciphertexts depends on.
    pub fn multiply_shape(&self) -> Result<MultiplyShape> {
        Ok(MultiplyShape::new(self.degree, self.primes(), self.sum_norm()?)?)
    }

    /// The sum of the magnitudes of the coefficients of t(X).
    pub fn sum_norm(&self) -> Result<f64> {
        Ok(self.plaintext.family().sum_norm(self.degree)?)
    }

    /// Bits of data in a slot.
    pub fn slot_bits(&self) -> Result<u32> {
        Ok(self.plaintext.family().prime_bits(self.degree)? - 1)
    }

    /// Bits of a coefficient of a ciphertext on the wire, residue by residue.
    pub fn coefficient_bits(&self) -> u64 {
        bits(self.primes())
    }

    /// Bytes of a polynomial of a ciphertext on the wire.
    pub fn wire_bytes(&self) -> u64 {
        self.degree as u64 * self.coefficient_bits() / 8
    }

    /// Bytes of a key on the wire: a seed, the number of the first mask, and bodies.
    pub fn key_wire_bytes(&self) -> u64 {
        24 + self.digits() as u64 * self.degree as u64 * bits(&self.key_primes()) / 8
    }

    /// Bytes of a key in memory: masks and bodies of its rows, each with two tables of its automorphism.
    pub fn key_bytes(&self) -> u64 {
        let wide = RingShape { primes: self.key_primes().len(), ..self.shape() };
        2 * (self.digits() as u64 * wide.poly_bytes() + 8 * self.degree as u64)
    }

    /// The instances that an observer sees where one secret encrypts all queries and keys, which have that many rows.
    pub fn instances(&self, key_rows: u64) -> Vec<LweInstance> {
        let primes = [self.primes(), &self.key_primes()].map(<[u64]>::to_vec);
        instances(self.degree, primes, (self.secret, self.error), key_rows)
    }
}

/// The instances that an observer sees where one secret encrypts all queries, modulo the first primes, and that many rows of keys, modulo the
/// second: none where no key is sent.
pub(super) fn instances(
    degree: usize,
    [primes, key_primes]: [Vec<u64>; 2],
    (secret, error): (SecretKind, ErrorSize),
    key_rows: u64,
) -> Vec<LweInstance> {
    let instance = |name: &str, primes: &[u64], samples, protects: &str| LweInstance {
        name: name.into(),
        kind: "rlwe".into(),
        dimension: degree as u64,
        modulus: product_text(primes),
        log2_modulus: primes.iter().map(|prime| (*prime as f64).log2()).sum(),
        secret,
        error_stddev: error.stddev().0,
        samples,
        protects: protects.into(),
    };
    let mut all = vec![instance("queries", &primes, None, "every record asked for under the key")];
    if key_rows > 0 {
        let samples = Some(key_rows.saturating_mul(degree as u64));
        all.push(instance("keys", &key_primes, samples, "the secret of all queries"));
    }
    all
}
