//! Settings of secrets, errors, gadgets and rings, which `noise` and `cmux-chain` share.

use gadget::Family;
use lattice::{RingGadget, Secret};
use ring::primes::primes_below;
use ring::{DiscreteGaussian, Kernel, Ring, StdDev, Word};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::settings::{bounded, required};
use crate::primitive::settings::Refusal;

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

/// A secret's distribution by name.
///
/// # Errors
/// A missing or useless setting.
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

/// A family by name.
///
/// # Errors
/// An unknown name.
pub fn family(name: &str) -> Result<Family, Refusal> {
    name.parse().map_err(|error: gadget::UnknownFamily| Refusal::new("family", error.to_string()))
}

/// Errors of that standard deviation.
///
/// # Errors
/// One the sampler does not serve.
pub fn gaussian(stddev: f64, key: &str) -> Result<DiscreteGaussian, Refusal> {
    DiscreteGaussian::new(StdDev(stddev)).map_err(|error| Refusal::new(key, error.to_string()))
}

/// A gadget's settings.
#[derive(Clone, Copy, Debug)]
pub struct GadgetSettings {
    pub family: Family,
    pub base: u64,
    pub dropped: usize,
}

/// A ring's settings.
#[derive(Clone, Debug)]
pub struct RingSettings {
    pub n: usize,
    /// The primes, distinct, 1 modulo 2 n.
    pub primes: Vec<u64>,
}

impl RingSettings {
    /// The largest distinct primes of those bits.
    ///
    /// # Errors
    /// A dimension or bits out of range, no such primes, a product of 2^126 or more.
    pub fn new(n: usize, prime_bits: Vec<u32>) -> Result<Self, Refusal> {
        if !n.is_power_of_two() || !(64..=65536).contains(&n) {
            return Err(Refusal::new("n", format!("{n} is not a power of two from 64 to 65536.")));
        }
        let refuse = |problem: String| Refusal::new("prime_bits", problem);
        let mut primes: Vec<u64> = Vec::new();
        for bits in prime_bits {
            bounded(bits, "prime_bits", 8..=62)?;
            let prime = primes_below(bits, 2 * n as u64).find(|prime| !primes.contains(prime));
            primes.push(prime.ok_or_else(|| refuse(format!("there is no further prime of {bits} bits for n = {n}.")))?);
        }
        let bits: f64 = primes.iter().map(|&p| (p as f64).log2()).sum();
        if primes.is_empty() || bits >= 126.0 {
            return Err(refuse(format!("their product has {bits:.1} bits; give between one prime and 126 bits.")));
        }
        Ok(Self { n, primes })
    }

    /// Whether the primes fit words of 32 bits.
    pub fn narrow(&self) -> bool {
        self.primes.iter().all(|p| *p < 1 << 31)
    }

    /// The ring.
    ///
    /// # Errors
    /// What the ring refuses.
    pub fn build<W: Word>(&self, kernel: Kernel) -> Result<Arc<Ring<W>>, Refusal> {
        Ring::new(self.n, &self.primes, kernel).map_err(|error| Refusal::new("prime_bits", error.to_string()))
    }
}

impl GadgetSettings {
    /// The gadget of a ring.
    ///
    /// # Errors
    /// What the gadget refuses.
    pub fn build<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<RingGadget<W>, Refusal> {
        RingGadget::new(ring, self.family, self.base, self.dropped)
            .map_err(|error| Refusal::new("base", error.to_string()))
    }
}
