//! Parameters of LWE modulo 2^32, and of plaintexts by number of samples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::core::{Error, ErrorSize, LweInstance, Result, SecretKind, in_range};

/// The `[lwe]` table of protocols that compute modulo 2^32.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lwe {
    /// LWE dimension n.
    pub dimension: usize,
    /// Modulus q as a product of prime powers: `2^32`.
    pub modulus: String,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: ErrorSize,
}

impl Lwe {
    /// Largest LWE dimension accepted.
    const MAX_DIMENSION: usize = 1 << 14;
    /// Largest standard deviation of secrets and errors.
    const MAX_STDDEV: f64 = 16384.0;

    /// Refuses values out of range and moduli other than 2^32.
    pub fn check(&self) -> Result<()> {
        in_range("lwe.dimension", self.dimension, 1..=Self::MAX_DIMENSION)?;
        if self.modulus.trim() != "2^32" {
            let problem = format!(
                "`{}`: this protocol computes modulo 2^32 (SimplePIR section 4.2); write modulus = \"2^32\".",
                self.modulus
            );
            return Err(Error::value("lwe.modulus", problem));
        }
        self.error.check("lwe.error", Self::MAX_STDDEV)?;
        self.secret.check("lwe.secret", self.dimension, Self::MAX_STDDEV)
    }

    /// `count` fresh secrets.
    pub fn keys(&self, count: usize, rng: &mut impl rand::RngCore) -> Result<Vec<Zeroizing<Vec<u32>>>> {
        let secret = self.secret.distribution();
        (0..count).map(|_| Ok(secret.sample(self.dimension, rng)?)).collect()
    }

    /// The LWE instance of `samples` samples under one secret.
    pub fn instance(&self, name: &str, samples: u64, protects: &str) -> LweInstance {
        LweInstance {
            name: name.into(),
            kind: "lwe".into(),
            dimension: self.dimension as u64,
            modulus: "2^32".into(),
            log2_modulus: 32.0,
            secret: self.secret,
            error_stddev: self.error.stddev().0,
            samples: Some(samples),
            protects: protects.into(),
        }
    }
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

/// Plaintext moduli by number of LWE samples: samples strictly increasing, moduli non-increasing, each in 3..=2^12.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PlainModuli(pub(super) Vec<PlainModulus>);

impl PlainModuli {
    /// Refuses an empty table, rows out of order and moduli out of range.
    pub fn check(&self) -> Result<()> {
        let Self(rows) = self;
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
            in_range(&format!("{key}.log2_samples"), row.log2_samples, 0..=32)?;
            if i > 0 && (row.log2_samples <= rows[i - 1].log2_samples || row.modulus > rows[i - 1].modulus) {
                return Err(Error::value(
                    &key,
                    "rows must go up in log2_samples and not up in modulus: more samples mean more noise.",
                ));
            }
        }
        Ok(())
    }

    /// The modulus for `samples` samples, or `None` past the table's end.
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
