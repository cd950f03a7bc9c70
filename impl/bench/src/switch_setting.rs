//! Settings of the switch to a small key, and of messages in digits whose floors and bits such switches take part in.

use std::ops::RangeInclusive;

use gadget::Gadget;
use ring::{DiscreteGaussian, Kernel};
use serde::{Deserialize, Serialize};

use crate::setting::{GadgetSetting, gaussian, modulus, required};
use crate::settings::Refusal;

/// A switch to a small key, and digits; an operation that takes none of them leaves all out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchSetting {
    /// Modulus of the LWE key switch, decimal.
    pub switch_modulus: Option<String>,
    /// Base of its gadget.
    pub switch_base: Option<u64>,
    /// Low digits that it drops.
    pub switch_dropped: Option<usize>,
    /// Standard deviation of the errors of its key.
    pub switch_stddev: Option<f64>,
    /// Bits of the modulus of ciphertexts with digits.
    pub log_modulus: Option<u32>,
    /// Bit of the phase at which the lowest digit begins.
    pub low: Option<u32>,
    /// Bits of a digit.
    pub digit_bits: Option<u32>,
    /// Digits of a message.
    pub digits: Option<u32>,
}

impl SwitchSetting {
    /// The names of its settings, but for that of the modulus, which most operations end with the last digit.
    pub const KEYS: [&str; 7] =
        ["switch_modulus", "switch_base", "switch_dropped", "switch_stddev", "low", "digit_bits", "digits"];
    /// The name of that of the modulus.
    pub const MODULUS_KEY: &str = "log_modulus";

    /// The gadget of the switch, of that family; its modulus is in `range`.
    pub fn gadget(
        &self,
        family: &GadgetSetting,
        range: RangeInclusive<u64>,
        kernel: Kernel,
    ) -> Result<Box<dyn Gadget<u64>>, Refusal> {
        let q = modulus(&self.switch_modulus, "switch_modulus", range)?;
        let base = required(&self.switch_base, "switch_base")?;
        family.with(base, self.switch_dropped.unwrap_or(0)).modulo(q, kernel, "switch_base")
    }

    /// The errors of the switch's key.
    pub fn error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(required(&self.switch_stddev, "switch_stddev")?, "switch_stddev")
    }
}
