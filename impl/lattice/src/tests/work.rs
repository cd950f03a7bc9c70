//! What operations say that they cost, against the transforms that they do.

use super::*;
use crate::convert::{ConverterKeys, Extraction, RgswConverter, SelectorTree, rgsw_work, selector_tree};
use crate::lwe::LweKey;
use crate::pack::{Method, Packing};
use crate::rotate::{BlindRotationKey, Form, RotationShape, SeededBlindRotationKey, SmallSecret};
use crate::{AutomorphismKey, GadgetShape, SeededRgsw, TraceKeys, automorphism_key, trace_keys};
use ring::ntt::transforms_done;
use ring::{Kind, Ntt, RingShape, Work};

/// Asserts that `call` does as many transforms of `n` points as the work says.
pub(super) fn check(n: usize, work: &Work, call: impl FnOnce()) {
    let before = transforms_done();
    call();
    assert_eq!(work.get(Kind::Transform(n)), transforms_done() - before, "{work:?}");
}

fn products<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 16, 1);
    let (n, shape) = (t.ring.n(), gadget.shape());
    let message = t.ring.forward(t.small(&[1]));
    let rgsw = SeededRgsw::new(&t.key, &message, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap().expand(&t.ring);
    let key = automorphism_key(&t.key, 3, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let automorphism = AutomorphismKey::new(&t.ring, 3, &key).unwrap();
    let key = key.expand(&t.ring);
    let plain = t.uniform();
    let [zero, one] = [0, 1].map(|_| t.encrypt(&plain));
    let mut out = Rlwe::zero(&t.ring);
    let w = &mut t.workspace;
    check(n, &shape.gadget_product_work(), || gadget.gadget_product(&plain, &key, w, &mut out).unwrap());
    check(n, &shape.external_product_work(), || gadget.external_product(&zero, &rgsw, w, &mut out).unwrap());
    check(n, &shape.cmux_work(), || gadget.cmux(&rgsw, &zero, &one, w, &mut out).unwrap());
    check(n, &shape.key_switch_work(), || gadget.key_switch(&zero, &key, w, &mut out).unwrap());
    check(n, &shape.automorphism_work(), || gadget.automorphism(&zero, &automorphism, w, &mut out).unwrap());
}
on_all_rings!(work_of_products, products);

fn traces<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 16, 0);
    let (n, shape) = (t.ring.n(), gadget.shape());
    let keys = trace_keys(&t.key, 1..=n.ilog2(), &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let keys = TraceKeys::new(&t.ring, 1, &keys).unwrap();
    let input = t.encrypt(&t.ring.zero());
    let w = &mut t.workspace;
    for kept in [1, n / 4, n] {
        check(n, &shape.trace_work(kept), || drop(gadget.trace(&input, kept, &keys, w).unwrap()));
    }
    for count in [1, 8] {
        let inputs = (0..count).map(|_| input.clone()).collect();
        check(n, &shape.join_work(count), || drop(gadget.join(inputs, &keys, w).unwrap()));
    }
    for extraction in [Extraction::Traces, Extraction::Tree] {
        let positions = [0, 3, n / 2, n - 1];
        let work = shape.coefficients_work(&positions, extraction);
        check(n, &work, || drop(gadget.coefficients(&input, &positions, extraction, &keys, w).unwrap()));
    }
    let (depth, positions) = (n.ilog2() - 1, [0, 2, 6]);
    check(n, &shape.coefficient_tree_work(&positions, depth), || {
        gadget.coefficient_tree(&input, depth, &positions, &keys, w).unwrap().for_each(|out| drop(out.unwrap()));
    });
}
on_all_rings!(work_of_traces, traces);

fn conversions<W: Word>(t: &mut Setup<W>) {
    let [output, trace, squaring] =
        [(256, 1), (16, 0), (4, 0)].map(|(base, dropped)| t.gadget(Family::Balanced, base, dropped));
    let (n, rows) = (t.ring.n(), output.length());
    let keys = ConverterKeys::new(&t.key, &trace, &squaring, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let converter = RgswConverter::new(&output, 4, Extraction::Tree, (&trace, &squaring), &keys).unwrap();
    let positions: Vec<usize> = (0..rows).map(|row| 4 * row).collect();
    let work = rgsw_work(&positions, Extraction::Tree, trace.shape(), squaring.shape());
    let accumulator = t.encrypt(&t.ring.zero());
    check(n, &work, || drop(converter.rgsw(&accumulator, &mut t.workspace).unwrap()));
    let (forward, inverse) = converter.ntts();
    assert_eq!(work.get(Kind::Transform(n)), (forward + inverse) as u64);

    let one = t.ring.forward(t.small(&[1]));
    let mut bit =
        || SeededRgsw::new(&t.key, &one, &output, &t.error, &mut t.masks, &mut t.rng).unwrap().expand(&t.ring);
    let bits = [bit(), bit(), bit()];
    let mut workspaces = [Workspace::new(Coins::from_seed(Seed([1; 16])))];
    // Beside the tree itself: the roots' transforms, there and back.
    let work = SelectorTree::<W>::work(3, 2, output.shape()) + t.ring.shape().transforms(2 + 2 * 2);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| check(n, &work, || drop(selector_tree(&output, &[1, 2], &bits, &mut workspaces).unwrap())));
}
on_all_rings!(work_of_conversions, conversions);

