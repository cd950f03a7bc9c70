//! The shape of a ring, on which the cost of its operations depends.

use crate::ntt::NttPlan;
use crate::work::{Kind, Work};

/// Degree and number of primes of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingShape {
    /// N.
    pub degree: usize,
    /// Number of primes below 2^28.
    pub primes: usize,
}

impl RingShape {
    /// The work of `number` transforms modulo one prime.
    pub fn ntts(self, number: u64) -> Work {
        Work::of(Kind::Transform(self.degree), &[number])
    }

    /// The work of transforming polynomials, forward or back.
    pub fn transforms(self, polynomials: u64) -> Work {
        self.ntts(polynomials.saturating_mul(self.primes as u64))
    }

    /// The work of multiplying polynomials slot by slot and adding the products up.
    pub fn products(self, products: u64) -> Work {
        Work::of(Kind::ResidueMultiplyAdds, &[products, self.primes as u64, self.degree as u64])
    }

    /// The work of adding or subtracting polynomials, of turning them by a monomial, or of mapping them by an automorphism.
    pub fn moves(self, polynomials: u64) -> Work {
        Work::of(Kind::MovedSlots, &[polynomials, self.primes as u64, self.degree as u64])
    }

    /// Bytes of the tables of a ring's transforms, in words of 32 bits.
    pub fn table_bytes(self) -> u64 {
        self.primes as u64 * NttPlan::<u32>::bytes_for(self.degree)
    }

    /// Bytes of a polynomial in memory, in words of 32 bits.
    pub fn poly_bytes(self) -> u64 {
        (size_of::<u32>() * self.primes * self.degree) as u64
    }
}
