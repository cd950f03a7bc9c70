//! `noise`: the errors of one lattice operation against known phases, under many fresh keys.
//! `cmux-chain`: those of long chains of CMUXes.
//! `ring-switch`: those of switches to a small ring with moduli of its own.
//! `rotation`: those of blind rotations and of what is made of them.
//!
//! A repetition is a key; what the repetitions do not reach is made up at the end. Noise is collected over all of them.

mod chain;
mod conversion;
mod cost;
mod failure;
mod fixture;
mod functional;
mod galois;
mod lwe;
mod objects;
mod operations;
mod ringswitch;
mod rotation;
mod selector;
mod settings;
#[cfg(test)]
mod tests;

pub use chain::Chain;
pub use conversion::Conversion;
pub use failure::Failure;
pub use ringswitch::RingSwitch;
pub use rotation::Rotation;
pub use selector::Selector;

use std::sync::Arc;

use gadget::Moments;
use ring::{Kernel, Ring, Seed, Word};
use serde_json::json;

use crate::primitive::settings::{Refusal, Settings, complete};
use crate::primitive::{Context, Described, Failed, Measured, Primitive, Session};
use fixture::{Fixture, Tally};
use lwe::{LwePlan, SwitchPlan};
use objects::{GadgetSettings, RingSettings, gaussian};
use operations::Plan;
use settings::{NoiseSettings, Operation};

/// The noise of one operation.
pub struct Noise;

impl Primitive for Noise {
    fn name(&self) -> &'static str {
        "noise"
    }

    fn summary(&self) -> &'static str {
        "errors of a lattice operation against known phases, under many keys"
    }

    fn describe(&self, settings: &Settings) -> Result<Described, Refusal> {
        let own = NoiseSettings::read(settings)?;
        let mut described = Described { settings: complete(&own)?, ..Described::default() };
        let samples = own.samples.max(own.keys) as f64;
        if own.operation == Operation::LweKeySwitch {
            let plan = LwePlan::new(&own, Kernel::best())?;
            let gadget = plan.gadget();
            describe_digits(&mut described, gadget.length(), gadget.error_bound().into(), &gadget.moments());
            described.peak_bytes = 2 * plan.key_bytes();
            // Two nanoseconds a word of the key to use it, ten times that to make it.
            described.predicted_seconds = (samples / own.keys as f64 + 10.0) * plan.key_bytes() as f64 / 4e9;
            return Ok(described);
        }
        if own.operation == Operation::CompensatedModulusSwitch {
            // Ten nanoseconds a word: the mask is made, met with the key twice, switched and met again.
            let words = SwitchPlan::new(&own)?.words();
            described.predicted_seconds = (samples / own.keys as f64) * words as f64 * 1e-8;
            described.peak_bytes = 64 * words;
            return Ok(described);
        }
        let ring = own.ring()?;
        gaussian(own.stddev, "stddev")?;
        own.secret()?;
        let plan = Plan::new(&own, ring.n)?;
        describe_ring(&mut described, &ring);
        let gadget = if own.operation.decomposes() { Some(own.gadget()?) } else { None };
        let length = gadget.map_or(Ok(0), |gadget| describe_gadget(&mut described, &ring, gadget))?;
        let cost = plan.cost(ring.n, length, samples / own.keys as f64);
        described.predicted_seconds = cost.polynomials * seconds_per_polynomial(&ring);
        described.peak_bytes = (cost.held * ring.n * ring.primes.len() * 8) as u64;
        Ok(described)
    }

    fn start(&self, settings: &Settings, context: &Context) -> Result<Box<dyn Session>, Failed> {
        let own = NoiseSettings::read(settings)?;
        if own.operation == Operation::LweKeySwitch {
            let plan = LwePlan::new(&own, context.kernel)?;
            let wanted = own.samples.div_ceil(own.keys);
            return keys(own.keys, context, move |seed| plan.run(seed, wanted));
        }
        if own.operation == Operation::CompensatedModulusSwitch {
            let plan = SwitchPlan::new(&own)?;
            let wanted = own.samples.div_ceil(own.keys);
            return keys(own.keys, context, move |seed| plan.run(seed, wanted));
        }
        if own.ring()?.narrow() { on_ring::<u32>(&own, context) } else { on_ring::<u64>(&own, context) }
    }
}

