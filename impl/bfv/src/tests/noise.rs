//! Measured noise against the formulas: standard deviations of v, on 20 keys and at least 2^14 coefficients.

use super::setup::{SIGMA, Shape};
use super::*;
use crate::{Multiplier, RnsGadget, Scheme};
use lattice::noise::Moments;

const KEYS: u64 = 20;
const N: usize = 256;

/// What the formulas take.
struct Formula {
    /// Norm of t(X).
    norm: f64,
    /// Norm of t(X)^2: what noise, a multiple of t(X), becomes by another such multiple.
    square_norm: f64,
    /// What a product by a uniform short plaintext multiplies the variance by.
    plaintext: f64,
    q: f64,
    /// Weight of the secret: 2N/3.
    weight: f64,
    /// Variance of the noise that key switching adds to a phase.
    switch: f64,
}

impl Formula {
    fn of(setup: &Setup<u64>) -> Self {
        let weight = 2.0 * N as f64 / 3.0;
        let square: Vec<i64> = product(&t(setup.modulus()), &t(setup.modulus()));
        let (norm, square_norm) = (setup.modulus().norm(), norm(&square));
        // A short plaintext is t(X) times fractions. Where these are independent, as the trinomial's are, its product with noise t(X) e is
        // t(X)^2 times them. A binomial's fraction is b times its neighbour modulo 1: its digits, -b/2 to b/2 with half the weight at both
        // ends, have variance (b^2 + 2)/12 and, an end being followed by a digit of the other sign, covariance -b/8.
        let growth = match setup.modulus().id().family {
            Family::Integer { t } => ((t as f64).powi(2) - 1.0) / 12.0,
            Family::Binomial { b, .. } => {
                let b = b as f64;
                (b * b + 2.0) / 12.0 + 2.0 * b * (b / 8.0) / (1.0 + b * b)
            }
            Family::Goldilocks => (square_norm / norm).powi(2) / 12.0,
        };
        Self {
            norm,
            square_norm,
            plaintext: N as f64 * growth,
            q: setup.ring().modulus_log2().exp2(),
            weight,
            switch: switch(&setup.gadget, setup.base_log2, weight),
        }
    }

    /// A fresh encryption: the error, and the rounding of q z / t.
    fn fresh(&self) -> f64 {
        self.norm.powi(2) * (SIGMA.powi(2) + 1.0 / 12.0) / self.q.powi(2)
    }

    /// Times a uniform short plaintext.
    fn plaintext(&self, before: f64) -> f64 {
        before * self.plaintext
    }

    fn switched(&self, before: f64) -> f64 {
        before + self.norm.powi(2) * self.switch / self.q.powi(2)
    }

    /// A product: each noise times what the other operand exceeds its plaintext by, in multiples of t; the rounding.
    fn product(&self, left: f64, right: f64) -> f64 {
        let rounding = (1.0 + self.weight + 2.0 * self.weight.powi(2)) / 12.0;
        let growth = (self.square_norm / self.norm).powi(2);
        let cross = (left + right) * N as f64 * growth * (1.0 + self.weight) / 12.0;
        self.switched(cross + self.norm.powi(2) * rounding / self.q.powi(2))
    }

    fn rescaled(&self, before: f64, modulus: f64) -> f64 {
        before + self.norm.powi(2) * (1.0 + self.weight) / 12.0 / modulus.powi(2)
    }
}

fn norm(f: &[i64]) -> f64 {
    f.iter().map(|x| (*x as f64).powi(2)).sum::<f64>().sqrt()
}

fn t(modulus: &PlainModulus) -> Vec<i64> {
    let mut t = vec![0; modulus.n()];
    modulus.terms().for_each(|(exponent, coefficient)| t[exponent] += coefficient);
    t
}

/// N sum of the digits' mean squares times sigma^2, divided by P^2; with P, the rounding.
fn switch(gadget: &RnsGadget<u64>, base_log2: u32, weight: f64) -> f64 {
    let base = f64::from(base_log2).exp2();
    let squares = gadget.ring().primes().iter().map(|q| {
        let others = ((u64::BITS - q.leading_zeros()).div_ceil(base_log2) - 1) as i32;
        let last = *q as f64 / base.powi(others);
        (base.powi(2) * f64::from(others) + last.powi(2)) / 12.0
    });
    let squares: f64 = squares.sum();
    let special: f64 = gadget.key_ring().primes()[gadget.ring().primes().len()..].iter().map(|p| *p as f64).product();
    let rounding = if special > 1.0 { (1.0 + weight) / 12.0 } else { 0.0 };
    N as f64 * squares * SIGMA.powi(2) / special.powi(2) + rounding
}

