//! Answers with switched moduli: parameters, bytes and measured noise.

use lattice::{Rlwe, SplitKey, SplitRlwe};
use ring::{Coefficient, Ring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, Result};

/// The `[switch]` table: moduli of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Modulus of the masks.
    pub mask_modulus: u64,
    /// Modulus of the bodies.
    pub body_modulus: u64,
}

impl Switch {
    /// Refuses moduli too small for messages modulo `plain_modulus`, or above 2^32.
    pub fn check(self, plain_modulus: u64) -> Result<()> {
        let Self { mask_modulus, body_modulus } = self;
        for (key, modulus) in [("switch.mask_modulus", mask_modulus), ("switch.body_modulus", body_modulus)] {
            if !(2 * plain_modulus..=1 << 32).contains(&modulus) {
                return Err(Error::value(
                    key,
                    format!("{modulus} is not between twice the plaintext modulus, {}, and 2^32.", 2 * plain_modulus),
                ));
            }
        }
        Ok(())
    }

    /// Bytes of one ciphertext of `degree` with `kept` coefficients of the body.
    pub fn bytes(self, degree: usize, kept: usize) -> u64 {
        lattice::SplitRlwe::wire_bytes(degree, kept, self.mask_modulus, self.body_modulus) as u64
    }

    /// The bytes of a ciphertext with the first `kept` coefficients of its body.
    pub fn write(self, ring: &Ring<u32>, ciphertext: &Rlwe<u32, Coefficient>, kept: usize) -> Result<Vec<u8>> {
        let mut switched = ciphertext.split_switch(ring, self.mask_modulus, self.body_modulus)?;
        switched.truncate_body(kept);
        Ok(switched.to_bytes())
    }

    /// Inverse of [`Self::write`].
    pub fn read(self, degree: usize, kept: usize, bytes: &[u8]) -> Result<SplitRlwe> {
        let ciphertext = SplitRlwe::from_bytes((degree, kept), (self.mask_modulus, self.body_modulus), bytes);
        ciphertext.map_err(Error::in_message("answer"))
    }

    /// The errors of a ciphertext's first coefficients, whose messages modulo p are known, and the size at which decryption fails. The unit is
    /// that of the masks' modulus, which is fine enough to round to integers.
    pub fn errors(
        self,
        opener: &SplitKey,
        ciphertext: &SplitRlwe,
        p: u64,
        messages: impl IntoIterator<Item = i64>,
    ) -> Result<(f64, Vec<i32>)> {
        let (q, unit) = (self.mask_modulus as f64, self.mask_modulus as f64 / self.body_modulus as f64);
        let scale = q / p as f64;
        let error = |(phase, message): (f64, i64)| {
            let error = phase * unit - message as f64 * scale;
            (error - (error / q).round() * q).round() as i32
        };
        let errors = opener.phase(ciphertext)?.into_iter().zip(messages).map(error).collect();
        Ok((scale / 2.0, errors))
    }
}

#[cfg(test)]
mod tests;
