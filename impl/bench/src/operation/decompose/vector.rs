//! `decompose`: vectors, by the vectorised kernels and by the paper's way.

use std::hint::black_box;

use gadget::stages::Stages;
use gadget::{Coins, Decomposer, Digit, Family, Gadget};
use rand::Rng;
use ring::Kernel;
use serde::{Deserialize, Serialize};

use super::{COUNTS, completed, modulus, uniform};
use crate::primitive::{About, Context, Described, Failed, Measured, Primitive, Read, Session, Started};
use crate::setting::{bounded, number};
use crate::settings::{Refusal, Settings};
use crate::timing;

#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Method {
    /// Whole polynomials by the kernels.
    #[default]
    Vectorised,
    /// A division per digit, one coefficient after another, a fresh heap vector each.
    Division,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    /// Coins are drawn inside the clock.
    Fresh,
    /// Coins are drawn before.
    Offline,
    /// No coins are needed.
    None,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    family: Family,
    base: u64,
    modulus_bits: u32,
    coefficients: usize,
    #[serde(default)]
    method: Method,
    #[serde(default = "number::<64, _>")]
    digit_bits: u32,
    coins: Option<Source>,
}

struct Vectors {
    own: Own,
    q: u64,
}

impl Vectors {
    fn gadget(&self, kernel: Kernel) -> Result<Decomposer<u64>, Refusal> {
        let Self { own, q } = self;
        let gadget = Decomposer::new(own.family, *q, own.base, 0, kernel).map_err(Refusal::of("base"))?;
        let fits = match own.digit_bits {
            8 => gadget.fits::<i8>(),
            16 => gadget.fits::<i16>(),
            32 => gadget.fits::<i32>(),
            64 => true,
            bits => return Err(Refusal::new("digit_bits", format!("{bits} is not 8, 16, 32 or 64."))),
        };
        if !fits {
            let problem =
                format!("digits up to {} do not fit {} bits. Give wider ones.", gadget.bound(), own.digit_bits);
            return Err(Refusal::new("digit_bits", problem));
        }
        Ok(gadget)
    }
}

pub const ABOUT: About =
    ("decompose", "digits of a vector of residues: seconds a vector, beside plain stores of the same length");

pub fn read(settings: &Settings) -> Read {
    let mut own: Own = settings.parse()?;
    let family = own.family;
    bounded(own.coefficients, "coefficients", COUNTS)?;
    let q = modulus(own.modulus_bits)?;
    if own.modulus_bits > 62 {
        let problem = format!("{} is above 62, the most that 64-bit residues take. Give 60.", own.modulus_bits);
        return Err(Refusal::new("modulus_bits", problem));
    }
    let by_family = match (family.randomised(), own.method) {
        (false, _) => Source::None,
        // The paper draws its coins before, which is therefore the default of its way.
        (true, Method::Division) => own.coins.unwrap_or(Source::Offline),
        (true, Method::Vectorised) => own.coins.unwrap_or(Source::Fresh),
    };
    if own.coins.is_some_and(|coins| coins != by_family) || family.randomised() == (by_family == Source::None) {
        return Err(Refusal::new("coins", "this family does not use them. Leave the key out."));
    }
    own.coins = Some(by_family);
    if own.method == Method::Division && (own.digit_bits != 64 || matches!(family, Family::Balanced | Family::DitherQ))
    {
        let problem = format!("the paper's way writes 64-bit digits and has no {family} ones. Use `vectorised`.");
        return Err(Refusal::new("method", problem));
    }
    Ok(Box::new(Vectors { own, q: q as u64 }))
}

impl Primitive for Vectors {
    fn describe(&self) -> Result<Described, Refusal> {
        let Self { own, q, .. } = self;
        let gadget = self.gadget(Kernel::Scalar)?;
        let settings = completed(own, q, gadget.length())?;
        let digits = (own.coefficients * gadget.length()) as f64;
        let counts = [
            ("digits", digits),
            ("output_bytes", digits * f64::from(own.digit_bits) / 8.0),
            ("random_bits", gadget.random_bits()),
            ("bound", gadget.bound() as f64),
        ];
        Ok(Described {
            settings,
            counts: counts.map(|(name, count)| (name.to_string(), count)).into(),
            // Four samples; half of their time, because unlike other seconds it does not grow with a machine's slowness.
            predicted_seconds: 2.0 * timing::SAMPLE.as_secs_f64() + digits * 3e-8,
            peak_bytes: (digits * 16.0) as u64 + (64 << 20),
        })
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        let gadget = self.gadget(context.kernel)?;
        let Self { own, q } = *self;
        let mut rng = context.seed("decompose input")?.prg().rng();
        let input = uniform(&mut rng, q.into(), own.coefficients);
        let coins = Coins::from_seed(context.seed("decompose coins")?);
        let source = own.coins.unwrap_or(Source::None);
        if own.method == Method::Division {
            let stages = Stages::new(q.into(), own.base)?;
            return Ok(Box::new(OneByOne { family: own.family, source, stages, gadget, input, seed: rng.random() }));
        }
        match own.digit_bits {
            8 => whole::<i8>(gadget, source, &input, coins),
            16 => whole::<i16>(gadget, source, &input, coins),
            32 => whole::<i32>(gadget, source, &input, coins),
            _ => whole::<i64>(gadget, source, &input, coins),
        }
    }
}

