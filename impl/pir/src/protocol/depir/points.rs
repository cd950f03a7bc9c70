//! Ciphertexts, polynomials in the secret, at points of a prime field, and back: the server evaluates the polynomial of records there.

use ring::primes::root_of_unity;
use ring::{Kind, Modulus, RingShape, Work};

use super::interpolate::inverse_vandermonde;
use super::set::Set;
use crate::core::{Error, Result};

/// Points modulo a prime.
pub struct Points {
    modulus: Modulus<u32>,
    points: Vec<u32>,
    /// The matrix that takes values at the points to coefficients of Y^0 to Y^D.
    inverse: Vec<Vec<u32>>,
}

impl Points {
    /// The points of a set modulo a prime: roots of unity, or the first integers.
    pub fn new(set: &Set, prime: u64) -> Result<Self> {
        let modulus = Modulus::new(prime as u32)?;
        let points: Vec<u32> = match set.roots {
            None => (0..=set.degree as u32).collect(),
            Some(k) => {
                let root = root_of_unity(prime, k as u64);
                let root =
                    root.ok_or_else(|| Error::value("roots", format!("no roots of order {k} modulo {prime}.")))?;
                (0..k as u64).map(|i| modulus.pow(root as u32, i)).collect()
            }
        };
        Ok(Self { inverse: inverse_vandermonde(&modulus, &points, set.degree + 1), modulus, points })
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// c_0 + c_1 Y + (q - 1) / 2 at point number `point`: tables take coordinates so.
    pub fn evaluate(&self, point: usize, constant: &[u32], linear: &[u32], out: &mut [u32]) {
        let (modulus, y) = (&self.modulus, self.points[point]);
        let (quotient, half) = (modulus.shoup(y), modulus.value() / 2);
        for ((out, constant), linear) in out.iter_mut().zip(constant).zip(linear) {
            *out = modulus.add(modulus.add(modulus.mul_shoup(*linear, y, quotient), *constant), half);
        }
    }

    /// Coefficient number `j` of the polynomials with these values, which lie point by point.
    pub fn coefficient(&self, j: usize, values: &[Vec<u32>], first: usize, out: &mut [u32]) {
        let modulus = &self.modulus;
        out.fill(0);
        for (values, factor) in values.iter().zip(&self.inverse[j]) {
            let (quotient, values) = (modulus.shoup(*factor), &values[first..]);
            for (out, value) in out.iter_mut().zip(values) {
                *out = modulus.add(*out, modulus.mul_shoup(*value, *factor, quotient));
            }
        }
    }
}

/// The work of evaluating the ciphertexts of a query at all points.
pub fn evaluate_work(set: &Set, ring: RingShape) -> Work {
    ring.products((set.variables * set.points()) as u64)
}

/// The work of finding the coefficients of all columns.
pub fn coefficients_work(set: &Set, ring: RingShape, columns: u64) -> Work {
    let products = columns.saturating_mul((set.points() * (set.degree + 1)) as u64);
    Work::of(Kind::ResidueMultiplyAdds, &[products, (ring.degree * ring.primes) as u64])
}
