//! Parameters of RLWE, of packing and of the answers' modulus switch: as written, then checked.

use std::sync::Arc;

use gadget::Family;
use lattice::pack::{DIRECT_TERMS, Method};
use lattice::{GadgetShape, RingGadget};
use ring::{Kernel, Ring, RingShape, StdDev};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::description::LweInstance;
use crate::core::error::{Error, Result};
use crate::core::params::{ErrorSize, SecretKind, check_range};

/// The `[rlwe]` table as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RlweLiteral {
    /// Ring degree d, a power of two.
    pub degree: u32,
    /// The two prime factors of the modulus q, below 2^28, `p1 * p2`; InsPIRe takes a single one too.
    pub modulus: String,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: ErrorSize,
}

/// Checked RLWE parameters over Z_q[X]/(X^d + 1), q a prime or a product of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rlwe {
    /// Ring degree d.
    pub degree: usize,
    /// The primes; twice the same where there is one.
    primes: [u64; 2],
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: StdDev,
}

/// Largest standard deviation of a secret or an error.
const MAX_STDDEV: f64 = 256.0;

fn stddev_in_range(key: &str, stddev: f64) -> Result<()> {
    if (0.3..=MAX_STDDEV).contains(&stddev) {
        return Ok(());
    }
    Err(Error::value(key, format!("standard deviation {stddev} is not between 0.3 and {MAX_STDDEV}.")))
}

/// Refuses an error out of range.
pub(crate) fn check_error(table: &str, error: ErrorSize) -> Result<()> {
    let convention = match error {
        ErrorSize::Stddev(_) => "stddev",
        ErrorSize::Width(_) => "width",
    };
    stddev_in_range(&format!("{table}.error.{convention}"), error.stddev().0)
}

/// Refuses a secret that is not small, or whose weight exceeds the dimension.
pub(crate) fn check_secret(table: &str, secret: SecretKind, dimension: usize) -> Result<()> {
    match secret {
        SecretKind::Uniform {} => Err(Error::value(
            &format!("{table}.secret"),
            "a uniform secret is too large for this protocol: write gaussian, ternary, binary, uniform_range or fixed_weight.",
        )),
        SecretKind::Gaussian { stddev } => stddev_in_range(&format!("{table}.secret.stddev"), stddev),
        SecretKind::FixedWeight { plus, minus } => {
            let weight = plus.saturating_add(minus);
            if (1..=dimension as u64).contains(&u64::from(weight)) {
                return Ok(());
            }
            Err(Error::value(
                &format!("{table}.secret"),
                format!("{plus} ones and {minus} minus ones in dimension {dimension}: from 1 to {dimension} in all."),
            ))
        }
        SecretKind::UniformRange { low, high } => check_range(table, low, high),
        SecretKind::Ternary {} | SecretKind::Binary {} => Ok(()),
    }
}

impl TryFrom<&RlweLiteral> for Rlwe {
    type Error = Error;

    /// With two primes.
    fn try_from(literal: &RlweLiteral) -> Result<Self> {
        let rlwe = Self::with_one_prime_or_two(literal)?;
        if rlwe.primes().len() == 2 {
            return Ok(rlwe);
        }
        Err(Error::value(
            "rlwe.modulus",
            format!("`{}` is one number; write two primes, \"p1 * p2\".", literal.modulus),
        ))
    }
}

impl Rlwe {
    /// Checks a table.
    ///
    /// # Errors
    /// A value out of range, a modulus of other factors than one prime or two that the ring can have.
    pub fn with_one_prime_or_two(literal: &RlweLiteral) -> Result<Self> {
        let RlweLiteral { degree, modulus, secret, error } = literal;
        if !degree.is_power_of_two() || !(64..=4096).contains(degree) {
            return Err(Error::value("rlwe.degree", format!("{degree} is no power of two from 64 to 4096.")));
        }
        let degree = *degree as usize;
        let refuse = |why: &str| {
            let text = format!(
                "`{modulus}`: {why}; write two different primes below 2^28 that are 1 modulo 2 degree, \"p1 * p2\"."
            );
            Error::value("rlwe.modulus", text)
        };
        let factors: Option<Vec<u64>> = modulus.split('*').map(|factor| factor.trim().parse().ok()).collect();
        let factors = factors.ok_or_else(|| refuse("not two numbers"))?;
        let primes = match factors[..] {
            [prime] => [prime; 2],
            [first, second] => [first, second],
            _ => return Err(refuse("not two numbers")),
        };
        if primes.iter().any(|prime| prime >> 28 != 0) {
            return Err(refuse("a factor is 2^28 or more"));
        }
        Ring::<u32>::new(degree, &factors, Kernel::Scalar).map_err(|e| refuse(&e.to_string()))?;
        check_error("rlwe", *error)?;
        check_secret("rlwe", *secret, degree)?;
        Ok(Self { degree, primes, secret: *secret, error: error.stddev() })
    }

