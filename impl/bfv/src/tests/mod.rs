//! Every operation against schoolbook arithmetic over the integers.

mod algebraic;
mod multiply;
mod noise;
mod plain;
mod products;
mod scheme;
mod setup;
mod switching;
mod work;

use crate::{Family, PlainModulus};
use num_bigint::BigInt;
use rand::RngCore;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
pub(crate) use setup::Setup;

pub(crate) fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// a b modulo X^N + 1, term by term.
pub(crate) fn negacyclic(a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    let n = a.len();
    let mut out = vec![BigInt::ZERO; n];
    for (i, a) in a.iter().enumerate().filter(|(_, a)| **a != BigInt::ZERO) {
        for (j, b) in b.iter().enumerate().filter(|(_, b)| **b != BigInt::ZERO) {
            let slot = &mut out[(i + j) % n];
            if i + j < n { *slot += a * b } else { *slot -= a * b }
        }
    }
    out
}

pub(crate) fn big(z: &[i64]) -> Vec<BigInt> {
    z.iter().map(|z| BigInt::from(*z)).collect()
}

/// The exact product of two plaintexts, which must fit words.
pub(crate) fn product(a: &[i64], b: &[i64]) -> Vec<i64> {
    let n = a.len();
    let mut out = vec![0i128; n];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            let product = i128::from(*a) * i128::from(*b);
            out[(i + j) % n] += if i + j < n { product } else { -product };
        }
    }
    out.into_iter().map(|x| i64::try_from(x).unwrap()).collect()
}

/// The number in those words.
pub(crate) fn number(words: &[u64]) -> BigInt {
    words.iter().rev().fold(BigInt::ZERO, |sum, word| (sum << 64) + word)
}

/// Uniform values of all slots, below p.
pub(crate) fn values(modulus: &PlainModulus, rng: &mut ChaCha20Rng) -> Vec<u64> {
    let p = number(modulus.prime());
    let mut out = Vec::new();
    for _ in 0..modulus.slots() {
        let wide: Vec<u64> = (0..modulus.words() + 1).map(|_| rng.next_u64()).collect();
        let (_, mut words) = (number(&wide) % &p).to_u64_digits();
        words.resize(modulus.words(), 0);
        out.extend(words);
    }
    out
}

/// A uniform plaintext.
pub(crate) fn plaintext(modulus: &PlainModulus, rng: &mut ChaCha20Rng) -> Vec<i64> {
    modulus.encode(&values(modulus, rng)).unwrap()
}

/// Moduli of every family and length of slots in degree `n` (64 to 256).
pub(crate) fn moduli(n: usize) -> Vec<PlainModulus> {
    let binomial = |e: usize, b| Family::Binomial { k: n / e, b };
    [
        Family::Integer { t: 7681 },
        Family::Integer { t: ring::primes::primes_below(59, 2 * n as u64).next().unwrap() },
        Family::Goldilocks,
        binomial(2, 256),
        binomial(16, 2),
        binomial(4, 288),
        binomial(2, 65664),
        binomial(8, 65620),
        binomial(16, 248),
        binomial(32, 30),
        binomial(64, 65788),
    ]
    .into_iter()
    .map(|family| PlainModulus::new(family, n).unwrap())
    .collect()
}
