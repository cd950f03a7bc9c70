//! The settings of packings.

use gadget::Family;
use lattice::{Method, Packing, RingGadget, Secret};
use ring::{DiscreteGaussian, Kernel, Ring, StdDev};
use serde::{Deserialize, Serialize};

use crate::setting::{SecretName, twenty};
use crate::settings::{Refusal, Settings};

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
    #[serde(default = "one")]
    pub(super) clients: usize,
    pub(super) n: usize,
    pub(super) primes: Vec<u64>,
    pub(super) family: String,
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
    #[serde(default = "twenty")]
    pub(super) keys: u64,
}

fn one() -> usize {
    1
}

/// Most clients measured together.
const MOST_CLIENTS: usize = 64;

impl Packings {
    /// Reads and checks the settings.
    pub(super) fn read_own(settings: &Settings) -> Result<Self, Refusal> {
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
    pub(super) fn outputs(&self) -> usize {
        self.ciphertexts / self.gamma
    }

    pub(super) fn secret(&self) -> Result<Secret, Refusal> {
        match (self.secret, self.secret_weight) {
            (SecretName::Ternary, None) => Ok(Secret::Ternary),
            (SecretName::Gaussian, None) => Ok(Secret::Gaussian(StdDev(self.stddev))),
            (SecretName::FixedWeight, Some(weight)) if weight <= self.n => {
                Ok(Secret::FixedWeight { plus: weight.div_ceil(2), minus: weight / 2 })
            }
            (SecretName::FixedWeight, _) => {
                Err(Refusal::new("secret_weight", format!("a fixed weight needs one up to n = {}.", self.n)))
            }
            (SecretName::Binary, _) => Err(Refusal::new(
                "secret",
                "give `ternary`, `gaussian` or `fixed-weight`. Correct it in the experiment file.",
            )),
            _ => Err(Refusal::new("secret_weight", "this secret has none. Remove it.")),
        }
    }

    pub(super) fn error(&self) -> Result<DiscreteGaussian, Refusal> {
        DiscreteGaussian::new(StdDev(self.stddev)).map_err(|error| Refusal::new("stddev", format!("{error}.")))
    }

    pub(super) fn packing(&self, kernel: Kernel) -> Result<Packing, Refusal> {
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
