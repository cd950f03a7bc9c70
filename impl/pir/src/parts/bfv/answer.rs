//! Ciphertexts of answers: whole, or switched to a modulus for masks and one for bodies.

use std::ops::RangeInclusive;

use bfv::Scheme;
use lattice::wire::{Reader, Writer, poly_bits, residue_bits};
use lattice::{Rlwe, RlweKey, SplitKey, SplitRing, SplitRlwe, noise};
use ring::{Coefficient, Kind, Ntt, Poly, Ring, RingShape, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RingTable;
use crate::core::{Error, Messages, Result, in_range, only};

/// Moduli of the ciphertexts of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Modulus of the masks.
    pub mask_modulus: u64,
    /// Modulus of the bodies.
    pub body_modulus: u64,
}

/// Largest modulus of an answer: a word holds it, and double precision rounds the phases right.
const MAX_SWITCHED: u64 = 1 << 46;

impl Switch {
    /// Refuses moduli that are not above twice the sum of the coefficients' magnitudes of the plaintext modulus.
    pub fn check(self, sum_norm: u64) -> Result<()> {
        self.check_range(2 * sum_norm..=MAX_SWITCHED)
    }

    /// Refuses moduli out of a range.
    pub fn check_range(self, range: RangeInclusive<u64>) -> Result<()> {
        in_range("switch.mask_modulus", self.mask_modulus, range.clone())?;
        in_range("switch.body_modulus", self.body_modulus, range)
    }

    /// The work of switching a mask or a body of a ciphertext in the NTT domain.
    pub fn half_work(ring: RingShape) -> Work {
        ring.transforms(1) + Work::of(Kind::CoefficientsSwitched, &[ring.degree as u64])
    }
}

/// The work of writing a ciphertext of an answer, apart from its bytes.
pub fn write_work(ring: RingShape, switch: Option<Switch>) -> Work {
    if switch.is_some() { Switch::half_work(ring) * 2 } else { Work::default() }
}

/// Bytes of the mask and of the body of a ciphertext of an answer, whose coefficients have `bits` bits where it is whole.
pub fn half_bytes(switch: Option<Switch>, degree: usize, bits: u64) -> [u64; 2] {
    let bits = switch.map_or([bits; 2], |switch| {
        [switch.mask_modulus, switch.body_modulus].map(|modulus| u64::from(residue_bits(modulus)))
    });
    bits.map(|bits| degree as u64 * bits / 8)
}

/// Bytes of a ciphertext of an answer.
pub fn answer_bytes(ring: &impl RingTable, switch: Option<Switch>) -> usize {
    half_bytes(switch, ring.degree(), ring.coefficient_bits()).iter().sum::<u64>() as usize
}

/// Half a ciphertext as it is sent: whole in the NTT domain, or switched to a modulus.
pub fn write_half(ring: &Ring<u32>, half: Poly<u32, Ntt>, modulus: Option<u64>) -> Vec<u8> {
    match modulus {
        None => {
            let mut out = Writer::with_capacity(poly_bits(ring) / 8);
            out.write_poly(ring, &half);
            out.finish()
        }
        Some(modulus) => write_switched(ring, &ring.inverse(half), modulus),
    }
}

fn write_switched(ring: &Ring<u32>, half: &Poly<u32, Coefficient>, modulus: u64) -> Vec<u8> {
    let mut out = Writer::with_capacity(ring.n() * residue_bits(modulus) as usize / 8);
    out.write_all(&ring.switch_to(half, modulus), residue_bits(modulus));
    out.finish()
}

/// The bytes of a ciphertext of an answer, mask before body.
pub fn write_ciphertext(ring: &Ring<u32>, Rlwe { a, b }: Rlwe<u32, Ntt>, switch: Option<Switch>) -> Vec<u8> {
    let moduli = switch.map_or([None; 2], |switch| [switch.mask_modulus, switch.body_modulus].map(Some));
    [a, b].into_iter().zip(moduli).flat_map(|(half, modulus)| write_half(ring, half, modulus)).collect()
}

/// The same of one in the coefficient domain.
pub fn write_coefficients(ring: &Ring<u32>, ciphertext: &Rlwe<u32, Coefficient>, switch: Option<Switch>) -> Vec<u8> {
    match switch {
        None => write_ciphertext(ring, ciphertext.clone().forward(ring), None),
        Some(Switch { mask_modulus, body_modulus }) => {
            let [a, b] = [(&ciphertext.a, mask_modulus), (&ciphertext.b, body_modulus)];
            [a, b].map(|(half, modulus)| write_switched(ring, half, modulus)).concat()
        }
    }
}

/// Calls `each` with the number of every query and the ciphertexts of its answer, that many of `bytes` bytes each.
pub fn for_each_answer(
    protocol: &'static str,
    answer: &Messages,
    (queries, ciphertexts, bytes): (usize, usize, usize),
    mut each: impl FnMut(usize, Vec<&[u8]>) -> Result<()>,
) -> Result<()> {
    let all = ciphertexts * bytes;
    let message = only("answer", answer)?.clone().check(protocol, "answer", (all * queries) as u64)?;
    let mut answers = message.payload().chunks_exact(all).enumerate();
    answers.try_for_each(|(number, answer)| each(number, answer.chunks_exact(bytes).collect()))
}

