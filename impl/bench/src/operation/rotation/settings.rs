//! The settings of `rotation`.

use lattice::lwe::LweKey;
use lattice::{RotationShape, Secret, SmallSecret};
use serde::{Deserialize, Serialize};

use crate::primitive::Failed;
use crate::setting::{FormName, GadgetSetting, Setting, bounded, twenty};
use crate::settings::{Refusal, Settings};
use crate::switch_setting::SwitchSetting;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A rotation of a uniform accumulator by a uniform ciphertext.
    BlindRotation,
    /// The switch from the ring key to the small key and to modulus 2N.
    ToSmall,
    /// The homomorphic floor of the lowest digit.
    Floor,
    /// The bits of a digit by one rotation.
    Bits,
}

/// Names of small keys' distributions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallName {
    /// Uniform on {0, 1}.
    #[default]
    Binary,
    /// Uniform on {-1, 0, 1}.
    Ternary,
}

/// Blind rotations and what is made of them; the setting's errors, and the gadget, are those of blind-rotation keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    pub(super) operation: Operation,
    #[serde(flatten, skip_deserializing)]
    pub(super) setting: Setting,
    #[serde(flatten, skip_deserializing)]
    pub(super) gadget: GadgetSetting,
    /// Dimension of the small key.
    pub(super) dimension: usize,
    #[serde(default)]
    pub(super) small_secret: SmallName,
    pub(super) form: FormName,
    /// Ciphertexts side by side.
    #[serde(default = "one")]
    pub(super) together: usize,
    /// Fresh keys.
    #[serde(default = "twenty")]
    pub(super) keys: u64,
    /// Ciphertexts in all, at least.
    pub(super) ciphertexts: u64,
    #[serde(flatten, skip_deserializing)]
    pub(super) switch: SwitchSetting,
}

fn one() -> usize {
    1
}

/// Most ciphertexts side by side.
const MOST_TOGETHER: usize = 256;
/// Largest dimension of a small key.
const LARGEST_DIMENSION: usize = 1 << 14;

impl Rotation {
    /// Reads the settings, but for those of switches and digits, which [`super::functional::check`] looks at.
    pub(super) fn read_own(settings: &Settings) -> Result<Self, Refusal> {
        let mut rest = settings.clone();
        let (setting, gadget) = (rest.take::<Setting>(&Setting::KEYS)?, rest.take(&GadgetSetting::KEYS)?);
        let keys = [SwitchSetting::KEYS.as_slice(), &[SwitchSetting::MODULUS_KEY]].concat();
        let switch: SwitchSetting = rest.take(&keys)?;
        let mut own = Self { setting, gadget, switch, ..rest.parse()? };
        bounded(own.ciphertexts, "ciphertexts", 1..=1 << 30)?;
        bounded(own.together, "together", 1..=MOST_TOGETHER)?;
        bounded(own.dimension, "dimension", 1..=LARGEST_DIMENSION)?;
        own.setting.primes()?;
        if own.operation != Operation::BlindRotation {
            own.switch.switch_dropped = own.switch.switch_dropped.or(Some(0));
        }
        Ok(own)
    }

    /// What the rotations' keys are of.
    pub(super) fn shape(&self) -> RotationShape {
        let secret = match self.small_secret {
            SmallName::Binary => SmallSecret::Binary,
            SmallName::Ternary => SmallSecret::Ternary,
        };
        RotationShape { dimension: self.dimension, secret, form: self.form.into() }
    }

    /// Groups of ciphertexts side by side for each key.
    pub(super) fn groups(&self) -> u64 {
        self.ciphertexts.div_ceil(self.keys).div_ceil(self.together as u64)
    }

    /// A small key.
    pub(super) fn small_key(&self, rng: &mut impl rand::RngCore) -> Result<LweKey, Failed> {
        let distribution = match self.small_secret {
            SmallName::Binary => Secret::Binary,
            SmallName::Ternary => Secret::Ternary,
        };
        Ok(LweKey::sample(&distribution, self.dimension, rng)?)
    }
}
