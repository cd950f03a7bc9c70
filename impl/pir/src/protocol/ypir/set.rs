//! The parameter set of YPIR and of InsPIRe_0.

use lattice::pack::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ParameterSet, Result, in_range, power_of_two};
use crate::parts::digits::Digits;
use crate::parts::lwe_matrix::Lwe;
use crate::parts::ring_matrix::{Gadget, Packing, Rlwe, Switch, check_secret};

/// Names of the protocols.
pub(super) const YPIR: &str = "ypir";
pub(super) const INSPIRE0: &str = "inspire0";

/// The tables of params/ypir/*.toml and params/inspire0/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The form in which the digits of the first layer's answer are sent: left out with YPIR; `unpacked` as published, `packed` or `merged` with
    /// InsPIRe_0.
    #[serde(default)]
    pub body: Body,
    /// The digits that pass from the first layer to the second.
    pub layers: Exchange,
    /// First layer.
    pub lwe: Lwe,
    /// Second layer.
    pub rlwe: Rlwe,
    /// Gadget of packing keys.
    pub packing: Gadget,
    /// Moduli of an answer.
    pub switch: Switch,
}

/// The `[layers]` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Bits of an entry of the first layer, whose plaintext modulus is 2^entry_bits.
    pub entry_bits: u32,
    /// Modulus q1, to which hint and answer of the first layer are switched before they are cut into digits.
    pub switched_modulus: u32,
    /// Bits of a digit: the second layer's plaintext modulus is p = 2^digit_bits.
    pub digit_bits: u32,
    /// Bytes of a coefficient of the second query on the wire: 8 as published, 7 as q = 2^56 needs.
    pub query_coefficient_bytes: usize,
}

/// The form in which the digits of the first layer's answer, which depend on the query, reach the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// The homomorphic trace moves them into unused coefficients of the packed ciphertext (YPIR, which packs by CDKS).
    #[default]
    Traced,
    /// Each is a ring ciphertext with one used coefficient (InsPIRe_0 as published).
    Unpacked,
    /// They are packed into one more ring ciphertext.
    Packed,
    /// They are packed likewise, and added to the first copy's ciphertext behind its hint digits.
    Merged,
    /// They are in the polynomials of the hint's digits, which are selected whole (long records of any set).
    #[serde(skip)]
    Selected,
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        let Exchange { entry_bits, switched_modulus, digit_bits, query_coefficient_bytes } = self.layers;
        self.lwe.check()?;
        power_of_two("lwe.dimension", self.lwe.dimension, 64..=2048, ", as hints by transforms need")?;
        check_secret("lwe.secret", self.lwe.secret, self.lwe.dimension)?;
        self.rlwe.check(2..=2)?;
        in_range("layers.entry_bits", entry_bits, 1..=8)?;
        in_range("layers.switched_modulus", switched_modulus, 1 << (entry_bits + 1)..=1 << 31)?;
        in_range("layers.digit_bits", digit_bits, 1..=15)?;
        self.packing.check("packing", &self.rlwe, false)?;
        self.switch.check(1 << digit_bits)?;
        self.rlwe.check_coefficient_bytes("layers.query_coefficient_bytes", query_coefficient_bytes)?;
        let (digits, degree) = (self.hint_digits() + self.answer_digits(), self.rlwe.degree);
        if digits <= degree {
            return Ok(());
        }
        Err(Error::value(
            "rlwe.degree",
            format!("{degree}: the {digits} digits of one value of the first layer must fit; take wider digits."),
        ))
    }
}

impl Set {
    /// Name of the protocol that sends the digits of the first layer's answer in this form.
    pub fn protocol(&self) -> &'static str {
        if self.body == Body::Traced { YPIR } else { INSPIRE0 }
    }

    /// The packing of the second layer's answers.
    pub fn method(&self) -> Method {
        if self.body == Body::Traced { Method::Cdks } else { Method::Inspiring }
    }

    /// Sizes of that packing.
    pub fn packing_sizes(&self) -> Packing<'_> {
        Packing::new(&self.rlwe, self.method(), self.packing)
    }

    /// Bits of a value of the first layer: ceil(log2 q1).
    pub fn value_bits(&self) -> u32 {
        u32::BITS - (self.layers.switched_modulus - 1).leading_zeros()
    }

    /// The digits of the first layer's values.
    pub fn digits(&self) -> Digits {
        Digits { value_bits: self.value_bits(), digit_bits: self.layers.digit_bits }
    }

    /// Digits of a column's part of the first hint: ceil(n value_bits / digit_bits).
    pub fn hint_digits(&self) -> usize {
        (self.lwe.dimension * self.value_bits() as usize).div_ceil(self.layers.digit_bits as usize)
    }

    /// Digits of one value of the first answer: ceil(value_bits / digit_bits).
    pub fn answer_digits(&self) -> usize {
        self.value_bits().div_ceil(self.layers.digit_bits) as usize
    }

    /// Scale of the first layer: 2^32 / 2^entry_bits.
    pub fn first_scale(&self) -> u32 {
        1 << (32 - self.layers.entry_bits)
    }

    /// Scale of the second layer: floor(q / p).
    pub fn second_scale(&self) -> u64 {
        self.rlwe.modulus() >> self.layers.digit_bits
    }

    /// x q1 / 2^32 rounded to the nearest integer, modulo q1.
    pub fn switch_value(&self, word: u32) -> u32 {
        let switched = (u64::from(word) * u64::from(self.layers.switched_modulus) + (1 << 31)) >> 32;
        if switched == u64::from(self.layers.switched_modulus) { 0 } else { switched as u32 }
    }
}
