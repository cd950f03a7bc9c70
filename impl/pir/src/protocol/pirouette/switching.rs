//! The switch of LWE ciphertexts from the ring key's coefficients to the small key.

use std::sync::Arc;

use gadget::{Family, Gadget, new_gadget};
use ring::{Kernel, StdDev};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};
use crate::core::params::ErrorSize;
use crate::parts::ring_matrix::Rlwe;

/// The `[query.key_switching]` table as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeySwitchingLiteral {
    /// log2 of the modulus.
    pub modulus_log2: u32,
    /// Size of the key's error.
    pub error: ErrorSize,
    /// log2 of the gadget's base.
    pub base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    pub dropped: u32,
}

/// The checked switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeySwitching {
    /// log2 of the modulus.
    pub modulus_log2: u32,
    /// Size of the key's error.
    pub error: StdDev,
    /// log2 of the gadget's base.
    pub base_log2: u32,
    /// Low digits that are left out.
    pub dropped: u32,
    /// Number of digits.
    pub length: usize,
}

impl KeySwitching {
    /// The switch of a set.
    pub(super) fn try_new(literal: KeySwitchingLiteral, rlwe: &Rlwe) -> Result<Self> {
        let KeySwitchingLiteral { modulus_log2, error, base_log2, dropped } = literal;
        let two_n = 1 + rlwe.degree.ilog2();
        if !(two_n..=56).contains(&modulus_log2) {
            return Err(Error::value(
                "query.key_switching.modulus_log2",
                format!("{modulus_log2} is not between log2 2N = {two_n} and 56."),
            ));
        }
        if !(1..=20).contains(&base_log2) {
            return Err(Error::value("query.key_switching.base_log2", format!("{base_log2} is not between 1 and 20.")));
        }
        let error = error.checked("query.key_switching.error")?;
        let mut switching = Self { modulus_log2, error, base_log2, dropped, length: 0 };
        switching.length = switching.gadget(Kernel::Scalar)?.length();
        Ok(switching)
    }

    /// The modulus.
    pub(super) fn modulus(&self) -> u64 {
        1 << self.modulus_log2
    }

    /// The decomposition.
    pub(super) fn gadget(&self, kernel: Kernel) -> Result<Arc<dyn Gadget<u64>>> {
        let gadget = new_gadget(Family::Symmetric, self.modulus(), 1 << self.base_log2, self.dropped as usize, kernel);
        Ok(gadget.map_err(|e| Error::value("query.key_switching", e.to_string()))?.into())
    }

    /// For descriptions.
    pub(super) fn describe(&self) -> serde_json::Value {
        let Self { modulus_log2: _, error: _, base_log2, dropped, length } = self;
        serde_json::json!({ "base_log2": base_log2, "dropped": dropped, "digits": length, "family": "symmetric" })
    }
}