/// Measured moments, by operation.
#[derive(Default)]
struct Measured {
    fresh: Moments,
    plaintext: Moments,
    rotated: Moments,
    product: Moments,
    rescaled: Moments,
}

fn measure(shape: Shape, family: Family, tolerance: f64) {
    let (mut measured, mut formula) = (Measured::default(), None);
    for seed in 0..KEYS {
        let mut setup = Setup::<u64>::new(shape, family, seed + 1);
        formula = Some(Formula::of(&setup));
        let multiplier = Multiplier::new(&setup.scheme).unwrap();
        let relinearisation = setup.relinearisation_key();
        let rotation = setup.rotation_key(setup.modulus().id().rotation(1));
        let short = Scheme::new(&setup.ring().prefix(1).unwrap(), setup.modulus()).unwrap();
        let short_key = lattice::RlweKey::from_coefficients(short.ring(), setup.key.coefficients().to_vec()).unwrap();
        for _ in 0..4 {
            let [x, y] = [0; 2].map(|_| setup.plaintext());
            let [left, right] = [&x, &y].map(|z| setup.encrypt(z));
            let reduced = setup.modulus().shorten(&product(&x, &y)).unwrap();
            let noise = |ciphertext, z: &[i64]| setup.scheme.noise(&setup.key, ciphertext, z).unwrap();
            measured.fresh.add(&noise(&left, &x));
            let mut scaled = left.clone();
            scaled.mul_plain_assign(setup.ring(), &setup.scheme.prepare(&y).unwrap());
            measured.plaintext.add(&noise(&scaled, &reduced));
            let turned = setup.gadget.automorphism(&left, &rotation).unwrap();
            let image = setup.modulus().substitute(&x, rotation.exponent()).unwrap();
            measured.rotated.add(&noise(&turned, &setup.modulus().shorten(&image).unwrap()));
            let [a, b] = [&left, &right].map(|ciphertext| multiplier.lift(ciphertext.clone()).unwrap());
            let found = multiplier.multiply(&a, &b, &setup.gadget, &relinearisation).unwrap();
            measured.product.add(&noise(&found, &reduced));
            let rescaled = left.inverse(setup.ring()).rescale(setup.ring(), short.ring()).unwrap();
            measured.rescaled.add(&short.noise(&short_key, &rescaled.forward(short.ring()), &x).unwrap());
        }
    }
    let formula = formula.unwrap();
    let fresh = formula.fresh();
    let first = (2f64).powi(shape.bits as i32);
    for (name, measured, expected) in [
        ("fresh", measured.fresh, fresh),
        ("times a plaintext", measured.plaintext, formula.plaintext(fresh)),
        ("rotated", measured.rotated, formula.switched(fresh)),
        ("product", measured.product, formula.product(fresh, fresh)),
        ("switched to one prime", measured.rescaled, formula.rescaled(fresh, first)),
    ] {
        assert!(measured.samples >= 1 << 14);
        let (found, expected) = (measured.mean_square().log2() / 2.0, expected.log2() / 2.0);
        println!("{family:?}, {name}: measured 2^{found:.2}, formula 2^{expected:.2}");
        assert!((found - expected).abs() <= tolerance, "{family:?}, {name}: {found:.2} against {expected:.2}");
    }
}

#[test]
fn integers() {
    measure(Shape { n: N, bits: 45, primes: 2, special: 0, base_log2: 16 }, Family::Integer { t: 65537 }, 0.3);
    measure(Shape { n: N, bits: 45, primes: 2, special: 1, base_log2: 61 }, Family::Integer { t: 7681 }, 0.3);
}

#[test]
fn binomials() {
    measure(Shape { n: N, bits: 40, primes: 2, special: 1, base_log2: 61 }, Family::Binomial { k: 32, b: 65620 }, 0.3);
    measure(Shape { n: N, bits: 40, primes: 2, special: 0, base_log2: 20 }, Family::Binomial { k: 64, b: 288 }, 0.3);
    measure(Shape { n: N, bits: 40, primes: 2, special: 1, base_log2: 61 }, Family::Binomial { k: 16, b: 2 }, 0.3);
}

#[test]
fn goldilocks() {
    measure(Shape { n: N, bits: 40, primes: 2, special: 1, base_log2: 61 }, Family::Goldilocks, 0.3);
}
