//! The ring operations with their own settings, and the cost of measuring them.

use serde::{Deserialize, Serialize};

use crate::lab::CALLS;
use crate::setting::{Message, PlainDigits, bounded, modulus, number};
use crate::settings::Refusal;

/// A ring operation with its settings beside the ring and its gadget.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Operation {
    Fresh {},
    Add {
        #[serde(default = "number::<2, _>")]
        terms: u64,
    },
    PlaintextProduct {
        plain_modulus: u64,
        plain_digits: PlainDigits,
    },
    MonomialProduct {
        exponent: usize,
    },
    GadgetProduct {
        message: Message,
    },
    ExternalProduct {
        message: Message,
    },
    Cmux {
        /// Selected branch; alternating if absent.
        bit: Option<u8>,
    },
    RlweKeySwitch {},
    Automorphism {
        exponent: usize,
    },
    Trace {
        /// Coefficients kept.
        #[serde(default = "number::<1, _>")]
        subring: usize,
    },
    SampleExtraction {},
    ModulusSwitch {
        to_modulus: String,
    },
    /// The same with a modulus for the mask and one for the body.
    SplitModulusSwitch {
        to_modulus_a: String,
        to_modulus_b: String,
    },
    RingSwitch {
        n_to: usize,
    },
    Expansion {
        depth: u32,
    },
}

/// The operations that decompose, by name: they take the settings of a gadget too.
pub const DECOMPOSING: [&str; 8] = [
    "gadget-product",
    "external-product",
    "cmux",
    "rlwe-key-switch",
    "automorphism",
    "trace",
    "ring-switch",
    "expansion",
];

/// A rough cost.
pub struct Cost {
    /// Polynomials transformed, or equivalent work.
    pub polynomials: f64,
    /// Polynomials in memory.
    pub held: usize,
}

fn power_of_two(value: usize, key: &str, largest: usize) -> Result<(), Refusal> {
    if value.is_power_of_two() && value <= largest {
        return Ok(());
    }
    Err(Refusal::new(key, format!("{value} is not a power of two up to {largest}.")))
}

impl Operation {
    /// Checks the settings in a ring of dimension `n`.
    pub fn check(&self, n: usize) -> Result<(), Refusal> {
        match *self {
            Self::Add { terms } => bounded(terms, "terms", 1..=1 << 20),
            Self::PlaintextProduct { plain_modulus, .. } => bounded(plain_modulus, "plain_modulus", 2..=1 << 30),
            Self::Automorphism { exponent } if exponent % 2 == 0 => {
                Err(Refusal::new("exponent", format!("{exponent} is even: automorphisms are odd.")))
            }
            Self::MonomialProduct { exponent } | Self::Automorphism { exponent } => {
                bounded(exponent, "exponent", 0..=2 * n - 1)
            }
            Self::Cmux { bit } => bounded(bit.unwrap_or(0), "bit", 0..=1),
            Self::Trace { subring } => power_of_two(subring, "subring", n / 2),
            Self::ModulusSwitch { .. } | Self::SplitModulusSwitch { .. } => self.switched().map(drop),
            Self::RingSwitch { n_to } if n_to < 64 => Err(Refusal::new("n_to", format!("{n_to} is below 64."))),
            Self::RingSwitch { n_to } => power_of_two(n_to, "n_to", n / 2),
            Self::Expansion { depth } => bounded(depth, "depth", 1..=n.ilog2()),
            Self::Fresh {} | Self::SampleExtraction {} | Self::RlweKeySwitch {} => Ok(()),
            Self::GadgetProduct { .. } | Self::ExternalProduct { .. } => Ok(()),
        }
    }

    /// The moduli of mask and body that a modulus switch leads to.
    pub fn switched(&self) -> Result<Option<(u64, u64)>, Refusal> {
        // Phases are measured in double precision.
        let read = |text: &str, key: &str| modulus(text, key, 2..=1 << 40);
        Ok(match self {
            Self::ModulusSwitch { to_modulus } => {
                let to = read(to_modulus, "to_modulus")?;
                Some((to, to))
            }
            Self::SplitModulusSwitch { to_modulus_a, to_modulus_b } => {
                Some((read(to_modulus_a, "to_modulus_a")?, read(to_modulus_b, "to_modulus_b")?))
            }
            _ => None,
        })
    }

    /// The rough cost of one key for `samples` errors.
    pub fn cost(&self, n: usize, length: usize, samples: f64) -> Cost {
        let levels = |kept: usize| (n / kept).ilog2() as usize;
        // Rows made a key; products, outputs and errors of the rarest stage a run.
        let (rows, products, outputs, errors) = match *self {
            Self::Fresh {} | Self::PlaintextProduct { .. } | Self::MonomialProduct { .. } => (0, 0, 1, n),
            Self::SampleExtraction {} => (0, 0, n / 8, n),
            Self::ModulusSwitch { .. } | Self::SplitModulusSwitch { .. } => (0, 0, 4, n),
            Self::Add { terms } => (0, 0, terms as usize, n),
            Self::GadgetProduct { .. } | Self::RlweKeySwitch {} | Self::Automorphism { .. } => (length, 1, 1, n),
            Self::ExternalProduct { .. } => (2 * length, 2, 1, n),
            Self::Cmux { .. } => (4 * length, 2, 1, n),
            Self::Trace { subring } => (levels(subring) * length, levels(subring), 1, subring),
            Self::RingSwitch { n_to } => (length, 1, 1, n_to),
            Self::Expansion { depth } => (depth as usize * length, 1 << depth, 1 << depth, n),
        };
        let runs = (samples / errors as f64).ceil();
        let worked = (products * (length + 2)) as f64;
        Cost {
            polynomials: 6.0 * rows as f64 + (runs + CALLS as f64) * worked + runs * (16 * outputs) as f64,
            held: 8 * rows + 4 * outputs + 64,
        }
    }
}
