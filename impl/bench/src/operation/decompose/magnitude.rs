//! `decompose-magnitude`: Euclidean norms of the digits of uniform residues.

use gadget::{Coins, Decomposer, Family, Gadget};
use rand::Rng;
use ring::{Kernel, primes};
use serde::{Deserialize, Serialize};

use super::{COUNTS, completed, uniform};
use crate::primitive::{About, Context, Described, Measured, Primitive, Read, Started};
use crate::setting::bounded;
use crate::settings::{Refusal, Settings};

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// The largest prime below 2^j.
    Largest,
    /// A prime of j bits, the same in every run: the paper names none.
    Random,
    /// The smallest prime above 2^(j-1).
    Smallest,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    family: Family,
    base: u64,
    modulus_bits: u32,
    modulus_kind: Kind,
    runs: usize,
}

struct Magnitude {
    own: Own,
    gadget: Decomposer<u64>,
}

pub const ABOUT: About = ("decompose-magnitude", "Euclidean norm of the digits of uniform residues");

pub fn read(settings: &Settings) -> Read {
    let own: Own = settings.parse()?;
    let bits = own.modulus_bits;
    if !(3..=62).contains(&bits) {
        return Err(Refusal::new("modulus_bits", format!("{bits} is not between 3 and 62. Give 60.")));
    }
    bounded(own.runs, "runs", COUNTS)?;
    let prime = match own.modulus_kind {
        Kind::Largest => primes::primes_below(bits, 2).next(),
        Kind::Smallest => primes::primes_above(bits - 1, 2).next(),
        Kind::Random => {
            let mut rng = ring::Seed([0; 16]).derive(&format!("gadget figure 1, {bits} bits")).prg().rng();
            let mut drawn = (0..10_000).map(|_| rng.random_range(1 << (bits - 1)..1u64 << bits));
            drawn.find(|candidate| primes::is_prime(*candidate))
        }
    };
    let prime = prime.ok_or_else(|| Refusal::new("modulus_bits", format!("no such prime of {bits} bits.")))?;
    let gadget = Decomposer::new(own.family, prime, own.base, 0, Kernel::best()).map_err(Refusal::of("base"))?;
    Ok(Box::new(Magnitude { own, gadget }))
}

impl Primitive for Magnitude {
    fn describe(&self) -> Result<Described, Refusal> {
        let Self { own, gadget } = self;
        let settings = completed(own, gadget.modulus(), gadget.length())?;
        Ok(Described {
            settings,
            counts: [("norm_square_expected".to_string(), norm_square(gadget))].into(),
            predicted_seconds: (own.runs * gadget.length()) as f64 * 1e-8,
            peak_bytes: (own.runs * gadget.length() * 16) as u64 + (16 << 20),
        })
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        let Self { own, gadget } = *self;
        let gadget = Decomposer::new(gadget.family(), gadget.modulus(), own.base, 0, context.kernel)?;
        let mut seed = context.seed("magnitude input")?.0;
        let mut coins = Coins::from_seed(context.seed("magnitude coins")?);
        Ok(Box::new(move |out: &mut Measured| {
            let (n, k) = (own.runs, gadget.length());
            let mut rng = ring::Seed(seed).prg().rng();
            seed = rng.random();
            let input: Vec<u64> = uniform(&mut rng, gadget.modulus().into(), n);
            let mut digits = vec![0i64; n * k];
            gadget.decompose_fresh(&input, &mut digits, &mut coins);
            let of = |j: usize| (0..k).map(move |t| t * n + j);
            let norms = (0..n).map(|j| of(j).map(|at| (digits[at] * digits[at]) as f64).sum::<f64>().sqrt());
            let (sum, max) = norms.fold((0.0, 0.0), |(sum, max), norm| (sum + norm, f64::max(max, norm)));
            out.value("norm_mean", sum / n as f64);
            out.value("norm_max", max);
            out.count("norm_square_expected", norm_square(&gadget));
            let right = (0..n).filter(|j| gadget.recompose(of(*j).map(|at| digits[at])) == input[*j]);
            out.compared(n as u64, right.count() as u64);
            Ok(())
        }))
    }
}

/// The mean square of the norm.
fn norm_square(gadget: &Decomposer<u64>) -> f64 {
    gadget.moments().iter().map(|digit| digit.mean_square).sum()
}
