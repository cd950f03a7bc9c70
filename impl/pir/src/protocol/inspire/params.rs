//! InsPIRe's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interpolation::Interpolate;
use crate::core::error::{Error, Result};
use crate::core::params::{ParameterSet, SourceNote};
use crate::parts::ring_matrix::{Digits, Packed, PackingLiteral, Rlwe, RlweLiteral, Switch, SwitchLiteral};

/// Name of the protocol.
pub(super) const NAME: &str = "inspire";

/// An InsPIRe set as written in params/inspire/*.toml.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// Always `inspire`.
    pub protocol: String,
    /// One line for tables.
    pub title: String,
    /// Which coefficients of a body an answer holds.
    pub body: Body,
    /// How a query's coefficients travel.
    #[serde(default)]
    pub query_coefficients: QueryCoefficients,
    /// Where the set comes from.
    pub source: SourceNote,
    /// Rows, points and plaintexts.
    pub folding: FoldingLiteral,
    /// The ring.
    pub rlwe: RlweLiteral,
    /// Gadget of the packing keys.
    pub packing: PackingLiteral,
    /// Gadget of the encrypted point.
    pub evaluation: EvaluationLiteral,
    /// Moduli of answers.
    pub switch: SwitchLiteral,
}

/// The `[folding]` table as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoldingLiteral {
    /// Plaintext modulus p, odd.
    pub plain_modulus: u32,
    /// Rows N/t that a query selects from; smaller databases have fewer, and up to 1/16 more are taken before t is doubled.
    pub rows: u32,
    /// Largest number t of points of an interpolation.
    pub points: u32,
    /// Variables of interpolated polynomials: points are tuples of so many, t is a power of that exponent (appendix G.2).
    #[serde(default = "one")]
    pub variables: u32,
    /// How polynomials are interpolated.
    pub interpolation: Interpolate,
    /// Whether smaller databases have as many rows, those past their records of zeros.
    #[serde(default)]
    pub padded: bool,
}

fn one() -> u32 {
    1
}

/// The `[evaluation]` table as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvaluationLiteral {
    /// log2 of the gadget's base z.
    pub base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    pub dropped: u32,
    /// Which digits.
    pub digits: Digits,
    /// Whether the point is sent even where there is only one.
    pub always_sent: bool,
}

/// How a query's coefficients travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueryCoefficients {
    /// Each in whole bytes.
    #[default]
    Bytes,
    /// Their residues in as many bits as those have: all modulo the first prime, then all modulo the second.
    Bits,
}

/// Which coefficients of a body an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// All d.
    Full,
    /// Those that hold records.
    Used,
}

/// A checked InsPIRe set.
#[derive(Clone, Debug)]
pub struct Params {
    pub(super) source: SourceNote,
    /// Which coefficients of a body an answer holds.
    pub body: Body,
    /// How a query's coefficients travel.
    pub query_coefficients: QueryCoefficients,
    /// p.
    pub plain_modulus: u32,
    /// Rows.
    pub rows: usize,
    /// Points at most.
    pub points: usize,
    /// Variables of interpolated polynomials.
    pub variables: u32,
    /// How polynomials are interpolated.
    pub interpolation: Interpolate,
    /// Whether no database has fewer rows.
    pub padded: bool,
    /// The ring.
    pub rlwe: Rlwe,
    /// Gadget of the packing keys.
    pub packed: Packed,
    /// Gadget of the encrypted point.
    pub evaluated: Packed,
    /// Whether the point is sent even where there is only one.
    pub point_always_sent: bool,
    /// Moduli of answers.
    pub switch: Switch,
}

/// Most rows of a set.
const MAX_ROWS: u32 = 1 << 24;
/// Most variables of a set: each takes an encrypted point.
const MAX_VARIABLES: u32 = 4;

/// The least number whose power of exponent `variables` is at least `points`.
pub(super) fn side_of(points: u64, variables: u32) -> u64 {
    let mut side = (points as f64).powf(1.0 / f64::from(variables)).round() as u64;
    // The root in floating point is off by one at most.
    while side > 1 && (side - 1).saturating_pow(variables) >= points {
        side -= 1;
    }
    while side.saturating_pow(variables) < points {
        side += 1;
    }
    side
}

impl ParameterSet for Params {
    type Literal = Literal;

    fn try_new(literal: Literal) -> Result<Self> {
        let Literal {
            protocol,
            title: _,
            body,
            query_coefficients,
            source,
            folding,
            rlwe,
            packing,
            evaluation,
            switch,
        } = literal;
        if protocol != "inspire" {
            return Err(Error::value("protocol", format!("`{protocol}` in an InsPIRe set; write \"inspire\".")));
        }
        let rlwe = Rlwe::with_one_prime_or_two(&rlwe)?;
        let FoldingLiteral { plain_modulus, rows, points, variables, interpolation, padded } = folding;
        if plain_modulus.is_multiple_of(2) || !(3..=65537).contains(&plain_modulus) {
            return Err(Error::value(
                "folding.plain_modulus",
                format!(
                    "{plain_modulus} is no odd number from 3 to 65537: interpolation divides by t and by 2 (section 6.1), entries \
                     have 16 bits."
                ),
            ));
        }
        if !(1..=MAX_ROWS).contains(&rows) {
            return Err(Error::value("folding.rows", format!("{rows} is not between 1 and {MAX_ROWS}.")));
        }
        if !(1..=MAX_VARIABLES).contains(&variables) {
            return Err(Error::value(
                "folding.variables",
                format!("{variables} is not between 1 and {MAX_VARIABLES}."),
            ));
        }
        let most = 2 * rlwe.degree as u32;
        let side = side_of(points.into(), variables);
        let is_power = interpolation != Interpolate::CooleyTukey || side.is_power_of_two();
        if !(1..=u64::from(most)).contains(&side) || side.pow(variables) != u64::from(points) || !is_power {
            return Err(Error::value(
                "folding.points",
                format!(
                    "{points} points in {variables} variables: each takes the same number of points from 1 to 2 d = {most}, the unit \
                     monomials (section 6.1), and a power of two with cooley_tukey."
                ),
            ));
        }
        let EvaluationLiteral { base_log2, dropped, digits, always_sent } = evaluation;
        let evaluated = Packed::try_new(PackingLiteral { base_log2, dropped, digits }, &rlwe).map_err(|e| match e {
            Error::Value { key, problem } => Error::Value { key: key.replacen("packing", "evaluation", 1), problem },
            other => other,
        })?;
        Ok(Self {
            source,
            body,
            query_coefficients,
            plain_modulus,
            rows: rows as usize,
            points: points as usize,
            variables,
            interpolation,
            padded,
            packed: Packed::try_new(packing, &rlwe)?,
            evaluated,
            point_always_sent: always_sent,
            switch: Switch::try_new(switch, plain_modulus.into())?,
            rlwe,
        })
    }

    fn source(&self) -> &SourceNote {
        &self.source
    }
}

impl Params {
    /// Delta = floor(q / p).
    pub(super) fn scale(&self) -> u64 {
        self.rlwe.modulus() / u64::from(self.plain_modulus)
    }

    /// Bytes of a coefficient of a query in whole bytes.
    pub(super) fn coefficient_bytes(&self) -> usize {
        (u64::BITS - self.rlwe.modulus().leading_zeros()).div_ceil(8) as usize
    }
}
