//! The laws of the randomised families straight from their definitions, for small q.

use crate::Family;
use std::collections::HashMap;

pub(super) type Law = HashMap<Vec<i64>, f64>;

pub(super) fn length(b: i64, q: i64) -> usize {
    (1..).find(|k| b.pow(*k as u32) >= q).unwrap()
}

fn digits(mut u: i64, b: i64, k: usize) -> Vec<i64> {
    let mut digits = vec![0; k];
    for (i, digit) in digits.iter_mut().enumerate() {
        *digit = if i + 1 < k { u % b } else { u };
        u /= b;
    }
    digits
}

/// S_q y, column by column.
fn basis_times(b: i64, q: i64, y: &[i64]) -> Vec<i64> {
    let k = y.len();
    let mut x: Vec<i64> = digits(q, b, k).iter().map(|q_i| q_i * y[k - 1]).collect();
    for i in 0..k - 1 {
        x[i] += b * y[i];
        x[i + 1] -= y[i];
    }
    x
}

/// Every y in {-1, 0}^k.
fn signs(k: usize) -> impl Iterator<Item = Vec<i64>> {
    (0..1usize << k).map(move |bits| (0..k).map(|i| -((bits >> i & 1) as i64)).collect())
}

/// The law of the digits of `u`.
pub(super) fn law(family: Family, b: i64, q: i64, u: i64) -> Law {
    let k = length(b, q);
    let big = b.pow(k as u32 - 1);
    let mut law = Law::new();
    let mut add = |x: Vec<i64>, p: f64| {
        if p > 0.0 {
            *law.entry(x).or_default() += p;
        }
    };
    let half = 0.5f64.powi(k as i32);
    match family {
        Family::Unsigned | Family::Balanced | Family::Symmetric => unreachable!(),
        Family::Jlp21 => signs(k).for_each(|y| {
            add(basis_times(b, q, &y).iter().zip(digits(u, b, k)).map(|(z, u)| z + u).collect(), half);
        }),
        // Algorithm 3, with z' = S' y'.
        Family::Jlp24 => signs(k).for_each(|y| {
            let v = u + q * y[k - 1];
            let mut x = digits(v.rem_euclid(big), b, k - 1);
            for i in 0..k - 1 {
                x[i] += b * y[i] - if i > 0 { y[i - 1] } else { 0 };
            }
            x.push(v.div_euclid(big) - y[k - 2]);
            add(x, half);
        }),
        // y_i rounds c_i = -t_i - y_{k-1} d_i at random.
        Family::Gmp19 => {
            for (last, p) in [(0, 1.0 - u as f64 / q as f64), (-1, u as f64 / q as f64)] {
                let mut partial = vec![(Vec::new(), p)];
                for i in 0..k - 1 {
                    let modulus = b.pow(i as u32 + 1);
                    let c = -(u % modulus + last * (q % modulus));
                    let (floor, up) = (c.div_euclid(modulus), c.rem_euclid(modulus) as f64 / modulus as f64);
                    partial = partial
                        .into_iter()
                        .flat_map(|(y, p): (Vec<i64>, f64)| {
                            [(floor, 1.0 - up), (floor + 1, up)].map(|(y_i, share)| {
                                let mut y = y.clone();
                                y.push(y_i);
                                (y, p * share)
                            })
                        })
                        .collect();
                }
                for (mut y, p) in partial {
                    y.push(last);
                    add(basis_times(b, q, &y).iter().zip(digits(u, b, k)).map(|(z, u)| z + u).collect(), p);
                }
            }
        }
        // The sequential sampler on v mod B, then the last digit by the value it reached.
        Family::Zy22 => {
            for (v, p) in [(u, 1.0 - u as f64 / q as f64), (u - q, u as f64 / q as f64)] {
                let low = v.rem_euclid(big);
                let mut partial = vec![(Vec::new(), low, p)];
                for _ in 0..k - 1 {
                    partial = partial
                        .into_iter()
                        .flat_map(|(x, rest, p): (Vec<i64>, i64, f64)| {
                            let w = rest.rem_euclid(b);
                            let down = w as f64 / b as f64;
                            [(w, 1.0 - down), (w - b, down)].map(|(digit, share)| {
                                let mut x = x.clone();
                                x.push(digit);
                                (x, (rest - digit) / b, p * share)
                            })
                        })
                        .collect();
                }
                for (mut x, _, p) in partial {
                    let reached: i64 = x.iter().rev().fold(0, |sum, digit| sum * b + digit);
                    assert!(p == 0.0 || reached == low || reached == low - big);
                    x.push(v.div_euclid(big) + i64::from(reached != low));
                    add(x, p);
                }
            }
        }
        Family::DitherQ => (0..q).for_each(|rho| {
            let x = digits((u + rho) % q, b, k).iter().zip(digits(rho, b, k)).map(|(w, r)| w - r).collect();
            add(x, 1.0 / q as f64);
        }),
    }
    law
}

/// E ||x|| over uniform u.
pub(super) fn mean_norm(b: i64, q: i64, law: impl Fn(i64) -> Law) -> f64 {
    let norm = |x: &[i64]| (x.iter().map(|x| x * x).sum::<i64>() as f64).sqrt();
    assert!(b >= 2);
    (0..q).map(|u| law(u).iter().map(|(x, p)| p * norm(x)).sum::<f64>()).sum::<f64>() / q as f64
}
