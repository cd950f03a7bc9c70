//! The LWE key switch, and the mean-compensated modulus switch.

use std::sync::Arc;

use gadget::{Coins, Family, Gadget};
use lattice::lwe::{LweKey, LweSwitchKey, LweSwitcher, SeededLweSwitchKey};
use lattice::{LatticeError, Secret};
use ring::secret::uniform_below;
use ring::{DiscreteGaussian, Kernel, Modulus, Seed};
use serde::{Deserialize, Serialize};

use super::samples::{check, each};
use crate::in_ring::by_keys;
use crate::lab::{Tally, scaled_error};
use crate::primitive::{Context, Described, Failed, Primitive, Read, Started};
use crate::setting::{GadgetSetting, SecretName, bounded, gaussian, modulus, number, secret};
use crate::settings::{Refusal, Settings, complete};

/// A key switch of LWE ciphertexts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeySwitch {
    operation: String,
    /// Fresh secret keys.
    #[serde(default = "number::<20, _>")]
    keys: u64,
    /// Errors in all, at least.
    #[serde(default = "number::<16384, _>")]
    samples: u64,
    family: Family,
    base: u64,
    #[serde(default)]
    dropped: usize,
    /// The distribution of both keys.
    #[serde(default)]
    secret: SecretName,
    secret_stddev: Option<f64>,
    secret_weight: Option<usize>,
    /// Standard deviation of the errors of the switch's key.
    stddev: f64,
    /// Standard deviation of the switched ciphertext's error.
    input_stddev: f64,
    /// Dimensions of the old and the new key.
    dimension_from: usize,
    dimension_to: usize,
    /// Decimal.
    modulus: String,
}

const DIMENSIONS: std::ops::RangeInclusive<usize> = 1..=1 << 16;

impl KeySwitch {
    /// Its name in the setting `operation`.
    pub const NAME: &str = "lwe-key-switch";

    pub fn read(settings: &Settings) -> Read {
        let own: Self = settings.parse()?;
        check(own.keys, own.samples)?;
        bounded(own.dimension_from, "dimension_from", DIMENSIONS)?;
        bounded(own.dimension_to, "dimension_to", DIMENSIONS)?;
        own.secret()?;
        own.errors()?;
        Ok(Box::new(own))
    }

    fn secret(&self) -> Result<Secret, Refusal> {
        secret(self.secret, self.secret_stddev, self.secret_weight)
    }

    /// The errors of the key, and of the input.
    fn errors(&self) -> Result<[DiscreteGaussian; 2], Refusal> {
        Ok([gaussian(self.stddev, "stddev")?, gaussian(self.input_stddev, "input_stddev")?])
    }

    fn modulus(&self) -> Result<Modulus<u64>, Refusal> {
        let q = modulus(&self.modulus, "modulus", 1 << 20..=(1 << 62) - 1)?;
        Modulus::new(q).map_err(Refusal::of("modulus"))
    }

    fn gadget(&self, kernel: Kernel) -> Result<Box<dyn Gadget<u64>>, Refusal> {
        let Self { family, base, dropped, .. } = *self;
        GadgetSetting { family, base, dropped }.modulo(self.modulus()?.value(), kernel, "base")
    }

    /// Measures under one pair of keys.
    fn run(&self, seed: Seed, gadget: &Arc<dyn Gadget<u64>>) -> Result<Tally, Failed> {
        let (modulus, secret, [error, input_error]) = (self.modulus()?, self.secret()?, self.errors()?);
        let mut rng = seed.derive("noise: secrets and errors").prg().rng();
        let mut coins = Coins::from_seed(seed.derive("noise: coins"));
        let old = LweKey::sample(&secret, self.dimension_from, &mut rng)?;
        let new = LweKey::sample(&secret, self.dimension_to, &mut rng)?;
        let masks = seed.derive("noise: masks");
        let key = SeededLweSwitchKey::new(&old, &new, gadget.as_ref(), &error, masks, &mut rng)?;
        let switcher = key.expand().and_then(|key| LweSwitcher::new(key, gadget.clone()))?;
        let mut tally = Tally::default();
        while !tally.reached(self.samples.div_ceil(self.keys)) {
            let message = uniform_below(&mut rng, modulus.value());
            let input = old.encrypt(modulus, message, &input_error, &mut rng);
            let found = switcher.switch(&input, &mut coins).and_then(|out| new.phase(&out))?;
            let before = old.phase(&input)?;
            for (stage, known) in [("output", message), ("added", before)] {
                tally.add(stage, &[modulus.centred(modulus.sub(found, known)) as f64]);
            }
        }
        Ok(tally)
    }
}

