//! The settings that operations share: the ring with its secret and errors, gadgets, numbers in bounds.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::Arc;

use gadget::{Family, Gadget, Moments, new_gadget};
use lattice::{RingGadget, Secret};
use ring::primes::primes_below;
use ring::{DiscreteGaussian, Kernel, Ring, StdDev, Word};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::primitive::Described;
use crate::settings::Refusal;

/// Names of secret distributions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretName {
    /// Uniform on {-1, 0, 1}.
    #[default]
    Ternary,
    /// Uniform on {0, 1}.
    Binary,
    /// Discrete Gaussian of `secret_stddev`.
    Gaussian,
    /// `secret_weight` non-zero coefficients, half of them ones, half minus ones.
    FixedWeight,
}

/// The message of a gadget encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// 0.
    Zero,
    /// 1.
    One,
    /// A polynomial with uniform coefficients in {-1, 0, 1}.
    Ternary,
}

/// The range of plaintext coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlainDigits {
    /// [0, p).
    Unsigned,
    /// [-floor(p/2), p - 1 - floor(p/2)].
    Balanced,
}

impl PlainDigits {
    /// The least coefficient modulo `p`.
    pub fn least(self, p: u64) -> i64 {
        match self {
            Self::Unsigned => 0,
            Self::Balanced => -((p / 2) as i64),
        }
    }
}

/// The ring of an operation, its secret and the errors under it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Ring dimension.
    pub n: usize,
    /// Bits of the ring's primes: the largest distinct ones.
    pub prime_bits: Vec<u32>,
    #[serde(default)]
    pub secret: SecretName,
    /// Standard deviation of Gaussian secrets.
    pub secret_stddev: Option<f64>,
    /// Non-zero coefficients of fixed-weight secrets.
    pub secret_weight: Option<usize>,
    /// Standard deviation of fresh errors.
    pub stddev: f64,
}

/// A gadget of a ring.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GadgetSetting {
    pub family: Family,
    /// The base of its digits.
    pub base: u64,
    /// Low digits dropped.
    #[serde(default)]
    pub dropped: usize,
}

/// Most keys under which noise is measured.
pub const MOST_KEYS: u64 = 1 << 20;

/// The number `N` as a default for serde.
pub fn number<const N: u16, T: From<u16>>() -> T {
    N.into()
}

/// The value of a setting that this operation needs.
pub fn required<T: Clone>(value: &Option<T>, key: &str) -> Result<T, Refusal> {
    value.clone().ok_or_else(|| Refusal::new(key, "it is missing: this operation needs it."))
}

/// Refuses a value out of its range.
pub fn bounded<T: PartialOrd + Display>(value: T, key: &str, range: RangeInclusive<T>) -> Result<(), Refusal> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Refusal::new(key, format!("{value} is not from {} to {}. Give one in that range.", range.start(), range.end())))
}

/// A modulus written as a decimal string, in `range`.
pub fn modulus(text: &str, key: &str, range: RangeInclusive<u64>) -> Result<u64, Refusal> {
    text.parse().ok().filter(|q| range.contains(q)).ok_or_else(|| {
        let bounds = format!("a decimal number from {} to {}", range.start(), range.end());
        Refusal::new(key, format!("{text:?} is not {bounds}. Write it as a string."))
    })
}

/// A secret's distribution by name; refuses settings that the distribution does not have.
pub fn secret(name: SecretName, stddev: Option<f64>, weight: Option<usize>) -> Result<Secret, Refusal> {
    let unused = |given: bool, key| {
        if given { Err(Refusal::new(key, "this secret has none. Remove it.")) } else { Ok(()) }
    };
    if name != SecretName::Gaussian {
        unused(stddev.is_some(), "secret_stddev")?;
    }
    if name != SecretName::FixedWeight {
        unused(weight.is_some(), "secret_weight")?;
    }
    Ok(match name {
        SecretName::Ternary => Secret::Ternary,
        SecretName::Binary => Secret::Binary,
        SecretName::Gaussian => Secret::Gaussian(StdDev(required(&stddev, "secret_stddev")?)),
        SecretName::FixedWeight => {
            let weight = required(&weight, "secret_weight")?;
            Secret::FixedWeight { plus: weight.div_ceil(2), minus: weight / 2 }
        }
    })
}

