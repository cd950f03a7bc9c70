//! The settings of packings.

use gadget::Family;
use lattice::{Method, Packing, RingGadget, Secret};
use ring::{DiscreteGaussian, Kernel, Ring, StdDev};
use serde::{Deserialize, Serialize};

use crate::primitive::settings::{Refusal, Settings};

/// How ciphertexts are packed, and what is done before they arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// CDKS, all of it online.
    Cdks,
    /// CDKS by tables.
    CdksPreprocessed,
    /// InspiRING by tables.
    Inspiring,
    /// InspiRING, all of it online.
    InspiringOnline,
}

impl Way {
    pub fn method(self) -> Method {
        match self {
            Self::Cdks | Self::CdksPreprocessed => Method::Cdks,
            Self::Inspiring | Self::InspiringOnline => Method::Inspiring,
        }
    }

    pub fn has_table(self) -> bool {
        matches!(self, Self::CdksPreprocessed | Self::Inspiring)
    }
}

/// Names of secret distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretName {
    /// Uniform on {-1, 0, 1}.
    Ternary,
    /// Discrete Gaussian with the standard deviation of the errors.
    Gaussian,
    /// `secret_weight` non-zero coefficients, half of them ones, half minus ones.
    FixedWeight,
}

/// Settings of `packing`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Own {
    pub method: Way,
    /// LWE ciphertexts in all: a multiple of gamma.
    pub ciphertexts: usize,
    /// Ciphertexts of one output.
    pub gamma: usize,
    /// Clients that share a pass over the tables.
    #[serde(default = "one")]
    pub clients: usize,
    pub n: usize,
    pub primes: Vec<u64>,
    pub family: String,
    pub base: u64,
    #[serde(default)]
    pub dropped: usize,
    pub secret: SecretName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_weight: Option<usize>,
    /// Standard deviation of fresh errors.
    pub stddev: f64,
    /// Modulus of the packed messages, which are decrypted and compared.
    pub plain_modulus: u64,
    /// Fresh secret keys over which noise is collected, at least.
    #[serde(default = "twenty")]
    pub keys: u64,
}

fn one() -> usize {
    1
}

fn twenty() -> u64 {
    20
}

/// Most clients measured together.
const MOST_CLIENTS: usize = 64;

impl Own {
    /// Reads and checks the settings.
    ///
    /// # Errors
    /// A setting unknown, missing or out of range.
    pub fn read(settings: &Settings) -> Result<Self, Refusal> {
        let own: Self = settings.parse()?;
        if own.gamma == 0 || own.ciphertexts == 0 || !own.ciphertexts.is_multiple_of(own.gamma) {
            let problem = format!("{} is no multiple of gamma = {}.", own.ciphertexts, own.gamma);
            return Err(Refusal::new("ciphertexts", problem));
        }
        if !(1..=MOST_CLIENTS).contains(&own.clients) {
            return Err(Refusal::new("clients", format!("{} is not from 1 to {MOST_CLIENTS}.", own.clients)));
        }
        if !(1..=1 << 20).contains(&own.keys) {
            return Err(Refusal::new("keys", format!("{} is not from 1 to 2^20.", own.keys)));
        }
        own.secret()?;
        own.error()?;
        Ok(own)
    }

    /// Outputs in all.
    pub fn outputs(&self) -> usize {
        self.ciphertexts / self.gamma
    }

    pub fn secret(&self) -> Result<Secret, Refusal> {
        match (self.secret, self.secret_weight) {
            (SecretName::Ternary, None) => Ok(Secret::Ternary),
            (SecretName::Gaussian, None) => Ok(Secret::Gaussian(StdDev(self.stddev))),
            (SecretName::FixedWeight, Some(weight)) if weight <= self.n => {
                Ok(Secret::FixedWeight { plus: weight.div_ceil(2), minus: weight / 2 })
            }
            (SecretName::FixedWeight, _) => {
                Err(Refusal::new("secret_weight", format!("a fixed weight needs one up to n = {}.", self.n)))
            }
            _ => Err(Refusal::new("secret_weight", "this secret has none. Remove it.")),
        }
    }

    pub fn error(&self) -> Result<DiscreteGaussian, Refusal> {
        DiscreteGaussian::new(StdDev(self.stddev)).map_err(|error| Refusal::new("stddev", format!("{error}.")))
    }

    pub fn packing(&self, kernel: Kernel) -> Result<Packing, Refusal> {
        let family: Family = self.family.parse().map_err(|error| Refusal::new("family", format!("{error}.")))?;
        let ring = Ring::<u32>::new(self.n, &self.primes, kernel).map_err(|error| {
            Refusal::new("primes", format!("{error}. Give distinct primes 1 modulo 2n below 2^31."))
        })?;
        let gadget = RingGadget::new(&ring, family, self.base, self.dropped)
            .map_err(|error| Refusal::new("base", format!("{error}.")))?;
        let modulus = gadget.modulus();
        if modulus >> 62 != 0 {
            return Err(Refusal::new("primes", format!("their product {modulus} is 2^62 or more. Give fewer.")));
        }
        if self.plain_modulus < 2 || u128::from(self.plain_modulus) > modulus / 4 {
            let problem = format!("{} is not from 2 to q/4.", self.plain_modulus);
            return Err(Refusal::new("plain_modulus", problem));
        }
        Packing::new(self.method.method(), &gadget, self.gamma)
            .map_err(|error| Refusal::new("gamma", format!("{error}.")))
    }
}