/// Makes keys that open the ciphertexts of answers.
pub struct AnswerOpener {
    switch: Option<Switch>,
    split: SplitRing,
}

/// A key in the form that opens the ciphertexts of answers.
pub enum AnswerKey {
    /// Whole ones.
    Whole(RlweKey<u32>),
    /// Those that were switched to these moduli.
    Switched(Switch, SplitKey),
}

impl AnswerOpener {
    /// For ciphertexts over rings of degree `n`.
    pub fn new(n: usize, switch: Option<Switch>) -> Result<Self> {
        Ok(Self { switch, split: SplitRing::new(n)? })
    }

    /// That key, to be made once for all ciphertexts.
    pub fn key(&self, key: &RlweKey<u32>) -> Result<AnswerKey> {
        Ok(match self.switch {
            None => AnswerKey::Whole(key.clone()),
            Some(switch) => AnswerKey::Switched(switch, self.split.key(key)?),
        })
    }
}

impl AnswerKey {
    /// The short plaintext of a ciphertext.
    pub fn decrypt(&self, scheme: &Scheme<u32>, bytes: &[u8]) -> Result<Vec<i64>> {
        Ok(match self {
            Self::Whole(key) => scheme.decrypt(key, &whole(scheme.ring(), bytes)?)?,
            Self::Switched(switch, key) => {
                scheme.decrypt_split(key, &switched(scheme.ring().n(), *switch, bytes)?, switch.body_modulus)?
            }
        })
    }

    /// The noise of a ciphertext of the plaintext z, which decrypts where it is below 1/2.
    pub fn noise(&self, scheme: &Scheme<u32>, bytes: &[u8], z: &[i64]) -> Result<Vec<f64>> {
        Ok(match self {
            Self::Whole(key) => scheme.noise(key, &whole(scheme.ring(), bytes)?, z)?,
            Self::Switched(switch, key) => {
                scheme.noise_split(key, &switched(scheme.ring().n(), *switch, bytes)?, switch.body_modulus, z)?
            }
        })
    }

    /// The messages modulo 2^bits that the phase of a ciphertext is nearest to, coefficient by coefficient.
    pub fn messages(&self, ring: &Ring<u32>, bytes: &[u8], bits: u32) -> Result<Vec<u64>> {
        Ok(match self {
            Self::Whole(key) => ring.switch_to(&key.phase(&whole(ring, bytes)?), 1 << bits),
            Self::Switched(switch, key) => {
                let nearest = |fraction: u64| fraction.wrapping_add(1 << (63 - bits)) >> (64 - bits);
                key.fractions(&switched(ring.n(), *switch, bytes)?)?.into_iter().map(nearest).collect()
            }
        })
    }

    /// How far the phase of a ciphertext is from `phase`, the modulus over 2^bits times `messages`, in units of that fraction.
    pub fn errors(
        &self,
        ring: &Ring<u32>,
        bytes: &[u8],
        (messages, bits): (&[i64], u32),
        phase: impl FnOnce() -> Poly<u32, Coefficient>,
    ) -> Result<Vec<f64>> {
        let unit = f64::from(bits).exp2();
        match self {
            Self::Whole(key) => {
                let (scale, found) = (ring.modulus_log2().exp2() / unit, key.phase(&whole(ring, bytes)?));
                Ok(noise::errors(ring, &found, &phase())?.into_iter().map(|error| error / scale).collect())
            }
            Self::Switched(switch, key) => {
                let fractions = key.fractions(&switched(ring.n(), *switch, bytes)?)?;
                let error = |(fraction, message): (u64, &i64)| {
                    let known = (*message as u64) << (64 - bits);
                    (fraction.wrapping_sub(known) as i64) as f64 / 64f64.exp2() * unit
                };
                Ok(fractions.into_iter().zip(messages).map(error).collect())
            }
        }
    }

    /// The work of [`Self::decrypt`] before the plaintext is made short; an integer modulus needs no work for that.
    pub fn work(ring: RingShape, switch: Option<Switch>) -> Work {
        switch.map_or_else(|| ring.transforms(3), |switch| SplitKey::work(ring.degree, switch.mask_modulus))
    }
}

/// The switched ciphertext in these bytes.
fn switched(n: usize, switch: Switch, bytes: &[u8]) -> Result<SplitRlwe> {
    SplitRlwe::from_bytes((n, n), (switch.mask_modulus, switch.body_modulus), bytes)
        .map_err(Error::in_message("answer"))
}

/// The whole ciphertext in these bytes.
fn whole(ring: &Ring<u32>, bytes: &[u8]) -> Result<Rlwe<u32, Ntt>> {
    let mut input = Reader::of(bytes);
    let mut half = || input.poly(ring).map_err(Error::in_message("answer"));
    Ok(Rlwe { a: half()?, b: half()? })
}
