//! Ciphertexts of answers: modulo q, or switched to a modulus for masks and one for bodies.

use lattice::wire::{Reader, Writer};
use lattice::{Rlwe, RlweKey, SplitKey, SplitRlwe, noise};
use ring::Coefficient;

use super::engine::Engine;
use crate::core::{Error, Result};
use crate::parts::bfv::Switch;

/// The bytes of a ciphertext.
pub fn write(engine: &Engine, ciphertext: &Rlwe<u32, Coefficient>) -> Result<Vec<u8>> {
    if let Some(Switch { mask_modulus, body_modulus }) = engine.params.switch {
        return Ok(ciphertext.split_switch(&engine.ring, mask_modulus, body_modulus)?.to_bytes());
    }
    let mut writer = Writer::with_capacity(engine.params.ciphertext_bytes());
    writer.write_poly(&engine.ring, &ciphertext.a);
    writer.write_poly(&engine.ring, &ciphertext.b);
    Ok(writer.finish())
}

/// A ciphertext in the client's form.
enum Received {
    Whole(Rlwe<u32, Coefficient>),
    Switched(SplitRlwe),
}

fn read(engine: &Engine, bytes: &[u8]) -> Result<Received> {
    let n = engine.ring.n();
    if let Some(Switch { mask_modulus, body_modulus }) = engine.params.switch {
        let switched = SplitRlwe::from_bytes((n, n), (mask_modulus, body_modulus), bytes);
        return Ok(Received::Switched(switched.map_err(Error::in_message("answer"))?));
    }
    let bad = Error::in_message("answer");
    let mut reader = Reader::new(bytes, engine.params.ciphertext_bytes()).map_err(&bad)?;
    let mut half = || reader.poly(&engine.ring).map_err(&bad);
    Ok(Received::Whole(Rlwe { a: half()?, b: half()? }))
}

/// Opens answers.
pub struct Opener {
    key: RlweKey<u32>,
    split: SplitKey,
}

impl Opener {
    /// Of that key.
    pub fn new(key: &RlweKey<u32>) -> Result<Self> {
        Ok(Self { split: SplitKey::new(key)?, key: key.clone() })
    }

    /// The digits of the plaintext of a ciphertext, modulo their base.
    pub fn digits(&self, engine: &Engine, bytes: &[u8]) -> Result<Vec<Vec<u64>>> {
        let (bits, width) = (engine.params.message_bits(), engine.params.plain_bits);
        let mut messages = match read(engine, bytes)? {
            Received::Whole(whole) => engine.ring.switch_to(&self.key.phase_coefficient(&whole), 1 << bits),
            Received::Switched(switched) => {
                let mut fractions = self.split.fractions(&switched)?;
                fractions.iter_mut().for_each(|x| *x = x.wrapping_add(1 << (63 - bits)) >> (64 - bits));
                fractions
            }
        };
        let (mask, half) = ((1 << width) - 1, 1 << (width - 1));
        let mut digit = || {
            let digits = messages.iter().map(|message| message & mask).collect::<Vec<_>>();
            // A digit of half of the base or more stands for itself less the base.
            messages.iter_mut().zip(&digits).for_each(|(m, digit)| *m = (*m >> width) + u64::from(*digit >= half));
            digits
        };
        Ok((0..engine.params.plain_digits).map(|_| digit()).collect())
    }

    /// The errors of a ciphertext of the plaintext with these digits, in units of the distance of messages.
    pub fn errors(&self, engine: &Engine, bytes: &[u8], digits: &[Vec<i64>]) -> Result<Vec<f64>> {
        let (bits, width) = (engine.params.message_bits(), engine.params.plain_bits);
        match read(engine, bytes)? {
            Received::Whole(whole) => {
                let distance = engine.scales[0] as f64;
                let phase = self.key.phase_coefficient(&whole);
                let errors = noise::errors(&engine.ring, &phase, &engine.phase(digits))?;
                Ok(errors.into_iter().map(|error| error / distance).collect())
            }
            Received::Switched(switched) => {
                let fractions = self.split.fractions(&switched)?.into_iter().enumerate();
                let error = |(j, fraction): (usize, u64)| {
                    let parts = digits.iter().enumerate().map(|(k, digit)| digit[j] << (width * k as u32));
                    let message = parts.sum::<i64>() as u64;
                    (fraction.wrapping_sub(message << (64 - bits)) as i64) as f64 / (1u64 << (64 - bits)) as f64
                };
                Ok(fractions.map(error).collect())
            }
        }
    }
}
