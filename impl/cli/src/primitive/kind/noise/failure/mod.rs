//! `failure`: how often decisions on LWE phases go wrong, where errors are made so large that they do.
//!
//! A ciphertext of Gaussian error is switched to modulus 2N and the small key, and rotates a table. The error that the rotation sees is
//! known from the key: where it alone decides, every outcome is also held against the one that it asks for. Of right conversions to RGSW
//! the rows' errors are measured too.

mod digits;
mod rgsw;
mod settings;

use std::time::Instant;

use lattice::lwe::LweKey;
use lattice::noise::Moments;
use lattice::{BlindRotationKey, SeededBlindRotationKey};
use ring::{Modulus, Seed, Word};

use super::fixture::Fixture;
use super::{describe_ring, seconds_per_polynomial};
use crate::primitive::settings::{Refusal, Settings, complete};
use crate::primitive::{Context, Described, Failed, Failures, Measured, Noise, Primitive, Session};
use settings::{Decision, Own};

/// Observed failures.
pub struct Failure;

impl Primitive for Failure {
    fn name(&self) -> &'static str {
        "failure"
    }

    fn summary(&self) -> &'static str {
        "how often decisions on LWE phases go wrong, of so many trials"
    }

    fn describe(&self, settings: &Settings) -> Result<Described, Refusal> {
        let own = Own::read(settings)?;
        let ring = own.ring()?;
        let mut described = Described { settings: complete(&own)?, ..Described::default() };
        describe_ring(&mut described, &ring);
        let costs = if ring.narrow() { own.costs::<u32>(&ring)? } else { own.costs::<u64>(&ring)? };
        described.settings.insert("limit".into(), costs.limit.into());
        described.counts.insert("trial_rotations".into(), costs.rotations as f64);
        described.counts.insert("trial_ntts".into(), costs.trial as f64);
        // Key rows at six polynomials each.
        let polynomials = costs.trial * own.trials as usize / ring.primes.len() + 6 * costs.key_rows;
        described.predicted_seconds = 2.0 * polynomials as f64 * seconds_per_polynomial(&ring);
        described.peak_bytes = ((4 * costs.key_rows + 64 * own.batch) * ring.n * ring.primes.len() * 8) as u64;
        Ok(described)
    }

    fn start(&self, settings: &Settings, context: &Context) -> Result<Box<dyn Session>, Failed> {
        let own = Own::read(settings)?;
        if own.ring()?.narrow() { start::<u32>(own, context) } else { start::<u64>(own, context) }
    }
}

/// Trials under one key.
trait Trials {
    /// Makes that many trials, at most a batch; tells of each the input's error and whether the outcome was wrong.
    fn run(&mut self, count: usize) -> Result<Vec<Trial>, Failed>;
    /// The errors for which outcomes are right, and no others, where the input's error alone decides.
    fn decides(&self) -> Option<std::ops::Range<i64>>;
}

/// One trial.
struct Trial {
    /// The rotation's input less what it should be, modulo 2N.
    error: i64,
    wrong: bool,
    /// Errors of the rows made, where the outcome is right.
    rows: Vec<f64>,
}

fn start<W: Word>(own: Own, context: &Context) -> Result<Box<dyn Session>, Failed> {
    let ring = own.ring()?.build::<W>(context.kernel)?;
    let (trials, batch) = (own.trials, own.batch);
    let fresh = move |seed: Seed| -> Result<Box<dyn Trials>, Failed> {
        let fixture = Fixture::new(&ring, own.secret()?, &own.error()?, seed)?;
        match own.decision {
            Decision::Rgsw => Ok(Box::new(rgsw::Conversions::new(&own, fixture)?)),
            Decision::Floor | Decision::Digit | Decision::Bits => {
                Ok(Box::new(digits::Decompositions::new(&own, fixture)?))
            }
        }
    };
    Ok(Box::new(Trialling {
        fresh,
        seed: context.seed("failure")?,
        trials,
        batch,
        keys: 0,
        failures: Failures::default(),
        judged: 0,
        as_due: 0,
        errors: Moments::default(),
        rows: Moments::default(),
    }))
}

/// A session of which every repetition, the warm-up too, makes its trials under a key of its own.
struct Trialling<F> {
    fresh: F,
    seed: Seed,
    trials: u64,
    batch: usize,
    keys: u64,
    failures: Failures,
    judged: u64,
    as_due: u64,
    errors: Moments,
    rows: Moments,
}

impl<F: FnMut(Seed) -> Result<Box<dyn Trials>, Failed>> Session for Trialling<F> {
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed> {
        let mut trials = (self.fresh)(self.seed.derive(&format!("key {}", self.keys)))?;
        self.keys += 1;
        let decides = trials.decides();
        let (mut left, start) = (self.trials, Instant::now());
        while left > 0 {
            let count = left.min(self.batch as u64);
            for trial in trials.run(count as usize)? {
                self.failures.trials += 1;
                self.failures.failures += u64::from(trial.wrong);
                if let Some(right) = &decides {
                    self.judged += 1;
                    self.as_due += u64::from(trial.wrong != right.contains(&trial.error));
                }
                self.errors.add(&[trial.error as f64]);
                self.rows.add(&trial.rows);
            }
            left -= count;
        }
        out.time("trial", self.trials, start.elapsed().as_secs_f64());
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut Measured) -> Result<(), Failed> {
        out.compared(self.judged, self.as_due);
        for (stage, moments) in [("input", &self.errors), ("row", &self.rows)] {
            if moments.samples > 0 {
                let noise = Noise {
                    samples: moments.samples,
                    keys: self.keys,
                    mean: moments.mean(),
                    variance: moments.mean_square(),
                    max: moments.max,
                };
                out.noise.insert(stage.into(), noise);
            }
        }
        out.failures.insert("decision".into(), self.failures);
        Ok(())
    }
}

/// A small key with its blind-rotation key.
struct Rotations<W: Word> {
    small: LweKey,
    key: BlindRotationKey<W>,
    order: Modulus<u64>,
}

impl<W: Word> Rotations<W> {
    fn new(own: &Own, f: &mut Fixture<W>) -> Result<Self, Failed> {
        let (shape, gadget) = (own.shape(), own.rotation_gadget(&f.ring)?);
        let small = LweKey::sample(&lattice::Secret::Binary, shape.dimension, &mut f.rng).map_err(Failed::from)?;
        let seeded = SeededBlindRotationKey::new(shape, &small, &f.key, &gadget, &f.error, &mut f.masks, &mut f.rng);
        let key = BlindRotationKey::new(&gadget, &seeded.map_err(Failed::from)?).map_err(Failed::from)?;
        let order = Modulus::new(2 * f.ring.n() as u64).map_err(Failed::from)?;
        Ok(Self { small, key, order })
    }
}
