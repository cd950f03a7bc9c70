//! Key switching: automorphisms, hoisting, halves of keys, chains.

use super::setup::{Shape, cases, level_keys, workspace};
use super::*;
use crate::{ChainKeys, KeyHalf, LevelKeys, RnsGadget, RotationChain, Scheme, SeededKey};
use lattice::convert::CoefficientTree;
use lattice::{Masks, Rlwe};
use proptest::prelude::*;
use ring::{Kernel, Ring, Seed, Word};

#[test]
fn rotations_turn_encrypted_slots() {
    for (shape, family) in cases() {
        let mut setup = Setup::<u64>::new(shape, family, 1);
        let z = setup.plaintext();
        let ciphertext = setup.encrypt(&z);
        let id = setup.modulus().id();
        let mut exponents = vec![id.rotation(1), id.rotation(3), 1];
        exponents.extend((id.rows() == 2).then(|| id.swap()));
        let digits = setup.gadget.digits(&ciphertext.a);
        for exponent in exponents {
            let key = setup.rotation_key(exponent);
            let turned = setup.gadget.automorphism(&ciphertext, &key).unwrap();
            let expected = setup.modulus().shorten(&setup.modulus().substitute(&z, exponent).unwrap()).unwrap();
            assert_eq!(setup.decrypt(&turned), expected, "{family:?}, X^{exponent}");
            // The same from digits that serve all keys, half by half.
            let a = setup.gadget.switch_mask(&digits, key.masks()).unwrap();
            let b = setup.gadget.switch_body(&digits, &ciphertext.b, key.bodies()).unwrap();
            assert!(a == turned.a && b == turned.b);
        }
    }
}

/// Digits of integers modulo q, also above dropped ones and with a special prime, whose noise is smaller.
#[test]
fn digits_of_integers_rotate() {
    for (special, dropped, most) in [(0, 0, 1e-8), (0, 1, 1e-6), (1, 0, 1e-12), (1, 1, 1e-6)] {
        let shape = Shape { n: 64, bits: 28, primes: 2, special, base_log2: 14 };
        let mut setup = Setup::<u64>::new(shape, Family::Integer { t: 257 }, 4).of_integers(1 << 14, dropped);
        let (z, exponent) = (setup.plaintext(), setup.modulus().id().rotation(3));
        let (ciphertext, key) = (setup.encrypt(&z), setup.rotation_key(exponent));
        assert_eq!(setup.gadget.rows(), 4 - dropped);
        let turned = setup.gadget.automorphism(&ciphertext, &key).unwrap();
        let expected = setup.modulus().shorten(&setup.modulus().substitute(&z, exponent).unwrap()).unwrap();
        let noise = setup.scheme.noise(&setup.key, &turned, &expected).unwrap();
        assert!(noise.iter().all(|v| v.abs() < most), "{special} special primes, {dropped} dropped: {noise:?}");
        // What is sent is what is used.
        let bytes = {
            let Setup { gadget, wide, error, masks, rng, .. } = &mut setup;
            SeededKey::automorphism(gadget, wide, exponent, error, masks, rng).unwrap().to_bytes(gadget)
        };
        let key = SeededKey::from_bytes(&setup.gadget, exponent, &bytes).unwrap().expand(&setup.gadget).unwrap();
        assert_eq!(setup.decrypt(&setup.gadget.automorphism(&ciphertext, &key).unwrap()), expected);
    }
}

