//! The two conventions for the size of a Gaussian error, as types that cannot be confused.

use std::f64::consts::PI;

/// Standard deviation of a Gaussian: density proportional to exp(-x^2 / (2 * stddev^2)).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct StdDev(pub f64);

/// Width (often `s` or sigma in lattice papers) of a Gaussian: density proportional to exp(-pi * x^2 / width^2), so that
/// width = stddev * sqrt(2 * pi).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Width(pub f64);

impl From<StdDev> for Width {
    fn from(StdDev(stddev): StdDev) -> Self {
        Self(stddev * (2.0 * PI).sqrt())
    }
}

impl From<Width> for StdDev {
    fn from(Width(width): Width) -> Self {
        Self(width / (2.0 * PI).sqrt())
    }
}

#[cfg(test)]
mod tests;
