//! Measured noise: phases compared with their expected values.

use crate::error::LatticeError;
use crate::rlwe::check;
use ring::{Coefficient, Poly, Ring, Word};

/// phase - known modulo q, coefficient by coefficient, as centred integers in double precision.
///
/// # Errors
/// A modulus of 2^127 or more, polynomials of another ring.
pub fn errors<W: Word>(
    ring: &Ring<W>,
    phase: &Poly<W, Coefficient>,
    known: &Poly<W, Coefficient>,
) -> Result<Vec<f64>, LatticeError> {
    check(ring, phase)?;
    check(ring, known)?;
    let q = ring
        .modulus_u128()
        .ok_or_else(|| LatticeError::Parameter("noise is measured for moduli of one double word".to_owned()))?;
    let mut difference = phase.clone();
    ring.sub_assign(&mut difference, known);
    let mut residues = vec![0u128; ring.n()];
    ring.compose_u128(&difference, &mut residues);
    let centred = |x: u128| if x > q / 2 { -((q - x) as f64) } else { x as f64 };
    Ok(residues.into_iter().map(centred).collect())
}

/// Sums of samples of a noise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// Number of samples.
    pub samples: u64,
    sum: f64,
    squares: f64,
    /// Largest absolute value.
    pub max: f64,
}

impl Moments {
    /// The moments of those samples.
    pub fn of(samples: &[f64]) -> Self {
        let mut moments = Self::default();
        moments.add(samples);
        moments
    }

    /// Adds samples.
    pub fn add(&mut self, samples: &[f64]) {
        for &x in samples {
            self.sum += x;
            self.squares += x * x;
            self.max = self.max.max(x.abs());
        }
        self.samples += samples.len() as u64;
    }

    /// Adds the samples of another value.
    pub fn merge(&mut self, other: &Self) {
        self.samples += other.samples;
        self.sum += other.sum;
        self.squares += other.squares;
        self.max = self.max.max(other.max);
    }

    /// Mean; 0 without samples.
    pub fn mean(&self) -> f64 {
        self.sum / self.samples.max(1) as f64
    }

    /// Mean of the squares; 0 without samples.
    pub fn mean_square(&self) -> f64 {
        self.squares / self.samples.max(1) as f64
    }

    /// Mean of the squares less the square of the mean.
    pub fn variance(&self) -> f64 {
        self.mean_square() - self.mean() * self.mean()
    }
}
