//! Settings of the switch to a small key, and of messages in digits whose floors and bits such switches take part in.

use std::ops::RangeInclusive;

use gadget::Gadget;
use ring::{DiscreteGaussian, Kernel};
use serde::{Deserialize, Serialize};

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
        family: &str,
        range: RangeInclusive<u64>,
        kernel: Kernel,
    ) -> Result<Box<dyn Gadget<u64>>, Refusal> {
        let q = modulus(&self.switch_modulus, "switch_modulus", range)?;
        GadgetSetting::new(family, self.switch_base, self.switch_dropped).modulo(q, kernel, "switch_base")
    }

    /// The errors of the switch's key.
    pub fn error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(self.switch_stddev, "switch_stddev")
    }
}
