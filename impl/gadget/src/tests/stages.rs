//! The one-coefficient algorithms recompose, and count what the formulas say.

use crate::stages::{Counted, CountedReal, StageDigit, StageWord, Stages, count};
use crate::{Decomposer, Family, Residue};
use proptest::prelude::*;
use ring::Kernel;

/// Digits of every algorithm, by name.
fn all<W: StageWord, const SHIFT: bool>(q: u128, b: u64, u: u128, coins: &[u64]) -> Vec<(&'static str, Vec<i64>)> {
    let stages = Stages::<W, SHIFT>::new(q, b).unwrap();
    let (k, u) = (stages.length(), W::constant(u));
    let zero = stages.digit(0);
    let (mut x, mut z, mut t) = (vec![zero; k], vec![zero; k], vec![W::Real::default(); k]);
    let mut carries: Vec<W::Small> = coins[..k].iter().map(|coin| stages.digit((coin & 1) as i64)).collect();
    let below: Vec<u64> = coins[..k - 1].iter().map(|coin| coin % b).chain([coins[k - 1]]).collect();
    let mut found = Vec::new();
    let mut keep = |name, x: &[W::Small]| found.push((name, x.iter().map(|x| x.value()).collect()));
    stages.zy22(u, &below, &mut x);
    keep("zy22", &x);
    stages.precompute(&carries, &mut z);
    stages.jlp21(u, &z, &mut x);
    keep("jlp21", &x);
    stages.jlp21_online(u, &carries, &mut x);
    keep("jlp21", &x);
    stages.precompute_jlp24(&carries, &mut z);
    stages.jlp24(u, carries[k - 1].value() == 1, &z, &mut x);
    keep("jlp24", &x);
    stages.gmp19(u, coins, &mut t, &mut carries, &mut x);
    keep("gmp19", &x);
    found
}

fn check<W: StageWord, R: Residue>(q: R, b: u64, u: u128, coins: &[u64]) {
    let mut ways = vec![all::<W, false>(q.to_u128(), b, u, coins)];
    if b.is_power_of_two() {
        ways.push(all::<W, true>(q.to_u128(), b, u, coins));
        assert_eq!(ways[0], ways[1]);
    }
    for (name, digits) in &ways[0] {
        let gadget = Decomposer::new(name.parse::<Family>().unwrap(), q, b, 0, Kernel::Scalar).unwrap();
        assert_eq!(gadget.recompose(digits.iter().copied()).to_u128(), u, "{name} {q} {b}");
        for (digit, (least, most)) in digits.iter().zip(crate::Gadget::ranges(&gadget)) {
            assert!((least..=most).contains(digit), "{name} {q} {b} {u}: {digits:?}");
        }
    }
}

#[test]
fn additions_cost_what_table_1_says() {
    for (bits, k) in [(1u32, 60u64), (4, 15), (8, 8)] {
        let q = (1u128 << 60) - 93;
        let stages = Stages::<Counted, false>::new(q, 1 << bits).unwrap();
        let l = u64::from(bits);
        let carries = vec![stages.digit(1); k as usize];
        let mut x = vec![stages.digit(1); k as usize];
        let jlp21 = count(|| stages.addition(&carries, &mut x)).bit_operations;
        assert_eq!(jlp21, (k - 1) * (2 * l * l + 5 * l) + l + l * l + 2 * l);
        let mut x = vec![stages.digit(1); k as usize];
        let gmp19 = count(|| stages.carry_addition(&carries, &mut x)).bit_operations;
        assert_eq!(gmp19, (k - 1) * (l * l + 3 * l) + 2 * l);
        let check = count(|| {
            stages.check(&x[..k as usize - 1], Counted::constant(1));
        })
        .bit_operations;
        assert!(check >= (k - 1) * l && check <= 2 * k * l);
        // T and P of the table: two floating-point operations an entry, and one.
        let mut t = vec![CountedReal::default(); k as usize];
        let transformation = count(|| stages.transformation(&x, &mut t));
        assert_eq!((transformation.real_operations, transformation.bit_operations), (2 * k, 0));
        let mut chosen = vec![stages.digit(0); k as usize];
        let coins = vec![1; k as usize];
        assert_eq!(count(|| stages.sampling(&t, &coins, &mut chosen)).real_operations, k);
    }
}

proptest! {
    #[test]
    fn every_stage_way_recomposes(
        (q, u) in (3u32..=62).prop_flat_map(|bits| 1u64 << (bits - 1)..=1 << bits).prop_flat_map(|q| (Just(q), 0..q)),
        base in prop_oneof![2u64..=1000, (1u32..=20).prop_map(|bits| 1 << bits)],
        coins in prop::collection::vec(any::<u64>(), 130),
    ) {
        prop_assume!(base < q);
        check::<u64, u64>(q, base, u.into(), &coins);
        check::<Counted, u64>(q, base, u.into(), &coins);
    }

    #[test]
    fn every_wide_stage_way_recomposes(
        (q, u) in (3u32..=126).prop_flat_map(|bits| 1u128 << (bits - 1)..=1 << bits).prop_flat_map(|q| (Just(q), 0..q)),
        base in prop_oneof![2u64..=1000, (1u32..=20).prop_map(|bits| 1 << bits)],
        coins in prop::collection::vec(any::<u64>(), 130),
    ) {
        prop_assume!(u128::from(base) < q);
        check::<u128, u128>(q, base, u, &coins);
    }
}
