//! LWE to RGSW from a table that was rotated in clear, coefficient extraction, and the selector tree.

use super::*;
use crate::convert::{
    ConverterKeys, Extraction, RgswConverter, SelectorTree, extraction_automorphisms, selector_subtrees, selector_tree,
    squaring_key,
};
use crate::lwe::{Lwe, LweKey};
use crate::rlwe::{RlwePrime, SeededRgsw};
use crate::rotate::{BlindRotationKey, Form, RotationShape, SeededBlindRotationKey, SmallSecret};
use crate::{LatticeError, Rgsw, TraceKeys, trace_keys};
use ring::Modulus;

fn extraction<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 4, 0);
    let n = t.ring.n();
    let keys = trace_keys(&t.key, 1..=n.ilog2(), &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let keys = TraceKeys::new(&t.ring, 1, &keys).unwrap();
    let strided: Vec<usize> = (0..8).map(|k| k * n / 8).collect();
    for positions in [vec![], vec![0], vec![n - 1], strided, vec![5, 0, 37, 6, n - 1, 21]] {
        let message = t.uniform();
        let input = t.encrypt(&message);
        let message = t.integers(&message);
        for extraction in [Extraction::Traces, Extraction::Tree] {
            let all = gadget.coefficients(&input, &positions, extraction, &keys, &mut t.workspace).unwrap();
            assert_eq!(all.len(), positions.len());
            for (&position, out) in positions.iter().zip(&all) {
                let mut expected = vec![0; n];
                expected[0] = message[position];
                t.assert_phase(out, &expected, n as f64 * t.product_bound(&gadget, 1));
            }
        }
    }
    // One after another they come by the reversed bits of their positions.
    let input = t.encrypt(&t.ring.zero());
    let positions = [1, n - 1, 0, n / 2, 2];
    let tree = gadget.coefficient_tree(&input, n.ilog2(), &positions, &keys, &mut t.workspace).unwrap();
    let order: Vec<usize> = tree.map(|coefficient| coefficient.unwrap().0).collect();
    assert_eq!(order, [2, 3, 4, 0, 1]);
    for extraction in [Extraction::Traces, Extraction::Tree] {
        for positions in [vec![n], vec![3, 1, 3]] {
            let refusal = gadget.coefficients(&input, &positions, extraction, &keys, &mut t.workspace);
            assert!(matches!(refusal, Err(LatticeError::Parameter(_))), "{positions:?}");
        }
    }
}
on_all_rings!(coefficients_come_apart, extraction);

fn shallow<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 4, 0);
    let n = t.ring.n();
    let (depth, step) = (n.ilog2() - 2, n / 4);
    let keys = trace_keys(&t.key, 3..=n.ilog2(), &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let keys = TraceKeys::new(&t.ring, 3, &keys).unwrap();
    let message = t.uniform();
    let input = t.encrypt(&message);
    let message = t.integers(&message);
    let positions = [step - 1, 0, 5, 2];
    let tree = gadget.coefficient_tree(&input, depth, &positions, &keys, &mut t.workspace).unwrap();
    let mut found = 0;
    for (index, out) in tree.map(Result::unwrap).collect::<Vec<_>>() {
        let mut expected = vec![0; n];
        (0..4).for_each(|u| expected[u * step] = message[positions[index] + u * step]);
        t.assert_phase(&out, &expected, n as f64 * t.product_bound(&gadget, 1));
        found += 1;
    }
    assert_eq!(found, positions.len());
    for (depth, position) in [(depth, step), (n.ilog2() + 1, 0)] {
        assert!(gadget.coefficient_tree(&input, depth, &[position], &keys, &mut t.workspace).is_err());
    }
}
on_all_rings!(trees_end_at_a_depth, shallow);

#[test]
fn a_tree_shares_automorphisms() {
    let stride = |rows: usize, step: usize| (0..rows).map(|k| k * step).collect::<Vec<_>>();
    for (rows, step, tree, traces) in [(8, 256, 15, 88), (12, 128, 22, 132), (12, 160, 44, 132), (12, 170, 88, 132)] {
        assert_eq!(extraction_automorphisms(2048, &stride(rows, step), Extraction::Tree), tree, "{rows} rows");
        assert_eq!(extraction_automorphisms(2048, &stride(rows, step), Extraction::Traces), traces, "{rows} rows");
    }
}

/// Gadgets of a converter at toy size: output, trace, squaring.
fn gadgets<W: Word>(t: &Setup<W>, family: Family) -> [RingGadget<W>; 3] {
    // Output digits of the highest 4/7 of the modulus or so.
    let bits = t.q().ilog2();
    let base = 1 << bits.div_ceil(7);
    let dropped = if family == Family::Balanced || family == Family::Unsigned { 3 } else { 0 };
    [t.gadget(family, base, dropped), t.gadget(family, 4, 0), t.gadget(family, 4, 0)]
}

