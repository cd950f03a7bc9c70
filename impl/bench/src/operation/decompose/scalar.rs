//! `decompose-scalar`: one scalar at a time, whole and by sub-algorithm, coins drawn beforehand.

use std::hint::black_box;

use gadget::stages::{StageWord, Stages};
use gadget::{Coins, Decomposer, Family, Residue};
use rand::Rng;
use ring::Kernel;
use serde::{Deserialize, Serialize};

use super::{COUNTS, completed, modulus, uniform};
use crate::primitive::{About, Context, Described, Measured, Primitive, Read, Started};
use crate::setting::bounded;
use crate::settings::{Refusal, Settings};
use crate::timing;

#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Method {
    /// Digits by shifts and masks; bases 2^l only.
    #[default]
    Shift,
    /// A division per digit.
    Division,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    family: Family,
    base: u64,
    modulus_bits: u32,
    scalars: usize,
    #[serde(default)]
    method: Method,
}

struct Scalars {
    own: Own,
    q: u128,
    length: usize,
}

pub const ABOUT: About =
    ("decompose-scalar", "digits of one scalar at a time: seconds a scalar, whole and by sub-algorithm");

pub fn read(settings: &Settings) -> Read {
    let own: Own = settings.parse()?;
    let family = own.family;
    if matches!(family, Family::Balanced | Family::DitherQ) {
        return Err(Refusal::new("family", format!("the paper has no {family} sampler. Use `decompose`.")));
    }
    bounded(own.scalars, "scalars", COUNTS)?;
    let q = modulus(own.modulus_bits)?;
    if own.method == Method::Shift && !own.base.is_power_of_two() {
        return Err(Refusal::new("method", format!("base {} is not a power of two. Use `division`.", own.base)));
    }
    let stages = Stages::<u128, false>::new(q, own.base).map_err(Refusal::of("base"))?;
    Ok(Box::new(Scalars { own, q, length: stages.length() }))
}

impl Primitive for Scalars {
    fn describe(&self) -> Result<Described, Refusal> {
        let Self { own, q, length, .. } = self;
        let settings = completed(own, q, *length)?;
        let digits = (own.scalars * length) as f64;
        Ok(Described {
            settings,
            counts: [("digits".to_string(), digits)].into(),
            predicted_seconds: digits * 6e-8,
            peak_bytes: (digits * 96.0) as u64 + (16 << 20),
        })
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        match (self.own.modulus_bits <= 62, self.own.method) {
            (true, Method::Shift) => self.session::<u64, true>(context),
            (true, Method::Division) => self.session::<u64, false>(context),
            (false, Method::Shift) => self.session::<u128, true>(context),
            (false, Method::Division) => self.session::<u128, false>(context),
        }
    }
}

/// Times `call` over every scalar, once: there are enough of them.
fn over(out: &mut Measured, name: &str, scalars: usize, mut call: impl FnMut(usize)) {
    let seconds = timing::seconds(1, || (0..scalars).for_each(&mut call));
    out.time(name, scalars as u64, seconds);
}

