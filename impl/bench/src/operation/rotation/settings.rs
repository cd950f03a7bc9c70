//! The settings of `rotation`.

use lattice::{Form, RotationShape, SmallSecret};
use serde::{Deserialize, Serialize, Serializer};

use crate::in_ring::Shared;
use crate::setting::{bounded, number};
use crate::settings::{Refusal, Settings, tagged};
use crate::switch_setting::SwitchSetting;

/// The measured operation, with the switch and the digits if it has them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Operation {
    /// A rotation of a uniform accumulator by a uniform ciphertext.
    BlindRotation {},
    /// The switch from the ring key to the small key and to modulus 2N.
    ToSmall(SwitchSetting),
    /// The homomorphic floor of the lowest digit.
    Floor(SwitchSetting),
    /// The bits of a digit by one rotation.
    Bits(SwitchSetting),
}

impl Operation {
    /// The switch and the digits, if the operation has them.
    pub(super) fn switch(&self) -> Option<&SwitchSetting> {
        match self {
            Self::BlindRotation {} => None,
            Self::ToSmall(switch) | Self::Floor(switch) | Self::Bits(switch) => Some(switch),
        }
    }
}

fn named<S: Serializer>(operation: &Operation, serializer: S) -> Result<S::Ok, S::Error> {
    tagged("operation", operation, serializer)
}

/// Blind rotations and operations made of them; the ring's errors and the gadget are those of blind-rotation keys.
#[derive(Clone, Debug, Serialize)]
pub struct Rotation {
    #[serde(flatten, serialize_with = "named")]
    pub(super) operation: Operation,
    #[serde(flatten)]
    pub(super) common: Rotated,
}

/// The settings that all operations have.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotated {
    /// Dimension of the small key.
    pub(super) dimension: usize,
    #[serde(default)]
    pub(super) small_secret: SmallSecret,
    pub(super) form: Form,
    /// Ciphertexts side by side.
    #[serde(default = "number::<1, _>")]
    pub(super) together: usize,
    /// Ciphertexts in all, at least.
    pub(super) ciphertexts: u64,
}

impl Rotation {
    /// Reads the settings.
    pub(super) fn read_own(rest: &Settings) -> Result<Self, Refusal> {
        let mut rest = rest.clone();
        let common: Rotated = rest.take(&["dimension", "small_secret", "form", "together", "ciphertexts"])?;
        bounded(common.ciphertexts, "ciphertexts", 1..=1 << 30)?;
        bounded(common.together, "together", 1..=256)?;
        bounded(common.dimension, "dimension", 1..=1 << 14)?;
        Ok(Self { operation: rest.variant("operation", &[])?, common })
    }

    /// The shape of the rotations' keys.
    pub(super) fn shape(&self) -> RotationShape {
        let Rotated { dimension, small_secret: secret, form, .. } = self.common;
        RotationShape { dimension, secret, form }
    }

    /// Groups of ciphertexts side by side for each key.
    pub(super) fn groups(&self, shared: &Shared) -> u64 {
        shared.for_each_key(self.common.ciphertexts).div_ceil(self.common.together as u64)
    }
}
