//! A way to pack: method, gamma and gadget.

use std::sync::Arc;

use super::levels::{Level, exponents, levels};
use super::slots;
use crate::decompose::RingGadget;
use crate::error::LatticeError;
use ring::{Coefficient, Poly, Ring};

/// The method of packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// InsPIRe's Algorithm 1 (gamma = N: keys for X -> X^5 and X -> X^-1) and 2 (gamma <= N / 2: one key, X -> X^(2 N / gamma + 1)).
    /// Body j lands in coefficient j; at gamma < N the coefficients from gamma on are arbitrary.
    Inspiring,
    /// The tree of CDKS, with log2 N keys. Body j lands in coefficient j N / gamma, the others become zero up to noise.
    Cdks,
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Inspiring => "inspiring",
            Self::Cdks => "cdks",
        })
    }
}

/// A way to pack gamma ciphertexts: method, gamma and gadget. Rings are of 32-bit words.
#[derive(Clone, Debug)]
pub struct Packing {
    pub(super) method: Method,
    pub(super) gadget: RingGadget<u32>,
    pub(super) gamma: usize,
    /// The levels of CDKS's tree.
    pub(super) levels: Arc<[Level]>,
}

impl Packing {
    /// Packing of up to `gamma` ciphertexts modulo the gadget's modulus.
    ///
    /// # Errors
    /// A gamma that is not a power of two up to N.
    pub fn new(method: Method, gadget: &RingGadget<u32>, gamma: usize) -> Result<Self, LatticeError> {
        let n = gadget.ring().n();
        if !gamma.is_power_of_two() || gamma > n {
            return Err(LatticeError::Parameter(format!(
                "packings hold a power of two up to {n} ciphertexts, not {gamma}"
            )));
        }
        let levels = match method {
            Method::Inspiring => Vec::new(),
            Method::Cdks => levels(gadget.ring(), gamma)?,
        };
        Ok(Self { method, gadget: gadget.clone(), gamma, levels: levels.into() })
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Ciphertexts that one output holds.
    pub fn gamma(&self) -> usize {
        self.gamma
    }

    /// The gadget.
    pub fn gadget(&self) -> &RingGadget<u32> {
        &self.gadget
    }

    /// The ring.
    pub fn ring(&self) -> &Ring<u32> {
        self.gadget.ring()
    }

    /// The coefficient of an output that holds ciphertext j.
    pub fn position(&self, j: usize) -> usize {
        match self.method {
            Method::Inspiring => j,
            Method::Cdks => j * (self.ring().n() / self.gamma),
        }
    }

    /// The automorphism X -> X^k of each key, by role: InspiRING generates the group with the first and, at gamma = N, joins its two
    /// halves with the second; CDKS has level 1 first.
    pub fn exponents(&self) -> Vec<u64> {
        let n = self.ring().n() as u64;
        match self.method {
            Method::Inspiring if self.gamma as u64 == n => vec![5, 2 * n - 1],
            // At gamma = 1 the group is trivial: the only switch is that of X -> X^(2 N + 1), the identity.
            Method::Inspiring if self.gamma == 1 => Vec::new(),
            Method::Inspiring => vec![2 * n / self.gamma as u64 + 1],
            Method::Cdks => exponents(self.ring().n()).collect(),
        }
    }

    /// Sides of the blocks of a table's matrices, which have a band for each role and row. At gamma = N the key that joins InspiRING's halves
    /// is used once, slot by slot and outside of the matrices.
    pub(super) fn sides(&self) -> Vec<usize> {
        let n = self.ring().n();
        let orders = match self.method {
            Method::Inspiring if self.gamma == 1 => Vec::new(),
            Method::Inspiring => vec![self.gamma],
            // The automorphisms above level k: as many as there are residues 1 modulo 2^(k + 1).
            Method::Cdks => (1..=n.ilog2()).map(|k| n >> k).collect(),
        };
        orders.into_iter().flat_map(|order| vec![slots::side(order); self.gadget.length()]).collect()
    }

    /// Bytes of a table that packing reads: a word of 4 bytes for each slot, prime and column of a band, so 4 N gamma ell a prime with
    /// InspiRING (96 MiB for gamma = N = 2048, ell = 3 and two primes).
    pub fn table_bytes(&self) -> usize {
        self.ring().primes().len() * self.ring().n() * self.sides().iter().sum::<usize>() * size_of::<u32>()
    }

    /// Adds the bodies at their coefficients of the output.
    pub(super) fn add_bodies(&self, b: &mut Poly<u32, Coefficient>, bodies: &Poly<u32, Coefficient>) {
        let ring = self.ring();
        for (i, (modulus, _)) in ring.limbs().iter().enumerate() {
            let limb = b.limb_mut(i);
            for (j, &body) in bodies.limb(i)[..self.gamma].iter().enumerate() {
                let position = self.position(j);
                limb[position] = modulus.add(limb[position], body);
            }
        }
    }
}
