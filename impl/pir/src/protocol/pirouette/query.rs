//! Queries: one LWE encryption of the index (Pirouette) or one of each of its bits (Pirouette^H), sent as a seed and the
//! bodies.

use lattice::lwe::{Lwe, LweKey};
use lattice::wire::{Reader, Writer};
use rand::RngCore;
use ring::{CtrDrbg, DRBG_SEED_BYTES, DiscreteGaussian, Modulus};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::selector::Selector;
use super::switching::KeySwitching;
use crate::core::{Error, ErrorSize, MAX_LWE_STDDEV, Result, in_range};
use crate::parts::ring_matrix::Rlwe;

/// Most bits for which a seed is chosen: each doubles the client's work for a query.
const MAX_CHOSEN_BITS: u32 = 12;

/// The seed from which a query's masks are expanded.
pub type QuerySeed = [u8; DRBG_SEED_BYTES];

/// A form of queries, which determines the protocol.
pub trait QueryForm: Clone + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Name of the protocol.
    const NAME: &'static str;
    /// One line about it.
    const SUMMARY: &'static str;

    /// Refuses values out of their range.
    fn check(&self, rlwe: &Rlwe) -> Result<()>;

    /// The LWE encryption that is sent, if one is, under a ring key of `degree` coefficients or the small key.
    fn encryption(&self, degree: usize) -> Option<Encryption>;

    /// The switch to the small key, if there is one.
    fn switching(&self) -> Option<&KeySwitching>;

    /// Bits of a digit of the index, if it is decomposed; else 0.
    fn digit_bits(&self) -> u32 {
        0
    }

    /// The RGSW encryptions between the rounds of a cipher, if the index is enciphered.
    fn rounds(&self) -> Option<&Selector> {
        None
    }

    /// Bytes of keystream that mask an index of `index_bits` bits; 0 if it is not enciphered.
    fn keystream_bytes(&self, index_bits: u32) -> usize {
        let _ = index_bits;
        0
    }

    /// The messages for an index of `index_bits` bits in LWE encryptions, which may not fit.
    fn messages(&self, encryption: &Encryption, index: u64, index_bits: u32) -> Result<Vec<u64>> {
        let _ = (encryption, index, index_bits);
        Ok(Vec::new())
    }

    /// Refuses an index of `index_bits` bits if the form does not carry that many.
    fn check_bits(&self, index_bits: u32) -> Result<()> {
        let _ = index_bits;
        Ok(())
    }
}

/// The client's choice of seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeedUse {
    /// A fresh seed with every query.
    #[default]
    PerQuery,
    /// One seed for all queries, sent once; a query then consists of bodies alone.
    PerClient,
}

/// The `[query]` table of Pirouette.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// log2 of the modulus of the query's LWE encryption under the coefficients of s.
    pub modulus_log2: u32,
    /// Bits to which its body is rounded.
    pub body_bits: u32,
    /// log2 of the factor by which the rounding error is below that of a random seed: the client draws 2^chosen_bits seeds on average.
    #[serde(default)]
    pub chosen_bits: u32,
    /// Size of its error, before the rounding.
    pub error: ErrorSize,
    /// Bits of a digit of the index.
    pub digit_bits: u32,
    /// The client's choice of seeds.
    #[serde(default)]
    pub seed: SeedUse,
    /// The switch of digits and bits from s to z.
    pub key_switching: KeySwitching,
}

/// The `[query]` table of Pirouette^H: encryptions modulo 2N under z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bits {
    /// Bits to which a body is rounded.
    pub body_bits: u32,
    /// Size of an error, before the rounding.
    pub error: ErrorSize,
    /// The client's choice of seeds.
    #[serde(default)]
    pub seed: SeedUse,
}

/// LWE encryptions modulo a power of two, whose rounded bodies are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encryption {
    /// log2 of the modulus.
    pub modulus_log2: u32,
    /// Bits to which a body is rounded.
    pub body_bits: u32,
    /// A body is sent only if rounding changes it by at most half a unit over 2^chosen_bits.
    pub chosen_bits: u32,
    /// Size of the error, before the rounding.
    pub error: ErrorSize,
    /// The client's choice of seeds.
    pub seed: SeedUse,
}