fn on_ring<W: Word>(own: &NoiseSettings, context: &Context) -> Result<Box<dyn Session>, Failed> {
    let ring: Arc<Ring<W>> = own.ring()?.build(context.kernel)?;
    let gadget = if own.operation.decomposes() { Some(own.gadget()?.build(&ring)?) } else { None };
    let plan = Plan::new(own, ring.n())?;
    let (secret, error) = (own.secret()?, gaussian(own.stddev, "stddev")?);
    let wanted = own.samples.div_ceil(own.keys);
    keys(own.keys, context, move |seed| {
        let mut fixture = Fixture::new(&ring, secret, &error, seed)?;
        plan.run(&mut fixture, gadget.as_ref(), wanted)
    })
}

/// A nanosecond for two butterflies, a quarter of that where they are vectorised, and as much again for what is not a transform.
fn seconds_per_polynomial(ring: &RingSettings) -> f64 {
    let each = if Kernel::best() == Kernel::Scalar { 0.5e-9 } else { 0.125e-9 };
    (ring.n * ring.primes.len()) as f64 * f64::from(ring.n.ilog2()) * each
}

fn describe_ring(described: &mut Described, ring: &RingSettings) {
    let modulus: u128 = ring.primes.iter().map(|&p| u128::from(p)).product();
    described.settings.insert("primes".into(), json!(ring.primes));
    described.settings.insert("modulus".into(), json!(modulus.to_string()));
    described.settings.insert("word_bits".into(), json!(if ring.narrow() { 32 } else { 64 }));
}

fn describe_digits(described: &mut Described, length: usize, error_bound: u128, moments: &[Moments]) {
    let of = |f: fn(&Moments) -> f64| json!(moments.iter().map(f).collect::<Vec<_>>());
    described.settings.insert("length".into(), json!(length));
    described.settings.insert("gadget_error_bound".into(), json!(error_bound.to_string()));
    described.settings.insert("digit_means".into(), of(|m| m.mean));
    described.settings.insert("digit_mean_squares".into(), of(|m| m.mean_square));
}

/// Describes the gadget and tells its length.
fn describe_gadget(described: &mut Described, ring: &RingSettings, gadget: GadgetSettings) -> Result<usize, Refusal> {
    fn with<W: Word>(described: &mut Described, ring: &RingSettings, gadget: GadgetSettings) -> Result<usize, Refusal> {
        let gadget = gadget.build(&ring.build::<W>(Kernel::best())?)?;
        describe_digits(described, gadget.length(), gadget.error_bound(), &gadget.moments());
        Ok(gadget.length())
    }
    if ring.narrow() { with::<u32>(described, ring, gadget) } else { with::<u64>(described, ring, gadget) }
}

/// A session that measures key by key.
struct Keys<F> {
    wanted: u64,
    seed: Seed,
    measure: F,
    done: Vec<Tally>,
}

fn keys<F: FnMut(Seed) -> Result<Tally, Failed> + 'static>(
    wanted: u64,
    context: &Context,
    measure: F,
) -> Result<Box<dyn Session>, Failed> {
    Ok(Box::new(Keys { wanted, seed: context.seed("noise")?, measure, done: Vec::new() }))
}

impl<F: FnMut(Seed) -> Result<Tally, Failed>> Session for Keys<F> {
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed> {
        if (self.done.len() as u64) < self.wanted {
            let seed = self.seed.derive(&format!("key {}", self.done.len()));
            let tally = (self.measure)(seed)?;
            tally.write_time(out);
            self.done.push(tally);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, out: &mut Measured) -> Result<(), Failed> {
        while (self.done.len() as u64) < self.wanted {
            self.repetition(out)?;
        }
        Tally::write(&self.done, out);
        Ok(())
    }
}