/// A buffer that starts at a page.
struct Aligned<T> {
    buffer: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Default + Clone> Aligned<T> {
    fn new(len: usize) -> Self {
        let buffer = vec![T::default(); len + 4096 / size_of::<T>()];
        let start = buffer.as_ptr().align_offset(4096).min(4096 / size_of::<T>());
        Self { buffer, start, len }
    }

    fn get(&mut self) -> &mut [T] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}

/// Whole polynomials by the kernels.
fn whole<D: Digit>(gadget: Decomposer<u64>, source: Source, residues: &[u64], mut coins: Coins) -> Started {
    let (mut input, mut digits) = (Aligned::new(residues.len()), Aligned::<D>::new(residues.len() * gadget.length()));
    input.get().copy_from_slice(residues);
    let mut drawn = gadget.precompute(residues.len(), &mut coins);
    Ok(Box::new(move |out: &mut Measured| {
        let (input, digits) = (&*input.get(), digits.get());
        if source != Source::None {
            out.sample("precompute", || gadget.precompute_into(input.len(), &mut coins, black_box(&mut drawn)));
        }
        out.sample("decompose", || match source {
            Source::Fresh => gadget.decompose_fresh(input, black_box(&mut *digits), &mut coins),
            Source::Offline | Source::None => gadget.decompose_with(input, black_box(&mut *digits), &drawn),
        });
        let right = (0..input.len()).filter(|j| {
            let own = (0..gadget.length()).map(|t| digits[t * input.len() + j].to_i64());
            gadget.recompose(own) == input[*j]
        });
        out.compared(input.len() as u64, right.count() as u64);
        out.sample("store", || gadget.store_only(black_box(&mut *digits)));
        Ok(())
    }))
}

/// The paper's way: coins, and z = S y, are drawn beforehand, or one coefficient after another inside the clock.
struct OneByOne {
    family: Family,
    source: Source,
    stages: Stages<u64, false>,
    gadget: Decomposer<u64>,
    input: Vec<u64>,
    seed: [u8; 16],
}

impl OneByOne {
    /// Draws one coefficient's coins: words, or z, for which it returns whether u - q is taken.
    fn draw(&self, rng: &mut impl Rng, carries: &mut [i64], words: &mut [u64], z: &mut [i64]) -> bool {
        let last = words.len() - 1;
        match self.family {
            Family::Gmp19 => words.iter_mut().for_each(|word| *word = rng.random()),
            Family::Zy22 => {
                words[..last].iter_mut().for_each(|word| *word = rng.random_range(0..self.gadget.base()));
                words[last] = rng.random();
            }
            Family::Jlp21 | Family::Jlp24 => {
                // k bits of one word: moduli are of 62 bits at most.
                let bits: u64 = rng.random();
                carries.iter_mut().enumerate().for_each(|(i, carry)| *carry = (bits >> i & 1) as i64);
                if self.family == Family::Jlp21 {
                    self.stages.precompute(carries, z);
                } else {
                    self.stages.precompute_jlp24(carries, z);
                }
                return carries[last] == 1;
            }
            _ => {}
        }
        false
    }
}

impl Session for OneByOne {
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed> {
        let (k, n) = (self.stages.length(), self.input.len());
        let mut rng = ring::Seed(self.seed).prg().rng();
        self.seed = rng.random();
        let fresh = self.source == Source::Fresh;
        let (mut words, mut z, mut selects) = (vec![0; n * k], vec![0; n * k], vec![false; n]);
        let mut carries = vec![0; k];
        for (j, select) in selects.iter_mut().enumerate() {
            let own = j * k..(j + 1) * k;
            *select = self.draw(&mut rng, &mut carries, &mut words[own.clone()], &mut z[own]);
        }
        let Self { family, stages, input, .. } = &*self;
        let mut digits = vec![0i64; n * k];
        out.sample("decompose", || {
            for j in 0..n {
                // Fresh coins take the place of the last ones.
                let place = if fresh { 0 } else { j };
                let own = place * k..(place + 1) * k;
                if fresh {
                    selects[0] = self.draw(&mut rng, &mut carries, &mut words[own.clone()], &mut z[own.clone()]);
                }
                let mut x = vec![0; k];
                let (u, words, z) = (input[j], &words[own.clone()], &z[own]);
                match family {
                    Family::Gmp19 => stages.gmp19(u, words, &mut vec![0.0; k], &mut vec![0; k], &mut x),
                    Family::Zy22 => stages.zy22(u, words, &mut x),
                    Family::Jlp21 => stages.jlp21(u, z, &mut x),
                    Family::Jlp24 => stages.jlp24(u, selects[place], z, &mut x),
                    _ => stages.decomposition(u, &mut x),
                }
                for (t, digit) in x.into_iter().enumerate() {
                    digits[t * n + j] = digit;
                }
            }
            black_box(&mut digits);
        });
        let right = (0..n).filter(|j| self.gadget.recompose((0..k).map(|t| digits[t * n + j])) == input[*j]);
        out.compared(n as u64, right.count() as u64);
        Ok(())
    }
}