impl Primitive for KeySwitch {
    fn describe(&self) -> Result<Described, Refusal> {
        let mut described = Described { settings: complete(self)?, ..Described::default() };
        let gadget = self.gadget(Kernel::best())?;
        described.digits(gadget.length(), gadget.error_bound().into(), &gadget.moments());
        let key = LweSwitchKey::bytes(self.modulus()?, self.dimension_from, self.dimension_to, gadget.length()) as u64;
        described.peak_bytes = 2 * key;
        // Two nanoseconds a word of the key to use it, ten times that to make it.
        described.predicted_seconds = (each(self.keys, self.samples) + 10.0) * key as f64 / 4e9;
        Ok(described)
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        let gadget: Arc<dyn Gadget<u64>> = self.gadget(context.kernel)?.into();
        by_keys(self.keys, context, move |seed| self.run(seed, &gadget))
    }
}

/// A modulus switch of LWE ciphertexts under a binary key that compensates the mean of the mask's rounding errors.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompensatedSwitch {
    operation: String,
    /// Fresh secret keys.
    #[serde(default = "number::<20, _>")]
    keys: u64,
    /// Errors in all, at least.
    #[serde(default = "number::<16384, _>")]
    samples: u64,
    #[serde(default)]
    secret: SecretName,
    /// Standard deviation of the errors of the ciphertexts switched.
    stddev: f64,
    dimension: usize,
    /// Modulus switched from, decimal.
    modulus: String,
    /// Modulus switched to, decimal.
    to_modulus: String,
}

impl CompensatedSwitch {
    /// Its name in the setting `operation`.
    pub const NAME: &str = "compensated-modulus-switch";

    pub fn read(settings: &Settings) -> Read {
        let own: Self = settings.parse()?;
        check(own.keys, own.samples)?;
        if own.secret != SecretName::Binary {
            return Err(Refusal::new("secret", "the switch is for `binary`: rounding errors meet s_i - 1/2."));
        }
        let [from, to] = own.moduli()?;
        if to.value() >= from.value() {
            return Err(Refusal::new("to_modulus", format!("{} is not below the modulus.", to.value())));
        }
        bounded(own.dimension, "dimension", DIMENSIONS)?;
        gaussian(own.stddev, "stddev")?;
        Ok(Box::new(own))
    }

    /// The moduli before and after the switch.
    fn moduli(&self) -> Result<[Modulus<u64>; 2], Refusal> {
        let read = |text: &str, key: &str| Modulus::new(modulus(text, key, 2..=1 << 50)?).map_err(Refusal::of(key));
        Ok([read(&self.modulus, "modulus")?, read(&self.to_modulus, "to_modulus")?])
    }

    /// Measures under one key, in units of the modulus switched to.
    fn run(&self, seed: Seed) -> Result<Tally, Failed> {
        let ([from, to], error) = (self.moduli()?, gaussian(self.stddev, "stddev")?);
        let mut rng = seed.derive("noise: secrets and errors").prg().rng();
        let key = LweKey::sample(&Secret::Binary, self.dimension, &mut rng)?;
        let values = (from.value() as f64, to.value() as f64);
        let mut tally = Tally::default();
        while !tally.reached(self.samples.div_ceil(self.keys)) {
            let message = uniform_below(&mut rng, from.value());
            let input = key.encrypt(from, message, &error, &mut rng);
            let output = tally.operate(|| Ok::<_, LatticeError>(input.switch_modulus_compensated(to)))?;
            let found = key.phase(&output)? as f64;
            let before = key.phase(&input)?;
            for (stage, known) in [("output", message), ("added", before)] {
                tally.add(stage, &[scaled_error(found, known as f64, values)]);
            }
        }
        Ok(tally)
    }
}

impl Primitive for CompensatedSwitch {
    fn describe(&self) -> Result<Described, Refusal> {
        let words = self.dimension as u64 + 1;
        Ok(Described {
            settings: complete(self)?,
            // Ten nanoseconds a word: the mask is made, multiplied by the key twice, switched, and multiplied again.
            predicted_seconds: each(self.keys, self.samples) * words as f64 * 1e-8,
            peak_bytes: 64 * words,
            ..Described::default()
        })
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        by_keys(self.keys, context, move |seed| self.run(seed))
    }
}
