//! The settings of packings.

use gadget::Family;
use lattice::{Method, Packing, Secret};
use ring::{DiscreteGaussian, Kernel, Ring};
use serde::{Deserialize, Serialize};

use crate::primitive::Read;
use crate::setting::{GadgetSetting, MOST_KEYS, SecretName, bounded, gaussian, number, secret};
use crate::settings::{Refusal, Settings};

/// The method of packing, and the work before ciphertexts arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// CDKS, completely online.
    Cdks,
    /// CDKS with tables.
    CdksPreprocessed,
    /// InspiRING with tables.
    Inspiring,
    /// InspiRING, completely online.
    InspiringOnline,
}

impl Way {
    pub(super) fn method(self) -> Method {
        match self {
            Self::Cdks | Self::CdksPreprocessed => Method::Cdks,
            Self::Inspiring | Self::InspiringOnline => Method::Inspiring,
        }
    }

    pub(super) fn has_table(self) -> bool {
        matches!(self, Self::CdksPreprocessed | Self::Inspiring)
    }
}

/// Ring packing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packings {
    pub(super) method: Way,
    /// LWE ciphertexts in all: a multiple of gamma.
    pub(super) ciphertexts: usize,
    /// Ciphertexts of one output.
    pub(super) gamma: usize,
    /// Clients that share a pass over the tables.
    #[serde(default = "number::<1, _>")]
    pub(super) clients: usize,
    pub(super) n: usize,
    pub(super) primes: Vec<u64>,
    pub(super) family: Family,
    pub(super) base: u64,
    #[serde(default)]
    pub(super) dropped: usize,
    pub(super) secret: SecretName,
    pub(super) secret_weight: Option<usize>,
    /// Standard deviation of fresh errors.
    pub(super) stddev: f64,
    /// Modulus of the packed messages, which are decrypted and compared.
    pub(super) plain_modulus: u64,
    /// Fresh secret keys over which noise is collected, at least.
    #[serde(default = "number::<20, _>")]
    pub(super) keys: u64,
}

pub fn read(settings: &Settings) -> Read {
    let own: Packings = settings.parse()?;
    if own.gamma == 0 || own.ciphertexts == 0 || !own.ciphertexts.is_multiple_of(own.gamma) {
        let problem = format!("{} is not a multiple of gamma = {}.", own.ciphertexts, own.gamma);
        return Err(Refusal::new("ciphertexts", problem));
    }
    bounded(own.clients, "clients", 1..=64)?;
    bounded(own.keys, "keys", 1..=MOST_KEYS)?;
    own.secret()?;
    own.error()?;
    Ok(Box::new(own))
}

impl Packings {
    /// Outputs in all.
    pub(super) fn outputs(&self) -> usize {
        self.ciphertexts / self.gamma
    }

    /// The secret's distribution; a Gaussian one equals that of the errors.
    pub(super) fn secret(&self) -> Result<Secret, Refusal> {
        bounded(self.secret_weight.unwrap_or(0), "secret_weight", 0..=self.n)?;
        let stddev = match self.secret {
            SecretName::Binary => return Err(Refusal::new("secret", "give `ternary`, `gaussian` or `fixed-weight`.")),
            SecretName::Gaussian => Some(self.stddev),
            SecretName::Ternary | SecretName::FixedWeight => None,
        };
        secret(self.secret, stddev, self.secret_weight)
    }

    pub(super) fn error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(self.stddev, "stddev")
    }

    pub(super) fn packing(&self, kernel: Kernel) -> Result<Packing, Refusal> {
        let ring = Ring::<u32>::new(self.n, &self.primes, kernel).map_err(Refusal::of("primes"))?;
        let Self { family, base, dropped, .. } = *self;
        let gadget = GadgetSetting { family, base, dropped }.build(&ring, "base")?;
        let modulus = gadget.modulus();
        if modulus >> 62 != 0 {
            return Err(Refusal::new("primes", format!("their product {modulus} is 2^62 or more. Give fewer.")));
        }
        bounded(self.plain_modulus.into(), "plain_modulus", 2..=modulus / 4)?;
        Packing::new(self.method.method(), &gadget, self.gamma).map_err(Refusal::of("gamma"))
    }
}
