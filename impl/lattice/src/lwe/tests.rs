use super::*;
use crate::LatticeError;
use crate::wire;
use gadget::{Coins, Family, Gadget, new_gadget};
use rand::RngCore;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{DiscreteGaussian, Kernel, Modulus, Seed, StdDev};
use std::sync::Arc;

const MODULI: [u64; 4] = [1 << 32, (1 << 42) + 1, 66_974_689_739_603_969, (1 << 62) - 57];

fn modulus(q: u64) -> Modulus<u64> {
    Modulus::new(q).unwrap()
}

fn distance(x: u64, y: u64, q: u64) -> u64 {
    let d = (u128::from(x) + u128::from(q) - u128::from(y)) % u128::from(q);
    d.min(u128::from(q) - d) as u64
}

/// b - <a, s> by integers.
fn reference_phase(key: &LweKey, ciphertext: &Lwe) -> u64 {
    let q = i128::from(ciphertext.modulus.value());
    let mask = ciphertext
        .a
        .iter()
        .zip(key.coefficients())
        .fold(0i128, |sum, (&a, &s)| (sum + i128::from(a) * i128::from(s)).rem_euclid(q));
    (i128::from(ciphertext.b) - mask).rem_euclid(q) as u64
}

#[test]
fn ciphertexts_open_add_and_travel() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let error = DiscreteGaussian::new(StdDev(3.2)).unwrap();
    for q in MODULI {
        let key = LweKey::sample(&Secret::Gaussian(StdDev(3.2)), 300, &mut rng).unwrap();
        let (x, y) = (rng.next_u64() % q, rng.next_u64() % q);
        let (cx, cy) = (key.encrypt(modulus(q), x, &error, &mut rng), key.encrypt(modulus(q), y, &error, &mut rng));
        let phase = key.phase(&cx).unwrap();
        assert_eq!(phase, reference_phase(&key, &cx));
        assert!(distance(phase, x, q) < 32);
        let mut difference = cx.clone();
        difference.sub_assign(&cy).unwrap();
        let expected = (u128::from(x) + u128::from(q - y)) % u128::from(q);
        assert!(distance(reference_phase(&key, &difference), expected as u64, q) < 64);
        assert!(difference.sub_assign(&Lwe::trivial(modulus(q), 299, 0)).is_err());
        assert!(key.phase(&Lwe::trivial(modulus(q), 299, 0)).is_err());
    }
}

#[test]
fn modulus_switch_scales_the_phase() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let error = DiscreteGaussian::new(StdDev(3.2)).unwrap();
    let key = LweKey::sample(&Secret::Binary, 512, &mut rng).unwrap();
    for q in MODULI {
        for to in [4096u64, 268_369_921] {
            let message = rng.next_u64() % q;
            let out = key.encrypt(modulus(q), message, &error, &mut rng).switch_modulus(modulus(to));
            let expected = (u128::from(message) * u128::from(to) / u128::from(q)) as u64;
            // Half a unit for each of at most 512 ones, and the body.
            assert!(distance(key.phase(&out).unwrap(), expected, to) < 258);
        }
    }
}

#[test]
fn compensation_halves_the_error_of_binary_secrets() {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let (n, samples, to) = (480, 4000, 4096u64);
    for q in [1 << 20, (1 << 42) + 1, (1 << 62) - 57] {
        let mut squares = [0.0; 2];
        for _ in 0..samples {
            let key = LweKey::sample(&Secret::Binary, n, &mut rng).unwrap();
            let input =
                Lwe { modulus: modulus(q), a: (0..n).map(|_| rng.next_u64() % q).collect(), b: rng.next_u64() % q };
            let exact = key.phase(&input).unwrap() as f64 * to as f64 / q as f64;
            let outputs = [input.switch_modulus(modulus(to)), input.switch_modulus_compensated(modulus(to))];
            for (output, squares) in outputs.iter().zip(&mut squares) {
                let error = reference_phase(&key, output) as f64 - exact;
                *squares += (error - (error / to as f64).round() * to as f64).powi(2);
            }
        }
        let [plain, compensated] = squares.map(|squares| squares / f64::from(samples));
        let expected = [n as f64 / 24.0, n as f64 / 48.0].map(|mask| mask + 1.0 / 12.0);
        // The plain error has the mean 0 as well, for masks are uniform; four standard deviations of a variance of as many samples.
        let tolerance = 4.0 * (2.0 / f64::from(samples)).sqrt();
        assert!((plain / expected[0] - 1.0).abs() < tolerance, "{plain} {expected:?}");
        assert!((compensated / expected[1] - 1.0).abs() < tolerance, "{compensated} {expected:?}");
    }
}

