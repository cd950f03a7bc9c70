//! The randomised families have the laws they claim.

use super::laws::{Law, law, length, mean_norm};
use crate::draws::Precomputed;
use crate::tile::{BLOCK, tile};
use crate::{Coins, Decomposer, Family, Gadget, Residue};
use ring::{Kernel, Seed};

const RANDOMISED: [Family; 5] = [Family::Gmp19, Family::Zy22, Family::Jlp21, Family::Jlp24, Family::DitherQ];
pub(super) const SMALL: [(i64, i64); 9] =
    [(2, 23), (2, 32), (2, 17), (3, 77), (3, 10), (4, 64), (4, 211), (6, 37), (8, 401)];

/// Whether every digit has mean exactly zero over the coins, for every input.
fn centred(family: Family) -> bool {
    matches!(family, Family::Gmp19 | Family::Zy22 | Family::DitherQ)
}

fn gadget(family: Family, b: i64, q: i64) -> Decomposer<u64> {
    Decomposer::new(family, q as u64, b as u64, 0, Kernel::best()).unwrap()
}

/// The word of row `row` for coefficient `j` of `n`.
fn word(n: usize, k: usize, j: usize, row: usize) -> usize {
    let start = j / tile(n) * tile(n);
    let blocks = tile(n).min(n - start).div_ceil(BLOCK);
    start / BLOCK * k + row * blocks + (j - start) / BLOCK
}

/// The law of the code itself: its digits under every outcome of the coins, weighted.
fn enumerated(family: Family, b: i64, q: i64, u: i64) -> Law {
    let k = length(b, q);
    // Threshold 0 selects u - q (if u > 0), threshold q - 1 does not.
    let selections = [(0, u as f64 / q as f64), (q as u64 - 1, 1.0 - u as f64 / q as f64)];
    let below: Vec<u64> = (0..k - 1).map(|i| (b as u64).pow(i as u32 + 1)).collect();
    let (thresholds, coins): (&[(u64, f64)], u64) = match family {
        Family::Zy22 => (&selections, below[k - 2]),
        Family::Gmp19 => (&selections, below.iter().product()),
        Family::DitherQ => (&[(0, 1.0)], q as u64),
        _ => (&[(0, 1.0)], 1 << k),
    };
    let n = thresholds.len() * coins as usize;
    let mut drawn = Precomputed::default();
    let (mut weights, mut j) = (Vec::new(), 0);
    drawn.carries.resize(n.div_ceil(BLOCK) * k, 0);
    drawn.dither.resize(if family == Family::Gmp19 { n.div_ceil(BLOCK) * BLOCK * (k - 1) } else { n }, 0);
    for &(threshold, p) in thresholds {
        for coin in 0..coins {
            weights.push(p / coins as f64);
            drawn.thresholds.push(threshold);
            match family {
                Family::Gmp19 => {
                    let mut rest = coin;
                    for (i, below) in below.iter().enumerate() {
                        drawn.dither[(j / BLOCK * (k - 1) + i) * BLOCK + j % BLOCK] = rest % below;
                        rest /= below;
                    }
                }
                Family::Zy22 | Family::DitherQ => drawn.dither[j] = coin,
                _ => (0..k).for_each(|i| drawn.carries[word(n, k, j, i)] |= (coin >> i & 1) << (j % BLOCK)),
            }
            j += 1;
        }
    }
    let mut digits = vec![0i32; n * k];
    gadget(family, b, q).decompose_with(&vec![u as u64; n], &mut digits, &drawn);
    let mut law = Law::new();
    for (j, p) in weights.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        *law.entry((0..k).map(|t| digits[t * n + j].into()).collect()).or_default() += p;
    }
    law
}

#[test]
fn the_law_of_the_code_is_the_law_of_the_definition() {
    for family in RANDOMISED {
        for (b, q) in SMALL {
            for u in 0..q {
                let (expected, found) = (law(family, b, q, u), enumerated(family, b, q, u));
                assert_eq!(expected.len(), found.len(), "{family} b={b} q={q} u={u}");
                for (x, p) in expected {
                    assert!((found.get(&x).unwrap_or(&0.0) - p).abs() < 1e-12, "{family} b={b} q={q} u={u} {x:?}");
                }
            }
        }
    }
}

#[test]
fn mean_norms_are_the_enumerated_ones() {
    let families = [Family::Gmp19, Family::Zy22, Family::Jlp21, Family::Jlp24];
    for (b, q, norms) in [
        (2, 23, [1.7151, 1.5009, 2.8793, 2.5826]),
        (2, 32, [1.8137, 1.6058, 2.6631, 2.6631]),
        (3, 77, [2.3368, 2.2304, 3.9630, 3.4156]),
        (4, 211, [3.0102, 2.9262, 4.9270, 4.3882]),
        (8, 401, [4.9365, 4.9127, 7.3293, 7.2043]),
    ] {
        for (family, expected) in families.into_iter().zip(norms) {
            let found = mean_norm(b, q, |u| law(family, b, q, u));
            assert!((found - expected).abs() < 6e-5, "{family} b={b} q={q}: {found}");
        }
    }
}

