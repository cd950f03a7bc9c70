//! The one-coefficient algorithms recompose, have the laws of their definitions, and count what the formulas say.

use super::distribution::SMALL;
use super::laws::{Law, law};
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
    stages.decomposition(u, &mut x);
    stages.addition(&carries, &mut x);
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
        let family = Family::ALL.into_iter().find(|family| family.to_string() == *name).unwrap();
        let gadget = Decomposer::new(family, q, b, 0, Kernel::Scalar).unwrap();
        assert_eq!(gadget.recompose(digits.iter().copied()).to_u128(), u, "{name} {q} {b}");
        for (digit, (least, most)) in digits.iter().zip(crate::Gadget::ranges(&gadget)) {
            assert!((least..=most).contains(digit), "{name} {q} {b} {u}: {digits:?}");
        }
    }
}

/// The share of the 64-bit words that a monotone test takes: it takes those below a threshold.
fn chance(taken: impl Fn(u64) -> bool) -> f64 {
    let (mut least, mut most) = (0u128, 1u128 << 64);
    while least < most {
        let middle = (least + most) / 2;
        if taken(middle as u64) {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    least as f64 * 0.5f64.powi(64)
}

/// The law of the stages' own code: its digits under every outcome of the coins, weighted.
fn enumerated<W: StageWord, const SHIFT: bool>(family: Family, b: u64, q: u128, u: u128) -> Law {
    const TAKEN: u64 = 0;
    const LEFT: u64 = u64::MAX;
    let stages = Stages::<W, SHIFT>::new(q, b).unwrap();
    let (k, u) = (stages.length(), W::constant(u));
    let (last, zero) = (k - 1, stages.digit(0));
    let values = |x: &[W::Small]| x.iter().map(|x| x.value()).collect::<Vec<_>>();
    let mut law = Law::new();
    let mut add = |x: Vec<i64>, p: f64| {
        if p > 0.0 {
            *law.entry(x).or_default() += p;
        }
    };
    let minus_q = chance(|coin| stages.probability(u, coin));
    let selections = [(TAKEN, minus_q), (LEFT, 1.0 - minus_q)];
    let (mut x, mut z) = (vec![zero; k], vec![zero; k]);
    match family {
        Family::Jlp21 | Family::Jlp24 => {
            for bits in 0..1u64 << k {
                let carries: Vec<_> = (0..k).map(|i| stages.digit((bits >> i & 1) as i64)).collect();
                if family == Family::Jlp21 {
                    stages.decomposition(u, &mut x);
                    stages.addition(&carries, &mut x);
                    let online = values(&x);
                    stages.precompute(&carries, &mut z);
                    stages.jlp21(u, &z, &mut x);
                    assert_eq!(online, values(&x));
                } else {
                    stages.precompute_jlp24(&carries, &mut z);
                    stages.jlp24(u, bits >> last == 1, &z, &mut x);
                }
                add(values(&x), 0.5f64.powi(k as i32));
            }
        }
        Family::Zy22 => {
            let outcomes = b.pow(last as u32);
            for (select, p) in selections {
                for outcome in 0..outcomes {
                    let mut coins: Vec<u64> = (0..last).map(|i| outcome / b.pow(i as u32) % b).collect();
                    coins.push(select);
                    stages.zy22(u, &coins, &mut x);
                    add(values(&x), p / outcomes as f64);
                }
            }
        }
        _ => {
            let digits = |coins: &[u64]| {
                let (mut t, mut carries, mut x) = (vec![W::Real::default(); k], vec![zero; k], vec![zero; k]);
                stages.gmp19(u, coins, &mut t, &mut carries, &mut x);
                values(&x)
            };
            for (select, p) in selections {
                // Each carry's probability, by the digits it changes, whatever the other carries are.
                let carry = |i: usize, others: u64| {
                    let with = |coin: u64| {
                        let mut coins = vec![others; k];
                        (coins[last], coins[i]) = (select, coin);
                        digits(&coins)
                    };
                    let none = with(LEFT);
                    chance(|coin| with(coin) != none)
                };
                let up: Vec<f64> = (0..last).map(|i| carry(i, LEFT)).collect();
                assert!((0..last).all(|i| carry(i, TAKEN) == up[i]));
                for bits in 0..1u64 << last {
                    let taken = |i: usize| bits >> i & 1 == 1;
                    let mut coins: Vec<u64> = (0..last).map(|i| if taken(i) { TAKEN } else { LEFT }).collect();
                    coins.push(select);
                    let share: f64 = (0..last).map(|i| if taken(i) { up[i] } else { 1.0 - up[i] }).product();
                    add(digits(&coins), p * share);
                }
            }
        }
    }
    law
}

#[test]
fn the_law_of_the_stages_is_the_law_of_the_definition() {
    for family in [Family::Gmp19, Family::Zy22, Family::Jlp21, Family::Jlp24] {
        for (b, q) in SMALL {
            for u in 0..q {
                let (base, modulus, input) = (b as u64, q as u128, u as u128);
                let mut ways = vec![
                    enumerated::<u64, false>(family, base, modulus, input),
                    enumerated::<u128, false>(family, base, modulus, input),
                ];
                if base.is_power_of_two() {
                    ways.push(enumerated::<u64, true>(family, base, modulus, input));
                }
                let expected = law(family, b, q, u);
                for found in ways {
                    assert_eq!(expected.len(), found.len(), "{family} b={b} q={q} u={u}");
                    for (x, p) in &expected {
                        assert!((found.get(x).unwrap_or(&0.0) - p).abs() < 1e-12, "{family} b={b} q={q} u={u} {x:?}");
                    }
                }
            }
        }
    }
}

/// O(k^2 (l^2 + l)) and O(k^2 (l^2 + l) + k l) with a constant near one, whatever k.
#[test]
fn digits_cost_what_table_1_says_up_to_a_constant() {
    for (bits, l) in [30u32, 60, 90, 120].into_iter().flat_map(|bits| (1..=8u32).map(move |l| (bits, l))) {
        let q = (1u128 << bits) - 93;
        let stages = Stages::<Counted, false>::new(q, 1 << l).unwrap();
        let (k, n) = (stages.length(), 100u128);
        let (z, mut x) = (vec![stages.digit(1); k], vec![stages.digit(0); k]);
        let (mut decomposition, mut subgaussian, mut sequential) = (0, 0, 0);
        for i in 0..n {
            // Spread over [0, q).
            let u = Counted::constant(q / n * i + i * i);
            let (low, _) = stages.compute(u, i % 2 == 1);
            let coins = vec![(i % (1 << l)) as u64; k];
            decomposition += count(|| stages.decomposition(u, &mut x)).bit_operations;
            subgaussian += count(|| stages.subgaussian(low, &z[..k - 1], &mut x[..k - 1])).bit_operations;
            sequential += count(|| stages.subgaussian_sequential(low, &coins[..k - 1], &mut x[..k - 1])).bit_operations;
        }
        let (k, l) = (k as f64, f64::from(l));
        let formula = k * k * (l * l + l);
        for (counted, formula) in
            [(decomposition, formula), (subgaussian, formula + k * l), (sequential, formula + k * l)]
        {
            let ratio = counted as f64 / n as f64 / formula;
            assert!((0.6..=1.1).contains(&ratio), "{bits} bits, l = {l}: {ratio}");
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
