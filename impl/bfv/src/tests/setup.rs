//! A scheme with its keys, at toy size.

use super::*;
use crate::{RnsGadget, Scheme, SeededKey, SwitchingKey, expansion_exponents};
use lattice::{Masks, RingGadget, Rlwe, RlweKey, Secret, Workspace};
use ring::primes::primes_below;
use ring::{Coefficient, DiscreteGaussian, Kernel, Ntt, Poly, Ring, Seed, StdDev, Word};
use std::sync::Arc;

pub(crate) const SIGMA: f64 = 3.2;

/// Degree, bits and number of the primes of q, special primes, bits of a digit.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub n: usize,
    pub bits: u32,
    pub primes: usize,
    pub special: usize,
    pub base_log2: u32,
}

pub(crate) struct Setup<W: Word> {
    pub scheme: Scheme<W>,
    pub gadget: RnsGadget<W>,
    pub base_log2: u32,
    pub key: RlweKey<W>,
    /// The same secret modulo the keys' primes.
    pub wide: RlweKey<W>,
    pub error: DiscreteGaussian,
    pub masks: Masks,
    pub rng: ChaCha20Rng,
}

impl<W: Word> Setup<W> {
    pub fn new(shape: Shape, family: Family, seed: u64) -> Self {
        let primes: Vec<u64> =
            primes_below(shape.bits, 2 * shape.n as u64).take(shape.primes + shape.special).collect();
        let key_ring = Ring::new(shape.n, &primes, Kernel::best()).unwrap();
        let gadget = RnsGadget::new(&key_ring, shape.special, shape.base_log2).unwrap();
        let mut rng = rng(seed);
        let wide = RlweKey::sample(&key_ring, &Secret::Ternary, &mut rng).unwrap();
        let key = RlweKey::from_coefficients(gadget.ring(), wide.coefficients().to_vec()).unwrap();
        let modulus = PlainModulus::new(family, shape.n).unwrap();
        Self {
            scheme: Scheme::new(gadget.ring(), &modulus).unwrap(),
            gadget,
            base_log2: shape.base_log2,
            key,
            wide,
            error: DiscreteGaussian::new(StdDev(SIGMA)).unwrap(),
            masks: Masks::new(Seed([seed as u8; 16])),
            rng,
        }
    }

    /// The same with digits of integers, of which the lowest are dropped.
    pub fn of_integers(mut self, base: u64, dropped: usize) -> Self {
        let digits = RingGadget::new(self.gadget.ring(), gadget::Family::Symmetric, base, dropped).unwrap();
        let special = self.gadget.shape().special;
        self.gadget = RnsGadget::of_integers(&self.gadget.key_ring().clone(), special, digits).unwrap();
        self
    }

    pub fn ring(&self) -> &Arc<Ring<W>> {
        self.scheme.ring()
    }

    pub fn modulus(&self) -> &PlainModulus {
        self.scheme.modulus()
    }

    /// A uniform plaintext.
    pub fn plaintext(&mut self) -> Vec<i64> {
        plaintext(&self.scheme.modulus().clone(), &mut self.rng)
    }

    pub fn encrypt(&mut self, z: &[i64]) -> Rlwe<W, Ntt> {
        let fresh = self.scheme.encrypt(&self.key, z, &self.error, &mut self.masks, &mut self.rng).unwrap();
        fresh.expand(self.scheme.ring())
    }

    pub fn rotation_key(&mut self, exponent: u64) -> SwitchingKey<W> {
        let Self { gadget, wide, error, masks, rng, .. } = self;
        SeededKey::automorphism(gadget, wide, exponent, error, masks, rng).unwrap().expand(gadget).unwrap()
    }

    pub fn relinearisation_key(&mut self) -> SwitchingKey<W> {
        let Self { gadget, wide, error, masks, rng, .. } = self;
        SeededKey::relinearisation(gadget, wide, error, masks, rng).unwrap().expand(gadget).unwrap()
    }

