//! What one key's measurements need, and where their errors go.

use std::collections::BTreeMap;
use std::sync::Arc;

use gadget::Coins;
use lattice::noise::{Moments, errors};
use lattice::{LatticeError, Masks, Rlwe, RlweKey, Secret, Workspace};
use rand::RngCore;
use ring::prg::PrgRng;
use ring::{Coefficient, DiscreteGaussian, Ntt, Poly, Ring, Seed, Word};

use super::settings::Message;
use crate::primitive::{Failed, Measured, Noise, timing};

/// A fresh secret key with errors, masks and coins of its own.
pub struct Fixture<W: Word> {
    pub ring: Arc<Ring<W>>,
    pub secret: Secret,
    pub key: RlweKey<W>,
    pub error: DiscreteGaussian,
    pub masks: Masks,
    pub rng: PrgRng,
    pub workspace: Workspace<W>,
    seed: Seed,
}

impl<W: Word> Fixture<W> {
    /// Everything from one seed.
    ///
    /// # Errors
    /// A secret that cannot be sampled.
    pub fn new(ring: &Arc<Ring<W>>, secret: Secret, error: &DiscreteGaussian, seed: Seed) -> Result<Self, Failed> {
        let mut rng = seed.derive("noise: secrets and errors").prg().rng();
        let key = RlweKey::sample(ring, &secret, &mut rng).map_err(Failed::from)?;
        Ok(Self {
            ring: ring.clone(),
            secret,
            key,
            error: error.clone(),
            masks: Masks::new(seed.derive("noise: masks")),
            rng,
            workspace: Workspace::new(Coins::from_seed(seed.derive("noise: coins"))),
            seed,
        })
    }

    /// A seed for a further purpose.
    pub fn seed(&self, label: &str) -> Seed {
        self.seed.derive(label)
    }

    /// A uniform polynomial.
    pub fn uniform(&mut self) -> Poly<W, Coefficient> {
        self.ring.uniform(&mut self.rng)
    }

    /// A fresh encryption in the coefficient domain.
    pub fn fresh(&mut self, message: &Poly<W, Coefficient>) -> Rlwe<W, Coefficient> {
        let fresh = self.key.encrypt(message, &self.error, &mut self.masks, &mut self.rng);
        fresh.expand(&self.ring).inverse(&self.ring)
    }

    /// A message for a gadget encryption.
    pub fn message(&mut self, message: Message) -> Poly<W, Ntt> {
        let mut coefficients = vec![0; self.ring.n()];
        match message {
            Message::Zero => {}
            Message::One => coefficients[0] = 1,
            Message::Ternary => ring::secret::fill_ternary(&mut self.rng, &mut coefficients),
        }
        self.ring.forward(self.ring.from_signed_i32(&coefficients))
    }

    /// The product of two polynomials.
    pub fn product(&self, x: &Poly<W, Coefficient>, y: &Poly<W, Ntt>) -> Poly<W, Coefficient> {
        let mut product = self.ring.forward(x.clone());
        self.ring.mul_assign(&mut product, y);
        self.ring.inverse(product)
    }

    /// A uniform number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ring::secret::uniform_below(&mut self.rng, bound as u64) as usize
    }

    /// A fair bit.
    pub fn bit(&mut self) -> bool {
        self.rng.next_u32() & 1 == 1
    }

    /// phase - known.
    ///
    /// # Errors
    /// A modulus too large to measure.
    pub fn errors(&self, phase: &Poly<W, Coefficient>, known: &Poly<W, Coefficient>) -> Result<Vec<f64>, Failed> {
        errors(&self.ring, phase, known).map_err(Failed::from)
    }
}

/// Errors under one key by stage, and what the operation alone took.
#[derive(Default)]
pub struct Tally {
    stages: BTreeMap<String, Moments>,
    /// Calls timed together, and what they took.
    time: Option<(u64, f64)>,
}

/// Calls timed together.
const CALLS: u64 = 32;

impl Tally {
    /// Takes in errors of one stage.
    pub fn add(&mut self, stage: &str, errors: &[f64]) {
        self.stages.entry(stage.to_string()).or_default().add(errors);
    }

    /// Calls the operation, and times some calls more where this was not done yet. Every call takes coins of its own.
    ///
    /// # Errors
    /// What the operation refuses.
    pub fn operate(&mut self, operation: impl FnMut() -> Result<(), LatticeError>) -> Result<(), Failed> {
        self.operate_calls(CALLS, operation)
    }

    /// The same with so many calls more, for operations that take long.
    ///
    /// # Errors
    /// What the operation refuses.
    pub fn operate_calls(
        &mut self,
        calls: u64,
        mut operation: impl FnMut() -> Result<(), LatticeError>,
    ) -> Result<(), Failed> {
        operation().map_err(Failed::from)?;
        if self.time.is_none() {
            let mut result = Ok(());
            let seconds = timing::seconds(calls, || {
                if result.is_ok() {
                    result = operation();
                }
            });
            self.time = Some((calls, seconds));
            result.map_err(Failed::from)?;
        }
        Ok(())
    }

    /// Whether every stage has so many errors.
    pub fn reached(&self, wanted: u64) -> bool {
        !self.stages.is_empty() && self.stages.values().all(|moments| moments.samples >= wanted)
    }

    /// Writes the time, if there is one.
    pub fn write_time(&self, out: &mut Measured) {
        if let Some((calls, seconds)) = self.time {
            out.time("operation", calls, seconds);
        }
    }

    /// Writes the noise over all keys, and each key's.
    pub fn write(keys: &[Self], out: &mut Measured) {
        let mut all: BTreeMap<&str, (Moments, u64)> = BTreeMap::new();
        for (stage, moments) in keys.iter().flat_map(|tally| &tally.stages) {
            let (total, count) = all.entry(stage).or_default();
            total.merge(moments);
            *count += 1;
            out.value(&format!("{stage}.key_mean"), moments.mean());
            out.value(&format!("{stage}.key_mean_square"), moments.mean_square());
            out.value(&format!("{stage}.key_max"), moments.max);
        }
        for (stage, (total, keys)) in all {
            let noise = Noise {
                samples: total.samples,
                keys,
                mean: total.mean(),
                variance: total.mean_square(),
                max: total.max,
            };
            out.noise.insert(stage.to_string(), noise);
        }
    }
}
