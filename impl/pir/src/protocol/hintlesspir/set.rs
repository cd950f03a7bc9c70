//! HintlessPIR's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ParameterSet, Result, Shape, in_range, power_of_two};
use crate::parts::bfv::{BfvRing, MAX_PRIME_BITS, RingTable, Switch, half_bytes};
use crate::parts::lwe_matrix::{Lwe, PlainModuli, Tiling};
use crate::parts::ring_matrix::check_secret;

/// Name of the protocol.
pub(super) const NAME: &str = "hintlesspir";

/// The tables of params/hintlesspir/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Columns of the database over its rows, about.
    pub columns_per_row: u64,
    /// Rows of H that a pair of ciphertexts covers: a power of two from 2 to N.
    pub block_rows: usize,
    /// LWE parameters of the query.
    pub lwe: Lwe,
    /// Plaintext modulus by number of LWE samples (columns).
    pub plain_moduli: PlainModuli,
    /// Encryption of the LWE secret, modulo two primes t1 and t2.
    pub ring: BfvRing,
    /// Rotations of sums of products; absent: every product has a rotation of the secret of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub giant: Option<Giant>,
    /// Moduli of the ciphertexts of an answer; absent: they stay modulo Q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
}

/// The `[giant]` table: a block's products, S at a time, are summed up and the sums rotated. Blocks of up to 2 S rows have one sum, which is not.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Giant {
    /// Baby steps S: rotations of the secret, a power of two up to half the ring degree.
    pub baby_steps: usize,
    /// Bits of a digit of the key that rotates by S places.
    pub digit_bits: u32,
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        in_range("columns_per_row", self.columns_per_row, 1..=1 << 16)?;
        self.lwe.check()?;
        check_secret("lwe.secret", self.lwe.secret, self.lwe.dimension)?;
        self.plain_moduli.check()?;
        self.ring.check(2)?;
        power_of_two("block_rows", self.block_rows, 2..=self.ring.degree, ", the ring degree")?;
        if self.lwe.dimension > self.ring.degree / 2 {
            let problem = format!(
                "{} is above {}: the secret lies in one of the two rows of slots.",
                self.lwe.dimension,
                self.ring.degree / 2
            );
            return Err(Error::value("lwe.dimension", problem));
        }
        if let Some(Giant { baby_steps, digit_bits }) = self.giant {
            power_of_two("giant.baby_steps", baby_steps, 1..=self.ring.degree / 2, ", half the ring degree")?;
            in_range("giant.digit_bits", digit_bits, 2..=MAX_PRIME_BITS)?;
        }
        let largest = self.ring.slot_moduli.iter().max().copied().unwrap_or(0);
        self.switch.map_or(Ok(()), |switch| switch.check(largest))
    }
}

impl Set {
    /// The database's layout; refuses one with more columns than the table of moduli covers.
    pub fn layout(&self, shape: Shape) -> Result<super::Layout> {
        let tiling = Tiling::Aspect { columns_per_row: self.columns_per_row };
        let linear = crate::parts::lwe_matrix::Layout::choose(shape, &self.plain_moduli, tiling)?;
        Ok(super::Layout::new(linear, self.block_rows, self.ring.degree, self.giant.map(|giant| giant.baby_steps)))
    }

    /// The rotations, of the secret and of sums where they are rotated: places, and bits of a digit of the key.
    pub fn rotations(&self, layout: &super::Layout) -> Vec<(usize, u32)> {
        let giant = self.giant.filter(|_| layout.giants() > 1).map(|giant| (layout.babies, giant.digit_bits));
        [(1, self.ring.digit_bits)].into_iter().chain(giant).collect()
    }

    /// Polynomials of the message `keys`: an encrypted secret for each modulus of slots, and the rows of the rotation keys.
    pub fn key_polynomials(&self, layout: &super::Layout) -> usize {
        let rows = self.rotations(layout).into_iter().map(|(_, digit_bits)| self.ring.digits_of(digit_bits));
        self.ring.slot_moduli.len() + rows.sum::<usize>()
    }

    /// Bytes of the mask and of the body of a ciphertext of an answer.
    pub fn answer_bytes(&self) -> [u64; 2] {
        half_bytes(self.switch, self.ring.degree, self.ring.coefficient_bits())
    }
}