impl Scalars {
    fn session<W: StageWord<Small = i64, Real = f64> + Residue, const SHIFT: bool>(self, context: &Context) -> Started {
        let Self { own: Own { family, base, scalars: n, .. }, q, .. } = self;
        let gadget = Decomposer::new(family, W::from_u128(q), base, 0, Kernel::Scalar)?;
        let stages = Stages::<W, SHIFT>::new(q, base)?;
        let mut seed = context.seed("scalar input")?.0;
        let mut coins = Coins::from_seed(context.seed("scalar coins")?);
        Ok(Box::new(move |out: &mut Measured| {
            let k = stages.length();
            let mut rng = ring::Seed(seed).prg().rng();
            seed = rng.random();
            let input: Vec<W> = uniform(&mut rng, q, n);
            let mut words: Vec<u64> = (0..n * k).map(|_| rng.random()).collect();
            let carries: Vec<i64> = words.iter().map(|word| (word >> 63) as i64).collect();
            if family == Family::Zy22 {
                words
                    .chunks_exact_mut(k)
                    .for_each(|w| w[..k - 1].iter_mut().for_each(|w| *w = rng.random_range(0..base)));
            }
            let at = |j: usize| j * k..(j + 1) * k;
            // The values are not zero: pages of zeros would be touched for the first time under the clock.
            let (mut x, mut z) = (vec![-1i64; n * k], vec![-1i64; n * k]);
            match family {
                Family::Jlp21 => (0..n).for_each(|j| stages.precompute(&carries[at(j)], &mut z[at(j)])),
                _ => (0..n).for_each(|j| stages.precompute_jlp24(&carries[at(j)], &mut z[at(j)])),
            }
            let (mut t, mut moved) = (vec![0.0; k], vec![0i64; k]);
            match family {
                Family::Gmp19 => over(out, "whole", n, |j| {
                    stages.gmp19(input[j], &words[at(j)], &mut t, &mut moved, black_box(&mut x[at(j)]));
                }),
                Family::Zy22 => {
                    over(out, "whole", n, |j| stages.zy22(input[j], &words[at(j)], black_box(&mut x[at(j)])))
                }
                Family::Jlp21 => over(out, "whole", n, |j| stages.jlp21(input[j], &z[at(j)], black_box(&mut x[at(j)]))),
                Family::Jlp24 => over(out, "whole", n, |j| {
                    stages.jlp24(input[j], carries[at(j)][k - 1] == 1, &z[at(j)], black_box(&mut x[at(j)]));
                }),
                _ => over(out, "whole", n, |j| stages.decomposition(input[j], black_box(&mut x[at(j)]))),
            }
            let right = (0..n).filter(|j| gadget.recompose(x[at(*j)].iter().copied()) == input[*j]);
            out.compared(n as u64, right.count() as u64);

            let last = k - 1;
            let low: Vec<(W, i64)> = (0..n).map(|j| stages.compute(input[j], carries[at(j)][last] == 1)).collect();
            match family {
                Family::Gmp19 => {
                    over(out, "decomposition", n, |j| stages.decomposition(input[j], black_box(&mut x[at(j)])));
                    over(out, "transformation", n, |j| stages.transformation(&x[at(j)][..last], black_box(&mut t)));
                    over(out, "sampling", n, |j| {
                        black_box(stages.probability(input[j], words[at(j)][last]));
                        stages.sampling(&t[..last], &words[at(j)], black_box(&mut moved));
                    });
                    over(out, "addition", n, |j| stages.carry_addition(&moved, black_box(&mut x[at(j)])));
                }
                Family::Zy22 => {
                    over(out, "probability", n, |j| {
                        black_box(stages.probability(input[j], words[at(j)][last]));
                    });
                    over(out, "compute", n, |j| {
                        black_box(stages.compute(input[j], carries[at(j)][last] == 1));
                    });
                    over(out, "subgaussian", n, |j| {
                        stages.subgaussian_sequential(low[j].0, &words[at(j)], black_box(&mut x[at(j)][..last]));
                    });
                    over(out, "check", n, |j| {
                        black_box(stages.check(&x[at(j)][..last], low[j].0));
                    });
                    // The same law by dithering, a scalar a call.
                    let drawn: Vec<_> = (0..n).map(|_| gadget.precompute(1, &mut coins)).collect();
                    over(out, "dither", n, |j| {
                        gadget.decompose_with(&input[j..=j], black_box(&mut x[at(j)]), &drawn[j])
                    });
                }
                Family::Jlp21 => {
                    over(out, "decomposition", n, |j| stages.decomposition(input[j], black_box(&mut x[at(j)])));
                    over(out, "addition", n, |j| stages.addition_stored(&z[at(j)], black_box(&mut x[at(j)])));
                    over(out, "addition_online", n, |j| stages.addition(&carries[at(j)], black_box(&mut x[at(j)])));
                }
                Family::Jlp24 => {
                    over(out, "compute", n, |j| {
                        black_box(stages.compute(input[j], carries[at(j)][last] == 1));
                    });
                    over(out, "subgaussian", n, |j| {
                        stages.subgaussian(low[j].0, &z[at(j)][..last], black_box(&mut x[at(j)][..last]));
                    });
                }
                _ => {}
            }
            Ok(())
        }))
    }
}
