//! InsPIRe's parameter set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interpolation::Interpolate;
use crate::core::{Error, ParameterSet, Result, in_range};
use crate::parts::ring_matrix::{Digits, Gadget, Rlwe, Switch};

/// Name of the protocol.
pub(super) const NAME: &str = "inspire";

/// The keys and tables of params/inspire/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The coefficients of a body that an answer holds.
    pub body: Body,
    /// The encoding of a query's coefficients on the wire.
    #[serde(default)]
    pub query_coefficients: QueryCoefficients,
    /// Rows, points and plaintexts.
    pub folding: Folding,
    /// The ring.
    pub rlwe: Rlwe,
    /// Gadget of the packing keys.
    pub packing: Gadget,
    /// The encrypted point.
    pub evaluation: Evaluation,
    /// Moduli of answers.
    pub switch: Switch,
}

/// The `[folding]` table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Folding {
    /// Plaintext modulus p, odd.
    pub plain_modulus: u32,
    /// Rows N/t that a query selects from. Smaller databases have fewer; up to 1/16 more are used before t is doubled.
    pub rows: u64,
    /// Largest number t of points of an interpolation.
    pub points: u64,
    /// Variables of interpolated polynomials: points are tuples with an entry for each variable, and t is a power with this exponent (appendix G.2).
    #[serde(default = "one")]
    pub variables: u32,
    /// The method of interpolation.
    pub interpolation: Interpolate,
    /// Whether smaller databases have all these rows, with zeros past their records.
    #[serde(default)]
    pub padded: bool,
}

fn one() -> u32 {
    1
}

/// The `[evaluation]` table: a gadget, and whether the point is always sent.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// log2 of the gadget's base z.
    base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    dropped: usize,
    /// Which digits.
    digits: Digits,
    /// Whether the point is sent even if there is only one.
    pub always_sent: bool,
}

impl Evaluation {
    /// The gadget of the encrypted point.
    pub fn gadget(&self) -> Gadget {
        Gadget { base_log2: self.base_log2, dropped: self.dropped, digits: self.digits }
    }
}

/// The encoding of a query's coefficients on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueryCoefficients {
    /// Each in whole bytes.
    #[default]
    Bytes,
    /// Bit-packed residues: all modulo the first prime, then all modulo the second.
    Bits,
}

/// The coefficients of a body that an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// All d.
    Full,
    /// Those that hold records.
    Used,
}

/// Most rows of a set.
const MAX_ROWS: u64 = 1 << 24;
/// Most variables of a set; each takes an encrypted point.
const MAX_VARIABLES: u32 = 4;

/// The least number whose `variables`-th power is at least `points`.
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

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        self.rlwe.check(1..=2)?;
        let Folding { plain_modulus, rows, points, variables, interpolation, padded: _ } = self.folding;
        if plain_modulus.is_multiple_of(2) || !(3..=65537).contains(&plain_modulus) {
            let problem = format!(
                "{plain_modulus} is not an odd number from 3 to 65537: interpolation divides by t and by 2 (section 6.1), entries have 16 \
                 bits."
            );
            return Err(Error::value("folding.plain_modulus", problem));
        }
        in_range("folding.rows", rows, 1..=MAX_ROWS)?;
        in_range("folding.variables", variables, 1..=MAX_VARIABLES)?;
        let (side, most) = (side_of(points, variables), 2 * self.rlwe.degree as u64);
        let is_power = interpolation != Interpolate::CooleyTukey || side.is_power_of_two();
        if !(1..=most).contains(&side) || side.pow(variables) != points || !is_power {
            let problem = format!(
                "{points} points in {variables} variables: each takes the same number of points from 1 to 2 d = {most}, the unit \
                 monomials (section 6.1), and a power of two with cooley_tukey."
            );
            return Err(Error::value("folding.points", problem));
        }
        self.packing.check("packing", &self.rlwe, false)?;
        self.evaluation.gadget().check("evaluation", &self.rlwe, false)?;
        self.switch.check(plain_modulus.into())
    }
}