impl Encryption {
    fn check(&self) -> Result<()> {
        let Self { modulus_log2, body_bits, chosen_bits, .. } = *self;
        in_range("query.body_bits", body_bits, 1..=modulus_log2.min(32))?;
        let most = (modulus_log2 - body_bits).saturating_sub(1).min(MAX_CHOSEN_BITS);
        if chosen_bits > most {
            let problem = format!(
                "{chosen_bits} is not between 0 and {most}: the bits rounded off less one, {MAX_CHOSEN_BITS} at most."
            );
            return Err(Error::value("query.chosen_bits", problem));
        }
        if chosen_bits > 0 && self.seed == SeedUse::PerClient {
            return Err(Error::value(
                "query.chosen_bits",
                "seeds cannot be chosen if one serves a client: leave out this key or query.seed.",
            ));
        }
        Ok(())
    }

    pub(super) fn modulus(&self) -> Modulus<u64> {
        // The checks of both forms allow powers of two from 2 to 2^61 only.
        Modulus::new(1 << self.modulus_log2).unwrap_or_else(|e| unreachable!("{e}"))
    }

    /// Bits that rounding takes off a body.
    pub(super) fn rounded_bits(&self) -> u32 {
        self.modulus_log2 - self.body_bits
    }

    /// Refuses requests of several queries if seeds are chosen: one seed would have to suit all.
    pub(super) fn check_queries(&self, queries: u64) -> Result<()> {
        if self.chosen_bits > 0 && queries > 1 {
            return Err(Error::Workload(format!(
                "{queries} queries in a request share a seed, which this set chooses to suit one: send them one by one, or take a set \
                 without query.chosen_bits."
            )));
        }
        Ok(())
    }

    /// Bytes of a request's seed.
    pub(super) fn seed_bytes(&self) -> usize {
        match self.seed {
            SeedUse::PerQuery => DRBG_SEED_BYTES,
            SeedUse::PerClient => 0,
        }
    }

    /// Payload bytes of a request of `bodies` bodies.
    pub(super) fn bytes(&self, bodies: u64) -> u64 {
        self.seed_bytes() as u64 + bodies.saturating_mul(self.body_bits.into()).div_ceil(8)
    }

    /// The masks of query number `number` of a seed: `count` vectors of `dimension` residues. Each number must be used once: two bodies under
    /// one mask reveal the difference of their messages.
    pub(super) fn masks(&self, seed: &QuerySeed, number: u64, count: usize, dimension: usize) -> Vec<Vec<u64>> {
        let mut personalization = [0; DRBG_SEED_BYTES];
        personalization[..8].copy_from_slice(&number.to_le_bytes());
        let bytes_each = self.modulus_log2.div_ceil(8) as usize;
        let mut bytes = vec![0; count * dimension * bytes_each];
        CtrDrbg::new(seed, &personalization).fill(&mut bytes);
        let mask = (1u64 << self.modulus_log2) - 1;
        let number = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word) & mask
        };
        let numbers: Vec<u64> = bytes.chunks_exact(bytes_each).map(number).collect();
        numbers.chunks_exact(dimension).map(<[u64]>::to_vec).collect()
    }

    /// The rounded body of an encryption of `message` under `key` with that mask; `None` if the rounding error is too large.
    fn body(
        &self,
        key: &LweKey,
        mask: &[u64],
        message: u64,
        error: &DiscreteGaussian,
        rng: &mut impl RngCore,
    ) -> Option<u32> {
        // Arithmetic modulo 2^64 is arithmetic modulo every smaller power of two.
        let product = mask
            .iter()
            .zip(key.coefficients())
            .fold(0u64, |sum, (a, s)| sum.wrapping_add(a.wrapping_mul(i64::from(*s) as u64)));
        let body = product.wrapping_add(message).wrapping_add(i64::from(error.sample(rng)) as u64);
        let rounded = self.rounded_bits();
        let half = if rounded > 0 { 1u64 << (rounded - 1) } else { 0 };
        let up = body.wrapping_add(half);
        // The low bits of `up`, less half, are the amount that rounding subtracts from the body.
        let taken = (up & ((1 << rounded) - 1)).abs_diff(half);
        (taken <= half >> self.chosen_bits).then_some((up >> rounded & ((1 << self.body_bits) - 1)) as u32)
    }

    /// Appends the bodies of encryptions of `messages` to a request; false if another seed must be drawn.
    pub(super) fn encrypt(
        &self,
        key: &LweKey,
        masks: &[Vec<u64>],
        messages: &[u64],
        (error, rng): (&DiscreteGaussian, &mut impl RngCore),
        out: &mut Writer,
    ) -> bool {
        for (mask, message) in masks.iter().zip(messages) {
            let Some(body) = self.body(key, mask, *message, error, rng) else { return false };
            out.write(body.into(), self.body_bits);
        }
        true
    }

    /// The ciphertexts with those masks and the next bodies of a request.
    pub(super) fn read(&self, masks: Vec<Vec<u64>>, bodies: &mut Reader) -> Vec<Lwe> {
        let read = |a| {
            let b = bodies.bits(self.body_bits) << self.rounded_bits();
            Lwe { modulus: self.modulus(), a, b }
        };
        masks.into_iter().map(read).collect()
    }
}

