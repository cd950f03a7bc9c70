//! Every decomposition recomposes, stays in its range, and is the same on every kernel, at every width, with coins drawn ahead.

use crate::{Coins, Decomposer, Digit, Family, Gadget, GadgetError, Residue};
use proptest::prelude::*;
use ring::{Kernel, Seed};

/// The least |x - y| modulo q.
fn distance(x: u128, y: u128, q: u128) -> u128 {
    let d = x.abs_diff(y);
    d.min(q - d)
}

/// Digits on one kernel and at one width, checked against the input.
fn digits<W: Residue, D: Digit>(gadget: &Decomposer<W>, input: &[W], seed: Seed) -> Vec<i64> {
    let (n, k) = (input.len(), gadget.length());
    let mut digits = vec![D::default(); n * k];
    gadget.decompose_fresh(input, &mut digits, &mut Coins::from_seed(seed));
    let ranges = gadget.ranges();
    for (j, u) in input.iter().enumerate() {
        let x: Vec<i64> = (0..k).map(|t| digits[t * n + j].to_i64()).collect();
        let q = gadget.modulus().to_u128();
        let value = gadget.recompose(x.iter().copied()).to_u128();
        let error = distance(value, u.to_u128(), q);
        assert!(error <= gadget.error_bound().to_u128(), "{gadget:?} {u} -> {x:?}, off by {error}");
        for (x_t, (least, most)) in x.iter().zip(&ranges) {
            assert!((least..=most).contains(&x_t), "{gadget:?} {u} -> {x:?}, {x_t} outside {least}..={most}");
        }
    }
    let mut ahead = vec![D::default(); n * k];
    let drawn = gadget.precompute(n, &mut Coins::from_seed(seed));
    gadget.decompose_with(input, &mut ahead, &drawn);
    assert_eq!(digits, ahead);
    digits.into_iter().map(Digit::to_i64).collect()
}

fn check<W: Residue>(family: Family, q: W, base: u64, dropped: usize, input: &[W]) {
    let mut expected: Option<Vec<i64>> = None;
    for kernel in Kernel::available() {
        let gadget = Decomposer::new(family, q, base, dropped, kernel).unwrap();
        let mut all = vec![digits::<W, i64>(&gadget, input, Seed([5; 16]))];
        if gadget.fits::<i32>() {
            all.push(digits::<W, i32>(&gadget, input, Seed([5; 16])));
        }
        if gadget.fits::<i16>() {
            all.push(digits::<W, i16>(&gadget, input, Seed([5; 16])));
        }
        if gadget.fits::<i8>() {
            all.push(digits::<W, i8>(&gadget, input, Seed([5; 16])));
        }
        for digits in all {
            assert_eq!(expected.get_or_insert_with(|| digits.clone()), &digits, "{gadget:?}");
        }
    }
}

/// Edge values of Z_q, then values spread by a fixed multiplier.
fn inputs<W: Residue>(q: W, n: usize) -> Vec<W> {
    let q = q.to_u128();
    let edges = [0, 1 % q, q - 1, q / 2, q.div_ceil(2), (q / 2).saturating_sub(1), q / 3];
    let spread = (0..).map(|i: u128| {
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        (x ^ x >> 61) % q
    });
    edges.into_iter().chain(spread).take(n).map(W::from_u128).collect()
}

const BASES: [u64; 14] = [2, 3, 4, 5, 8, 10, 16, 60, 64, 256, 1000, 1 << 12, (1 << 19) + 1, 1 << 20];

#[test]
fn every_family_recomposes_in_range_on_every_kernel() {
    let moduli = [5, 23, 256, 257, 65_537, 1 << 31, (1 << 56) - 5, (1 << 60) - 93, 1 << 60, (1 << 62) - 57, 1 << 62];
    for family in Family::ALL {
        for q in moduli {
            for base in BASES {
                if !family.randomised() || base < q {
                    check(family, q, base, 0, &inputs(q, 200));
                }
            }
        }
    }
}

#[test]
fn wide_residues_recompose() {
    for family in Family::ALL {
        for q in [(1u128 << 102) - 33, 1 << 102, (1 << 126) - 137, 1 << 126] {
            for base in [2, 3, 4, 60, 64, 256, 1 << 20] {
                check(family, q, base, 0, &inputs(q, 130));
            }
        }
    }
}

#[test]
fn whole_polynomials_recompose() {
    let q = (1u64 << 60) - 93;
    for family in Family::ALL {
        for (base, n) in [(2, 2048), (16, 2048), (256, 1), (8, 63), (8, 64), (1 << 19, 1025), (7, 3000)] {
            check(family, q, base, 0, &inputs(q, n));
        }
        // More than one tile, whose rows are then apart; the last one whole, short or of one coefficient.
        for (base, n) in [(16, 4096), (64, 8192), (32, 4161), (256, 3000), (1 << 19, 2049)] {
            check(family, q, base, 0, &inputs(q, n));
        }
    }
}

