//! Operations whose noise is measured in a ring, key by key: what they have in common.
//!
//! A repetition is a key; what the repetitions do not reach is made up at the end. Noise is collected over all of them.

use std::sync::Arc;

use ring::{Kernel, Ring, Seed, Word};
use serde::Serialize;
use serde_json::json;

use crate::lab::{Lab, Tally};
use crate::primitive::{Context, Described, Failed, Measured, Primitive, Session};
use crate::setting::{GadgetSetting, MOST_KEYS, Setting, bounded};
use crate::settings::{Refusal, Settings, complete};

/// What is done under each key.
pub type Measure<W> = Box<dyn FnMut(&mut Lab<W>) -> Result<Tally, Failed>>;

/// An operation in a ring: its settings, read and checked.
pub trait InRing: Serialize + Sized + 'static {
    /// Its name in experiment files.
    const NAME: &'static str;
    /// One line that says what is measured.
    const SUMMARY: &'static str;
    /// Reads the settings; refuses one that is unknown, missing or out of range.
    fn read(settings: &Settings) -> Result<Self, Refusal>;
    /// What it shares with the others: the ring, the keys, and the gadget whose digits are described, where there is one.
    fn shared(&self) -> (&Setting, u64, Option<&GadgetSetting>);
    /// Adds what the operation counts, predicts and holds; the gadget has `length` digits.
    fn describe<W: Word>(&self, ring: &Arc<Ring<W>>, length: usize, described: &mut Described) -> Result<(), Refusal>;
    /// Makes ready what all keys share.
    fn measure<W: Word>(self, ring: &Arc<Ring<W>>) -> Result<Measure<W>, Failed>;
}

impl<T: InRing> Primitive for T {
    const NAME: &'static str = T::NAME;
    const SUMMARY: &'static str = T::SUMMARY;

    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let own = T::read(settings)?;
        let (setting, keys, _) = own.shared();
        bounded(keys, "keys", 1..=MOST_KEYS)?;
        setting.check()?;
        Ok(own)
    }

    fn describe(&self) -> Result<Described, Refusal> {
        if self.shared().0.narrow()? { describe::<T, u32>(self) } else { describe::<T, u64>(self) }
    }

    fn start(self, context: &Context) -> Result<Box<dyn Session>, Failed> {
        if self.shared().0.narrow()? { start::<T, u32>(self, context) } else { start::<T, u64>(self, context) }
    }
}

fn describe<T: InRing, W: Word>(own: &T) -> Result<Described, Refusal> {
    let (setting, _, gadget) = own.shared();
    let ring = setting.ring::<W>(Kernel::best())?;
    let mut described = Described { settings: complete(own)?, ..Described::default() };
    described.ring(&ring);
    let mut length = 0;
    if let Some(gadget) = gadget {
        let gadget = gadget.build(&ring, "base")?;
        length = gadget.length();
        described.digits(length, gadget.error_bound(), &gadget.moments());
    }
    own.describe(&ring, length, &mut described)?;
    Ok(described)
}

fn start<T: InRing, W: Word>(own: T, context: &Context) -> Result<Box<dyn Session>, Failed> {
    let (setting, keys, _) = own.shared();
    let (ring, secret, error) = (setting.ring::<W>(context.kernel)?, setting.secret()?, setting.error()?);
    let mut measure = own.measure(&ring)?;
    by_keys(keys, context, move |seed| measure(&mut Lab::new(&ring, secret, &error, seed)?))
}

/// A nanosecond for two butterflies, a quarter of that where they are vectorised, and as much again for what is not a transform.
pub fn seconds_per_polynomial<W: Word>(ring: &Ring<W>) -> f64 {
    let each = if Kernel::best() == Kernel::Scalar { 0.5e-9 } else { 0.125e-9 };
    (ring.n() * ring.primes().len()) as f64 * f64::from(ring.n().ilog2()) * each
}

/// Bytes that a number of polynomials take, however wide their words are.
pub fn polynomial_bytes<W: Word>(ring: &Ring<W>, polynomials: usize) -> u64 {
    (polynomials * ring.n() * ring.primes().len() * 8) as u64
}

impl Described {
    /// Adds what a ring is.
    pub fn ring<W: Word>(&mut self, ring: &Ring<W>) {
        let modulus: u128 = ring.primes().iter().map(|&p| u128::from(p)).product();
        self.settings.insert("primes".into(), json!(ring.primes()));
        self.settings.insert("modulus".into(), json!(modulus.to_string()));
        self.settings.insert("word_bits".into(), json!(8 * size_of::<W>()));
    }
}

/// A session that measures key by key.
struct Keys<F> {
    wanted: u64,
    seed: Seed,
    measure: F,
    done: Vec<Tally>,
}

/// Measures under `wanted` keys, each from a seed of its own.
pub fn by_keys<F: FnMut(Seed) -> Result<Tally, Failed> + 'static>(
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