fn converter<W: Word>(
    t: &mut Setup<W>,
    [output, trace, squaring]: &[RingGadget<W>; 3],
    extraction: Extraction,
) -> Result<RgswConverter<W>, LatticeError> {
    let keys = ConverterKeys::new(&t.key, trace, squaring, &t.error, &mut t.masks, &mut t.rng)?;
    let spacing = RgswConverter::<W>::widest_spacing(t.ring.n(), output.length(), 1);
    RgswConverter::new(output, spacing, extraction, (trace, squaring), &keys)
}

/// The table turned by an LWE phase, freshly encrypted: what a blind rotation gives.
fn accumulator<W: Word>(t: &mut Setup<W>, converter: &RgswConverter<W>, bit: bool, error: i64) -> Rlwe<W, Coefficient> {
    let n = t.ring.n() as i64;
    let phase = i64::from(bit) * n + error;
    let rotated = t.ring.mul_monomial(&converter.table(), (-phase).rem_euclid(2 * n) as usize);
    t.encrypt(&rotated)
}

fn rows_phase<W: Word>(t: &Setup<W>, key: &RlwePrime<W>) -> Vec<Vec<u128>> {
    key.rows().iter().map(|row| t.phase(&row.clone().inverse(&t.ring))).collect()
}

fn conversion<W: Word>(t: &mut Setup<W>) {
    let (q, n) = (t.q(), t.ring.n() as f64);
    for family in [Family::Balanced, Family::Unsigned, Family::Zy22] {
        let gadgets = gadgets(t, family);
        let [output, trace, squaring] = &gadgets;
        for extraction in [Extraction::Traces, Extraction::Tree] {
            let converter = converter(t, &gadgets, extraction).unwrap();
            let limit = converter.limit() as i64;
            for (bit, error) in [(false, -limit), (true, limit - 1), (false, limit - 1), (true, -limit), (true, 0)] {
                let accumulator = accumulator(t, &converter, bit, error);
                let rgsw = converter.rgsw(&accumulator, &mut t.workspace).unwrap();
                let bound = n * t.product_bound(trace, 1);
                let of_square = t.product_bound(squaring, 1);
                let (body, mask) = (rows_phase(t, &rgsw.body), rows_phase(t, &rgsw.mask));
                assert_eq!((body.len(), mask.len()), (output.length(), output.length()));
                for (row, &weight) in output.weights().iter().enumerate() {
                    let value = if bit { weight } else { 0 };
                    let mut constant = vec![0; n as usize];
                    constant[0] = value;
                    assert_close(&body[row], &constant, q, bound);
                    let secret = t.key.coefficients().iter().map(|&s| {
                        let product = value * u128::from(s.unsigned_abs()) % q;
                        if s > 0 { (q - product) % q } else { product }
                    });
                    assert_close(&mask[row], &secret.collect::<Vec<_>>(), q, n * bound + of_square);
                }
            }
        }
    }
}
on_all_rings!(bits_become_rgsw, conversion);

#[test]
fn converted_bits_select() {
    let mut t = Setup::<u32>::new(256, 28, 2, 7);
    let gadgets =
        [t.gadget(Family::Balanced, 16, 6), t.gadget(Family::Balanced, 4, 0), t.gadget(Family::Balanced, 4, 0)];
    let converter = converter(&mut t, &gadgets, Extraction::Tree).unwrap();
    let scale = t.q() / 16;
    let messages = [3u128, 14].map(|m| {
        let constant = vec![m * scale; t.ring.n()];
        t.ring.from_u128(&constant)
    });
    let inputs = [t.encrypt(&messages[0]), t.encrypt(&messages[1])];
    for bit in [false, true] {
        let accumulator = accumulator(&mut t, &converter, bit, -3);
        let rgsw = converter.rgsw(&accumulator, &mut t.workspace).unwrap();
        let mut out = Rlwe::zero(&t.ring);
        gadgets[0].cmux(&rgsw, &inputs[0], &inputs[1], &mut t.workspace, &mut out).unwrap();
        t.assert_phase(&out, &t.integers(&messages[usize::from(bit)]), (scale / 4) as f64);
    }
}

