//! Tables of RGSW encryptions of bits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, Result};
use crate::parts::ring_matrix::{Gadget, Rlwe};

/// The `[rgsw]` table: a gadget, and the distance of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// log2 of the gadget's base.
    base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    dropped: usize,
    /// Coefficients from row to row in the accumulator of LWE to RGSW: LWE errors modulo 2N below half of it are harmless, and the more
    /// often 2 divides it, the fewer automorphisms separate the rows. If left out, it is the largest power of two that fits.
    #[serde(default)]
    spacing: Option<usize>,
}

impl Selector {
    /// The gadget of the RGSW encryptions.
    pub fn gadget(&self) -> Gadget {
        Gadget::symmetric(self.base_log2, self.dropped)
    }

    /// Coefficients between the rows of the accumulator of LWE to RGSW.
    pub fn spacing(&self, rlwe: &Rlwe) -> usize {
        let most = rlwe.degree / self.gadget().length(rlwe.modulus());
        self.spacing.unwrap_or(1 << most.max(1).ilog2())
    }

    /// The rows' coefficients in the accumulator.
    pub fn positions(&self, rlwe: &Rlwe) -> Vec<usize> {
        (0..self.gadget().length(rlwe.modulus())).map(|row| row * self.spacing(rlwe)).collect()
    }

    /// Refuses gadgets that do not fit the ring, and rows that do not fit an accumulator; `key` is the table in the file.
    pub fn check(&self, key: &str, rlwe: &Rlwe) -> Result<()> {
        self.gadget().check(key, rlwe, true)?;
        let (rows, degree) = (self.gadget().length(rlwe.modulus()), rlwe.degree);
        let most = degree / rows;
        if most < 2 {
            let problem = format!("{rows} digits leave no room in an accumulator of {degree} coefficients.");
            return Err(Error::value(key, problem));
        }
        let spacing = self.spacing(rlwe);
        if spacing < 2 || spacing % 2 == 1 || spacing > most {
            let problem = format!("{spacing} is not an even number from 2 to N / {rows} = {most}.");
            return Err(Error::value(&format!("{key}.spacing"), problem));
        }
        Ok(())
    }
}
