//! What operations say that they cost, against the transforms that they do.

use super::setup::{Shape, cases, level_keys, workspace};
use super::*;
use crate::{ChainKeys, Diagonals, LevelKeys, Multiplier, RotationChain, Scheme};
use lattice::convert::{CoefficientTree, tree_work};
use ring::ntt::transforms_done;
use ring::{Kind, Work};

/// Asserts that `call` does as many transforms of `n` points as the work says.
fn check(n: usize, work: &Work, call: impl FnOnce()) {
    let before = transforms_done();
    call();
    assert_eq!(work.get(Kind::Transform(n)), transforms_done() - before, "{work:?}");
}

#[test]
fn transforms_are_counted() {
    for (shape, family) in cases() {
        let mut setup = Setup::<u64>::new(shape, family, 1);
        let (n, modulus) = (shape.n, setup.modulus().clone());
        let (switch, ring) = (setup.gadget.shape(), setup.ring().shape());
        let slots = values(&modulus, &mut setup.rng);
        check(n, &family.slots_work(n).unwrap(), || drop(modulus.encode(&slots).unwrap()));
        let z = modulus.encode(&slots).unwrap();
        check(n, &family.slots_work(n).unwrap(), || drop(modulus.decode(&z).unwrap()));
        check(n, &family.shorten_work(n).unwrap(), || drop(modulus.shorten(&z).unwrap()));
        check(n, &Scheme::<u64>::prepare_work(ring), || drop(setup.scheme.prepare(&z).unwrap()));
        let ciphertext = setup.encrypt(&z);

        let exponent = modulus.id().rotation(1);
        let key = setup.rotation_key(exponent);
        let gadget = &setup.gadget;
        check(n, &switch.digits_work(), || drop(gadget.digits(&ciphertext.a)));
        let digits = gadget.digits(&ciphertext.a);
        check(n, &switch.switch_mask_work(), || drop(gadget.switch_mask(&digits, key.masks()).unwrap()));
        check(n, &switch.switch_body_work(), || {
            drop(gadget.switch_body(&digits, &ciphertext.b, key.bodies()).unwrap());
        });
        check(n, &switch.switch_work(), || drop(gadget.switch(&digits, &ciphertext.b, &key).unwrap()));
        check(n, &switch.automorphism_work(), || drop(gadget.automorphism(&ciphertext, &key).unwrap()));
        if shape.special == 0 {
            let chain = || RotationChain::new(gadget, ciphertext.a.clone(), key.masks(), 4).unwrap().0;
            check(n, &switch.chain_work(4), || drop(chain()));
            let chain = chain();
            let keys = ChainKeys::new(gadget, vec![key.bodies().clone()]).unwrap();
            check(n, &switch.chain_bodies_work(4), || {
                drop(chain.turns(gadget, 0, std::slice::from_ref(&ciphertext.b), &keys).unwrap());
            });
        }

        let multiplier = Multiplier::new(&setup.scheme).unwrap();
        let products = multiplier.shape();
        check(n, &products.lift_work(), || drop(multiplier.lift(ciphertext.clone()).unwrap()));
        let lifted = multiplier.lift(ciphertext.clone()).unwrap();
        check(n, &products.scaled_product_work(), || drop(multiplier.scaled_product(&lifted, &lifted)));
        let relinearisation = setup.relinearisation_key();
        check(n, &products.multiply_work(switch), || {
            drop(multiplier.multiply(&lifted, &lifted, &setup.gadget, &relinearisation).unwrap());
        });
    }
}

#[test]
fn transforms_of_digits_of_integers_are_counted() {
    for special in [0, 1] {
        let shape = Shape { n: 64, bits: 28, primes: 2, special, base_log2: 14 };
        let mut setup = Setup::<u64>::new(shape, Family::Integer { t: 257 }, 1).of_integers(1 << 14, 1);
        let (ciphertext, key) = (setup.encrypt(&[0; 64]), setup.rotation_key(5));
        let work = setup.gadget.shape().automorphism_work();
        check(64, &work, || drop(setup.gadget.automorphism(&ciphertext, &key).unwrap()));
    }
}

#[test]
fn transforms_of_an_expansion_are_counted() {
    for special in [0, 2] {
        let shape = Shape { n: 64, bits: 28, primes: 2, special, base_log2: 14 };
        let mut setup = Setup::<u64>::new(shape, Family::Integer { t: 257 }, 1);
        let ciphertext = setup.encrypt(&[0; 64]).inverse(setup.ring());
        let keys = level_keys(&mut setup, 5);
        let (positions, workspace) = ([0, 16, 8, 3], &mut workspace());
        let ring = setup.ring().shape();
        let work = tree_work(ring, setup.gadget.shape().level_work(), &positions, 5);
        check(64, &work, || {
            let levels = LevelKeys(&setup.gadget, &keys);
            let tree = CoefficientTree::new(levels, &ciphertext, 5, &positions, workspace).unwrap();
            assert!(tree.map(Result::unwrap).count() == 4);
        });
    }
}

#[test]
fn transforms_of_matrices_are_counted() {
    let (shape, family) = cases()[0];
    let mut setup = Setup::<u64>::new(shape, family, 2);
    let slots = setup.modulus().slots() / setup.modulus().id().rows();
    for baby in [1, 4, slots] {
        let matrix = Diagonals::new(&setup.scheme, baby, |_, _, value| value[0] = 1).unwrap();
        let keys: Vec<_> = matrix.baby_exponents().iter().map(|exponent| setup.rotation_key(*exponent)).collect();
        let giant = setup.rotation_key(matrix.giant_exponent());
        let ciphertext = setup.encrypt(&vec![0; shape.n]);
        let work = Diagonals::<u64>::multiply_work(setup.gadget.shape(), slots as u64, baby as u64);
        check(shape.n, &work, || drop(matrix.multiply(&setup.gadget, &ciphertext, &keys, &giant).unwrap()));
    }
}