#[test]
fn reduction_to_a_divisor_is_exact() {
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    let error = DiscreteGaussian::new(StdDev(3.2)).unwrap();
    let key = LweKey::sample(&Secret::Gaussian(StdDev(3.2)), 100, &mut rng).unwrap();
    let input = key.encrypt(modulus(1 << 32), 0x1234_5678, &error, &mut rng);
    let reduced = input.reduce_modulus(modulus(1 << 12)).unwrap();
    assert_eq!(reference_phase(&key, &reduced), reference_phase(&key, &input) % (1 << 12));
    assert!(matches!(input.reduce_modulus(modulus(1000)), Err(LatticeError::Mismatch(_))));
}

#[test]
fn switches_side_by_side_equal_those_alone() {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let error = DiscreteGaussian::new(StdDev(3.2)).unwrap();
    for (q, bytes) in [(1 << 16, 4), (1 << 32, 4), (1 << 33, 8), ((1 << 30) + 1, 4), ((1 << 31) + 11, 8)] {
        let old = LweKey::sample(&Secret::Ternary, 43, &mut rng).unwrap();
        let new = LweKey::sample(&Secret::Binary, 31, &mut rng).unwrap();
        for kernel in Kernel::available() {
            let gadget: Arc<dyn Gadget<u64>> = new_gadget(Family::Balanced, q, 8, 1, kernel).unwrap().into();
            let key = SeededLweSwitchKey::new(&old, &new, gadget.as_ref(), &error, Seed([1; 16]), &mut rng).unwrap();
            let switcher = LweSwitcher::new(key.expand().unwrap(), gadget.clone()).unwrap();
            assert_eq!(switcher.dimensions(), (43, 31));
            assert_eq!(LweSwitchKey::bytes(modulus(q), 43, 31, gadget.length()), 43 * gadget.length() * 32 * bytes);
            let inputs: Vec<_> =
                (0..3).map(|_| old.encrypt(modulus(q), rng.next_u64() % q, &error, &mut rng)).collect();
            let mut coins = Coins::from_seed(Seed([2; 16]));
            let together = switcher.switch_all(&inputs, &mut coins).unwrap();
            for (input, output) in inputs.iter().zip(&together) {
                assert_eq!(switcher.switch(input, &mut coins).unwrap(), *output);
                let noise = 8.0 * 3.2 * 4.0 * (43.0 * gadget.length() as f64).sqrt() + 43.0 * 4.0 + 32.0;
                let found = distance(reference_phase(&new, output), reference_phase(&old, input), q);
                assert!((found as f64) < noise, "{q} {kernel}: {found} {noise}");
            }
        }
    }
}

#[test]
fn key_switch_keeps_the_phase() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let error = DiscreteGaussian::new(StdDev(3.2)).unwrap();
    let mut coins = Coins::from_seed(Seed([5; 16]));
    for q in MODULI {
        let old = LweKey::sample(&Secret::Ternary, 130, &mut rng).unwrap();
        let new = LweKey::sample(&Secret::Binary, 77, &mut rng).unwrap();
        for (family, dropped) in
            [(Family::Balanced, 0), (Family::Balanced, 2), (Family::Unsigned, 0), (Family::Zy22, 0), (Family::Jlp24, 0)]
        {
            let gadget: Arc<dyn Gadget<u64>> = new_gadget(family, q, 8, dropped, Kernel::best()).unwrap().into();
            let seed = Seed([q as u8 ^ dropped as u8; 16]);
            let key = SeededLweSwitchKey::new(&old, &new, gadget.as_ref(), &error, seed, &mut rng).unwrap();
            let bytes = key.to_bytes();
            assert_eq!(bytes.len(), SeededLweSwitchKey::wire_bytes(modulus(q), 130, gadget.length()));
            assert_eq!(
                bytes.len(),
                wire::SEED_BYTES + (130 * gadget.length() * (64 - (q - 1).leading_zeros() as usize)).div_ceil(8)
            );
            let back = SeededLweSwitchKey::from_bytes(gadget.as_ref(), (130, 77), &bytes).unwrap();
            assert_eq!(back, key);
            let switcher = LweSwitcher::new(key.expand().unwrap(), gadget.clone()).unwrap();
            let message = rng.next_u64() % q;
            let input = old.encrypt(modulus(q), message, &error, &mut rng);
            let out = switcher.switch(&input, &mut coins).unwrap();
            assert_eq!(out.a.len(), 77);
            let terms = (130 * gadget.length()) as f64;
            let noise = 8.0 * 3.2 * gadget.bound() as f64 * terms.sqrt() + 130.0 * gadget.error_bound() as f64 + 32.0;
            let found = distance(reference_phase(&new, &out), message, q);
            assert!((found as f64) < noise, "{family} {q}: {found} {noise}");
            assert!(switcher.switch(&Lwe::trivial(modulus(q), 129, 0), &mut coins).is_err());
        }
    }
}