#[test]
fn lwe_bits_become_selectors() {
    let mut t = Setup::<u32>::new(256, 28, 2, 14);
    let gadgets =
        [t.gadget(Family::Balanced, 16, 6), t.gadget(Family::Balanced, 4, 0), t.gadget(Family::Balanced, 4, 0)];
    let converter = converter(&mut t, &gadgets, Extraction::Tree).unwrap();
    let shape = RotationShape { dimension: 24, secret: SmallSecret::Binary, form: Form::Joint };
    let small = LweKey::sample(&Secret::Binary, shape.dimension, &mut t.rng).unwrap();
    let rotating = t.gadget(Family::Balanced, 256, 0);
    let seeded =
        SeededBlindRotationKey::new(shape, &small, &t.key, &rotating, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let rotation = BlindRotationKey::new(&rotating, &seeded).unwrap();
    let order = Modulus::new(512).unwrap();
    let error = DiscreteGaussian::new(StdDev(2.0)).unwrap();
    let bits = [1u64, 0, 1];
    let inputs = bits.map(|bit| small.encrypt(order, bit * 256, &error, &mut t.rng));
    let selectors = converter.convert_all(&inputs, &rotation, &mut t.workspace).unwrap();
    let tree = selector_tree(&gadgets[0], &[t.q() / 16], &selectors, &mut workspaces(2)).unwrap();
    for index in 0..8 {
        let mut expected = vec![0; t.ring.n()];
        expected[0] = if index == 0b101 { t.q() / 16 } else { 0 };
        t.assert_phase(&tree.leaf(index)[0].clone().inverse(&t.ring), &expected, (t.q() / 64) as f64);
    }
    // Another modulus, another dimension, another ring.
    for bad in [Lwe::trivial(Modulus::new(256).unwrap(), 24, 0), Lwe::trivial(order, 23, 0)] {
        assert!(matches!(converter.convert_all(&[bad], &rotation, &mut t.workspace), Err(LatticeError::Mismatch(_))));
    }
    let mut stranger = Setup::<u32>::new(128, 28, 2, 15);
    let gadgets = [16, 4, 4].map(|base| stranger.gadget(Family::Balanced, base, 0));
    let foreign = self::converter(&mut stranger, &gadgets, Extraction::Tree).unwrap();
    assert!(matches!(foreign.convert_all(&inputs, &rotation, &mut stranger.workspace), Err(LatticeError::Mismatch(_))));
}

fn fresh_bit<W: Word>(t: &mut Setup<W>, gadget: &RingGadget<W>, bit: bool) -> Rgsw<W> {
    let message = t.ring.forward(t.small(&[i64::from(bit)]));
    SeededRgsw::new(&t.key, &message, gadget, &t.error, &mut t.masks, &mut t.rng).unwrap().expand(&t.ring)
}

fn workspaces<W: Word>(count: usize) -> Vec<Workspace<W>> {
    (0..count).map(|i| Workspace::new(Coins::from_seed(Seed([i as u8; 16])))).collect()
}

fn tree<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 16, 1);
    let weights = [t.q() / 16, 1, 77];
    let bound = 4.0 * t.product_bound(&gadget, 2);
    for depth in 0..4usize {
        for index in 0..1 << depth {
            let spelt: Vec<bool> = (0..depth).rev().map(|place| index >> place & 1 == 1).collect();
            let bits: Vec<_> = spelt.iter().map(|&bit| fresh_bit(t, &gadget, bit)).collect();
            let tree = selector_tree(&gadget, &weights, &bits, &mut workspaces(1)).unwrap();
            assert_eq!(tree.len(), 1 << depth);
            for leaf in 0..1 << depth {
                assert_eq!(tree.leaf(leaf).len(), weights.len());
                for (row, weight) in tree.leaf(leaf).iter().zip(weights) {
                    let mut expected = vec![0; t.ring.n()];
                    expected[0] = if leaf == index { weight } else { 0 };
                    t.assert_phase(&row.clone().inverse(&t.ring), &expected, bound);
                }
            }
        }
    }
}
on_all_rings!(leaves_select_the_index, tree);

#[test]
fn trees_do_not_depend_on_threads() {
    let mut t = Setup::<u32>::new(64, 28, 2, 8);
    let gadget = t.gadget(Family::Balanced, 256, 0);
    let bits: Vec<_> = [true, false, true, true].map(|bit| fresh_bit(&mut t, &gadget, bit)).into();
    let grow = |threads: usize| {
        let tree = selector_tree(&gadget, &[1 << 40], &bits, &mut workspaces(threads)).unwrap();
        tree.into_ciphertexts().into_iter().flat_map(|leaf| [leaf.a, leaf.b]).collect::<Vec<_>>()
    };
    let one = grow(1);
    for threads in [2, 3, 16, 40] {
        assert!(grow(threads) == one, "{threads} threads");
    }
}

