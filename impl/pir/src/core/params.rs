//! Parameter sets: TOML as written (a literal), then checked. Shared pieces; each protocol has its own set type.

use lattice::lwe::Secret;
use ring::{StdDev, Width};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::core::error::{Error, Result};
pub use crate::core::set_file::{SourceKind, SourceNote};

/// Distribution of a secret's coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SecretKind {
    /// Uniform modulo q.
    Uniform {},
    /// Discrete Gaussian of this standard deviation.
    Gaussian {
        /// Standard deviation.
        stddev: f64,
    },
    /// Uniform on {-1, 0, 1}.
    Ternary {},
    /// Uniform on {0, 1}.
    Binary {},
    /// Uniform on the integers from `low` to `high`.
    UniformRange {
        /// Smallest coefficient.
        low: i32,
        /// Largest coefficient.
        high: i32,
    },
    /// Exactly so many ones and minus ones.
    FixedWeight {
        /// Number of ones.
        plus: u32,
        /// Number of minus ones.
        minus: u32,
    },
}

impl SecretKind {
    /// The lattice crate's distribution.
    pub fn distribution(self) -> Secret {
        match self {
            SecretKind::Uniform {} => Secret::Uniform,
            SecretKind::Gaussian { stddev } => Secret::Gaussian(StdDev(stddev)),
            SecretKind::Ternary {} => Secret::Ternary,
            SecretKind::Binary {} => Secret::Binary,
            SecretKind::UniformRange { low, high } => Secret::UniformRange { low, high },
            SecretKind::FixedWeight { plus, minus } => {
                Secret::FixedWeight { plus: plus as usize, minus: minus as usize }
            }
        }
    }
}

/// Size of an error distribution, with its convention.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ErrorSize {
    /// Standard deviation.
    Stddev(f64),
    /// Width s = stddev * sqrt(2 pi).
    Width(f64),
}

impl ErrorSize {
    /// As a standard deviation.
    pub fn stddev(self) -> StdDev {
        match self {
            ErrorSize::Stddev(stddev) => StdDev(stddev),
            ErrorSize::Width(width) => StdDev::from(Width(width)),
        }
    }

    /// As a standard deviation, in the range of LWE errors; `key` is where it stands.
    ///
    /// # Errors
    /// Out of range.
    pub fn checked(self, key: &str) -> Result<StdDev> {
        let stddev = self.stddev();
        if (0.3..=MAX_STDDEV).contains(&stddev.0) {
            return Ok(stddev);
        }
        Err(Error::value(key, format!("standard deviation {} is not between 0.3 and {MAX_STDDEV}.", stddev.0)))
    }
}

/// Largest standard deviation of an LWE error.
const MAX_STDDEV: f64 = 65536.0;

/// The `[lwe]` table as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LweLiteral {
    /// LWE dimension n.
    pub dimension: u32,
    /// Modulus q as a product of prime powers, e.g. `2^32`.
    pub modulus: String,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: ErrorSize,
}

/// Checked LWE parameters modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lwe32 {
    /// LWE dimension n.
    pub dimension: usize,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: StdDev,
}

/// Largest absolute value of a coefficient of a secret uniform in a range.
const MAX_RANGE: i32 = 64;

/// Largest LWE dimension accepted.
const MAX_DIMENSION: u32 = 1 << 14;

impl TryFrom<&LweLiteral> for Lwe32 {
    type Error = Error;

    fn try_from(literal: &LweLiteral) -> Result<Self> {
        let LweLiteral { dimension, modulus, secret, error } = literal;
        if !(1..=MAX_DIMENSION).contains(dimension) {
            return Err(Error::value("lwe.dimension", format!("{dimension} is not between 1 and {MAX_DIMENSION}.")));
        }
        if modulus.trim() != "2^32" {
            return Err(Error::value(
                "lwe.modulus",
                format!(
                    "`{modulus}`: this protocol computes modulo 2^32 (SimplePIR section 4.2); write modulus = \"2^32\"."
                ),
            ));
        }
        let in_range = |key: &str, value: f64| {
            if (0.3..=16384.0).contains(&value) {
                Ok(())
            } else {
                Err(Error::value(key, format!("standard deviation {value} is not between 0.3 and 16384.")))
            }
        };
        let key = match error {
            ErrorSize::Stddev(_) => "lwe.error.stddev",
            ErrorSize::Width(_) => "lwe.error.width",
        };
        in_range(key, error.stddev().0)?;
        match secret {
            SecretKind::Gaussian { stddev } => in_range("lwe.secret.stddev", *stddev)?,
            SecretKind::UniformRange { low, high } => check_range("lwe", *low, *high)?,
            SecretKind::FixedWeight { plus, minus } if plus.saturating_add(*minus) > *dimension => {
                return Err(Error::value(
                    "lwe.secret",
                    format!("{plus} ones and {minus} minus ones do not fit into dimension {dimension}."),
                ));
            }
            SecretKind::FixedWeight { plus: 0, minus: 0 } => {
                return Err(Error::value("lwe.secret", "plus = 0 and minus = 0: a secret of zeros hides nothing."));
            }
            _ => {}
        }
        Ok(Self { dimension: *dimension as usize, secret: *secret, error: error.stddev() })
    }
}

