//! Ciphertexts of answers: whole, or switched to a modulus for masks and one for bodies.

use bfv::Scheme;
use lattice::wire::{Reader, Writer, poly_bits, residue_bits};
use lattice::{Rlwe, RlweKey, SplitRing, SplitRlwe};
use ring::{Kind, Ntt, Poly, Ring, RingShape, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        in_range("switch.mask_modulus", self.mask_modulus, 2 * sum_norm..=MAX_SWITCHED)?;
        in_range("switch.body_modulus", self.body_modulus, 2 * sum_norm..=MAX_SWITCHED)
    }

    /// The work of switching a mask or a body of a ciphertext in the NTT domain.
    pub fn half_work(ring: RingShape) -> Work {
        ring.transforms(1) + Work::of(Kind::CoefficientsSwitched, &[ring.degree as u64])
    }
}

/// Bytes of the mask and of the body of a ciphertext of an answer, whose coefficients have `bits` bits where it is whole.
pub fn half_bytes(switch: Option<Switch>, degree: usize, bits: u64) -> [u64; 2] {
    let bits = switch.map_or([bits; 2], |switch| {
        [switch.mask_modulus, switch.body_modulus].map(|modulus| u64::from(residue_bits(modulus)))
    });
    bits.map(|bits| degree as u64 * bits / 8)
}

/// Half a ciphertext as it is sent: whole in the NTT domain, or switched to a modulus.
pub fn write_half(ring: &Ring<u32>, half: Poly<u32, Ntt>, modulus: Option<u64>) -> Vec<u8> {
    let mut out = Writer::with_capacity(poly_bits(ring) / 8);
    match modulus {
        None => out.write_poly(ring, &half),
        Some(modulus) => out.write_all(&ring.switch_to(&ring.inverse(half), modulus), residue_bits(modulus)),
    }
    out.finish()
}

/// Writes the ciphertexts of an answer, mask before body, to bytes of that length.
pub fn write_ciphertexts(
    ring: &Ring<u32>,
    ciphertexts: Vec<Rlwe<u32, Ntt>>,
    switch: Option<Switch>,
    mut out: &mut [u8],
) {
    let moduli = switch.map_or([None; 2], |switch| [switch.mask_modulus, switch.body_modulus].map(Some));
    for Rlwe { a, b } in ciphertexts {
        for (half, modulus) in [a, b].into_iter().zip(moduli) {
            let bytes = write_half(ring, half, modulus);
            out.split_off_mut(..bytes.len()).unwrap_or_default().copy_from_slice(&bytes);
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

/// Opens the ciphertexts of answers.
pub struct AnswerOpener {
    n: usize,
    switch: Option<Switch>,
    split: SplitRing,
}

impl AnswerOpener {
    /// For ciphertexts over rings of degree `n`.
    pub fn new(n: usize, switch: Option<Switch>) -> Result<Self> {
        Ok(Self { n, switch, split: SplitRing::new(n)? })
    }

    fn switched(&self, switch: Switch, bytes: &[u8]) -> Result<SplitRlwe> {
        let n = self.n;
        SplitRlwe::from_bytes((n, n), (switch.mask_modulus, switch.body_modulus), bytes)
            .map_err(Error::in_message("answer"))
    }

    /// The short plaintext of a ciphertext.
    pub fn decrypt(&self, scheme: &Scheme<u32>, key: &RlweKey<u32>, bytes: &[u8]) -> Result<Vec<i64>> {
        let Some(switch) = self.switch else { return Ok(scheme.decrypt(key, &whole(scheme.ring(), bytes)?)?) };
        Ok(scheme.decrypt_split(&self.split.key(key)?, &self.switched(switch, bytes)?, switch.body_modulus)?)
    }

    /// The noise of a ciphertext of the plaintext z, which decrypts where it is below 1/2.
    pub fn noise(&self, scheme: &Scheme<u32>, key: &RlweKey<u32>, bytes: &[u8], z: &[i64]) -> Result<Vec<f64>> {
        let Some(switch) = self.switch else { return Ok(scheme.noise(key, &whole(scheme.ring(), bytes)?, z)?) };
        Ok(scheme.noise_split(&self.split.key(key)?, &self.switched(switch, bytes)?, switch.body_modulus, z)?)
    }
}

/// The whole ciphertext in these bytes.
fn whole(ring: &Ring<u32>, bytes: &[u8]) -> Result<Rlwe<u32, Ntt>> {
    let mut input = Reader::of(bytes);
    let mut half = || input.poly(ring).map_err(Error::in_message("answer"));
    Ok(Rlwe { a: half()?, b: half()? })
}
