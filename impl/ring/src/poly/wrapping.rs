//! Products modulo X^N + 1 and 2^32 or 2^64, which have no roots of unity, through primes that exceed the exact product.

use super::{Coefficient, Poly, Ring, RingError};
use crate::kernel::Kernel;
use crate::primes::primes_below;
use std::sync::Arc;

/// Exact products of polynomials with 32-bit or 64-bit coefficients, modulo X^N + 1 and the word. Coefficients are read as
/// centred, so those of the product are at most N * 2^62 or N * 2^126 in magnitude: for N to 2^16, two and three primes of 50
/// bits exceed twice that.
#[derive(Clone, Debug)]
pub struct WrappingProduct {
    narrow: Arc<Ring<u64>>,
    wide: Arc<Ring<u64>>,
}

/// Short enough for the 52-bit multipliers that some processors have.
const PRIME_BITS: u32 = 50;

impl WrappingProduct {
    /// Products of `n` coefficients.
    pub fn new(n: usize, kernel: Kernel) -> Result<Self, RingError> {
        let primes: Vec<u64> = primes_below(PRIME_BITS, 2 * n as u64).take(3).collect();
        let wide = Ring::new(n, &primes, kernel)?;
        Ok(Self { narrow: Ring::new(n, &primes[..2], kernel)?, wide })
    }

    /// a * b modulo X^N + 1 and 2^32.
    ///
    /// # Panics
    /// If a slice has not N elements.
    pub fn mul_u32(&self, a: &[u32], b: &[u32], out: &mut [u32]) {
        let signed = |x: &[u32]| x.iter().map(|x| i64::from(*x as i32)).collect::<Vec<_>>();
        let product = multiply(&self.narrow, &signed(a), &signed(b));
        assert_eq!(out.len(), product.len(), "N coefficients");
        out.iter_mut().zip(product).for_each(|(out, x)| *out = x as u32);
    }

    /// a * b modulo X^N + 1 and 2^64.
    ///
    /// # Panics
    /// If a slice has not N elements.
    pub fn mul_u64(&self, a: &[u64], b: &[u64], out: &mut [u64]) {
        out.copy_from_slice(&multiply(&self.wide, bytemuck::cast_slice(a), bytemuck::cast_slice(b)));
    }
}

/// The exact product, modulo 2^64.
fn multiply(ring: &Ring<u64>, a: &[i64], b: &[i64]) -> Vec<u64> {
    let mut product = ring.forward(ring.from_signed(a));
    ring.mul_assign(&mut product, &ring.forward(ring.from_signed(b)));
    let product: Poly<u64, Coefficient> = ring.inverse(product);
    let mut out = vec![0; ring.n()];
    ring.rns().compose_centred_wrapping(product.as_slice(), &mut out);
    out
}