impl Index {
    /// D, the number of digits of an index of `index_bits` bits.
    pub(super) fn digits(&self, index_bits: u32) -> u32 {
        index_bits.div_ceil(self.digit_bits)
    }

    /// log2 of the scale of an index, 2^(modulus_log2 - D digit_bits): the index fills the modulus from the top.
    pub(super) fn scale_log2(&self, index_bits: u32) -> Result<u32> {
        let used = self.digits(index_bits) * self.digit_bits;
        // The rounding must not reach the index.
        let rounded_bits = self.modulus_log2 - self.body_bits;
        self.modulus_log2.checked_sub(used).filter(|scale| *scale > rounded_bits).ok_or_else(|| {
            Error::Workload(format!(
                "an index of {index_bits} bits, {used} in whole digits, does not fit a query of {} bits: take a set with larger \
                 query.modulus_log2 and query.body_bits, or fewer records.",
                self.body_bits
            ))
        })
    }
}

impl QueryForm for Bits {
    const NAME: &'static str = "pirouette_h";
    const SUMMARY: &'static str = "Pirouette^H: a query is a seed and an LWE body for every bit of the index; circuit bootstrapping, then folding";

    fn check(&self, rlwe: &Rlwe) -> Result<()> {
        self.encryption(rlwe.degree).map_or(Ok(()), |encryption| encryption.check())?;
        self.error.check("query.error", MAX_LWE_STDDEV)
    }

    fn encryption(&self, degree: usize) -> Option<Encryption> {
        let Self { body_bits, error, seed } = *self;
        Some(Encryption { modulus_log2: 1 + degree.ilog2(), body_bits, chosen_bits: 0, error, seed })
    }

    fn switching(&self) -> Option<&KeySwitching> {
        None
    }

    fn messages(&self, encryption: &Encryption, index: u64, index_bits: u32) -> Result<Vec<u64>> {
        let half = 1u64 << (encryption.modulus_log2 - 1);
        Ok((0..index_bits).rev().map(|bit| (index >> bit & 1) * half).collect())
    }
}

impl QueryForm for Index {
    const NAME: &'static str = "pirouette";
    const SUMMARY: &'static str = "Pirouette: a query is a seed and one LWE body; homomorphic digit and bit decomposition, circuit bootstrapping, folding";

    fn check(&self, rlwe: &Rlwe) -> Result<()> {
        let two_n = 1 + rlwe.degree.ilog2();
        if !(two_n..=61).contains(&self.modulus_log2) {
            let problem = format!("{} is not between log2 2N = {two_n} and 61.", self.modulus_log2);
            return Err(Error::value("query.modulus_log2", problem));
        }
        // Digits are scaled by 2N / 2^digit_bits, at least 4.
        if !(1..=two_n - 2).contains(&self.digit_bits) {
            let (bits, most) = (self.digit_bits, two_n - 2);
            let problem = format!("{bits} is not between 1 and {most}: a digit stands above its error modulo 2N.");
            return Err(Error::value("query.digit_bits", problem));
        }
        self.encryption(rlwe.degree).map_or(Ok(()), |encryption| encryption.check())?;
        self.error.check("query.error", MAX_LWE_STDDEV)?;
        self.key_switching.check(rlwe)
    }

    fn encryption(&self, _: usize) -> Option<Encryption> {
        let Self { modulus_log2, body_bits, chosen_bits, error, seed, .. } = *self;
        Some(Encryption { modulus_log2, body_bits, chosen_bits, error, seed })
    }

    fn switching(&self) -> Option<&KeySwitching> {
        Some(&self.key_switching)
    }

    fn digit_bits(&self) -> u32 {
        self.digit_bits
    }

    fn messages(&self, _: &Encryption, index: u64, index_bits: u32) -> Result<Vec<u64>> {
        let scale = self.scale_log2(index_bits)?;
        // Without bits the scale is the modulus itself, and the index 0.
        Ok(vec![index.checked_shl(scale).unwrap_or(0)])
    }
}

/// The centred difference of an LWE ciphertext's phase and its expected value.
pub(super) fn centred_error(key: &LweKey, ciphertext: &Lwe, expected: u64) -> Result<f64> {
    let modulus = &ciphertext.modulus;
    let phase = key.phase(ciphertext)?;
    Ok(modulus.centred(modulus.sub(phase, modulus.reduce_u64(expected))) as f64)
}
