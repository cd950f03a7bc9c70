//! `cmux-chain`: noise after 1, 10, 100, ... CMUXes.

use std::sync::Arc;

use lattice::{Rgsw, RingGadget, Rlwe, SeededRgsw};
use ring::{Coefficient, Poly, Ring, Seed, Word};
use serde::{Deserialize, Serialize};

use super::fixture::{Fixture, Tally};
use super::objects::{GadgetSettings, RingSettings, SecretName, family, gaussian, secret};
use super::settings::{Message, bounded};
use super::{describe_gadget, describe_ring, keys, seconds_per_polynomial};
use crate::primitive::settings::{Refusal, Settings, complete};
use crate::primitive::{Context, Described, Failed, Primitive, Session};

/// The noise of chains of CMUXes.
pub struct Chain;

/// What is selected at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Input {
    /// The sum so far or its multiple by a random monomial, by a random bit: the shape of a blind rotation.
    Rotate,
    /// The sum so far plus a ciphertext fixed in advance whose coefficients are all equal, always.
    Constant,
}

/// Which RGSW encryptions select.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Selectors {
    /// A fresh one each step.
    Fresh,
    /// The same one in all steps.
    One,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    n: usize,
    prime_bits: Vec<u32>,
    #[serde(default)]
    secret: SecretName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_stddev: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_weight: Option<usize>,
    /// Standard deviation of fresh errors.
    stddev: f64,
    /// Fresh secret keys.
    #[serde(default = "super::settings::keys")]
    keys: u64,
    family: String,
    base: u64,
    #[serde(default)]
    dropped: usize,
    /// Lengths after which the noise is measured, ascending.
    lengths: Vec<u64>,
    input: Input,
    selectors: Selectors,
}

impl Own {
    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let own: Self = settings.parse()?;
        bounded(own.keys, "keys", 1..=1 << 20)?;
        gaussian(own.stddev, "stddev")?;
        secret(own.secret, own.secret_stddev, own.secret_weight)?;
        let ascending = own.lengths.windows(2).all(|pair| pair[0] < pair[1]);
        if own.lengths.is_empty() || own.lengths[0] == 0 || !ascending {
            return Err(Refusal::new("lengths", "give ascending numbers from 1, e.g. [1, 10, 100, 1000]."));
        }
        Ok(own)
    }

    fn ring(&self) -> Result<RingSettings, Refusal> {
        RingSettings::new(self.n, self.prime_bits.clone())
    }

    fn gadget(&self) -> Result<GadgetSettings, Refusal> {
        Ok(GadgetSettings { family: family(&self.family)?, base: self.base, dropped: self.dropped })
    }

    fn steps(&self) -> u64 {
        self.lengths.last().copied().unwrap_or_default()
    }
}

impl Primitive for Chain {
    fn name(&self) -> &'static str {
        "cmux-chain"
    }

    fn summary(&self) -> &'static str {
        "errors after chains of CMUXes, under many keys"
    }

    fn describe(&self, settings: &Settings) -> Result<Described, Refusal> {
        let own = Own::read(settings)?;
        let ring = own.ring()?;
        let mut described = Described { settings: complete(&own)?, ..Described::default() };
        describe_ring(&mut described, &ring);
        let length = describe_gadget(&mut described, &ring, own.gadget()?)?;
        // A selector's 2 length rows are made, at six polynomials each, and used in every step.
        let (rows, steps) = (2 * length as u64, own.steps());
        let selectors = if matches!(own.selectors, Selectors::One) { 1 } else { steps };
        let polynomials = selectors * rows * 6 + steps * (rows + 2);
        described.predicted_seconds = polynomials as f64 * seconds_per_polynomial(&ring);
        described.peak_bytes = ((32 * length + 64) * ring.n * ring.primes.len() * 8) as u64;
        Ok(described)
    }

    fn start(&self, settings: &Settings, context: &Context) -> Result<Box<dyn Session>, Failed> {
        let own = Own::read(settings)?;
        if own.ring()?.narrow() { start::<u32>(own, context) } else { start::<u64>(own, context) }
    }
}

fn start<W: Word>(own: Own, context: &Context) -> Result<Box<dyn Session>, Failed> {
    let ring: Arc<Ring<W>> = own.ring()?.build(context.kernel)?;
    let gadget = own.gadget()?.build(&ring)?;
    let error = gaussian(own.stddev, "stddev")?;
    let distribution = secret(own.secret, own.secret_stddev, own.secret_weight)?;
    keys(own.keys, context, move |seed: Seed| {
        let mut fixture = Fixture::new(&ring, distribution, &error, seed)?;
        run(&own, &mut fixture, &gadget)
    })
}

fn selector<W: Word>(f: &mut Fixture<W>, gadget: &RingGadget<W>, bit: bool) -> Result<Rgsw<W>, Failed> {
    let message = f.message(if bit { Message::One } else { Message::Zero });
    let rgsw = SeededRgsw::new(&f.key, &message, gadget, &f.error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
    Ok(rgsw.expand(&f.ring))
}

fn run<W: Word>(own: &Own, f: &mut Fixture<W>, gadget: &RingGadget<W>) -> Result<Tally, Failed> {
    let mut known = f.ring.zero();
    let mut sum = Rlwe::zero(&f.ring);
    if own.input == Input::Rotate {
        known = f.uniform();
        sum = f.fresh(&known);
    }
    let fixed = constant(f);
    let fixed_phase = f.key.phase_coefficient(&fixed);
    let bit = |f: &mut Fixture<W>| own.input == Input::Constant || f.bit();
    let mut selected = bit(f);
    let mut rgsw = selector(f, gadget, selected)?;
    let mut next = Rlwe::zero(&f.ring);
    let mut tally = Tally::default();
    for step in 1..=own.steps() {
        if own.selectors == Selectors::Fresh && step > 1 {
            selected = bit(f);
            rgsw = selector(f, gadget, selected)?;
        }
        let other = match own.input {
            Input::Rotate => {
                let exponent = f.below(2 * f.ring.n());
                if selected {
                    known = f.ring.mul_monomial(&known, exponent);
                }
                sum.mul_monomial(&f.ring, exponent)
            }
            Input::Constant => {
                f.ring.add_assign(&mut known, &fixed_phase);
                let mut other = sum.clone();
                other.add_assign(&f.ring, &fixed);
                other
            }
        };
        gadget.cmux(&rgsw, &sum, &other, &mut f.workspace, &mut next).map_err(Failed::from)?;
        std::mem::swap(&mut sum, &mut next);
        if own.lengths.contains(&step) {
            let errors = f.errors(&f.key.phase_coefficient(&sum), &known)?;
            tally.add(&format!("after-{step}"), &errors);
        }
    }
    Ok(tally)
}

/// A pair whose 2 N coefficients are one uniform residue.
fn constant<W: Word>(f: &mut Fixture<W>) -> Rlwe<W, Coefficient> {
    let residue = f.uniform();
    let part = || {
        let mut poly: Poly<W, Coefficient> = f.ring.zero();
        for limb in 0..f.ring.primes().len() {
            poly.limb_mut(limb).fill(residue.limb(limb)[0]);
        }
        poly
    };
    Rlwe { a: part(), b: part() }
}
