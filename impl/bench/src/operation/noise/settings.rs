//! The settings of noise measurements.

use lattice::Secret;
use serde::{Deserialize, Serialize};

use crate::setting::{
    GadgetSetting, MOST_KEYS, Message, PlainDigits, SecretName, Setting, bounded, required, secret, twenty,
};
use crate::settings::{Refusal, Settings, complete};

/// The operations whose noise is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    Fresh,
    Add,
    PlaintextProduct,
    MonomialProduct,
    GadgetProduct,
    ExternalProduct,
    Cmux,
    LweKeySwitch,
    /// A modulus switch of LWE ciphertexts under a binary key that takes off the mean of the mask's rounding errors.
    CompensatedModulusSwitch,
    RlweKeySwitch,
    Automorphism,
    Trace,
    SampleExtraction,
    ModulusSwitch,
    SplitModulusSwitch,
    RingSwitch,
    Expansion,
}

impl Operation {
    /// The settings it takes beside those of all operations.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Fresh | Self::SampleExtraction => &[],
            Self::Add => &["terms"],
            Self::PlaintextProduct => &["plain_modulus", "plain_digits"],
            Self::MonomialProduct => &["exponent"],
            Self::GadgetProduct | Self::ExternalProduct => &["message"],
            Self::Cmux => &["bit"],
            Self::LweKeySwitch => &["dimension_from", "dimension_to", "modulus", "input_stddev"],
            Self::CompensatedModulusSwitch => &["dimension", "modulus", "to_modulus"],
            Self::RlweKeySwitch => &[],
            Self::Automorphism => &["exponent"],
            Self::Trace => &["subring"],
            Self::ModulusSwitch => &["to_modulus"],
            Self::SplitModulusSwitch => &["to_modulus_a", "to_modulus_b"],
            Self::RingSwitch => &["n_to"],
            Self::Expansion => &["depth"],
        }
    }

    /// Whether it works on a ring.
    pub fn on_ring(self) -> bool {
        !matches!(self, Self::LweKeySwitch | Self::CompensatedModulusSwitch)
    }

    /// Whether it decomposes.
    pub fn decomposes(self) -> bool {
        matches!(
            self,
            Self::GadgetProduct
                | Self::ExternalProduct
                | Self::Cmux
                | Self::LweKeySwitch
                | Self::RlweKeySwitch
                | Self::Automorphism
                | Self::Trace
                | Self::RingSwitch
                | Self::Expansion
        )
    }
}

/// Settings of `noise`. Those that the operation does not take must be absent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseSettings {
    pub operation: Operation,
    /// Fresh secret keys.
    #[serde(default = "twenty")]
    pub keys: u64,
    /// Errors in all, at least.
    #[serde(default = "samples")]
    pub samples: u64,
    #[serde(default)]
    pub secret: SecretName,
    /// Standard deviation of fresh errors.
    pub stddev: f64,
    /// Ring dimension.
    pub n: Option<usize>,
    /// Bits of the ring's primes: the largest distinct ones.
    pub prime_bits: Option<Vec<u32>>,
    /// Standard deviation of Gaussian secrets.
    pub secret_stddev: Option<f64>,
    /// Non-zero coefficients of fixed-weight secrets.
    pub secret_weight: Option<usize>,
    /// Family of the gadget.
    pub family: Option<String>,
    /// Base of the gadget.
    pub base: Option<u64>,
    /// Low digits dropped.
    pub dropped: Option<usize>,
    /// Ciphertexts added.
    pub terms: Option<u64>,
    /// Plaintext modulus p.
    pub plain_modulus: Option<u64>,
    /// Range of plaintext coefficients.
    pub plain_digits: Option<PlainDigits>,
    /// Exponent of the monomial, or of the automorphism.
    pub exponent: Option<usize>,
    /// Message of the gadget encryption.
    pub message: Option<Message>,
    /// Selected branch; alternating if absent.
    pub bit: Option<u8>,
    /// Dimension of the LWE key.
    pub dimension: Option<usize>,
    /// Dimension of the old LWE key.
    pub dimension_from: Option<usize>,
    /// Dimension of the new LWE key.
    pub dimension_to: Option<usize>,
    /// LWE modulus, decimal.
    pub modulus: Option<String>,
    /// Standard deviation of the switched ciphertext's error.
    pub input_stddev: Option<f64>,
    /// Coefficients the trace keeps.
    pub subring: Option<usize>,
    /// Modulus switched to, decimal.
    pub to_modulus: Option<String>,
    /// Modulus of the mask switched to, decimal.
    pub to_modulus_a: Option<String>,
    /// Modulus of the body switched to, decimal.
    pub to_modulus_b: Option<String>,
    /// Dimension of the smaller ring.
    pub n_to: Option<usize>,
    /// Levels of the expansion.
    pub depth: Option<u32>,
}

fn samples() -> u64 {
    1 << 14
}

impl NoiseSettings {
    /// Reads and checks the settings and fills in the operation's defaults.
    pub fn read(settings: &Settings) -> Result<Self, Refusal> {
        let mut own: Self = settings.parse()?;
        own.check()?;
        match own.operation {
            Operation::Add => own.terms = own.terms.or(Some(2)),
            Operation::Trace => own.subring = own.subring.or(Some(1)),
            _ => {}
        }
        if own.operation.decomposes() {
            own.dropped = own.dropped.or(Some(0));
        }
        Ok(own)
    }

    fn check(&self) -> Result<(), Refusal> {
        let mut known = vec!["operation", "keys", "samples", "secret", "stddev", "secret_stddev", "secret_weight"];
        if self.operation.on_ring() {
            known.extend(["n", "prime_bits"]);
        }
        if self.operation.decomposes() {
            known.extend(["family", "base", "dropped"]);
        }
        known.extend(self.operation.keys());
        let given = complete(self)?;
        if let Some(key) = given.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(Refusal::new(key, "this operation does not take it. Remove it."));
        }
        bounded(self.keys, "keys", 1..=MOST_KEYS)?;
        bounded(self.samples, "samples", 1..=1 << 30)?;
        Ok(())
    }

    /// The secret's distribution.
    pub fn secret(&self) -> Result<Secret, Refusal> {
        secret(self.secret, self.secret_stddev, self.secret_weight)
    }

    /// Errors of every stage that a key is measured for.
    pub fn wanted(&self) -> u64 {
        self.samples.div_ceil(self.keys)
    }

    /// The same as a mean, at least one.
    pub fn samples_a_key(&self) -> f64 {
        self.samples.max(self.keys) as f64 / self.keys as f64
    }

    /// The gadget.
    pub fn gadget(&self) -> Result<GadgetSetting, Refusal> {
        Ok(GadgetSetting {
            family: required(&self.family, "family")?,
            base: required(&self.base, "base")?,
            dropped: self.dropped.unwrap_or(0),
        })
    }

    /// The ring, its secret and the errors under it.
    pub fn setting(&self) -> Result<Setting, Refusal> {
        Ok(Setting {
            n: required(&self.n, "n")?,
            prime_bits: required(&self.prime_bits, "prime_bits")?,
            secret: self.secret,
            secret_stddev: self.secret_stddev,
            secret_weight: self.secret_weight,
            stddev: self.stddev,
        })
    }
}
