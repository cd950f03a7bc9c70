//! Scaling, encryption, decryption, switching of answers.

use super::plain::cofactor;
use super::setup::{Shape, cases, centred, nearest, t};
use super::*;
use crate::Scheme;
use lattice::SplitKey;
use ring::Word;

/// Scaling and decryption against q z / t and t w / q, rounded over the integers.
fn check_scaling<W: Word>(shape: Shape, family: Family) {
    let mut setup = Setup::<W>::new(shape, family, 1);
    let (z, q) = (setup.plaintext(), setup.q());
    let scaled = setup.integers(&setup.ring().inverse(setup.scheme.scale(&z).unwrap()));
    // q z / t rounded: q z times p / t, divided by p.
    let p = number(setup.modulus().prime());
    let fractions = negacyclic(&big(&z), &cofactor(family, shape.n));
    for (found, fraction) in scaled.into_iter().zip(fractions) {
        assert_eq!(centred(found, &q), centred(nearest(fraction * &q, &p), &q), "{family:?}");
    }

    let t = t(setup.modulus());
    let ciphertext = setup.encrypt(&z);
    let phase = setup.phase(&ciphertext);
    let message: Vec<i64> =
        negacyclic(&t, &phase).into_iter().map(|x| i64::try_from(nearest(x, &q)).unwrap()).collect();
    assert_eq!(setup.modulus().shorten(&message).unwrap(), z, "{family:?}");
    assert_eq!(setup.decrypt(&ciphertext), z, "{family:?}");
}

#[test]
fn encryptions_decrypt_as_over_the_integers() {
    for (shape, family) in cases() {
        check_scaling::<u64>(shape, family);
    }
    let shape = |primes, special| Shape { n: 128, bits: 28, primes, special, base_log2: 14 };
    check_scaling::<u32>(shape(2, 0), Family::Integer { t: 65537 });
    check_scaling::<u32>(shape(3, 1), Family::Binomial { k: 32, b: 288 });
    check_scaling::<u32>(shape(4, 0), Family::Goldilocks);
}

#[test]
fn sums_and_plaintext_products_are_those_of_the_plaintext_ring() {
    for (shape, family) in cases() {
        let mut setup = Setup::<u64>::new(shape, family, 2);
        let [x, y] = [0; 2].map(|_| setup.plaintext());
        let [mut sum, second] = [&x, &y].map(|z| setup.encrypt(z));
        let mut scaled = sum.clone();
        sum.add_assign(setup.ring(), &second);
        let expected: Vec<i64> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        assert_eq!(setup.decrypt(&sum), setup.modulus().shorten(&expected).unwrap(), "{family:?}");
        if setup.modulus().sum_norm() < 1e6 {
            scaled.mul_plain_assign(setup.ring(), &setup.scheme.prepare(&y).unwrap());
            assert_eq!(setup.decrypt(&scaled), setup.modulus().shorten(&product(&x, &y)).unwrap(), "{family:?}");
        }
    }
}

#[test]
fn answers_are_switched_to_one_prime_or_to_moduli_apart() {
    for (shape, family) in cases() {
        let mut setup = Setup::<u64>::new(shape, family, 3);
        let z = setup.plaintext();
        let ciphertext = setup.encrypt(&z).inverse(setup.ring());
        let scheme = Scheme::new(&setup.ring().prefix(1).unwrap(), setup.modulus()).unwrap();
        let short = ciphertext.rescale(setup.ring(), scheme.ring()).unwrap().forward(scheme.ring());
        let key = lattice::RlweKey::from_coefficients(scheme.ring(), setup.key.coefficients().to_vec()).unwrap();
        let room = shape.bits as f64 > setup.modulus().sum_norm().log2() + 10.0;
        if room {
            assert_eq!(scheme.decrypt(&key, &short).unwrap(), z, "{family:?}");
            let [modulus_a, modulus_b] = [(1 << (shape.bits - 1)) - 1, 1 << (shape.bits - 2)];
            let split = ciphertext.split_switch(setup.ring(), modulus_a, modulus_b).unwrap();
            let opener = SplitKey::new(&setup.key).unwrap();
            assert_eq!(setup.scheme.decrypt_split(&opener, &split, modulus_b).unwrap(), z, "{family:?}");
        }
    }
}

#[test]
fn noise_beyond_a_half_is_measured_and_decrypts_wrong() {
    let (shape, family) = cases()[0];
    let mut setup = Setup::<u64>::new(shape, family, 4);
    let z = setup.plaintext();
    let mut ciphertext = setup.encrypt(&z);
    // Three quarters of q / t.
    let mut shift = vec![0; shape.n];
    shift[5] = setup.ring().modulus_u128().unwrap() / 7681 / 4 * 3;
    let shift = setup.ring().forward(setup.ring().from_u128(&shift));
    setup.ring().add_assign(&mut ciphertext.b, &shift);
    let noise = setup.scheme.noise(&setup.key, &ciphertext, &z).unwrap();
    assert!((noise[5] - 0.75).abs() < 1e-6 && noise[4].abs() < 1e-6, "{:?}", &noise[4..6]);
    let found = setup.decrypt(&ciphertext);
    assert!(found[4] == z[4] && found[5] != z[5]);
}

#[test]
fn schemes_refuse_what_does_not_fit() {
    let (shape, family) = cases()[0];
    let setup = Setup::<u64>::new(shape, family, 5);
    let refused = |family, n, part: &str| {
        let modulus = PlainModulus::new(family, n).unwrap();
        let message = Scheme::new(setup.ring(), &modulus).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    refused(family, 128, "different degrees");
    let prime = setup.ring().primes()[1];
    refused(Family::Integer { t: prime }, 64, &format!("common divisor with the prime {prime}"));
    let short = setup.ring().prefix(1).unwrap();
    let modulus = PlainModulus::new(Family::Integer { t: 1 << 49 }, 64).unwrap();
    assert!(Scheme::new(&short, &modulus).unwrap_err().to_string().contains("not above 4 times"));
    assert!(setup.scheme.scale(&[0; 63]).is_err() && setup.scheme.prepare(&[0; 63]).is_err());
}