    pub fn decrypt(&self, ciphertext: &Rlwe<W, Ntt>) -> Vec<i64> {
        self.scheme.decrypt(&self.key, ciphertext).unwrap()
    }

    /// q.
    pub fn q(&self) -> BigInt {
        number(self.ring().rns().product())
    }

    /// The coefficients in [0, q).
    pub fn integers(&self, poly: &Poly<W, Coefficient>) -> Vec<BigInt> {
        integers(self.ring(), poly)
    }

    /// b - a s modulo q, by schoolbook.
    pub fn phase(&self, ciphertext: &Rlwe<W, Ntt>) -> Vec<BigInt> {
        let [a, b] = [&ciphertext.a, &ciphertext.b].map(|part| self.integers(&self.ring().inverse(part.clone())));
        let secret: Vec<BigInt> = self.key.coefficients().iter().map(|s| BigInt::from(*s)).collect();
        let product = negacyclic(&a, &secret);
        b.into_iter().zip(product).map(|(b, product)| centred(b - product, &self.q())).collect()
    }
}

pub(crate) fn integers<W: Word>(ring: &Ring<W>, poly: &Poly<W, Coefficient>) -> Vec<BigInt> {
    let length = ring.rns().product().len();
    let mut limbs = vec![0; ring.n() * length];
    ring.rns().compose_limbs(poly.as_slice(), &mut limbs);
    limbs.chunks(length).map(number).collect()
}

/// x modulo q, in [-q/2, q/2).
pub(crate) fn centred(x: BigInt, q: &BigInt) -> BigInt {
    let rest = ((x % q) + q) % q;
    if &rest * 2 >= *q { rest - q } else { rest }
}

/// The integer nearest to x / q, q odd.
pub(crate) fn nearest(x: BigInt, q: &BigInt) -> BigInt {
    let rest = centred(x.clone(), q);
    (x - rest) / q
}

/// t(X) as integers.
pub(crate) fn t(modulus: &PlainModulus) -> Vec<BigInt> {
    let mut t = vec![BigInt::ZERO; modulus.n()];
    modulus.terms().for_each(|(exponent, coefficient)| t[exponent] += coefficient);
    t
}

/// Families of every kind, with primes enough for a product of ciphertexts in words of 64 bits.
pub(crate) fn cases() -> Vec<(Shape, Family)> {
    let shape = |bits, primes, special, base_log2| Shape { n: 64, bits, primes, special, base_log2 };
    vec![
        (shape(50, 2, 0, 16), Family::Integer { t: 7681 }),
        (shape(45, 2, 1, 61), Family::Integer { t: 65537 }),
        (shape(58, 3, 2, 30), Family::Integer { t: ring::primes::primes_below(40, 128).next().unwrap() }),
        (shape(50, 2, 0, 12), Family::Goldilocks),
        (shape(37, 3, 1, 40), Family::Binomial { k: 8, b: 65620 }),
        (shape(30, 2, 1, 31), Family::Binomial { k: 4, b: 2 }),
        (shape(60, 8, 1, 61), Family::Binomial { k: 32, b: 65664 }),
        (shape(37, 4, 2, 20), Family::Binomial { k: 1, b: 65788 }),
    ]
}

/// Keys of an expansion of that many levels, as they travelled.
pub(crate) fn level_keys<W: Word>(setup: &mut Setup<W>, depth: u32) -> Vec<SwitchingKey<W>> {
    let n = setup.ring().n();
    let Setup { gadget, wide, error, masks, rng, .. } = setup;
    let key = |exponent| {
        let bytes = SeededKey::automorphism(gadget, wide, exponent, error, masks, rng).unwrap().to_bytes(gadget);
        SeededKey::from_bytes(gadget, exponent, &bytes).unwrap().expand(gadget).unwrap()
    };
    expansion_exponents(n, depth).map(key).collect()
}

/// An empty workspace.
pub(crate) fn workspace<W: Word>() -> Workspace<W> {
    Workspace::new(gadget::Coins::from_seed(Seed([0; 16])))
}
