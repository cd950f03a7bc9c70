//! The distributions of secret keys, for LWE and RLWE alike.

use crate::lwe::LweError;
use rand::RngCore;
use ring::{DiscreteGaussian, StdDev, secret};
use zeroize::Zeroizing;

/// Distribution of a secret's coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Secret {
    /// Uniform modulo 2^32 (LWE modulo 2^32 only).
    Uniform,
    /// Discrete Gaussian.
    Gaussian(StdDev),
    /// Uniform on {-1, 0, 1}.
    Ternary,
    /// Uniform on {0, 1}.
    Binary,
    /// Uniform on the integers from `low` to `high`.
    UniformRange {
        /// Smallest coefficient.
        low: i32,
        /// Largest coefficient.
        high: i32,
    },
    /// Fixed numbers of ones and of minus ones.
    FixedWeight {
        /// Number of ones.
        plus: usize,
        /// Number of minus ones.
        minus: usize,
    },
}

impl Secret {
    /// A fresh secret of `dimension` residues modulo 2^32, wiped when dropped.
    ///
    /// # Errors
    /// A Gaussian the sampler does not serve, a weight above the dimension.
    pub fn sample(&self, dimension: usize, rng: &mut impl RngCore) -> Result<Zeroizing<Vec<u32>>, LweError> {
        if *self == Self::Uniform {
            let mut key = Zeroizing::new(vec![0; dimension]);
            secret::fill_uniform_u32(rng, &mut key);
            return Ok(key);
        }
        Ok(Zeroizing::new(self.sample_small(dimension, rng)?.iter().map(|&small| secret::residue(small)).collect()))
    }

    /// A fresh secret of `dimension` small integers, wiped when dropped.
    ///
    /// # Errors
    /// A Gaussian the sampler does not serve, a weight above the dimension, the uniform distribution (which is not small).
    pub fn sample_small(&self, dimension: usize, rng: &mut impl RngCore) -> Result<Zeroizing<Vec<i32>>, LweError> {
        let mut key = Zeroizing::new(vec![0; dimension]);
        match self {
            Self::Uniform => return Err(LweError::Parameter("a uniform secret is not small".to_owned())),
            Self::Ternary => secret::fill_ternary(rng, &mut key),
            Self::Binary => key.iter_mut().for_each(|k| *k = secret::binary(rng)),
            Self::UniformRange { low, high } => {
                if low > high {
                    return Err(LweError::Parameter(format!("no integer is from {low} to {high}")));
                }
                let uniform = || rand::Rng::random_range(rng, *low..=*high);
                key.fill_with(uniform);
            }
            Self::FixedWeight { plus, minus } => {
                let weight = plus.saturating_add(*minus);
                if weight > dimension {
                    return Err(LweError::Parameter(format!("weight {weight} exceeds the dimension {dimension}")));
                }
                // The positions are chosen uniformly and in uniform order: the first `plus` of them become ones.
                for (i, position) in rand::seq::index::sample(rng, dimension, weight).into_iter().enumerate() {
                    key[position] = if i < *plus { 1 } else { -1 };
                }
            }
            Self::Gaussian(stddev) => {
                DiscreteGaussian::new(*stddev)
                    .map_err(|error| LweError::Parameter(error.to_string()))?
                    .fill(rng, &mut key);
            }
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests;
