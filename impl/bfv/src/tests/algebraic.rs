//! Algebraic encryption: polynomials of ciphertexts, switching.

use super::setup::{SIGMA, centred, integers};
use super::*;
use crate::{Algebraic, AlgebraicCiphertext};
use lattice::noise::Moments;
use lattice::{Masks, RlweKey, Secret};
use ring::ntt::transforms_done;
use ring::primes::primes_below;
use ring::{DiscreteGaussian, Kernel, Kind, Ring, Seed, StdDev, Word};

const T: u64 = 257;

struct Bv<W: Word> {
    scheme: Algebraic<W>,
    key: RlweKey<W>,
    error: DiscreteGaussian,
    masks: Masks,
    rng: ChaCha20Rng,
}

impl<W: Word> Bv<W> {
    fn new(n: usize, bits: u32, primes: usize, seed: u64) -> Self {
        let primes: Vec<u64> = primes_below(bits, 2 * n as u64).take(primes).collect();
        let ring = Ring::new(n, &primes, Kernel::best()).unwrap();
        let mut rng = rng(seed);
        Self {
            scheme: Algebraic::new(&ring, T).unwrap(),
            key: RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap(),
            error: DiscreteGaussian::new(StdDev(SIGMA)).unwrap(),
            masks: Masks::new(Seed([seed as u8; 16])),
            rng,
        }
    }

    fn plaintext(&mut self) -> Vec<i64> {
        (0..self.scheme.ring().n()).map(|_| (self.rng.next_u64() % T) as i64 - T as i64 / 2).collect()
    }

    fn encrypt(&mut self, m: &[i64]) -> AlgebraicCiphertext<W> {
        let Self { scheme, key, error, masks, rng } = self;
        scheme.expand(&scheme.encrypt(key, m, error, masks, rng).unwrap())
    }
}

fn reduce(z: &[i64]) -> Vec<i64> {
    let half = T as i64 / 2;
    z.iter().map(|z| (z + half).rem_euclid(T as i64) - half).collect()
}

/// x y z + x, evaluated, switched and decrypted.
fn check_polynomial<W: Word>(bits: u32, primes: usize, kept: usize) {
    let mut bv = Bv::<W>::new(64, bits, primes, 1);
    let [x, y, z] = [0; 3].map(|_| bv.plaintext());
    let [a, b, c] = [&x, &y, &z].map(|m| bv.encrypt(m));
    let mut value = bv.scheme.multiply(&bv.scheme.multiply(&a, &b).unwrap(), &c).unwrap();
    assert_eq!(value.parts.len(), 4);
    bv.scheme.add_assign(&mut value, &a).unwrap();
    let expected: Vec<i64> = product(&reduce(&product(&x, &y)), &z).iter().zip(&x).map(|(p, x)| p + x).collect();
    let before = transforms_done();
    assert_eq!(bv.scheme.decrypt(&bv.key, &value).unwrap(), reduce(&expected));
    let work = Algebraic::<W>::decrypt_work(bv.scheme.ring().shape(), 4);
    assert_eq!(work.get(Kind::Transform(64)), transforms_done() - before);

    let short = Algebraic::new(&bv.scheme.ring().prefix(kept).unwrap(), T).unwrap();
    let key = RlweKey::from_coefficients(short.ring(), bv.key.coefficients().to_vec()).unwrap();
    let before = transforms_done();
    let (switched, factor) = bv.scheme.switch(&value, &short).unwrap();
    let work = Algebraic::<W>::switch_work(bv.scheme.ring().shape(), kept, 4);
    assert_eq!(work.get(Kind::Transform(64)), transforms_done() - before);
    let multiplied: Vec<i64> = reduce(&expected).iter().map(|x| x * factor as i64).collect();
    assert_eq!(short.decrypt(&key, &switched).unwrap(), reduce(&multiplied));
    assert!(short.switch(&switched, &bv.scheme).is_err() && short.decrypt(&bv.key, &switched).is_err());
}

#[test]
fn polynomials_of_ciphertexts_decrypt() {
    check_polynomial::<u64>(50, 3, 1);
    check_polynomial::<u64>(60, 4, 2);
    check_polynomial::<u32>(30, 6, 3);
    check_polynomial::<u32>(25, 20, 4);
}

#[test]
fn fresh_noise_is_t_times_the_error() {
    let mut moments = Moments::default();
    for seed in 1..=20 {
        let mut bv = Bv::<u64>::new(256, 50, 2, seed);
        let q = number(bv.scheme.ring().rns().product());
        for _ in 0..4 {
            let m = bv.plaintext();
            let ciphertext = bv.encrypt(&m);
            let phase = integers(bv.scheme.ring(), &bv.scheme.phase(&bv.key, &ciphertext).unwrap());
            let noise = phase.into_iter().zip(&m).map(|(x, m)| i64::try_from(centred(x - m, &q)).unwrap());
            let noise: Vec<f64> = noise.inspect(|x| assert_eq!(x % T as i64, 0)).map(|x| x as f64).collect();
            moments.add(&noise);
        }
    }
    assert!(moments.samples >= 1 << 14);
    let (found, expected) = (moments.mean_square().log2() / 2.0, (T as f64 * SIGMA).log2());
    assert!((found - expected).abs() < 0.1, "measured 2^{found:.2}, formula 2^{expected:.2}");
}

#[test]
fn impossible_plaintext_moduli_are_refused() {
    let primes: Vec<u64> = primes_below(30, 128).take(2).collect();
    let ring = Ring::<u32>::new(64, &primes, Kernel::best()).unwrap();
    let refused = |t, part: &str| {
        let message = Algebraic::new(&ring, t).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    refused(1, "from 2 to 2^31 - 1, not 1");
    refused(1 << 31, "from 2 to 2^31 - 1");
    refused(primes[1], &format!("common divisor with the prime {}", primes[1]));
}
