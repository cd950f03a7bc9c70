//! The objects for measuring under one key, and the collection of errors.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use gadget::Coins;
use lattice::lwe::LweKey;
use lattice::noise::{Moments, errors};
use lattice::{
    BlindRotationKey, Masks, Rgsw, RingGadget, Rlwe, RlweKey, RotationShape, Secret, SeededBlindRotationKey,
    SeededRgsw, SmallSecret, Workspace,
};
use rand::RngCore;
use ring::prg::PrgRng;
use ring::{Coefficient, DiscreteGaussian, Ntt, Poly, Ring, Seed, Word};

use crate::primitive::{Failed, Measured, Noise};
use crate::setting::{Message, Setting};
use crate::timing;

/// A fresh secret key with its own errors, masks and coins.
pub struct Lab<W: Word> {
    pub ring: Arc<Ring<W>>,
    /// The distribution of the key.
    pub secret: Secret,
    pub key: RlweKey<W>,
    /// The distribution of fresh errors.
    pub error: DiscreteGaussian,
    /// The source of masks.
    pub masks: Masks,
    /// The source of secrets, errors and messages.
    pub rng: PrgRng,
    /// Buffers and coins of decompositions.
    pub workspace: Workspace<W>,
    seed: Seed,
}

impl<W: Word> Lab<W> {
    /// Everything from one seed.
    pub fn new(ring: &Arc<Ring<W>>, setting: &Setting, seed: Seed) -> Result<Self, Failed> {
        let (secret, error) = (setting.secret()?, setting.error()?);
        let mut rng = seed.derive("noise: secrets and errors").prg().rng();
        let key = RlweKey::sample(ring, &secret, &mut rng)?;
        Ok(Self {
            ring: ring.clone(),
            secret,
            key,
            error,
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

    /// A uniform message and a fresh encryption of it.
    pub fn input(&mut self) -> (Poly<W, Coefficient>, Rlwe<W, Coefficient>) {
        let message = self.uniform();
        let fresh = self.fresh(&message);
        (message, fresh)
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

    /// A constant polynomial.
    pub fn constant(&self, value: u128) -> Poly<W, Coefficient> {
        let mut integers = vec![0; self.ring.n()];
        integers[0] = value;
        self.ring.from_u128(&integers)
    }

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

    pub fn rgsw(&mut self, message: &Poly<W, Ntt>, gadget: &RingGadget<W>) -> Result<Rgsw<W>, Failed> {
        let rgsw = SeededRgsw::new(&self.key, message, gadget, &self.error, &mut self.masks, &mut self.rng)?;
        Ok(rgsw.expand(&self.ring))
    }

    pub fn rgsw_bit(&mut self, bit: bool, gadget: &RingGadget<W>) -> Result<Rgsw<W>, Failed> {
        let message = self.message(if bit { Message::One } else { Message::Zero });
        self.rgsw(&message, gadget)
    }

    /// A small key, and the blind-rotation key for it.
    pub fn rotation_keys(
        &mut self,
        shape: RotationShape,
        gadget: &RingGadget<W>,
    ) -> Result<(LweKey, BlindRotationKey<W>), Failed> {
        let Self { key, error, masks, rng, .. } = self;
        let secret = match shape.secret {
            SmallSecret::Binary => Secret::Binary,
            SmallSecret::Ternary => Secret::Ternary,
        };
        let small = LweKey::sample(&secret, shape.dimension, rng)?;
        let seeded = SeededBlindRotationKey::new(shape, &small, key, gadget, error, masks, rng)?;
        let rotation = BlindRotationKey::new(gadget, &seeded)?;
        Ok((small, rotation))
    }

    /// phase - known.
    pub fn errors(&self, phase: &Poly<W, Coefficient>, known: &Poly<W, Coefficient>) -> Result<Vec<f64>, Failed> {
        Ok(errors(&self.ring, phase, known)?)
    }

    /// Phases of a ciphertext switched to modulus `to`, less the coefficients of `known` that its ring keeps.
    pub fn scaled_errors(&self, phase: &[f64], known: &Poly<W, Coefficient>, to: f64) -> Result<Vec<f64>, Failed> {
        let from = self.ring.modulus_u128().ok_or_else(|| Failed("the modulus is too large".to_string()))? as f64;
        let mut integers = vec![0u128; self.ring.n()];
        self.ring.compose_u128(known, &mut integers);
        let kept = integers.into_iter().step_by(self.ring.n() / phase.len().max(1));
        Ok(phase.iter().zip(kept).map(|(phase, known)| scaled_error(*phase, known as f64, (from, to))).collect())
    }
}

/// The phase `found` modulo `to` less `known`, which is modulo `from`, in units of `to`.
pub fn scaled_error(found: f64, known: f64, (from, to): (f64, f64)) -> f64 {
    let error = found - known / from * to;
    error - (error / to).round() * to
}

/// Errors under one key by stage, and the seconds of the operation alone.
#[derive(Default)]
pub struct Tally {
    stages: BTreeMap<String, Moments>,
    /// Number of calls timed together, and their seconds.
    time: Option<(u64, f64)>,
}

/// Calls timed together.
pub const CALLS: u64 = 8;

impl Tally {
    /// Adds errors of one stage.
    pub fn add(&mut self, stage: &str, errors: &[f64]) {
        self.stages.entry(stage.to_string()).or_default().add(errors);
    }

    /// Calls the operation, and times some more calls if this was not done yet; returns the result of the last call. Every call takes fresh
    /// coins.
    pub fn operate<T, E: Error>(&mut self, operation: impl FnMut() -> Result<T, E>) -> Result<T, Failed> {
        self.operate_calls(CALLS, operation)
    }

    /// The same with another number of calls, for operations that take long.
    pub fn operate_calls<T, E: Error>(
        &mut self,
        calls: u64,
        mut operation: impl FnMut() -> Result<T, E>,
    ) -> Result<T, Failed> {
        let mut made = operation();
        if self.time.is_none() && made.is_ok() {
            let seconds = timing::seconds(calls, || {
                if made.is_ok() {
                    made = operation();
                }
            });
            self.time = Some((calls, seconds));
        }
        Ok(made?)
    }

    /// Whether every stage has `wanted` errors.
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
            out.noise.insert(stage.to_string(), Noise::of(&total, keys));
        }
    }
}