/// Coefficients of a query come apart, whatever the depth and the number wanted.
#[test]
fn expansion_takes_coefficients_apart() {
    for (shape, family) in cases().into_iter().filter(|(_, family)| matches!(family, Family::Integer { .. })) {
        let mut setup = Setup::<u64>::new(shape, family, 5);
        let (z, n) = (setup.plaintext(), shape.n);
        let ciphertext = setup.encrypt(&z).inverse(setup.ring());
        for (depth, count) in [(0, 1), (1, 2), (3, 5), (4, 16), (6, 64), (6, 33)] {
            let (keys, mut workspace) = (level_keys(&mut setup, depth), workspace());
            let (levels, positions): (_, Vec<_>) = (LevelKeys(&setup.gadget, &keys), (0..count).collect());
            let tree = CoefficientTree::new(levels, &ciphertext, depth, &positions, &mut workspace).unwrap();
            let found: Vec<_> = tree.map(Result::unwrap).collect();
            assert_eq!(found.len(), count);
            for (j, found) in found {
                let found = &found.forward(setup.ring());
                let kept = |k: usize| (k % (1 << depth) == j).then(|| k - j);
                let mut expected = vec![0; n];
                (0..n).for_each(|k| kept(k).map_or((), |place| expected[place] = z[k]));
                assert_eq!(setup.decrypt(found), expected, "{family:?}, {j} of {count} at depth {depth}");
            }
            assert!(CoefficientTree::new(levels, &ciphertext, depth, &[1 << depth], &mut workspace).is_err());
        }
    }
}

/// Each coefficient of a phase as a constant, against the coefficients themselves: digits of residues and of integers, with and without
/// special primes, and the mean square of the error.
#[test]
fn expansions_take_a_phase_apart() {
    for (special, base_log2, of_integers) in [(0, 14, false), (1, 28, false), (2, 28, false), (1, 28, true)] {
        let shape = Shape { n: 64, bits: 28, primes: 3, special, base_log2 };
        let mut setup = Setup::<u64>::new(shape, Family::Integer { t: 257 }, 4);
        if of_integers {
            setup = setup.of_integers(1 << 14, 0);
        }
        let keys = level_keys(&mut setup, 5);
        let messages: Vec<i64> = (0..64).map(|j| if j < 32 { (j - 9) << 60 } else { 0 }).collect();
        let ring = setup.ring().clone();
        let fresh = setup.key.encrypt(&ring.from_signed(&messages), &setup.error, &mut setup.masks, &mut setup.rng);
        let (positions, mut workspace) = ([5, 0, 31, 16], workspace());
        let input = fresh.expand(&ring).inverse(&ring);
        let levels = LevelKeys(&setup.gadget, &keys);
        let tree = CoefficientTree::new(levels, &input, 5, &positions, &mut workspace).unwrap();
        let mut squares = 0.0;
        for output in tree {
            let (index, output) = output.unwrap();
            let mut constant = vec![0; 64];
            constant[0] = messages[positions[index]];
            let phase = setup.key.phase_coefficient(&output);
            let errors = lattice::noise::errors(&ring, &phase, &ring.from_signed(&constant)).unwrap();
            squares += errors.iter().map(|error| error * error).sum::<f64>() / 256.0;
        }
        // Rounding leaves most of the noise where there are special primes.
        let (digits, base) = (setup.gadget.rows() as f64, 2f64.powi(if of_integers { 14 } else { base_log2 as i32 }));
        let key = 64.0 * 3.2 * 3.2 * digits * base * base / 12.0 / 2f64.powi(56 * special as i32);
        let rounding = if special > 0 { (1.0 + 64.0 * 2.0 / 3.0) / 12.0 } else { 0.0 };
        let expected = 31.0 * (key + rounding) + 3.2 * 3.2 / 32.0;
        assert!((squares / expected).log2().abs() < 1.5, "{special} special primes: {squares} for {expected}");
        assert!(CoefficientTree::new(levels, &input, 6, &[0], &mut workspace).unwrap().any(|found| found.is_err()));
    }
}

/// What is encrypted under t(X) is, mapped by X -> X^k, encrypted under t(X^k).
#[test]
fn automorphisms_change_the_plaintext_modulus() {
    for (shape, family) in cases() {
        let mut setup = Setup::<u64>::new(shape, family, 2);
        let (mut expected, mut modulus) = (setup.plaintext(), setup.modulus().clone());
        let mut ciphertext = setup.encrypt(&expected);
        for exponent in [3, 7, 2 * shape.n as u64 - 5] {
            let key = setup.rotation_key(exponent);
            ciphertext = setup.gadget.automorphism(&ciphertext, &key).unwrap();
            modulus = modulus.image(exponent).unwrap();
            expected = modulus.shorten(&modulus.substitute(&expected, exponent).unwrap()).unwrap();
            let scheme = Scheme::new(setup.ring(), &modulus).unwrap();
            assert_eq!(scheme.decrypt(&setup.key, &ciphertext).unwrap(), expected, "{family:?}, X^{exponent}");
        }
    }
}