/// The distribution of errors with that standard deviation.
pub fn gaussian(stddev: f64, key: &str) -> Result<DiscreteGaussian, Refusal> {
    DiscreteGaussian::new(StdDev(stddev)).map_err(Refusal::of(key))
}

impl Setting {
    pub const KEYS: [&str; 6] = ["n", "prime_bits", "secret", "secret_stddev", "secret_weight", "stddev"];

    /// The largest distinct primes of these lengths.
    pub fn primes(&self) -> Result<Vec<u64>, Refusal> {
        let n = self.n;
        if !n.is_power_of_two() || !(64..=65536).contains(&n) {
            return Err(Refusal::new("n", format!("{n} is not a power of two from 64 to 65536.")));
        }
        let refuse = |problem: String| Refusal::new("prime_bits", problem);
        let mut primes: Vec<u64> = Vec::new();
        for bits in self.prime_bits.iter().copied() {
            bounded(bits, "prime_bits", 8..=62)?;
            let prime = primes_below(bits, 2 * n as u64).find(|prime| !primes.contains(prime));
            primes.push(prime.ok_or_else(|| refuse(format!("there is no further prime of {bits} bits for n = {n}.")))?);
        }
        let bits: f64 = primes.iter().map(|&p| (p as f64).log2()).sum();
        if primes.is_empty() || bits >= 126.0 {
            return Err(refuse(format!("their product has {bits:.1} bits; give between one prime and 126 bits.")));
        }
        Ok(primes)
    }

    /// Whether the primes fit words of 32 bits.
    pub fn narrow(&self) -> Result<bool, Refusal> {
        Ok(self.primes()?.iter().all(|p| *p < 1 << 31))
    }

    pub fn ring<W: Word>(&self, kernel: Kernel) -> Result<Arc<Ring<W>>, Refusal> {
        Ring::new(self.n, &self.primes()?, kernel).map_err(Refusal::of("prime_bits"))
    }

    /// Checks everything but the ring, which is checked when it is built.
    pub fn check(&self) -> Result<(), Refusal> {
        self.error()?;
        self.secret().map(drop)
    }

    pub fn secret(&self) -> Result<Secret, Refusal> {
        secret(self.secret, self.secret_stddev, self.secret_weight)
    }

    /// The distribution of fresh errors.
    pub fn error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(self.stddev, "stddev")
    }
}

impl GadgetSetting {
    pub const KEYS: [&str; 3] = ["family", "base", "dropped"];

    /// The gadget of a ring, whose base is the setting `key`.
    pub fn build<W: Word>(&self, ring: &Arc<Ring<W>>, key: &str) -> Result<RingGadget<W>, Refusal> {
        RingGadget::new(ring, self.family, self.base, self.dropped).map_err(Refusal::of(key))
    }

    /// The gadget modulo `q`, whose base is the setting `key`.
    pub fn modulo(&self, q: u64, kernel: Kernel, key: &str) -> Result<Box<dyn Gadget<u64>>, Refusal> {
        new_gadget(self.family, q, self.base, self.dropped, kernel).map_err(Refusal::of(key))
    }
}

impl Described {
    /// Adds counts.
    pub fn counts<const N: usize>(&mut self, counts: [(&str, usize); N]) {
        self.counts.extend(counts.map(|(name, count)| (name.to_string(), count as f64)));
    }

    /// Adds the description of a gadget's digits.
    pub fn digits(&mut self, length: usize, error_bound: u128, moments: &[Moments]) {
        let of = |f: fn(&Moments) -> f64| json!(moments.iter().map(f).collect::<Vec<_>>());
        self.settings.insert("length".into(), json!(length));
        self.settings.insert("gadget_error_bound".into(), json!(error_bound.to_string()));
        self.settings.insert("digit_means".into(), of(|m| m.mean));
        self.settings.insert("digit_mean_squares".into(), of(|m| m.mean_square));
    }
}
