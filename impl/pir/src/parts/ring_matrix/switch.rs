//! Answers switched to moduli of their own: their parameters, bytes and measured noise.

use lattice::{Rlwe, SplitKey, SplitRlwe};
use ring::{Coefficient, Ring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};

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

    /// Bytes of one ciphertext of `degree` with so many coefficients of the body.
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
        ciphertext.map_err(|e| Error::message("answer", e.to_string()))
    }

    /// How far the phases of a ciphertext's first coefficients are from `messages` modulo p, and the distance at which decryption fails.
    /// In units of the masks' modulus, of which rounding to integers is fine enough.
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
mod tests {
    use lattice::{RlweKey, SplitKey, SplitRlwe};
    use ring::{Kernel, Ring};

    use super::*;

    /// Under a key of zeros a phase is the body: messages 5 and -3 modulo 16 with errors below and beyond half a message.
    #[test]
    fn errors_are_those_of_the_known_message() {
        let (n, q) = (64, 1u64 << 20);
        let ring = Ring::<u32>::new(n, &[268_369_921], Kernel::Scalar).unwrap();
        let key = RlweKey::from_coefficients(&ring, vec![0; n]).unwrap();
        let opener = SplitKey::new(&key).unwrap();
        let scale = (q / 16) as i64;
        let expected = [100, -scale * 3 / 4, scale * 3 / 4, -7 * scale];
        let messages = [5, -3, 5, -3];
        let residue = |x: i64| x.rem_euclid(q as i64) as u64;
        let bodies: Vec<u64> = messages.iter().zip(expected).map(|(m, error)| residue(m * scale + error)).collect();
        let mut writer = lattice::wire::Writer::with_capacity(0);
        writer.write_all(&vec![0u64; n], 20);
        writer.write_all(&bodies, 20);
        let ciphertext = SplitRlwe::from_bytes((n, 4), (q, q), &writer.finish()).unwrap();
        let switch = Switch { mask_modulus: q, body_modulus: q };
        let (threshold, errors) = switch.errors(&opener, &ciphertext, 16, messages).unwrap();
        assert_eq!(threshold, scale as f64 / 2.0);
        assert_eq!(errors.iter().map(|&error| i64::from(error)).collect::<Vec<_>>(), expected);
    }
}