/// Refuses a range of secrets' coefficients that is empty, one number, or wide.
pub(crate) fn check_range(table: &str, low: i32, high: i32) -> Result<()> {
    if low < high && low >= -MAX_RANGE && high <= MAX_RANGE {
        return Ok(());
    }
    let problem = format!("coefficients from {low} to {high}: give low < high, both from -{MAX_RANGE} to {MAX_RANGE}.");
    Err(Error::value(&format!("{table}.secret"), problem))
}

/// One row of a set's table of plaintext moduli.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlainModulus {
    /// The row serves up to 2^log2_samples LWE samples.
    pub log2_samples: u32,
    /// Plaintext modulus p.
    pub modulus: u32,
}

/// Checked table: samples strictly increasing, moduli non-increasing, each in 3..=2^12.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainModuli(Vec<PlainModulus>);

impl TryFrom<&[PlainModulus]> for PlainModuli {
    type Error = Error;

    fn try_from(rows: &[PlainModulus]) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::value("plain_moduli", "the table is empty: give at least one [[plain_moduli]] row."));
        }
        for (i, row) in rows.iter().enumerate() {
            let key = format!("plain_moduli[{i}]");
            if !(3..=1 << 12).contains(&row.modulus) {
                return Err(Error::value(
                    &format!("{key}.modulus"),
                    format!("{} is not between 3 and 4096: entries are packed in at most 12 bits.", row.modulus),
                ));
            }
            if row.log2_samples > 32 {
                return Err(Error::value(&format!("{key}.log2_samples"), format!("{} is above 32.", row.log2_samples)));
            }
            if i > 0 && (row.log2_samples <= rows[i - 1].log2_samples || row.modulus > rows[i - 1].modulus) {
                return Err(Error::value(
                    &key,
                    "rows must go up in log2_samples and not up in modulus: more samples mean more noise.",
                ));
            }
        }
        Ok(Self(rows.to_vec()))
    }
}

impl PlainModuli {
    /// The modulus for that many samples, or `None` past the table's end.
    pub fn for_samples(&self, samples: u64) -> Option<u32> {
        self.0.iter().find(|row| u128::from(samples) <= 1u128 << row.log2_samples).map(|row| row.modulus)
    }

    /// All moduli, largest first.
    pub fn moduli(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|row| row.modulus)
    }

    /// The largest number of samples the table serves, as log2.
    pub fn log2_max_samples(&self) -> u32 {
        self.0.last().map_or(0, |row| row.log2_samples)
    }
}

/// A protocol's checked parameter set.
pub trait ParameterSet: Clone {
    /// The set as written in TOML.
    type Literal: DeserializeOwned + JsonSchema;

    /// Checks a literal.
    ///
    /// # Errors
    /// [`Error::Value`] naming key, value and bound.
    fn try_new(literal: Self::Literal) -> Result<Self>;

    /// Where the set comes from.
    fn source(&self) -> &SourceNote;
}

/// Bytes of a [`fingerprint`].
pub(crate) const FINGERPRINT_BYTES: usize = 8;

/// Tells sets apart by what their keys are made of: keys of another set with the same number of bytes are refused.
pub(crate) fn fingerprint(set: &str) -> [u8; FINGERPRINT_BYTES] {
    let mut out = [0; FINGERPRINT_BYTES];
    out.copy_from_slice(&Sha256::digest(set)[..FINGERPRINT_BYTES]);
    out
}
