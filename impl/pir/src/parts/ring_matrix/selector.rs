//! Selection of polynomials by one ring ciphertext each, as second layer for records too long to pack. The query encrypts the constant 1
//! for one candidate and 0 for the others; its product with the candidates encrypts a whole polynomial of d digits, so nothing is packed.

use lattice::Rlwe;
use ring::{Ntt, Poly, Ring};

use super::RingQueries;

/// A query of a ring ciphertext for each candidate, in the NTT domain.
pub struct Selector {
    ciphertexts: Vec<Rlwe<u32, Ntt>>,
}

impl Selector {
    /// The query with those masks and bodies. `residues` has all coefficients of all candidates modulo the first prime, then modulo the
    /// second.
    pub fn new(ring: &Ring<u32>, queries: &RingQueries, residues: &[u32]) -> Self {
        let (n, entries) = (ring.n(), residues.len() / ring.primes().len());
        let ciphertext = |block: usize| {
            let mut body = ring.zero();
            for (limb, residues) in body.limbs_mut().zip(residues.chunks_exact(entries)) {
                limb.copy_from_slice(&residues[block * n..(block + 1) * n]);
            }
            Rlwe { a: queries.mask(block), b: ring.forward(body) }
        };
        Self { ciphertexts: (0..queries.blocks()).map(ciphertext).collect() }
    }

    /// Adds candidate `index`, a polynomial of small coefficients (missing ones are zero), times its ciphertext to `sum`.
    pub fn add(&self, ring: &Ring<u32>, index: usize, coefficients: &[i16], sum: &mut Rlwe<u32, Ntt>) {
        let mut wide = vec![0i32; ring.n()];
        wide.iter_mut().zip(coefficients).for_each(|(wide, x)| *wide = i32::from(*x));
        let mut candidate: Poly<u32, Ntt> = ring.zero();
        for ((_, plan), limb) in ring.limbs().iter().zip(candidate.limbs_mut()) {
            plan.forward_signed(&wide, limb);
        }
        let ciphertext = &self.ciphertexts[index];
        ring.mul_add_assign(&mut sum.a, &ciphertext.a, &candidate);
        ring.mul_add_assign(&mut sum.b, &ciphertext.b, &candidate);
    }

    /// Its bytes in memory.
    pub fn bytes(ring: &super::Rlwe, candidates: usize) -> u64 {
        2 * candidates as u64 * ring.poly_bytes()
    }
}

#[cfg(test)]
mod tests;