fn rotations<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 16, 0);
    let n = t.ring.n();
    for (secret, form) in [
        (SmallSecret::Binary, Form::Cmux),
        (SmallSecret::Binary, Form::Joint),
        (SmallSecret::Ternary, Form::Cmux),
        (SmallSecret::Ternary, Form::Joint),
    ] {
        let shape = RotationShape { dimension: 5, secret, form };
        let small = LweKey::from_coefficients(vec![1, 0, 0, 1, 1]);
        let seeded =
            SeededBlindRotationKey::new(shape, &small, &t.key, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
        let key = BlindRotationKey::new(&gadget, &seeded).unwrap();
        let modulus = ring::Modulus::new(2 * n as u64).unwrap();
        // No exponent is 0: every step is taken.
        let input = crate::lwe::Lwe { modulus, a: vec![3, 5, 7, 9, 11], b: 1 };
        let mut accumulator = t.encrypt(&t.ring.zero());
        let w = &mut t.workspace;
        check(n, &shape.work(gadget.shape()), || key.rotate(&mut accumulator, &input, w).unwrap());
    }
}
on_all_rings!(work_of_rotations, rotations);

/// Both ways to pack, of few ciphertexts and of many, up to a whole ring and to less.
#[test]
fn work_of_packings() {
    let mut t = Setup::<u32>::new(64, 28, 2, 21);
    let (n, gadget) = (64, t.gadget(Family::Unsigned, 1 << 14, 0));
    let seed = Seed([7; 16]);
    for (method, gamma) in [(Method::Inspiring, n), (Method::Inspiring, n / 4), (Method::Cdks, n)] {
        let packing = Packing::new(method, &gadget, gamma).unwrap();
        let masks = packing.masks(seed);
        let keys = packing.keys(&t.key, &masks, &t.error, &mut t.rng).unwrap();
        let ring_masks: Vec<Poly<u32, Ntt>> = (0..gamma).map(|_| t.ring.forward(t.ring.uniform(&mut t.rng))).collect();
        let w = &mut t.workspace;
        let work = method.preprocess_work(gadget.shape(), gamma);
        check(n, &work, || drop(packing.preprocess(&masks, &ring_masks, w).unwrap()));
        for ciphertexts in [1, 3, gamma] {
            // The packed ciphertext goes back to coefficients, which descriptions leave to what follows.
            let work = method.pack_work(gadget.shape(), gamma, ciphertexts) + t.ring.shape().transforms(2);
            let bodies = t.ring.zero();
            check(n, &work, || drop(packing.pack(&masks, &keys, &ring_masks[..ciphertexts], &bodies, w).unwrap()));
        }
    }
}

/// Each residue of a table is written once, with those of the sums that it is made of; a switch transforms its digits and back.
#[test]
fn work_of_tables() {
    let ring = RingShape { degree: 2048, primes: 2 };
    let gadget = GadgetShape { ring, base: 1 << 19, length: 3 };
    let whole = Method::Inspiring.preprocess_work(gadget, 2048);
    assert_eq!(whole.get(Kind::TableSlots), (3 + 1) * 2048 * 2048 * 2, "three digits, and the sums");
    assert_eq!(whole.get(Kind::Transform(2048)), 2 * (2047 * 4 + 2048 + 1));
    assert_eq!(whole.get(Kind::Digits), 2047 * 3 * 2048);
    let few = Method::Inspiring.preprocess_work(gadget, 64);
    assert_eq!((few.get(Kind::SmallTableSlots), few.get(Kind::TableSlots)), (4 * 64 * 2048 * 2, 0));
    assert_eq!(few.get(Kind::Transform(2048)), 2 * (63 * 4 + 1), "smaller groups need no transforms of slots");
    let tree = Method::Cdks.preprocess_work(gadget, 2048);
    assert_eq!(tree.get(Kind::TreeSlots), whole.get(Kind::TableSlots));
    assert!(tree.get(Kind::ResidueMultiplyAdds) > whole.get(Kind::ResidueMultiplyAdds) / 3);
}