/// Leaves are the same however many bits grow at once.
#[test]
fn subtrees_are_parts_of_the_tree() {
    let mut t = Setup::<u32>::new(64, 28, 2, 10);
    let gadget = t.gadget(Family::Balanced, 256, 0);
    let bits: Vec<_> = [true, false, true].map(|bit| fresh_bit(&mut t, &gadget, bit)).into();
    let weights = [1 << 40, 3];
    let polys = |tree: SelectorTree<u32>| tree.into_ciphertexts().into_iter().flat_map(|leaf| [leaf.a, leaf.b]);
    let whole: Vec<_> = polys(selector_tree(&gadget, &weights, &bits, &mut workspaces(1)).unwrap()).collect();
    for (depth, trees) in [(0, 8), (1, 4), (2, 2), (3, 1), (9, 1)] {
        let mut workspaces = workspaces(2);
        let parts = selector_subtrees(&gadget, &weights, &bits, depth, &mut workspaces).unwrap();
        let parts: Vec<_> = parts.map(Result::unwrap).collect();
        assert_eq!(parts.len(), trees);
        assert!(parts.into_iter().flat_map(polys).eq(whole.iter().cloned()), "{depth} bits");
    }
    assert!(selector_subtrees(&gadget, &weights, &bits, 1, &mut []).is_err());
}

#[test]
fn transforms_are_counted() {
    // Depth 3 with one weight and one prime: 7 products of 2 x 5 digits, of which the last 4 are not transformed back.
    assert_eq!(SelectorTree::<u32>::ntts(3, 1, 5, 1), (70, 6));
    let mut t = Setup::<u32>::new(64, 28, 2, 9);
    let gadgets = gadgets(&t, Family::Balanced);
    let rows = gadgets[0].length();
    let converter = converter(&mut t, &gadgets, Extraction::Traces).unwrap();
    let (trace, squaring) = (gadgets[1].length(), gadgets[2].length());
    assert_eq!(converter.automorphisms(), 6 * rows);
    assert_eq!(converter.ntts(), (2 * rows * (6 * trace + squaring + 2), 2 * 2 * 6 * rows));
}

#[test]
fn converters_refuse_what_does_not_fit() {
    let mut t = Setup::<u32>::new(64, 28, 2, 10);
    let gadgets = gadgets(&t, Family::Balanced);
    let [output, trace, squaring] = &gadgets;
    let other = t.gadget(Family::Balanced, 8, 0);
    let keys = ConverterKeys::new(&t.key, trace, squaring, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let rows = output.length();
    let new = |spacing, trace, squaring, keys: &ConverterKeys<u32>| {
        RgswConverter::new(output, spacing, Extraction::Tree, (trace, squaring), keys)
    };
    assert!(new(2, trace, squaring, &keys).is_ok());
    for spacing in [0, 3, 64 / rows / 2 * 2 + 2, usize::MAX - 1] {
        let refusal = new(spacing, trace, squaring, &keys).err();
        assert!(matches!(refusal, Some(LatticeError::Parameter(_))), "spacing {spacing}");
    }
    let refused = |result: Result<RgswConverter<u32>, LatticeError>| matches!(result, Err(LatticeError::Mismatch(_)));
    assert!(refused(new(2, &other, squaring, &keys)), "a trace gadget of other digits");
    assert!(refused(new(2, trace, &other, &keys)), "a squaring gadget of other digits");
    let mut short = keys.clone();
    short.trace.pop();
    assert!(refused(new(2, trace, squaring, &short)), "too few levels");
    let stranger = Setup::<u32>::new(64, 29, 2, 11);
    let foreign = stranger.gadget(Family::Balanced, 4, 0);
    assert!(refused(new(2, &foreign, squaring, &keys)), "a gadget of another ring");
    assert!(refused(RgswConverter::new(&foreign, 2, Extraction::Tree, (&foreign, &foreign), &keys)), "keys");
    assert!(matches!(
        squaring_key(&t.key, &foreign, &t.error, &mut t.masks, &mut t.rng),
        Err(LatticeError::Mismatch(_))
    ));
    let converter = new(2, trace, squaring, &keys).unwrap();
    assert!(converter.rgsw(&Rlwe::zero(&stranger.ring), &mut t.workspace).is_err());
    assert!(converter.rgsw(&Rlwe::zero(&t.ring), &mut t.workspace).is_ok(), "and serves again after");
}

#[test]
fn trees_refuse_what_does_not_fit() {
    let mut t = Setup::<u32>::new(64, 28, 2, 12);
    let gadget = t.gadget(Family::Balanced, 256, 0);
    let other = t.gadget(Family::Balanced, 16, 0);
    let bits = [fresh_bit(&mut t, &gadget, true)];
    assert!(selector_tree(&gadget, &[1], &bits, &mut workspaces(1)).is_ok());
    assert!(selector_tree(&gadget, &[1], &bits, &mut []).is_err());
    assert!(selector_tree(&gadget, &[], &bits, &mut workspaces(1)).is_err());
    assert!(selector_tree(&other, &[1], &bits, &mut workspaces(1)).is_err());
    let stranger = Setup::<u32>::new(128, 28, 2, 13);
    let foreign = stranger.gadget(Family::Balanced, 256, 0);
    assert!(selector_tree(&foreign, &[1], &bits, &mut workspaces(1)).is_err());
}
