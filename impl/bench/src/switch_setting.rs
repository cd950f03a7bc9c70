//! The switch to a small key, and messages in digits, whose floors and bits use such switches: settings and keys.

use std::ops::RangeInclusive;

use gadget::{Family, Gadget};
use lattice::lwe::{Lwe, LweKey, LweSwitcher, SeededLweSwitchKey};
use lattice::{BlindRotationKey, Bootstrapper, DigitLayout};
use rand::Rng;
use ring::secret::uniform_below;
use ring::{DiscreteGaussian, Kernel, Seed, Word};
use serde::{Deserialize, Serialize};

use crate::lab::Lab;
use crate::primitive::Failed;
use crate::setting::{GadgetSetting, gaussian, modulus};
use crate::settings::Refusal;

/// A switch to a small key, and digits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchSetting {
    /// Modulus of the LWE key switch, decimal.
    pub switch_modulus: String,
    /// Base of its gadget.
    pub switch_base: u64,
    /// Low digits that it drops.
    #[serde(default)]
    pub switch_dropped: usize,
    /// Standard deviation of the errors of its key.
    pub switch_stddev: f64,
    /// Bits of the modulus of ciphertexts with digits; most operations end it with the last digit.
    pub log_modulus: Option<u32>,
    /// Bit of the phase at which the lowest digit begins.
    pub low: u32,
    /// Bits of a digit.
    pub digit_bits: u32,
    /// Digits of a message.
    pub digits: u32,
}

impl SwitchSetting {
    /// The gadget of the switch, of that family; its modulus is in `range`.
    pub fn gadget(
        &self,
        family: Family,
        range: RangeInclusive<u64>,
        kernel: Kernel,
    ) -> Result<Box<dyn Gadget<u64>>, Refusal> {
        let q = modulus(&self.switch_modulus, "switch_modulus", range)?;
        GadgetSetting { family, base: self.switch_base, dropped: self.switch_dropped }.modulo(q, kernel, "switch_base")
    }

    /// The errors of the switch's key.
    pub fn error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(self.switch_stddev, "switch_stddev")
    }
}

/// One pair of keys, for ciphertexts that are switched to a small key and rotated there.
pub struct Switched<W: Word> {
    /// The ring's key as an LWE key.
    pub key: LweKey,
    pub small: LweKey,
    /// The switch from one to the other.
    pub bootstrapper: Bootstrapper<W>,
    /// The digits of a message.
    pub layout: DigitLayout,
}

impl<W: Word> Switched<W> {
    /// Makes the key of the switch, of that gadget, errors and masks.
    pub fn new(
        lab: &mut Lab<W>,
        (small, rotation): (LweKey, BlindRotationKey<W>),
        (gadget, error): (Box<dyn Gadget<u64>>, &DiscreteGaussian),
        masks: Seed,
        layout: DigitLayout,
    ) -> Result<Self, Failed> {
        let key = lab.key.to_lwe();
        let seeded = SeededLweSwitchKey::new(&key, &small, gadget.as_ref(), error, masks, &mut lab.rng)?;
        let bootstrapper = Bootstrapper::new(rotation, LweSwitcher::new(seeded.expand()?, gadget.into())?)?;
        Ok(Self { key, small, bootstrapper, layout })
    }

    /// A ciphertext of a uniform message, and the message.
    pub fn input(&self, error: &DiscreteGaussian, rng: &mut impl Rng) -> Result<(Lwe, u64), Failed> {
        let layout = &self.layout;
        let message = uniform_below(rng, 1 << (layout.bits() * layout.digits()));
        Ok((self.key.encrypt(layout.modulus()?, message << layout.low(), error, rng), message))
    }

    /// The lowest digit of a message.
    pub fn lowest(&self, message: u64) -> u64 {
        message & ((1 << self.layout.bits()) - 1)
    }
}
