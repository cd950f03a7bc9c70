//! Plaintext moduli: representatives, slots, automorphisms.

use super::*;
use proptest::prelude::*;
use rand::RngCore;

/// p / t(X), an integer polynomial, from the closed forms of the families.
pub(crate) fn cofactor(family: Family, n: usize) -> Vec<BigInt> {
    let mut out = vec![BigInt::ZERO; n];
    match family {
        Family::Integer { .. } => out[0] = BigInt::from(1),
        Family::Binomial { k, b } => {
            for i in 0..n / k {
                out[k * i] = -BigInt::from(b).pow((n / k - 1 - i) as u32);
            }
        }
        Family::Goldilocks => {
            let (k, mut factor) = (n / 32, vec![BigInt::ZERO; n]);
            (0..32).for_each(|i| out[k * i] = BigInt::from(8).pow(31 - i as u32));
            (factor[0], factor[11 * k]) = (BigInt::from(2), BigInt::from(1));
            out = negacyclic(&out, &factor).into_iter().map(|x| x / ((1u64 << 32) + 1)).collect();
        }
    }
    out
}

fn substitute(f: &[BigInt], exponent: u64) -> Vec<BigInt> {
    let n = f.len();
    let mut out = vec![BigInt::ZERO; n];
    for (i, f) in f.iter().enumerate() {
        let place = (i as u64 * exponent % (2 * n as u64)) as usize;
        out[place % n] = if place < n { f.clone() } else { -f };
    }
    out
}

/// That `short` is t [z / t]_1, for t(X^class) of the family.
fn assert_short(modulus: &PlainModulus, class: u64, z: &[i64], short: &[i64]) {
    let (n, p) = (modulus.n(), number(modulus.prime()));
    let cofactor = substitute(&cofactor(modulus.id().family, n), class);
    let mut t = vec![BigInt::ZERO; n];
    modulus.terms().for_each(|(exponent, coefficient)| t[exponent] += coefficient);
    let unit = negacyclic(&t, &cofactor);
    assert!(unit[0] == p && unit[1..].iter().all(|x| *x == BigInt::ZERO), "p / t(X)");
    let difference: Vec<i64> = z.iter().zip(short).map(|(z, short)| z - short).collect();
    let quotient = negacyclic(&big(&difference), &cofactor);
    assert!(quotient.iter().all(|x| x % &p == BigInt::ZERO), "equal modulo t");
    for fraction in negacyclic(&big(short), &cofactor) {
        assert!(2 * &fraction >= -&p && 2 * fraction < p, "fractions of t in [-1/2, 1/2)");
    }
}

#[test]
fn representatives_are_short() {
    for n in [64, 128] {
        for modulus in moduli(n) {
            let mut rng = rng(n as u64);
            let z: Vec<i64> = (0..n).map(|_| rng.next_u64() as i64 >> 4).collect();
            assert_short(&modulus, 1, &z, &modulus.shorten(&z).unwrap());
            if modulus.id().rows() == 1 {
                let image = modulus.image(3).unwrap();
                assert_ne!(image, modulus, "3 is not 1 modulo 2e");
                assert_short(&image, 3, &z, &image.shorten(&z).unwrap());
            }
        }
    }
}

#[test]
fn slots_add_and_multiply() {
    for modulus in moduli(128) {
        let mut rng = rng(1);
        let [u, v] = [0; 2].map(|_| values(&modulus, &mut rng));
        let [a, b] = [&u, &v].map(|values| modulus.encode(values).unwrap());
        assert_eq!(modulus.shorten(&a).unwrap(), a, "encodings are short");
        assert_eq!(modulus.decode(&a).unwrap(), u);
        let (p, words) = (number(modulus.prime()), modulus.words());
        let sum: Vec<i64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let sum = modulus.decode(&modulus.shorten(&sum).unwrap()).unwrap();
        let slots = |x: &[u64], operation: &dyn Fn(BigInt, BigInt) -> BigInt| {
            let pairs = x.chunks(words).zip(u.chunks(words).zip(v.chunks(words)));
            pairs.for_each(|(x, (u, v))| assert_eq!(number(x), operation(number(u), number(v)) % &p, "{modulus:?}"));
        };
        slots(&sum, &|u, v| u + v);
        if modulus.sum_norm() < 1e6 {
            slots(&modulus.decode(&product(&a, &b)).unwrap(), &|u, v| u * v);
        }
    }
}

