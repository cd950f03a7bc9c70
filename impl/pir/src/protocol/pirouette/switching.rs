//! The switch of LWE ciphertexts from the ring key's coefficients to the small key.

use std::sync::Arc;

use gadget::{Family, new_gadget};
use ring::Kernel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ErrorSize, MAX_LWE_STDDEV, Result, in_range};
use crate::parts::ring_matrix::{Gadget, Rlwe};

/// The `[query.key_switching]` table: a modulus, an error and a gadget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeySwitching {
    /// log2 of the modulus.
    pub modulus_log2: u32,
    /// Size of the key's error.
    pub error: ErrorSize,
    /// log2 of the gadget's base.
    base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    dropped: usize,
}

impl KeySwitching {
    /// Refuses values out of range.
    pub(super) fn check(&self, rlwe: &Rlwe) -> Result<()> {
        let two_n = 1 + rlwe.degree.ilog2();
        if !(two_n..=56).contains(&self.modulus_log2) {
            let problem = format!("{} is not between log2 2N = {two_n} and 56.", self.modulus_log2);
            return Err(Error::value("query.key_switching.modulus_log2", problem));
        }
        in_range("query.key_switching.base_log2", self.base_log2, 1..=20)?;
        self.error.check("query.key_switching.error", MAX_LWE_STDDEV)?;
        self.decomposition(Kernel::Scalar).map(|_| ())
    }

    pub(super) fn modulus(&self) -> u64 {
        1 << self.modulus_log2
    }

    pub(super) fn gadget(&self) -> Gadget {
        Gadget::symmetric(self.base_log2, self.dropped)
    }

    /// Number of digits.
    pub(super) fn length(&self) -> usize {
        self.gadget().length(self.modulus())
    }

    pub(super) fn decomposition(&self, kernel: Kernel) -> Result<Arc<dyn gadget::Gadget<u64>>> {
        let gadget = new_gadget(Family::Symmetric, self.modulus(), 1 << self.base_log2, self.dropped, kernel);
        Ok(gadget.map_err(|e| Error::value("query.key_switching", e.to_string()))?.into())
    }
}
