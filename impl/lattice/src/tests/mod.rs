//! Every operation at toy size against schoolbook phases, over rings of both words and gadgets of both integer sizes.

mod ciphertexts;
mod convert;
mod galois;
mod products;
mod refusals;
mod switching;
mod vectors;
mod work;

use crate::rlwe::{Masks, Rlwe, RlweKey};
use crate::{LatticeError, RingGadget, Secret, TraceKeys, Workspace};
use gadget::{Coins, Family};
use rand::RngCore;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::primes::primes_below;
use ring::{Coefficient, DiscreteGaussian, Kernel, Poly, Ring, Seed, StdDev, Word};
use std::sync::Arc;

pub(crate) const SIGMA: f64 = 3.2;

/// What a test needs: a ring, a ternary key, errors, masks, coins.
pub(crate) struct Setup<W: Word> {
    pub ring: Arc<Ring<W>>,
    pub key: RlweKey<W>,
    pub error: DiscreteGaussian,
    pub masks: Masks,
    pub rng: ChaCha20Rng,
    pub workspace: Workspace<W>,
}

/// The oblivious expansion of `input` to the first `count` of 2^depth ciphertexts.
fn expand<W: Word>(
    gadget: &RingGadget<W>,
    input: &Rlwe<W, Coefficient>,
    depth: u32,
    count: usize,
    keys: &TraceKeys<W>,
    workspace: &mut Workspace<W>,
) -> Result<Vec<Rlwe<W, Coefficient>>, LatticeError> {
    let positions: Vec<usize> = (0..count).collect();
    let tree = gadget.coefficient_tree(input, depth, &positions, keys, workspace)?;
    let mut found = tree.collect::<Result<Vec<_>, _>>()?;
    found.sort_unstable_by_key(|(index, _)| *index);
    Ok(found.into_iter().map(|(_, ciphertext)| ciphertext).collect())
}

impl<W: Word> Setup<W> {
    pub fn new(n: usize, prime_bits: u32, limbs: usize, seed: u8) -> Self {
        let primes: Vec<u64> = primes_below(prime_bits, 2 * n as u64).take(limbs).collect();
        let ring = Ring::new(n, &primes, Kernel::best()).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed.into());
        let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap();
        Self {
            ring,
            key,
            error: DiscreteGaussian::new(StdDev(SIGMA)).unwrap(),
            masks: Masks::new(Seed([seed; 16])),
            rng,
            workspace: Workspace::new(Coins::from_seed(Seed([seed ^ 0xff; 16]))),
        }
    }

    pub fn q(&self) -> u128 {
        self.ring.modulus_u128().unwrap()
    }

    pub fn gadget(&self, family: Family, base: u64, dropped: usize) -> RingGadget<W> {
        RingGadget::new(&self.ring, family, base, dropped).unwrap()
    }

    /// A uniform message.
    pub fn uniform(&mut self) -> Poly<W, Coefficient> {
        self.ring.uniform(&mut self.rng)
    }

    /// A polynomial with those leading coefficients.
    pub fn small(&self, coefficients: &[i64]) -> Poly<W, Coefficient> {
        let mut all = vec![0; self.ring.n()];
        all[..coefficients.len()].copy_from_slice(coefficients);
        self.ring.from_signed(&all)
    }

    /// A uniform ternary polynomial.
    pub fn ternary(&mut self) -> Vec<i64> {
        (0..self.ring.n()).map(|_| i64::from(self.rng.next_u32() % 3) - 1).collect()
    }

    /// A fresh encryption in the coefficient domain.
    pub fn encrypt(&mut self, message: &Poly<W, Coefficient>) -> Rlwe<W, Coefficient> {
        let fresh = self.key.encrypt(message, &self.error, &mut self.masks, &mut self.rng);
        fresh.expand(&self.ring).inverse(&self.ring)
    }

    /// b - a s by schoolbook on integers modulo q.
    pub fn phase(&self, ciphertext: &Rlwe<W, Coefficient>) -> Vec<u128> {
        schoolbook_phase(&self.ring, ciphertext, self.key.coefficients())
    }

    /// Asserts that the schoolbook phase is within `bound` of `expected`.
    pub fn assert_phase(&self, ciphertext: &Rlwe<W, Coefficient>, expected: &[u128], bound: f64) {
        assert_close(&self.phase(ciphertext), expected, self.q(), bound);
    }

    pub fn integers(&self, poly: &Poly<W, Coefficient>) -> Vec<u128> {
        integers(&self.ring, poly)
    }

    /// Eight standard deviations of a product's noise, digits at their bound, and what dropped digits add.
    pub fn product_bound(&self, gadget: &RingGadget<W>, parts: usize) -> f64 {
        let n = self.ring.n() as f64;
        let digits = (parts * gadget.length()) as f64;
        8.0 * (digits * n).sqrt() * gadget.bound() as f64 * SIGMA + gadget.error_bound() as f64 * n * (1.0 + n)
    }
}

pub(crate) fn integers<W: Word>(ring: &Ring<W>, poly: &Poly<W, Coefficient>) -> Vec<u128> {
    let mut out = vec![0; ring.n()];
    ring.compose_u128(poly, &mut out);
    out
}

pub(crate) fn assert_close(found: &[u128], expected: &[u128], q: u128, bound: f64) {
    assert_eq!(found.len(), expected.len());
    for (j, (&x, &y)) in found.iter().zip(expected).enumerate() {
        let distance = (x + q - y) % q;
        let distance = distance.min(q - distance) as f64;
        assert!(distance <= bound, "coefficient {j}: {distance} > {bound}");
    }
}

/// f g modulo X^N + 1 and q, g small.
pub(crate) fn schoolbook(f: &[u128], g: &[i64], q: u128) -> Vec<u128> {
    let n = f.len();
    let mut out = vec![0; n];
    for (i, &x) in f.iter().enumerate() {
        for (j, &y) in g.iter().enumerate() {
            let product = x * u128::from(y.unsigned_abs()) % q;
            let negative = (y < 0) != (i + j >= n);
            let slot = &mut out[(i + j) % n];
            *slot = (*slot + if negative { q - product } else { product }) % q;
        }
    }
    out
}

pub(crate) fn schoolbook_phase<W: Word>(ring: &Ring<W>, ciphertext: &Rlwe<W, Coefficient>, s: &[i32]) -> Vec<u128> {
    let q = ring.modulus_u128().unwrap();
    let s: Vec<i64> = s.iter().map(|&s| s.into()).collect();
    let mask = schoolbook(&integers(ring, &ciphertext.a), &s, q);
    integers(ring, &ciphertext.b).into_iter().zip(mask).map(|(b, mask)| (b + q - mask) % q).collect()
}

/// Runs a generic test over one prime and two in words of 32 bits, one and two in words of 64 (q of 28, 56, 50 and 100 bits).
macro_rules! on_all_rings {
    ($name:ident, $check:ident) => {
        #[test]
        fn $name() {
            $check(&mut crate::tests::Setup::<u32>::new(64, 30, 1, 1));
            $check(&mut crate::tests::Setup::<u32>::new(128, 28, 2, 2));
            $check(&mut crate::tests::Setup::<u64>::new(64, 50, 1, 3));
            $check(&mut crate::tests::Setup::<u64>::new(64, 50, 2, 4));
        }
    };
}
pub(crate) use on_all_rings;
