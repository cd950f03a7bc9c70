//! What is measured of a ring operation, and what measuring it takes.

use super::settings::{NoiseSettings, Operation};
use crate::setting::{Message, bounded, modulus, required};
use crate::settings::Refusal;

/// A rough cost.
pub struct Cost {
    /// Polynomials transformed, or as good as.
    pub polynomials: f64,
    /// Polynomials in memory.
    pub held: usize,
}

/// An operation's own settings, read and checked.
#[derive(Clone, Debug)]
pub enum Plan {
    Fresh,
    Add(u64),
    /// Least and number of plaintext values.
    PlaintextProduct(i64, usize),
    MonomialProduct(usize),
    GadgetProduct(Message),
    ExternalProduct(Message),
    Cmux(Option<u8>),
    RlweKeySwitch,
    Automorphism(u64),
    Trace(usize),
    SampleExtraction,
    /// Moduli of mask and body.
    Switch(u64, u64),
    RingSwitch(usize),
    Expansion(u32),
}

/// Moduli switched to: phases are measured in double precision.
const SWITCHED: std::ops::RangeInclusive<u64> = 2..=1 << 40;

impl Plan {
    /// Reads the settings of a ring operation.
    pub fn new(settings: &NoiseSettings, n: usize) -> Result<Self, Refusal> {
        let exponent = |odd: bool| {
            let exponent = bounded(required(&settings.exponent, "exponent")?, "exponent", 0..=2 * n - 1)?;
            if odd && exponent % 2 == 0 {
                return Err(Refusal::new("exponent", format!("{exponent} is even: automorphisms are odd.")));
            }
            Ok(exponent)
        };
        let power = |value: usize, key: &str, largest: usize| {
            if !value.is_power_of_two() || value > largest {
                return Err(Refusal::new(key, format!("{value} is not a power of two up to {largest}.")));
            }
            Ok(value)
        };
        let message = || required(&settings.message, "message");
        Ok(match settings.operation {
            Operation::Fresh => Self::Fresh,
            Operation::Add => Self::Add(bounded(settings.terms.unwrap_or(2), "terms", 1..=1 << 20)?),
            Operation::PlaintextProduct => {
                let p = bounded(required(&settings.plain_modulus, "plain_modulus")?, "plain_modulus", 2..=1 << 30)?;
                Self::PlaintextProduct(required(&settings.plain_digits, "plain_digits")?.least(p), p as usize)
            }
            Operation::MonomialProduct => Self::MonomialProduct(exponent(false)?),
            Operation::GadgetProduct => Self::GadgetProduct(message()?),
            Operation::ExternalProduct => Self::ExternalProduct(message()?),
            Operation::Cmux => Self::Cmux(settings.bit.map(|bit| bounded(bit, "bit", 0..=1)).transpose()?),
            Operation::LweKeySwitch | Operation::CompensatedModulusSwitch => {
                return Err(Refusal::new("operation", "an LWE ciphertext has no ring."));
            }
            Operation::RlweKeySwitch => Self::RlweKeySwitch,
            Operation::Automorphism => Self::Automorphism(exponent(true)? as u64),
            Operation::Trace => Self::Trace(power(settings.subring.unwrap_or(1), "subring", n / 2)?),
            Operation::SampleExtraction => Self::SampleExtraction,
            Operation::ModulusSwitch => {
                let to = modulus(&settings.to_modulus, "to_modulus", SWITCHED)?;
                Self::Switch(to, to)
            }
            Operation::SplitModulusSwitch => Self::Switch(
                modulus(&settings.to_modulus_a, "to_modulus_a", SWITCHED)?,
                modulus(&settings.to_modulus_b, "to_modulus_b", SWITCHED)?,
            ),
            Operation::RingSwitch => {
                let to = required(&settings.n_to, "n_to")?;
                if to < 64 {
                    return Err(Refusal::new("n_to", format!("{to} is below 64.")));
                }
                Self::RingSwitch(power(to, "n_to", n / 2)?)
            }
            Operation::Expansion => {
                Self::Expansion(bounded(required(&settings.depth, "depth")?, "depth", 1..=n.ilog2())?)
            }
        })
    }

    /// What one key takes, roughly, for `samples` errors.
    pub fn cost(&self, n: usize, length: usize, samples: f64) -> Cost {
        let levels = |kept: usize| (n / kept).ilog2() as usize;
        // Rows made a key; products, outputs and errors of the rarest stage a run.
        let (rows, products, outputs, errors) = match *self {
            Self::Fresh | Self::PlaintextProduct(..) | Self::MonomialProduct(_) => (0, 0, 1, n),
            Self::SampleExtraction => (0, 0, n / 8, n),
            Self::Switch(..) => (0, 0, 4, n),
            Self::Add(terms) => (0, 0, terms as usize, n),
            Self::GadgetProduct(_) | Self::RlweKeySwitch | Self::Automorphism(_) => (length, 1, 1, n),
            Self::ExternalProduct(_) => (2 * length, 2, 1, n),
            Self::Cmux(_) => (4 * length, 2, 1, n),
            Self::Trace(kept) => (levels(kept) * length, levels(kept), 1, kept),
            Self::RingSwitch(to) => (length, 1, 1, to),
            Self::Expansion(depth) => (depth as usize * length, 1 << depth, 1 << depth, n),
        };
        let runs = (samples / errors as f64).ceil();
        Cost {
            polynomials: 6.0 * rows as f64 + runs * (products * (length + 2) + 16 * outputs) as f64,
            held: 8 * rows + 4 * outputs + 64,
        }
    }
}
