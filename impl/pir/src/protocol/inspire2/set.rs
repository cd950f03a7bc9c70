//! InsPIRe^(2)'s parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{ParameterSet, Result, in_range, power_of_two};
use crate::parts::ring_matrix::{Gadget, Rlwe, Switch};

/// Name of the protocol.
pub(super) const NAME: &str = "inspire2";

/// The keys and tables of params/inspire2/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Bits of an entry, and of a digit of the second layer: the plaintext modulus is p = 2^entry_bits.
    pub entry_bits: u32,
    /// gamma_0: entries of a cell, packed into one ciphertext of the first layer; a power of two below the degree.
    gamma0: usize,
    /// gamma_1: results packed into a ciphertext of the masks' digits.
    gamma1: usize,
    /// gamma_2: results packed into a ciphertext of the bodies' digits.
    gamma2: usize,
    /// f: makes the first query f times longer, the second f times shorter.
    pub rows_factor: usize,
    /// Modulus to which the first layer's ciphertexts are switched before they are cut into digits.
    pub switched_modulus: u32,
    /// The ring of both layers.
    pub rlwe: Rlwe,
    /// Gadget of packing keys.
    pub packing: Gadget,
    /// Moduli of an answer.
    pub switch: Switch,
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        in_range("entry_bits", self.entry_bits, 1..=16)?;
        self.rlwe.check(2..=2)?;
        for (key, gamma) in ["gamma0", "gamma1", "gamma2"].into_iter().zip(self.gammas()) {
            power_of_two(key, gamma, 2..=self.rlwe.degree / 2, ", half the degree")?;
        }
        power_of_two("rows_factor", self.rows_factor, 1..=1024, "")?;
        in_range("switched_modulus", self.switched_modulus, 1 << (self.entry_bits + 1)..=1 << 31)?;
        self.packing.check("packing", &self.rlwe, false)?;
        self.switch.check(1 << self.entry_bits)
    }
}

impl Set {
    /// gamma_0, gamma_1, gamma_2.
    pub fn gammas(&self) -> [usize; 3] {
        [self.gamma0, self.gamma1, self.gamma2]
    }

    /// Digits of a packing key.
    pub fn digits(&self) -> u64 {
        self.packing.length(self.rlwe.modulus()) as u64
    }

    /// floor(q / p).
    pub fn scale(&self) -> u64 {
        self.rlwe.modulus() >> self.entry_bits
    }

    /// Bits of a coefficient of the first layer's ciphertexts.
    pub fn value_bits(&self) -> u32 {
        u32::BITS - (self.switched_modulus - 1).leading_zeros()
    }

    /// Digits of `coefficients` coefficients.
    pub fn digits_of(&self, coefficients: usize) -> usize {
        (coefficients * self.value_bits() as usize).div_ceil(self.entry_bits as usize)
    }
}