/// The server knows the seeds of keys and queries, which two clients share here: their secrets, plaintexts and errors differ.
fn turns<W: Word>(shape: Shape, family: Family) {
    let (server, mut clients) =
        (Setup::<W>::new(shape, family, 2), [3, 4].map(|seed| Setup::<W>::new(shape, family, seed)));
    let (gadget, exponent) = (&server.gadget, server.modulus().id().rotation(1));
    let (key_seed, query_seed) = (Seed([7; 16]), Seed([8; 16]));
    let masks = KeyHalf::of_seed(gadget, exponent, key_seed, 0).unwrap();
    let first = server.ring().expand(&query_seed.prg(), 0);
    let (chain, of_turns) = RotationChain::new(gadget, first, &masks, 7).unwrap();
    let (sum, of_sum) = RotationChain::of_sum(gadget, of_turns.clone(), &masks).unwrap();

    let (mut plaintexts, mut queries, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for client in &mut clients {
        plaintexts.push(client.plaintext());
        let Setup { gadget: own, scheme, key, wide, error, rng, .. } = client;
        let seeded = SeededKey::automorphism(own, wide, exponent, error, &mut Masks::new(key_seed), rng).unwrap();
        let z = &plaintexts[plaintexts.len() - 1];
        queries.push(scheme.encrypt(key, z, error, &mut Masks::new(query_seed), rng).unwrap().b);

        let bytes = seeded.to_bytes(own);
        assert_eq!(bytes.len(), SeededKey::wire_bytes(gadget));
        let bodies = SeededKey::from_bytes(gadget, exponent, &bytes).unwrap().bodies(gadget).unwrap();
        assert!(SeededKey::from_bytes(gadget, exponent, &bytes[1..]).is_err());
        let mut bare = lattice::wire::Writer::default();
        seeded.write_bodies(own, &mut bare);
        let bare = bare.finish();
        let mut input = lattice::wire::Reader::of(&bare);
        let read = KeyHalf::read_bodies(gadget, exponent, &mut input).unwrap();
        assert!(input.finish().is_ok() && read.rows() == bodies.rows());
        keys.push(bodies);
    }
    let keys = ChainKeys::new(gadget, keys).unwrap();
    let mut all = vec![queries];
    for done in [0, 4] {
        all.extend(chain.turns(gadget, done, &all[done], &keys).unwrap());
    }
    assert_eq!(all.len(), 7);
    assert_eq!(chain.turns(gadget, 3, &all[3], &keys).unwrap(), all[4..]);
    assert!(chain.turns(gadget, 6, &all[6], &keys).unwrap().is_empty(), "the last of the chain");
    assert!(chain.turns(gadget, 7, &all[6], &keys).is_err(), "beyond the chain");
    assert!(chain.turns(gadget, 0, &all[0][1..], &keys).is_err(), "a body for each key");
    // Ciphertext i of the chain, turned 6 - i times more, is the last of the chain: their sum is seven times that.
    let sums = sum.sum(gadget, all.clone(), &keys).unwrap();
    assert!(sum.sum(gadget, all[1..].to_vec(), &keys).is_err(), "a body for each mask");
    for (number, (client, mut expected)) in clients.iter_mut().zip(plaintexts).enumerate() {
        let mut last = Vec::new();
        for (a, bodies) in of_turns.iter().zip(&all) {
            assert_eq!(client.decrypt(&Rlwe { a: a.clone(), b: bodies[number].clone() }), expected, "{family:?}");
            let modulus = client.modulus();
            last = expected.clone();
            expected = modulus.shorten(&modulus.substitute(&expected, exponent).unwrap()).unwrap();
        }
        let seven: Vec<i64> = last.iter().map(|x| 7 * x).collect();
        let sum = client.decrypt(&Rlwe { a: of_sum.clone(), b: sums[number].clone() });
        assert_eq!(sum, client.modulus().shorten(&seven).unwrap(), "{family:?}");
    }
}

#[test]
fn chains_of_public_masks_rotate_bodies_alone() {
    for (shape, family) in cases() {
        turns::<u64>(Shape { special: 0, base_log2: 16.min(shape.base_log2), ..shape }, family);
    }
    turns::<u32>(Shape { n: 64, bits: 30, primes: 3, special: 0, base_log2: 15 }, Family::Integer { t: 65537 });
}

#[test]
fn chains_refuse_special_primes() {
    let mut setup = Setup::<u64>::new(
        Shape { n: 64, bits: 45, primes: 2, special: 1, base_log2: 16 },
        Family::Integer { t: 65537 },
        3,
    );
    let (exponent, z) = (setup.modulus().id().rotation(1), setup.plaintext());
    let (key, ciphertext) = (setup.rotation_key(exponent), setup.encrypt(&z));
    assert!(RotationChain::new(&setup.gadget, ciphertext.a, key.masks(), 7).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn automorphisms_map_plaintexts(half in 0u64..64, base_log2 in 8u32..=61, special in 0usize..2, seed: u64) {
        let base_log2 = if special == 0 { base_log2.min(24) } else { base_log2 };
        let shape = Shape { n: 64, bits: 50, primes: 2, special, base_log2 };
        let mut setup = Setup::<u64>::new(shape, Family::Integer { t: 257 }, seed);
        let z = setup.plaintext();
        let ciphertext = setup.encrypt(&z);
        let exponent = 2 * half + 1;
        let key = setup.rotation_key(exponent);
        let turned = setup.gadget.automorphism(&ciphertext, &key).unwrap();
        let expected = setup.modulus().substitute(&z, exponent).unwrap();
        prop_assert_eq!(setup.decrypt(&turned), expected);
    }
}

#[test]
fn gadgets_refuse_what_does_not_fit() {
    let primes: Vec<u64> = ring::primes::primes_below(40, 128).take(3).collect();
    let ring = Ring::<u64>::new(64, &primes, Kernel::best()).unwrap();
    let refused = |special, base, part: &str| {
        let message = RnsGadget::new(&ring, special, base).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    refused(3, 16, "leave none");
    refused(4, 16, "4 special primes of 3");
    refused(0, 0, "1 to 61 bits, not 0");
    refused(0, 62, "1 to 61 bits, not 62");
    let digits = |base: u64| {
        let ciphertexts = ring.prefix(2).unwrap();
        lattice::RingGadget::new(&ciphertexts, gadget::Family::Symmetric, base, 0).unwrap()
    };
    assert!(RnsGadget::of_integers(&ring, 1, digits(1 << 16)).is_ok());
    assert!(RnsGadget::of_integers(&ring, 0, digits(1 << 16)).is_err(), "digits of another ring");
    let small: Vec<u64> = primes[..2].iter().copied().chain(ring::primes::primes_below(10, 128).take(1)).collect();
    let small = Ring::<u64>::new(64, &small, Kernel::best()).unwrap();
    let message = RnsGadget::of_integers(&small, 1, digits(1 << 16)).unwrap_err().to_string();
    assert!(message.contains("do not fit the prime"), "{message}");
    let (shape, family) = cases()[0];
    let mut setup = Setup::<u64>::new(shape, family, 1);
    let key = setup.rotation_key(3);
    let other = RnsGadget::new(&ring, 1, 16).unwrap();
    let ciphertext = setup.encrypt(&vec![0; 64]);
    assert!(other.automorphism(&ciphertext, &key).is_err());
    let digits = setup.gadget.digits(&ciphertext.a);
    assert!(other.switch_mask(&digits, key.masks()).is_err());
    assert!(KeyHalf::of_seed(&setup.gadget, 2, Seed([0; 16]), 0).is_err());
}
