//! The LWE key switch, and the mean-compensated modulus switch.

use std::sync::Arc;

use gadget::{Coins, Gadget};
use lattice::lwe::{LweKey, LweSwitchKey, LweSwitcher, SeededLweSwitchKey};
use lattice::{LatticeError, Secret};
use ring::secret::uniform_below;
use ring::{DiscreteGaussian, Kernel, Modulus, Seed};

use super::settings::NoiseSettings;
use crate::lab::{Tally, scaled_error};
use crate::primitive::Failed;
use crate::setting::{SecretName, bounded, gaussian, modulus, required};
use crate::settings::Refusal;

/// The settings, read and checked.
pub struct LwePlan {
    from: usize,
    to: usize,
    secret: Secret,
    error: DiscreteGaussian,
    input_error: DiscreteGaussian,
    modulus: Modulus<u64>,
    gadget: Arc<dyn Gadget<u64>>,
}

impl LwePlan {
    /// Reads the settings.
    pub fn new(settings: &NoiseSettings, kernel: Kernel) -> Result<Self, Refusal> {
        let dimension = |value: &Option<usize>, key: &str| bounded(required(value, key)?, key, 1..=1 << 16);
        let q = modulus(&settings.modulus, "modulus", 1 << 20..=(1 << 62) - 1)?;
        let gadget = settings.gadget()?;
        Ok(Self {
            from: dimension(&settings.dimension_from, "dimension_from")?,
            to: dimension(&settings.dimension_to, "dimension_to")?,
            secret: settings.secret()?,
            error: gaussian(settings.stddev, "stddev")?,
            input_error: gaussian(required(&settings.input_stddev, "input_stddev")?, "input_stddev")?,
            modulus: Modulus::new(q).map_err(Refusal::of("modulus"))?,
            gadget: gadget.modulo(q, kernel, "base")?.into(),
        })
    }

    /// The gadget.
    pub fn gadget(&self) -> &dyn Gadget<u64> {
        self.gadget.as_ref()
    }

    /// Bytes of the expanded key.
    pub fn key_bytes(&self) -> u64 {
        LweSwitchKey::bytes(self.modulus, self.from, self.to, self.gadget.length()) as u64
    }

    /// Measures under one pair of keys until there are `wanted` errors.
    pub fn run(&self, seed: Seed, wanted: u64) -> Result<Tally, Failed> {
        let mut rng = seed.derive("noise: secrets and errors").prg().rng();
        let mut coins = Coins::from_seed(seed.derive("noise: coins"));
        let old = LweKey::sample(&self.secret, self.from, &mut rng)?;
        let new = LweKey::sample(&self.secret, self.to, &mut rng)?;
        let masks = seed.derive("noise: masks");
        let key = SeededLweSwitchKey::new(&old, &new, self.gadget.as_ref(), &self.error, masks, &mut rng)?;
        let switcher = key.expand().and_then(|key| LweSwitcher::new(key, self.gadget.clone()))?;
        let mut tally = Tally::default();
        while !tally.reached(wanted) {
            let message = uniform_below(&mut rng, self.modulus.value());
            let input = old.encrypt(self.modulus, message, &self.input_error, &mut rng);
            let found = switcher.switch(&input, &mut coins).and_then(|out| new.phase(&out))?;
            let before = old.phase(&input)?;
            for (stage, known) in [("output", message), ("added", before)] {
                tally.add(stage, &[self.modulus.centred(self.modulus.sub(found, known)) as f64]);
            }
        }
        Ok(tally)
    }
}

/// The mean-compensated modulus switch: its settings, read and checked.
pub struct SwitchPlan {
    dimension: usize,
    error: DiscreteGaussian,
    from: Modulus<u64>,
    to: Modulus<u64>,
}

impl SwitchPlan {
    /// Reads the settings.
    pub fn new(settings: &NoiseSettings) -> Result<Self, Refusal> {
        if settings.secret != SecretName::Binary {
            return Err(Refusal::new("secret", "the switch is for `binary`: rounding errors meet s_i - 1/2."));
        }
        let read = |value: &Option<String>, key: &str| {
            let q = modulus(value, key, 2..=1 << 50)?;
            Modulus::new(q).map_err(Refusal::of(key))
        };
        let (from, to) = (read(&settings.modulus, "modulus")?, read(&settings.to_modulus, "to_modulus")?);
        if to.value() >= from.value() {
            return Err(Refusal::new("to_modulus", format!("{} is not below the modulus.", to.value())));
        }
        let dimension = bounded(required(&settings.dimension, "dimension")?, "dimension", 1..=1 << 16)?;
        Ok(Self { dimension, error: gaussian(settings.stddev, "stddev")?, from, to })
    }

    /// Words of a ciphertext.
    pub fn words(&self) -> u64 {
        self.dimension as u64 + 1
    }

    /// Measures under one key until there are `wanted` errors, in units of the modulus switched to.
    pub fn run(&self, seed: Seed, wanted: u64) -> Result<Tally, Failed> {
        let mut rng = seed.derive("noise: secrets and errors").prg().rng();
        let key = LweKey::sample(&Secret::Binary, self.dimension, &mut rng)?;
        let (from, to) = (self.from.value() as f64, self.to.value() as f64);
        let mut tally = Tally::default();
        while !tally.reached(wanted) {
            let message = uniform_below(&mut rng, self.from.value());
            let input = key.encrypt(self.from, message, &self.error, &mut rng);
            let output = tally.operate(|| Ok::<_, LatticeError>(input.switch_modulus_compensated(self.to)))?;
            let found = key.phase(&output)? as f64;
            let before = key.phase(&input)?;
            for (stage, known) in [("output", message), ("added", before)] {
                tally.add(stage, &[scaled_error(found, known as f64, (from, to))]);
            }
        }
        Ok(tally)
    }
}