#[test]
fn dropping_low_digits_rounds() {
    for family in [Family::Unsigned, Family::Balanced, Family::Symmetric] {
        for q in [257u64, 1 << 12, (1 << 30) - 35, (1 << 56) - 5, 1 << 60] {
            for (base, dropped) in [(2u64, 1), (2, 7), (3, 2), (16, 1), (16, 2), (10, 1)] {
                if u128::from(base).pow(dropped) < u128::from(q) {
                    check(family, q, base, dropped as usize, &inputs(q, 300));
                }
            }
        }
        check(family, (1u128 << 102) - 33, 32, 9, &inputs((1u128 << 102) - 33, 100));
    }
    let gadget = Decomposer::new(Family::Balanced, (1u64 << 56) - 5, 1 << 19, 1, Kernel::Scalar).unwrap();
    assert_eq!((gadget.length(), gadget.error_bound()), (2, 1 << 18));
}

#[test]
fn lengths_are_as_stated() {
    let length = |family, q: u64, base| Decomposer::new(family, q, base, 0, Kernel::Scalar).unwrap().length();
    for family in Family::ALL {
        assert_eq!(length(family, (1 << 60) - 93, 2), 60);
        assert_eq!(length(family, (1 << 60) - 93, 256), 8);
        assert_eq!(length(family, 1 << 60, 2), 60);
        assert_eq!(length(family, 1 << 60, 16), 15);
        assert_eq!(length(family, (1 << 56) - 5, 1 << 19), 3);
    }
    // The centred half range: a quarter above a power of the base still fits the balanced top digit.
    assert_eq!(length(Family::Unsigned, (1 << 30) + 3, 4), 16);
    assert_eq!(length(Family::Balanced, (1 << 30) + 3, 4), 15);
}

#[test]
fn bad_input_is_refused() {
    let new = |family, q: u64, base, dropped| Decomposer::new(family, q, base, dropped, Kernel::Scalar).err();
    assert!(matches!(new(Family::Unsigned, 1, 2, 0), Some(GadgetError::Modulus { .. })));
    assert!(matches!(new(Family::Unsigned, (1 << 62) + 1, 2, 0), Some(GadgetError::Modulus { .. })));
    assert!(matches!(new(Family::Unsigned, 17, 1, 0), Some(GadgetError::Base(1))));
    assert!(matches!(new(Family::Unsigned, 17, (1 << 20) + 1, 0), Some(GadgetError::Base(_))));
    assert!(matches!(new(Family::Unsigned, 17, 2, 5), Some(GadgetError::Dropped { dropped: 5, .. })));
    assert!(matches!(new(Family::Balanced, 17, 2, usize::MAX), Some(GadgetError::Dropped { .. })));
    assert!(matches!(new(Family::Jlp24, 1 << 20, 2, 1), Some(GadgetError::Dropped { .. })));
    assert!(matches!(new(Family::Zy22, 17, 17, 0), Some(GadgetError::OneDigit { .. })));
    assert_eq!(new(Family::Unsigned, 17, 17, 0), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_modulus_and_base(
        family in prop::sample::select(&Family::ALL[..]),
        (q, bits) in (2u32..=62).prop_flat_map(|bits| (1u64 << (bits - 1)..=1 << bits, Just(bits))),
        base in prop_oneof![2u64..=1 << 20, (1u32..=20).prop_map(|bits| 1 << bits)],
        dropped in 0usize..4,
        n in 1usize..200,
    ) {
        prop_assume!(q >= 2 && bits > 0 && (!family.randomised() || base < q));
        let dropped = if family.randomised() || u128::from(base).pow(dropped as u32) >= u128::from(q) { 0 } else { dropped };
        check(family, q, base, dropped, &inputs(q, n));
    }

    #[test]
    fn any_wide_modulus_and_base(
        family in prop::sample::select(&Family::ALL[..]),
        q in (2u32..=126).prop_flat_map(|bits| 1u128 << (bits - 1)..=1 << bits),
        base in prop_oneof![2u64..=1 << 20, (1u32..=20).prop_map(|bits| 1 << bits)],
        n in 1usize..80,
    ) {
        prop_assume!(q >= 2 && (!family.randomised() || u128::from(base) < q));
        check(family, q, base, 0, &inputs(q, n));
    }
}

/// What makes them symmetric; on every path, in bases that are powers of two and others.
#[test]
fn symmetric_digits_of_minus_u_are_those_of_u_negated() {
    for kernel in Kernel::available() {
        for (q, base, dropped) in
            [((1u64 << 56) - 5, 4, 3), (268_369_921, 1 << 11, 0), (65_537, 23, 1), (1 << 20, 4, 2)]
        {
            let gadget = Decomposer::new(Family::Symmetric, q, base, dropped, kernel).unwrap();
            let half = q / 2 + q % 2;
            let inputs: Vec<u64> = (0..1500).map(|j| j * (half / 1500) + 1).filter(|u| 2 * u < q).collect();
            let negated: Vec<u64> = inputs.iter().map(|u| q - u).collect();
            let [mut digits, mut others] = [0, 0].map(|_| vec![0i32; gadget.length() * inputs.len()]);
            gadget.decompose(&inputs, &mut digits, &mut Coins::from_seed(Seed([1; 16])));
            gadget.decompose(&negated, &mut others, &mut Coins::from_seed(Seed([1; 16])));
            assert!(digits.iter().zip(&others).all(|(digit, other)| *digit == -other), "{kernel} {q} {base}");
            assert!(gadget.moments().iter().all(|digit| digit.mean.abs() < 1e-4), "{q} {base}");
        }
    }
}
