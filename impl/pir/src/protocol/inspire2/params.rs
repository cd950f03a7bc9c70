//! InsPIRe^(2)'s parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};
use crate::core::params::{ParameterSet, SourceNote};
use crate::parts::ring_matrix::{Packed, PackingLiteral, Rlwe, RlweLiteral, Switch, SwitchLiteral};

/// Name of the protocol.
pub(super) const NAME: &str = "inspire2";

/// An InsPIRe^(2) set as written in params/inspire2/*.toml.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// Always `inspire2`.
    pub protocol: String,
    /// One line for tables.
    pub title: String,
    /// Where the set comes from.
    pub source: SourceNote,
    /// Bits of an entry, and of a digit of the second layer: the plaintext modulus is p = 2^entry_bits.
    pub entry_bits: u32,
    /// gamma_0: entries of a cell, packed into one ciphertext of the first layer; a power of two below the degree.
    pub gamma0: u32,
    /// gamma_1: results packed into a ciphertext of the masks' digits.
    pub gamma1: u32,
    /// gamma_2: results packed into a ciphertext of the bodies' digits.
    pub gamma2: u32,
    /// f: the first query is so many times as long, the second so many times shorter.
    pub rows_factor: u32,
    /// Modulus to which the first layer's ciphertexts are switched before they are cut into digits.
    pub switched_modulus: u32,
    /// The ring of both layers.
    pub rlwe: RlweLiteral,
    /// Gadget of packing keys.
    pub packing: PackingLiteral,
    /// Moduli of an answer.
    pub switch: SwitchLiteral,
}

/// A checked InsPIRe^(2) set.
#[derive(Clone, Debug)]
pub struct Params {
    source: SourceNote,
    /// Bits of an entry and of a digit.
    pub entry_bits: u32,
    /// gamma_0, gamma_1, gamma_2.
    pub gammas: [usize; 3],
    /// f.
    pub rows_factor: u64,
    /// Modulus of the first layer's ciphertexts in digits.
    pub switched_modulus: u32,
    /// The ring.
    pub rlwe: Rlwe,
    /// Gadget of packing keys.
    pub packed: Packed,
    /// Moduli of an answer.
    pub switch: Switch,
}

impl ParameterSet for Params {
    type Literal = Literal;

    fn try_new(literal: Literal) -> Result<Self> {
        let Literal {
            protocol,
            title: _,
            source,
            entry_bits,
            gamma0,
            gamma1,
            gamma2,
            rows_factor,
            switched_modulus,
            rlwe,
            packing,
            switch,
        } = literal;
        if protocol != "inspire2" {
            return Err(Error::value("protocol", format!("`{protocol}` in an InsPIRe^(2) set; write \"inspire2\".")));
        }
        if !(1..=16).contains(&entry_bits) {
            return Err(Error::value("entry_bits", format!("{entry_bits} is not between 1 and 16.")));
        }
        let rlwe: Rlwe = (&rlwe).try_into()?;
        for (key, gamma) in [("gamma0", gamma0), ("gamma1", gamma1), ("gamma2", gamma2)] {
            if !gamma.is_power_of_two() || !(2..rlwe.degree as u32).contains(&gamma) {
                let problem = format!("{gamma} is no power of two from 2 to {}, half the degree.", rlwe.degree / 2);
                return Err(Error::value(key, problem));
            }
        }
        if !rows_factor.is_power_of_two() || rows_factor > 1 << 10 {
            return Err(Error::value("rows_factor", format!("{rows_factor} is no power of two from 1 to 1024.")));
        }
        if !(1 << (entry_bits + 1)..=1 << 31).contains(&switched_modulus) {
            let problem = format!("{switched_modulus} is not between 2^{} and 2^31.", entry_bits + 1);
            return Err(Error::value("switched_modulus", problem));
        }
        Ok(Self {
            source,
            entry_bits,
            gammas: [gamma0, gamma1, gamma2].map(|gamma| gamma as usize),
            rows_factor: rows_factor.into(),
            switched_modulus,
            packed: Packed::try_new(packing, &rlwe)?,
            switch: Switch::try_new(switch, 1 << entry_bits)?,
            rlwe,
        })
    }

    fn source(&self) -> &SourceNote {
        &self.source
    }
}

impl Params {
    /// floor(q / p).
    pub fn scale(&self) -> u64 {
        self.rlwe.modulus() >> self.entry_bits
    }

    /// What is subtracted from a stored entry or digit to centre it.
    pub fn offset(&self) -> i32 {
        1 << (self.entry_bits - 1)
    }

    /// Bits of a coefficient of the first layer's ciphertexts.
    pub fn value_bits(&self) -> u32 {
        u32::BITS - (self.switched_modulus - 1).leading_zeros()
    }

    /// Digits of so many coefficients.
    pub fn digits_of(&self, coefficients: usize) -> usize {
        (coefficients * self.value_bits() as usize).div_ceil(self.entry_bits as usize)
    }

    /// Bits of a coefficient modulo q on the wire: those of both residues.
    pub fn coefficient_bits(&self) -> u32 {
        self.rlwe.residue_bits()
    }
}
