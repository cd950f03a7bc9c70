//! `failure`: the failure rate of decisions on LWE phases, with errors so large that failures are frequent.
//!
//! A ciphertext of Gaussian error is switched to modulus 2N and the small key, and rotates a table. The error that the rotation sees is
//! known from the key: if it alone decides, every outcome is also compared with the one that it implies. For correct conversions to RGSW
//! the rows' errors are measured too.

mod digits;
mod rgsw;
mod settings;
mod trial;

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use lattice::noise::Moments;
use ring::{Kernel, Ring, Seed, Word};

use crate::in_ring::{polynomial_bytes, seconds_per_polynomial};
use crate::lab::Lab;
use crate::primitive::{
    About, Context, Described, Failed, Failures, Measured, Noise, Primitive, Read, Session, Started,
};
use crate::settings::{Refusal, Settings, complete};
use settings::{Decision, Failure};
use trial::Trials;

pub const ABOUT: About = ("failure", "how often decisions on LWE phases go wrong, in a given number of trials");

pub fn read(settings: &Settings) -> Read {
    let own = Failure::read(settings)?;
    Ok(if own.setting.narrow()? {
        Box::new(Failing { own, words: PhantomData::<u32> })
    } else {
        Box::new(Failing { own, words: PhantomData::<u64> })
    })
}

/// Decisions in a ring of words `W`.
struct Failing<W> {
    own: Failure,
    words: PhantomData<W>,
}

impl<W: Word> Primitive for Failing<W> {
    fn describe(&self) -> Result<Described, Refusal> {
        let Self { own, .. } = self;
        let ring: Arc<Ring<W>> = own.setting.ring(Kernel::best())?;
        let mut described = Described { settings: complete(own)?, ..Described::default() };
        described.ring(&ring);
        let costs = own.costs(&ring)?;
        described.settings.insert("limit".into(), costs.limit.into());
        described.counts([("trial_rotations", costs.rotations), ("trial_ntts", costs.trial)]);
        // Key rows at six polynomials each.
        let polynomials = costs.trial * own.common.trials as usize / ring.primes().len() + 6 * costs.key_rows;
        described.predicted_seconds = 2.0 * polynomials as f64 * seconds_per_polynomial(&ring);
        described.peak_bytes = polynomial_bytes(&ring, 4 * costs.key_rows + 64 * own.common.batch);
        Ok(described)
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        let Self { own, .. } = *self;
        let ring: Arc<Ring<W>> = own.setting.ring(context.kernel)?;
        let (trials, batch) = (own.common.trials, own.common.batch);
        let fresh = move |seed: Seed| -> Result<Box<dyn Trials>, Failed> {
            let lab = Lab::new(&ring, &own.setting, seed)?;
            match &own.decision {
                Decision::Rgsw(rgsw) => Ok(Box::new(rgsw::Conversions::new(&own, rgsw, lab)?)),
                Decision::Floor(switch) | Decision::Digit(switch) | Decision::Bits(switch) => {
                    Ok(Box::new(digits::Decompositions::new(&own, switch, lab)?))
                }
            }
        };
        Ok(Box::new(FailureSession { fresh, seed: context.seed("failure")?, trials, batch, seen: Seen::default() }))
    }
}

/// A session in which every repetition, including the warm-up, makes its trials under a new key.
struct FailureSession<F> {
    fresh: F,
    seed: Seed,
    trials: u64,
    batch: usize,
    seen: Seen,
}

/// The results under all keys so far.
#[derive(Default)]
struct Seen {
    keys: u64,
    failures: Failures,
    /// Number of outcomes that the input's error determines, and of those that were as determined.
    judged: u64,
    as_due: u64,
    errors: Moments,
    rows: Moments,
}

impl<F: FnMut(Seed) -> Result<Box<dyn Trials>, Failed>> Session for FailureSession<F> {
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed> {
        let mut trials = (self.fresh)(self.seed.derive(&format!("key {}", self.seen.keys)))?;
        self.seen.keys += 1;
        let decides = trials.decides();
        let (mut left, start) = (self.trials, Instant::now());
        while left > 0 {
            let count = left.min(self.batch as u64);
            for trial in trials.run(count as usize)? {
                self.seen.failures.trials += 1;
                self.seen.failures.failures += u64::from(trial.wrong);
                if let Some(right) = &decides {
                    self.seen.judged += 1;
                    self.seen.as_due += u64::from(trial.wrong != right.contains(&trial.error));
                }
                self.seen.errors.add(&[trial.error as f64]);
                self.seen.rows.add(&trial.rows);
            }
            left -= count;
        }
        out.time("trial", self.trials, start.elapsed().as_secs_f64());
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut Measured) -> Result<(), Failed> {
        out.compared(self.seen.judged, self.seen.as_due);
        for (stage, moments) in [("input", &self.seen.errors), ("row", &self.seen.rows)] {
            if moments.samples > 0 {
                out.noise.insert(stage.into(), Noise::of(moments, self.seen.keys));
            }
        }
        out.failures.insert("decision".into(), self.seen.failures);
        Ok(())
    }
}
