//! Parameters of the two layers: as written, then checked.

use lattice::pack::Method;
use ring::{Coefficient, Ring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};
use crate::core::params::{Lwe32, LweLiteral, SourceNote};
use crate::parts::digits::Digits;
use crate::parts::ring_matrix::{
    Packed, PackingLiteral, Rlwe, RlweLiteral, Switch, SwitchLiteral, check_secret, coefficient_bytes,
};

/// The `[layers]` table as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayersLiteral {
    /// Bits of an entry of the first layer, whose plaintext modulus is 2^entry_bits.
    pub entry_bits: u32,
    /// Modulus q1 to which hint and answer of the first layer are switched before they are cut into digits.
    pub switched_modulus: u32,
    /// Bits of a digit: the second layer's plaintext modulus is p = 2^digit_bits.
    pub digit_bits: u32,
    /// Bytes of a coefficient of the second query on the wire: 8 as published, 7 as q = 2^56 needs.
    pub query_coefficient_bytes: u32,
}

/// How the digits of the first layer's answer, which depend on the query, reach the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// By the homomorphic trace, into unused coefficients of the packed ciphertext (YPIR).
    Traced,
    /// As one ring ciphertext each, of which one coefficient counts (InsPIRe_0 as published).
    Unpacked,
    /// Packed into one more ring ciphertext.
    Packed,
    /// Packed likewise, and added to the first copy's ciphertext behind its hint digits.
    Merged,
    /// In the polynomials of the hint's digits, which are selected whole (long records of any set).
    Selected,
}

/// A checked set.
#[derive(Clone, Debug)]
pub struct Params {
    source: SourceNote,
    /// How the second layer's answers are packed.
    pub method: Method,
    /// How the query-dependent digits are sent.
    pub body: Body,
    /// LWE parameters of the first layer.
    pub lwe: Lwe32,
    /// RLWE parameters of the second layer.
    pub rlwe: Rlwe,
    /// The gadget of packing keys.
    pub packed: Packed,
    /// Moduli of an answer.
    pub switch: Switch,
    /// Bits of an entry of the first layer.
    pub entry_bits: u32,
    /// q1.
    pub switched_modulus: u32,
    /// Bits of a digit.
    pub digit_bits: u32,
    /// Bytes of a coefficient of the second query.
    pub query_bytes: usize,
}

/// The tables of a set.
pub struct Literals {
    /// Where the set comes from.
    pub source: SourceNote,
    /// Both layers.
    pub layers: LayersLiteral,
    /// First layer.
    pub lwe: LweLiteral,
    /// Second layer.
    pub rlwe: RlweLiteral,
    /// Gadget of packing keys.
    pub packing: PackingLiteral,
    /// Moduli of an answer.
    pub switch: SwitchLiteral,
}

impl Params {
    /// Checks the tables of a set.
    ///
    /// # Errors
    /// [`Error::Value`] naming key, value and bound.
    pub fn try_new(literals: Literals, method: Method, body: Body) -> Result<Self> {
        let Literals { source, layers, lwe, rlwe, packing, switch } = literals;
        let LayersLiteral { entry_bits, switched_modulus, digit_bits, query_coefficient_bytes } = layers;
        let lwe: Lwe32 = (&lwe).try_into()?;
        if !lwe.dimension.is_power_of_two() || !(64..=2048).contains(&lwe.dimension) {
            let problem = format!("{} is no power of two from 64 to 2048, as hints by transforms need.", lwe.dimension);
            return Err(Error::value("lwe.dimension", problem));
        }
        check_secret("lwe", lwe.secret, lwe.dimension)?;
        let rlwe: Rlwe = (&rlwe).try_into()?;
        if !(1..=8).contains(&entry_bits) {
            return Err(Error::value("layers.entry_bits", format!("{entry_bits} is not between 1 and 8.")));
        }
        if !(1 << (entry_bits + 1)..=1 << 31).contains(&switched_modulus) {
            let problem = format!("{switched_modulus} is not between 2^{} and 2^31.", entry_bits + 1);
            return Err(Error::value("layers.switched_modulus", problem));
        }
        if !(1..=15).contains(&digit_bits) {
            return Err(Error::value("layers.digit_bits", format!("{digit_bits} is not between 1 and 15.")));
        }
        let params = Self {
            source,
            method,
            body,
            packed: Packed::try_new(packing, &rlwe)?,
            switch: Switch::try_new(switch, 1 << digit_bits)?,
            query_bytes: coefficient_bytes("layers.query_coefficient_bytes", query_coefficient_bytes, rlwe.modulus())?,
            lwe,
            rlwe,
            entry_bits,
            switched_modulus,
            digit_bits,
        };
        let (digits, degree) = (params.hint_digits() + params.answer_digits(), params.rlwe.degree);
        if digits > degree {
            return Err(Error::value(
                "rlwe.degree",
                format!("{degree}: the {digits} digits of one value of the first layer must fit; take wider digits."),
            ));
        }
        Ok(params)
    }

    /// Bits of a value of the first layer: ceil(log2 q1).
    pub fn value_bits(&self) -> u32 {
        u32::BITS - (self.switched_modulus - 1).leading_zeros()
    }

    /// How values of the first layer are cut.
    pub fn digits(&self) -> Digits {
        Digits { value_bits: self.value_bits(), digit_bits: self.digit_bits }
    }

    /// Digits of a column's part of the first hint: ceil(n value_bits / digit_bits).
    pub fn hint_digits(&self) -> usize {
        (self.lwe.dimension * self.value_bits() as usize).div_ceil(self.digit_bits as usize)
    }

    /// Digits of one value of the first answer: ceil(value_bits / digit_bits).
    pub fn answer_digits(&self) -> usize {
        self.value_bits().div_ceil(self.digit_bits) as usize
    }

    /// Scale of the first layer: 2^32 / 2^entry_bits.
    pub fn first_scale(&self) -> u32 {
        1 << (32 - self.entry_bits)
    }

    /// Scale of the second layer: floor(q / p).
    pub fn second_scale(&self) -> u64 {
        self.rlwe.modulus() >> self.digit_bits
    }

    /// x q1 / 2^32 rounded to the nearest integer, modulo q1.
    pub fn switch_value(&self, word: u32) -> u32 {
        let switched = (u64::from(word) * u64::from(self.switched_modulus) + (1 << 31)) >> 32;
        if switched == u64::from(self.switched_modulus) { 0 } else { switched as u32 }
    }

    /// The bytes of one ciphertext of an answer.
    pub(super) fn switched(&self, ring: &Ring<u32>, ciphertext: &lattice::Rlwe<u32, Coefficient>) -> Result<Vec<u8>> {
        Ok(ciphertext.split_switch(ring, self.switch.mask, self.switch.body)?.to_bytes())
    }

    /// Where the set comes from.
    pub fn source(&self) -> &SourceNote {
        &self.source
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_are_switched_to_the_nearest() {
        let params = crate::protocol::ypir::tests::toy();
        let q1 = f64::from(params.switched_modulus);
        for word in [0, 1, 15, 16, 17, 1 << 31, u32::MAX - 8, u32::MAX] {
            let exact = f64::from(word) * q1 / 2f64.powi(32);
            let switched = f64::from(params.switch_value(word));
            let distance = (exact - switched).abs();
            assert!(distance.min(q1 - distance) <= 0.5, "{word}: {exact} {switched}");
        }
    }
}
