//! Parameters of RLWE.

use std::ops::RangeInclusive;
use std::sync::Arc;

use ring::{Kernel, Ring, RingShape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ErrorSize, LweInstance, Result, SecretKind, power_of_two};
use crate::parts::ring_matrix::query::WORD_BYTES;

/// A product of primes in writing, `p1 * p2`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub struct PrimeProduct {
    text: String,
    /// `None` if a factor is not a number.
    primes: Vec<u64>,
}

impl From<String> for PrimeProduct {
    fn from(text: String) -> Self {
        let primes: Option<_> = text.split('*').map(|factor| factor.trim().parse().ok()).collect();
        Self { primes: primes.unwrap_or_default(), text }
    }
}

impl From<PrimeProduct> for String {
    fn from(product: PrimeProduct) -> Self {
        product.text
    }
}

impl PrimeProduct {
    /// The primes; none if a factor is not a number.
    pub fn primes(&self) -> &[u64] {
        &self.primes
    }
}

/// The `[rlwe]` table: samples over Z_q[X]/(X^d + 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rlwe {
    /// Ring degree d, a power of two.
    pub degree: usize,
    /// The two prime factors of the modulus q, below 2^28, `p1 * p2`; InsPIRe also accepts a single one.
    modulus: PrimeProduct,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: ErrorSize,
}

/// Largest standard deviation of a small secret or its error.
pub const MAX_STDDEV: f64 = 256.0;

/// Refuses a secret that is not small or whose weight exceeds the dimension.
pub(crate) fn check_secret(key: &str, secret: SecretKind, dimension: usize) -> Result<()> {
    if secret == (SecretKind::Uniform {}) {
        return Err(Error::value(
            key,
            "a uniform secret is too large for this protocol: write gaussian, ternary, binary, uniform_range or fixed_weight.",
        ));
    }
    secret.check(key, dimension, MAX_STDDEV)
}

impl Rlwe {
    /// Refuses values out of range, and moduli that are not a product of `factors` NTT primes of the ring.
    pub fn check(&self, factors: RangeInclusive<usize>) -> Result<()> {
        power_of_two("rlwe.degree", self.degree, 64..=4096, "")?;
        let primes = self.primes();
        let refuse = |why: &str| {
            let text = &self.modulus.text;
            let problem = format!(
                "`{text}`: {why}; write two different primes below 2^28 that are 1 modulo 2 degree, \"p1 * p2\"."
            );
            Error::value("rlwe.modulus", problem)
        };
        if !factors.contains(&primes.len()) {
            return Err(refuse("not two numbers"));
        }
        if primes.iter().any(|prime| prime >> 28 != 0) {
            return Err(refuse("a factor is 2^28 or more"));
        }
        Ring::<u32>::new(self.degree, primes, Kernel::Scalar).map_err(|e| refuse(&e.to_string()))?;
        self.error.check("rlwe.error", MAX_STDDEV)?;
        check_secret("rlwe.secret", self.secret, self.degree)
    }

    /// The primes.
    pub fn primes(&self) -> &[u64] {
        &self.modulus.primes
    }

    /// q, below 2^56.
    pub fn modulus(&self) -> u64 {
        self.primes().iter().product()
    }

    /// floor(q / p).
    pub fn scale(&self, plain_modulus: u64) -> u64 {
        self.modulus() / plain_modulus
    }

    /// Bits of a coefficient on the wire, residue by residue.
    pub fn residue_bits(&self) -> u32 {
        self.primes().iter().map(|prime| u64::BITS - (prime - 1).leading_zeros()).sum()
    }

    /// Bytes of a coefficient that is sent in whole bytes, at least.
    pub fn coefficient_bytes(&self) -> usize {
        (u64::BITS - self.modulus().leading_zeros()).div_ceil(8) as usize
    }

    /// Refuses a width of coefficients on the wire that is too small for them, or above a word.
    pub fn check_coefficient_bytes(&self, key: &str, bytes: usize) -> Result<()> {
        let (least, q) = (self.coefficient_bytes(), self.modulus());
        if (least..=WORD_BYTES).contains(&bytes) {
            return Ok(());
        }
        Err(Error::value(key, format!("{bytes}: residues modulo q = {q} take from {least} to {WORD_BYTES} bytes.")))
    }

    /// The ring.
    pub fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        Ring::new(self.degree, self.primes(), kernel).map_err(Error::from)
    }

    /// The shape of the ring, on which the cost of operations depends.
    pub fn shape(&self) -> RingShape {
        RingShape { degree: self.degree, primes: self.primes().len() }
    }

    /// Bytes of a polynomial in memory.
    pub fn poly_bytes(&self) -> u64 {
        self.shape().poly_bytes()
    }

    /// The RLWE instance of `samples` samples under one secret: see [`LweInstance::samples`].
    pub fn instance(&self, name: &str, samples: impl Into<Option<u64>>, protects: &str) -> LweInstance {
        LweInstance {
            name: name.into(),
            kind: "rlwe".into(),
            dimension: self.degree as u64,
            modulus: product_text(self.primes()),
            log2_modulus: (self.modulus() as f64).log2(),
            secret: self.secret,
            error_stddev: self.error.stddev().0,
            samples: samples.into(),
            protects: protects.into(),
        }
    }
}

/// A product as it is written in parameter files and descriptions.
pub fn product_text(primes: &[u64]) -> String {
    primes.iter().map(u64::to_string).collect::<Vec<_>>().join(" * ")
}