#[test]
fn foreign_keys_and_ciphertexts_are_refused() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let error = DiscreteGaussian::new(StdDev(3.2)).unwrap();
    let q = 66_974_689_739_603_969;
    let made = |q: u64, base: u64, dropped: usize| -> Arc<dyn Gadget<u64>> {
        new_gadget(Family::Balanced, q, base, dropped, Kernel::best()).unwrap().into()
    };
    let own = made(q, 1 << 19, 0);
    let [old, new] = [40, 30].map(|dimension| LweKey::sample(&Secret::Ternary, dimension, &mut rng).unwrap());
    let key = SeededLweSwitchKey::new(&old, &new, own.as_ref(), &error, Seed([1; 16]), &mut rng).unwrap();
    let refused = |gadget| matches!(LweSwitcher::new(key.expand().unwrap(), gadget), Err(LatticeError::Mismatch(_)));
    // As many digits, or a number that divides the rows, in another base; another modulus; digits dropped.
    assert_eq!([made(q, 1 << 20, 0).length(), made(q, 1 << 15, 1).length(), own.length()], [3; 3]);
    for gadget in [made(q, 1 << 20, 0), made(q, 1 << 15, 1), made(q, 1 << 19, 1), made(q, 1 << 14, 0)] {
        assert!(refused(gadget));
    }
    assert!(refused(made(q - 2, 1 << 19, 0)));
    // What is read back belongs to the gadget it was read for.
    let back = SeededLweSwitchKey::from_bytes(made(q, 1 << 20, 0).as_ref(), (40, 30), &key.to_bytes()).unwrap();
    assert!(LweSwitcher::new(back.expand().unwrap(), own.clone()).is_err());
    let switcher = LweSwitcher::new(key.expand().unwrap(), own).unwrap();
    let mut coins = Coins::from_seed(Seed([5; 16]));
    let mut outcome = |q, dimension| switcher.switch(&Lwe::trivial(modulus(q), dimension, 0), &mut coins);
    assert!(outcome(q, 40).is_ok());
    for (q, dimension) in [(q - 2, 40), (q, 39), (q, 30)] {
        assert!(matches!(outcome(q, dimension), Err(LatticeError::Mismatch(_))));
    }
}

#[test]
fn lazy_sums_are_reduced_in_time() {
    // Wide words and narrow ones. More rows than fit between reductions, with the largest digits and residues.
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let error = DiscreteGaussian::new(StdDev(3.2)).unwrap();
    for q in [(1 << 62) - 57, (1 << 31) - 19] {
        let old = LweKey::sample(&Secret::Ternary, 1500, &mut rng).unwrap();
        let new = LweKey::sample(&Secret::Ternary, 64, &mut rng).unwrap();
        let gadget: Arc<dyn Gadget<u64>> = new_gadget(Family::Unsigned, q, 1 << 20, 0, Kernel::best()).unwrap().into();
        let key = SeededLweSwitchKey::new(&old, &new, gadget.as_ref(), &error, Seed([1; 16]), &mut rng).unwrap();
        let switcher = LweSwitcher::new(key.expand().unwrap(), gadget).unwrap();
        let input = Lwe { modulus: modulus(q), a: vec![q - 1; 1500], b: q - 1 };
        let out = switcher.switch(&input, &mut Coins::from_seed(Seed([2; 16]))).unwrap();
        let found = distance(reference_phase(&new, &out), reference_phase(&old, &input), q);
        assert!((found as f64) < 8.0 * 3.2 * 1_048_576.0 * (6000f64).sqrt());
    }
}