/// A plaintext as another short one of several moduli: what automorphisms do to its slots.
fn check_automorphism(modulus: &PlainModulus, exponent: u64, seed: u64) {
    let (image, (places, swapped)) = (modulus.image(exponent).unwrap(), modulus.id().turn(exponent).unwrap());
    let u = values(modulus, &mut rng(seed));
    let mapped = modulus.substitute(&modulus.encode(&u).unwrap(), exponent).unwrap();
    let turned = image.decode(&mapped).unwrap();
    let (words, row) = (modulus.words(), modulus.slots() / modulus.id().rows());
    for i in 0..modulus.slots() {
        let (this, from) = (i / row, (i % row + places) % row);
        let source = row * if swapped { 1 - this } else { this } + from;
        assert_eq!(turned[i * words..][..words], u[source * words..][..words], "{modulus:?}, X^{exponent}, slot {i}");
    }
    assert_eq!(image.shorten(&mapped).unwrap(), image.encode(&turned).unwrap());
}

#[test]
fn rotations_turn_slots() {
    for modulus in moduli(64) {
        for places in [1, 3, modulus.slots() / 2] {
            let row = modulus.slots() / modulus.id().rows();
            let exponent = modulus.id().rotation(places);
            assert_eq!(modulus.image(exponent).unwrap(), modulus);
            assert_eq!(modulus.id().turn(exponent).unwrap(), (places % row, false));
            check_automorphism(&modulus, exponent, 2);
        }
        if modulus.id().rows() == 2 {
            assert_eq!(modulus.id().turn(modulus.id().swap()).unwrap(), (0, true));
            check_automorphism(&modulus, modulus.id().swap(), 3);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn automorphisms_map_slots_and_moduli(half in 0u64..256, second in 0u64..256, seed: u64) {
        for modulus in moduli(128) {
            check_automorphism(&modulus, 2 * half + 1, seed);
            let image = modulus.image(2 * half + 1).unwrap();
            check_automorphism(&image, 2 * second + 1, seed);
        }
    }
}

#[test]
fn degrees_of_protocols_have_slots() {
    for (n, families) in [
        (4096, vec![Family::Binomial { k: 512, b: 65620 }, Family::Binomial { k: 256, b: 288 }, Family::Goldilocks]),
        (16384, vec![Family::Binomial { k: 8192, b: 66560 }, Family::Binomial { k: 256, b: 65788 }]),
        // Table 5.4's largest toy ring.
        (256, vec![Family::Binomial { k: 2, b: toy_base() }]),
    ] {
        for family in families {
            let modulus = PlainModulus::new(family, n).unwrap();
            let values = values(&modulus, &mut rng(5));
            assert_eq!(modulus.decode(&modulus.encode(&values).unwrap()).unwrap(), values, "{family:?}");
        }
    }
}

/// The least even b > 2^15 with b^128 + 1 prime.
fn toy_base() -> u64 {
    let found = ((1 << 15) + 2..1u64 << 16)
        .step_by(2)
        .find(|b| PlainModulus::new(Family::Binomial { k: 2, b: *b }, 256).is_ok());
    found.unwrap()
}

#[test]
fn refusals_name_what_is_wrong() {
    let refused = |family, n, part: &str| {
        let message = PlainModulus::new(family, n).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    refused(Family::Integer { t: 1 }, 64, "from 2 to 2^60 - 1, not 1");
    refused(Family::Integer { t: 257 }, 48, "not 48");
    refused(Family::Binomial { k: 3, b: 2 }, 64, "divides N = 64");
    refused(Family::Binomial { k: 64, b: 2 }, 64, "below it");
    refused(Family::Binomial { k: 4, b: 3 }, 64, "even number");
    // 10^4 + 1 = 73 * 137.
    refused(Family::Binomial { k: 16, b: 10 }, 64, "not prime");
    refused(Family::Binomial { k: 32, b: 10 }, 64, "not 1 modulo 2N = 128");
    refused(Family::Binomial { k: 1, b: 65536 }, 256, "beyond 2112 bits");
    let modulus = PlainModulus::new(Family::Integer { t: 256 }, 64).unwrap();
    assert!(modulus.encode(&[0; 64]).unwrap_err().to_string().contains("prime = 1 mod 128"));
    assert_eq!(modulus.shorten(&[257; 64]).unwrap(), [1; 64]);
    let modulus = PlainModulus::new(Family::Integer { t: 257 }, 64).unwrap();
    assert!(modulus.encode(&[257; 64]).unwrap_err().to_string().contains("slot 0"));
    assert!(modulus.encode(&[0; 63]).is_err() && modulus.shorten(&[0; 63]).is_err());
    assert!(modulus.image(2).is_err() && modulus.substitute(&[0; 64], 2).is_err());
}