#[test]
fn moments_are_those_of_the_law() {
    for family in RANDOMISED {
        for (b, q) in SMALL {
            let k = length(b, q);
            let mut sums = vec![(0.0, 0.0); k];
            for u in 0..q {
                let mut means = vec![0.0; k];
                for (x, p) in law(family, b, q, u) {
                    for t in 0..k {
                        means[t] += p * x[t] as f64;
                        sums[t].1 += p * (x[t] * x[t]) as f64 / q as f64;
                    }
                }
                for t in 0..k {
                    sums[t].0 += means[t] / q as f64;
                    assert!(!centred(family) || means[t].abs() < 1e-9, "{family} b={b} q={q} u={u} digit {t}");
                }
            }
            for (t, (stated, (mean, square))) in gadget(family, b, q).moments().iter().zip(sums).enumerate() {
                assert!((stated.mean - mean).abs() < 1e-9, "{family} b={b} q={q} digit {t}: {stated:?} mean {mean}");
                assert!(
                    (stated.mean_square - square).abs() < 1e-9,
                    "{family} b={b} q={q} digit {t}: {stated:?} {square}"
                );
            }
        }
    }
}

#[test]
fn deterministic_moments_are_averages_over_all_residues() {
    for family in [Family::Unsigned, Family::Balanced, Family::Symmetric] {
        for (b, q, dropped) in
            [(2, 23, 0), (2, 32, 0), (3, 77, 1), (4, 211, 0), (8, 401, 1), (16, 4096, 1), (5, 3001, 2)]
        {
            let gadget = Decomposer::new(family, q, b, dropped, Kernel::best()).unwrap();
            let (n, input): (usize, Vec<u64>) = (q as usize, (0..q).collect());
            let mut digits = vec![0i32; n * gadget.length()];
            gadget.decompose(&input, &mut digits, &mut Coins::from_seed(Seed([0; 16])));
            for (row, stated) in digits.chunks(n).zip(gadget.moments()) {
                let mean = row.iter().map(|x| f64::from(*x)).sum::<f64>() / n as f64;
                let square = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / n as f64;
                assert!((stated.mean - mean).abs() < 1e-9 && (stated.mean_square - square).abs() < 1e-9, "{gadget:?}");
            }
        }
    }
}

/// Fresh coins against the law: Pearson's statistic over the outcomes, far below any chance of failing a right sampler.
#[test]
fn fresh_coins_follow_the_law() {
    let n = 200_000;
    for family in RANDOMISED {
        for (b, q, u) in [(2i64, 23i64, 9i64), (2, 32, 31), (3, 77, 40), (4, 211, 1), (8, 401, 400), (6, 37, 20)] {
            let (k, expected) = (length(b, q), law(family, b, q, u));
            let mut digits = vec![0i32; n * k];
            gadget(family, b, q).decompose(&vec![u as u64; n], &mut digits, &mut Coins::from_seed(Seed([9; 16])));
            let mut counts = std::collections::HashMap::<Vec<i64>, f64>::new();
            for j in 0..n {
                *counts.entry((0..k).map(|t| digits[t * n + j].into()).collect()).or_default() += 1.0;
            }
            assert!(counts.keys().all(|x| expected.contains_key(x)));
            // Rare outcomes share a cell.
            let (mut statistic, mut cells, mut rare) = (0.0, 0.0, (0.0, 0.0));
            for (x, p) in &expected {
                let (mean, count) = (p * n as f64, counts.get(x).copied().unwrap_or(0.0));
                if mean < 10.0 {
                    rare = (rare.0 + mean, rare.1 + count);
                } else {
                    statistic += (count - mean).powi(2) / mean;
                    cells += 1.0;
                }
            }
            if rare.0 >= 10.0 {
                statistic += (rare.1 - rare.0).powi(2) / rare.0;
                cells += 1.0;
            }
            let free: f64 = cells - 1.0;
            assert!(
                statistic < free + 5.0 * (2.0 * free).sqrt() + 10.0,
                "{family} b={b} q={q}: {statistic}, {free} free"
            );
        }
    }
}

fn sampled_moments<W: Residue>(family: Family, q: W, base: u64) {
    let gadget = Decomposer::new(family, q, base, 0, Kernel::best()).unwrap();
    let (n, k) = (40_000, gadget.length());
    let mut coins = Coins::from_seed(Seed([11; 16]));
    let mut input = vec![W::default(); n];
    crate::draws::below(ring::kernel::Checked::new(Kernel::best()).unwrap(), &mut coins, q, &mut input);
    let mut digits = vec![0i32; n * k];
    gadget.decompose(&input, &mut digits, &mut coins);
    let average = |row: &[i32], power: i32| row.iter().map(|x| f64::from(*x).powi(power)).sum::<f64>() / n as f64;
    for (t, (row, stated)) in digits.chunks(n).zip(gadget.moments()).enumerate() {
        let (mean, square, fourth) = (average(row, 1), average(row, 2), average(row, 4));
        let scale = (n as f64).sqrt();
        let off_mean = (mean - stated.mean).abs() - 6.0 * (stated.variance() / n as f64).sqrt();
        let off_square = (square - stated.mean_square).abs() - 6.0 * (fourth - square * square).max(0.0).sqrt() / scale;
        assert!(off_mean < 1e-9 && off_square < 1e-9, "{gadget:?} digit {t}: {mean} {square}, stated {stated:?}");
        assert!(!centred(family) || stated.mean == 0.0);
    }
}

#[test]
fn large_moduli_have_the_stated_moments() {
    for family in Family::ALL {
        for base in [2, 3, 16, 100, 256, 1 << 19] {
            sampled_moments(family, (1u64 << 60) - 93, base);
            sampled_moments(family, (1u64 << 59) + 55, base);
            sampled_moments(family, (1u128 << 102) - 33, base);
        }
    }
}
