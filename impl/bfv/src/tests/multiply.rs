//! Products of ciphertexts.

use super::setup::{Shape, cases, centred, nearest, t};
use super::*;
use crate::Multiplier;
use ring::Word;

/// The scaled tensor product against the same over the integers.
fn check_scaled<W: Word>(shape: Shape, family: Family, seed: u64) {
    let mut setup = Setup::<W>::new(shape, family, seed);
    let multiplier = Multiplier::new(&setup.scheme).unwrap();
    let (q, ring) = (setup.q(), setup.ring().clone());
    let [x, y] = [0; 2].map(|_| {
        let z = setup.plaintext();
        setup.encrypt(&z)
    });
    let part = |part: &ring::Poly<W, ring::Ntt>| -> Vec<BigInt> {
        setup.integers(&ring.inverse(part.clone())).into_iter().map(|x| centred(x, &q)).collect()
    };
    let [xa, xb, ya, yb] = [&x.a, &x.b, &y.a, &y.b].map(part);
    let middle = negacyclic(&xa, &yb).into_iter().zip(negacyclic(&xb, &ya)).map(|(x, y)| x + y);
    let tensor = [negacyclic(&xb, &yb), middle.collect(), negacyclic(&xa, &ya)];
    let [x, y] = [x, y].map(|operand| multiplier.lift(operand).unwrap());
    let t = t(setup.modulus());
    for (found, sum) in multiplier.scaled_product(&x, &y).iter().zip(tensor) {
        for (found, x) in setup.integers(found).into_iter().zip(negacyclic(&t, &sum)) {
            assert_eq!(centred(found, &q), centred(nearest(x, &q), &q), "{family:?}");
        }
    }
}

#[test]
fn products_are_scaled_as_over_the_integers() {
    for (shape, family) in cases() {
        check_scaled::<u64>(shape, family, 1);
    }
    let shape = |primes| Shape { n: 64, bits: 28, primes, special: 0, base_log2: 14 };
    check_scaled::<u32>(shape(2), Family::Integer { t: 257 }, 2);
    check_scaled::<u32>(shape(4), Family::Binomial { k: 16, b: 288 }, 3);
}

#[test]
fn products_decrypt() {
    for (shape, family) in
        cases().into_iter().filter(|(_, family)| !matches!(family, Family::Integer { t } if *t > 1 << 20))
    {
        let mut setup = Setup::<u64>::new(shape, family, 3);
        let multiplier = Multiplier::new(&setup.scheme).unwrap();
        let key = setup.relinearisation_key();
        let [x, y] = [0; 2].map(|_| setup.plaintext());
        let [left, right] = [&x, &y].map(|z| multiplier.lift(setup.encrypt(z)).unwrap());
        let found = multiplier.multiply(&left, &right, &setup.gadget, &key).unwrap();
        let expected = setup.modulus().shorten(&product(&x, &y)).unwrap();
        assert_eq!(setup.decrypt(&found), expected, "{family:?}");
        // The key of an automorphism is not a relinearisation key.
        let rotation = setup.rotation_key(3);
        assert!(multiplier.multiply(&left, &right, &setup.gadget, &rotation).is_err());
    }
}

#[test]
fn slots_add_and_multiply_at_the_sizes_of_protocols() {
    for (n, bits, primes, family) in [
        (2048, 18, 2, Family::Binomial { k: 512, b: 16 }),
        (4096, 37, 2, Family::Binomial { k: 512, b: 65620 }),
        (4096, 40, 1, Family::Goldilocks),
        (4096, 45, 2, Family::Integer { t: 65537 }),
        (8192, 42, 1, Family::Goldilocks),
        (8192, 49, 3, Family::Integer { t: 65537 }),
        (16384, 44, 1, Family::Goldilocks),
        (16384, 50, 2, Family::Integer { t: 65537 }),
        (16384, 50, 2, Family::Binomial { k: 8192, b: 66560 }),
    ] {
        let shape = Shape { n, bits, primes, special: 1, base_log2: 61 };
        let mut setup = Setup::<u64>::new(shape, family, 4);
        let (modulus, multiplier) = (setup.modulus().clone(), Multiplier::new(&setup.scheme).unwrap());
        let [key, rotation] = [setup.relinearisation_key(), setup.rotation_key(modulus.id().rotation(1))];
        let [u, v] = [0; 2].map(|_| values(&modulus, &mut setup.rng));
        let [z, w] = [&u, &v].map(|values| modulus.encode(values).unwrap());
        let [x, y] = [&z, &w].map(|plaintext| setup.encrypt(plaintext));
        let (mut sum, mut scaled) = (x.clone(), x.clone());
        sum.add_assign(setup.ring(), &y);
        scaled.mul_plain_assign(setup.ring(), &setup.scheme.prepare(&w).unwrap());
        let [sum, scaled] = [sum, scaled].map(|ciphertext| modulus.decode(&setup.decrypt(&ciphertext)).unwrap());
        let [x, y] = [x, y].map(|ciphertext| multiplier.lift(ciphertext).unwrap());
        let product = multiplier.multiply(&x, &y, &setup.gadget, &key).unwrap();
        let turned = setup.gadget.automorphism(&product, &rotation).unwrap();
        let found = modulus.decode(&setup.decrypt(&turned)).unwrap();
        let (p, words, row) = (number(modulus.prime()), modulus.words(), modulus.slots() / modulus.id().rows());
        for (slot, found) in found.chunks(words).enumerate() {
            let source = slot - slot % row + (slot + 1) % row;
            let of = |values: &[u64], slot: usize| number(&values[slot * words..][..words]);
            assert_eq!(number(found), of(&u, source) * of(&v, source) % &p, "{family:?}, N = {n}, slot {slot}");
            assert_eq!(of(&sum, slot), (of(&u, slot) + of(&v, slot)) % &p, "{family:?}, N = {n}, slot {slot}");
            assert_eq!(of(&scaled, slot), of(&u, slot) * of(&v, slot) % &p, "{family:?}, N = {n}, slot {slot}");
        }
    }
}