    /// The primes, one or two.
    pub fn primes(&self) -> &[u64] {
        let [first, second] = self.primes;
        &self.primes[..if first == second { 1 } else { 2 }]
    }

    /// q, below 2^56.
    pub fn modulus(&self) -> u64 {
        self.primes().iter().product()
    }

    /// Bits of a coefficient on the wire, residue by residue.
    pub fn residue_bits(&self) -> u32 {
        self.primes().iter().map(|prime| u64::BITS - (prime - 1).leading_zeros()).sum()
    }

    /// The ring.
    ///
    /// # Errors
    /// A kernel the processor lacks.
    pub fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        Ring::new(self.degree, self.primes(), kernel).map_err(|e| Error::Kernel(e.to_string()))
    }

    /// What the cost of operations depends on.
    pub fn shape(&self) -> RingShape {
        RingShape { degree: self.degree, primes: self.primes().len() }
    }

    /// Bytes of a polynomial in memory.
    pub fn poly_bytes(&self) -> u64 {
        self.shape().poly_bytes()
    }

    /// The instance of that many samples under one secret: see [`LweInstance::samples`].
    pub fn instance(&self, name: &str, samples: impl Into<Option<u64>>, protects: &str) -> LweInstance {
        LweInstance {
            name: name.into(),
            kind: "rlwe".into(),
            dimension: self.degree as u64,
            modulus: self.primes().iter().map(u64::to_string).collect::<Vec<_>>().join(" * "),
            log2_modulus: (self.modulus() as f64).log2(),
            secret: self.secret,
            error_stddev: self.error.0,
            samples: samples.into(),
            protects: protects.into(),
        }
    }
}

/// The `[packing]` table as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackingLiteral {
    /// log2 of the gadget's base z.
    pub base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    pub dropped: u32,
    /// Which digits.
    pub digits: Digits,
}

/// Digits of packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Digits {
    /// From 0 to z - 1, as the reference implementations have them.
    Unsigned,
    /// From -z/2 to z/2 - 1, as the papers write them.
    Balanced,
}

/// The checked gadget of packing keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    base_log2: u32,
    dropped: u32,
    digits: Digits,
    length: usize,
}

impl Packed {
    /// The gadget for that ring.
    ///
    /// # Errors
    /// A base out of range, no digit left.
    pub fn try_new(literal: PackingLiteral, rlwe: &Rlwe) -> Result<Self> {
        let PackingLiteral { base_log2, dropped, digits } = literal;
        if !(1..=27).contains(&base_log2) {
            return Err(Error::value("packing.base_log2", format!("{base_log2} is not between 1 and 27.")));
        }
        let mut packed = Self { base_log2, dropped, digits, length: 0 };
        let ring = rlwe.ring(Kernel::Scalar)?;
        packed.length = packed.gadget(&ring).map_err(|e| Error::value("packing", e.to_string()))?.length();
        Ok(packed)
    }

    /// The decomposition.
    ///
    /// # Errors
    /// A ring it does not serve.
    pub fn gadget(&self, ring: &Arc<Ring<u32>>) -> Result<RingGadget<u32>> {
        let family = match self.digits {
            Digits::Unsigned => Family::Unsigned,
            Digits::Balanced => Family::Balanced,
        };
        RingGadget::new(ring, family, 1 << self.base_log2, self.dropped as usize)
            .map_err(|e| Error::value("packing", e.to_string()))
    }

    /// Number of digits l.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Automorphisms with a key, of whole packings.
    pub fn roles(rlwe: &Rlwe, method: Method) -> u64 {
        match method {
            Method::Cdks => u64::from(rlwe.degree.ilog2()),
            Method::Inspiring => 2,
        }
    }

    /// What the cost of packing depends on beside method and gamma.
    pub fn shape(&self, rlwe: &Rlwe) -> GadgetShape {
        GadgetShape { ring: rlwe.shape(), base: 1 << self.base_log2, length: self.length }
    }

    /// Bytes of the packing keys of one query: bodies only.
    pub fn key_bytes(&self, rlwe: &Rlwe, method: Method) -> u64 {
        let bits = u64::from(rlwe.residue_bits());
        (Self::roles(rlwe, method) * self.length as u64 * rlwe.degree as u64 * bits).div_ceil(8)
    }

