//! `decompose-operations`: the bit operations of each sub-algorithm, counted while it runs.

use std::collections::BTreeMap;

use gadget::Family;
use gadget::stages::{Counted, CountedDigit, CountedReal, Operations as Spent, StageDigit, StageWord, Stages, count};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::{COUNTS, completed, modulus, uniform};
use crate::primitive::{About, Context, Described, Measured, Primitive, Read, Started};
use crate::setting::bounded;
use crate::settings::{Refusal, Settings};

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    family: Family,
    base: u64,
    modulus_bits: u32,
    scalars: usize,
}

struct Operations {
    own: Own,
    q: u128,
    stages: Stages<Counted, false>,
}

pub const ABOUT: About = (
    "decompose-operations",
    "bit operations of each sub-algorithm on one scalar, a division a digit, schoolbook arithmetic",
);

pub fn read(settings: &Settings) -> Read {
    let own: Own = settings.parse()?;
    let family = own.family;
    if !matches!(family, Family::Gmp19 | Family::Zy22 | Family::Jlp21 | Family::Jlp24) {
        return Err(Refusal::new("family", format!("Table 1 has no {family} sampler.")));
    }
    bounded(own.scalars, "scalars", COUNTS)?;
    let q = modulus(own.modulus_bits)?;
    let stages = Stages::new(q, own.base).map_err(Refusal::of("base"))?;
    Ok(Box::new(Operations { own, q, stages }))
}

impl Primitive for Operations {
    fn describe(&self) -> Result<Described, Refusal> {
        let Self { own, q, stages, .. } = self;
        let digits = (own.scalars * stages.length()) as f64;
        let settings = completed(own, q, stages.length())?;
        Ok(Described { settings, predicted_seconds: digits * 3e-7, peak_bytes: 16 << 20, ..Described::default() })
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        let Self { own: Own { family, base, scalars, .. }, q, stages } = *self;
        let seed = context.seed("operations")?;
        Ok(Box::new(move |out: &mut Measured| {
            let (k, zero) = (stages.length(), stages.digit(0));
            let last = k - 1;
            let mut rng = seed.prg().rng();
            let mut sums = Sums::default();
            let mut right = 0;
            let (mut x, mut z, mut t) = (vec![zero; k], vec![zero; k], vec![CountedReal::default(); k]);
            for u in uniform::<u128>(&mut rng, q, scalars) {
                let (word, minus_q) = (Counted::constant(u), rng.random());
                let mut carries: Vec<CountedDigit> = (0..k).map(|_| stages.digit(rng.random_range(0..2))).collect();
                carries[last] = stages.digit(i64::from(minus_q));
                let words: Vec<u64> = (0..k).map(|_| rng.random()).collect();
                let digits: Vec<u64> = (0..k).map(|_| rng.random_range(0..base)).collect();
                match family {
                    Family::Gmp19 => {
                        sums.add("decomposition", || stages.decomposition(word, &mut x));
                        sums.add("transformation", || stages.transformation(&x[..last], &mut t));
                        sums.add("sampling", || stages.sampling(&t[..last], &words, &mut carries));
                        sums.add("addition", || stages.carry_addition(&carries, &mut x));
                        stages.gmp19(word, &words, &mut t, &mut carries, &mut x);
                    }
                    Family::Zy22 => {
                        let (low, _) = stages.compute(word, minus_q);
                        sums.add("probability", || {
                            stages.probability(word, words[last]);
                        });
                        sums.add("compute", || {
                            stages.compute(word, minus_q);
                        });
                        sums.add("subgaussian", || stages.subgaussian_sequential(low, &digits[..last], &mut x[..last]));
                        sums.add("check", || {
                            stages.check(&x[..last], low);
                        });
                        stages.zy22(word, &digits, &mut x);
                    }
                    Family::Jlp21 => {
                        sums.add("decomposition", || stages.decomposition(word, &mut x));
                        sums.add("addition", || stages.addition(&carries, &mut x));
                    }
                    _ => {
                        let (low, _) = stages.compute(word, minus_q);
                        stages.precompute_jlp24(&carries, &mut z);
                        sums.add("compute", || {
                            stages.compute(word, minus_q);
                        });
                        sums.add("subgaussian", || stages.subgaussian(low, &z[..last], &mut x[..last]));
                        stages.jlp24(word, minus_q, &z, &mut x);
                    }
                }
                // The digits' sum modulo 2^128 is u or u less a multiple of q.
                let sum = x.iter().rev().fold(0u128, |sum, digit| {
                    sum.wrapping_mul((base).into()).wrapping_add_signed(digit.value().into())
                });
                right += u64::from((sum as i128 - u as i128).rem_euclid(q as i128) == 0);
            }
            out.compared(scalars as u64, right);
            for (part, sum) in sums.0 {
                let mean = |total: u64| total as f64 / scalars as f64;
                out.count(&format!("{part}.additions"), mean(sum.additions));
                out.count(&format!("{part}.multiplications"), mean(sum.multiplications));
                out.count(&format!("{part}.divisions"), mean(sum.divisions));
                out.count(&format!("{part}.bit_operations"), mean(sum.bit_operations));
                out.count(&format!("{part}.real_operations"), mean(sum.real_operations));
            }
            Ok(())
        }))
    }
}

/// Operations by sub-algorithm, summed over scalars.
#[derive(Default)]
struct Sums(BTreeMap<&'static str, Spent>);

impl Sums {
    fn add(&mut self, part: &'static str, work: impl FnOnce()) {
        let sum = self.0.entry(part).or_default();
        *sum = *sum + count(work);
    }
}