    /// Bytes of the packing table of one output: a linear form of a slot for each role and digit, of as many slots as the images
    /// of the role's key come from (for level k of CDKS d / 2^k, in whole lines).
    pub fn table_bytes(&self, rlwe: &Rlwe, method: Method) -> u64 {
        let slots: usize = match method {
            Method::Cdks => {
                (1..=rlwe.degree.ilog2()).map(|level| (rlwe.degree >> level).max(ring::matrix::diagonal::LINE)).sum()
            }
            Method::Inspiring => rlwe.degree,
        };
        slots as u64 * self.length as u64 * rlwe.poly_bytes()
    }

    /// Bytes of that table in memory: beside what packing reads there are the packed mask and, with InspiRING, the factors that join
    /// both halves.
    pub fn held_table_bytes(&self, rlwe: &Rlwe, method: Method) -> u64 {
        let polys = match method {
            Method::Cdks => 1,
            Method::Inspiring => 1 + self.length as u64,
        };
        self.table_bytes(rlwe, method) + polys * rlwe.poly_bytes()
    }

    /// Bytes alive beside it and the ring masks while the table of one output is made of them. CDKS: the leaves, the first level of its
    /// tree and that level's digits, less the masks; InspiRING: those of its key switches, since the sums for all automorphisms lie in
    /// the table.
    pub fn making_bytes(&self, rlwe: &Rlwe, method: Method) -> u64 {
        match method {
            Method::Cdks => rlwe.degree as u64 * rlwe.poly_bytes() * (3 + self.length as u64) / 2,
            Method::Inspiring => self.switching_bytes(rlwe),
        }
    }

    /// Bytes alive beside the ring masks of so many ciphertexts while they are packed without a table, up to gamma into one. CDKS: nodes
    /// of its tree; InspiRING: the sums for all automorphisms, and at gamma < d roots of their transform.
    pub fn packing_bytes(&self, rlwe: &Rlwe, (method, gamma): (Method, usize), ciphertexts: usize) -> u64 {
        let polys = match method {
            Method::Inspiring if ciphertexts <= DIRECT_TERMS => 2 * ciphertexts,
            Method::Inspiring if gamma < rlwe.degree => gamma + gamma / 2,
            _ => gamma,
        };
        polys as u64 * rlwe.poly_bytes() + self.switching_bytes(rlwe)
    }

    /// Bytes of what InspiRING's key switches work in: digits, images of keys' rows, sums, heads, lists of slots; and sixteen slots of all
    /// masks while they are transformed.
    fn switching_bytes(&self, rlwe: &Rlwe) -> u64 {
        let lanes = ring::matrix::diagonal::LINE;
        (2 * self.length as u64 + 8) * rlwe.poly_bytes() + (4 * lanes * (rlwe.degree + lanes)) as u64
    }

    /// The gadget's numbers for a description.
    pub fn describe(&self) -> serde_json::Value {
        serde_json::json!({
            "digits": self.length,
            "base_log2": self.base_log2,
            "dropped": self.dropped,
            "signed": self.digits == Digits::Balanced,
        })
    }
}

/// The `[switch]` table as written: moduli of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchLiteral {
    /// Modulus of the masks.
    pub mask_modulus: u64,
    /// Modulus of the bodies.
    pub body_modulus: u64,
}

/// Checked moduli of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Modulus of the masks.
    pub mask: u64,
    /// Modulus of the bodies.
    pub body: u64,
}

impl Switch {
    /// The switch of answers with messages modulo `plain_modulus`.
    ///
    /// # Errors
    /// Moduli too small for the messages or above 2^32.
    pub fn try_new(literal: SwitchLiteral, plain_modulus: u64) -> Result<Self> {
        let SwitchLiteral { mask_modulus, body_modulus } = literal;
        for (key, modulus) in [("switch.mask_modulus", mask_modulus), ("switch.body_modulus", body_modulus)] {
            if !(2 * plain_modulus..=1 << 32).contains(&modulus) {
                return Err(Error::value(
                    key,
                    format!("{modulus} is not between twice the plaintext modulus, {}, and 2^32.", 2 * plain_modulus),
                ));
            }
        }
        Ok(Self { mask: mask_modulus, body: body_modulus })
    }

    /// Bytes of one ciphertext of `degree` with so many coefficients of the body.
    pub fn bytes(&self, degree: usize, kept: usize) -> u64 {
        lattice::SplitRlwe::wire_bytes(degree, kept, self.mask, self.body) as u64
    }
}
