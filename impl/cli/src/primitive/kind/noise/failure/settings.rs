//! Settings of failure experiments.

use std::sync::Arc;

use gadget::{Gadget, new_gadget};
use lattice::convert::RgswConverter;
use lattice::functional::DigitLayout;
use lattice::{Form, RingGadget, RotationShape, Secret, SmallSecret};
use ring::{DiscreteGaussian, Kernel, Modulus, Ring, Word};
use serde::{Deserialize, Serialize};

use super::super::objects::{GadgetSettings, RingSettings, SecretName, family, gaussian, secret};
use super::super::settings::{bounded, modulus, required};
use crate::primitive::settings::{Refusal, Settings};

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// LWE to RGSW: which half of the circle the phase is in.
    Rgsw,
    /// The floor that subtracts the lowest digit: what is subtracted.
    Floor,
    /// All digits: what each floor subtracts.
    Digit,
    /// The bits of a digit.
    Bits,
}

/// How key bits are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormName {
    /// One bit a step.
    Cmux,
    /// Two bits a step.
    Joint,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Own {
    pub decision: Decision,
    /// Trials of one repetition, all under one key.
    pub trials: u64,
    /// Rotations side by side.
    #[serde(default = "batch")]
    pub batch: usize,
    pub n: usize,
    pub prime_bits: Vec<u32>,
    /// The ring's secret.
    #[serde(default)]
    pub secret: SecretName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_stddev: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_weight: Option<usize>,
    /// Standard deviation of the errors of the ring's keys.
    pub stddev: f64,
    /// Dimension of the small key, which is binary.
    pub dimension: usize,
    pub form: FormName,
    /// Family of all gadgets.
    pub family: String,
    /// Gadget of the blind-rotation key.
    pub rotation_base: u64,
    #[serde(default)]
    pub rotation_dropped: usize,
    /// Standard deviation of the inputs' errors, at their modulus.
    pub input_stddev: f64,
    /// RGSW only: modulus of the inputs before they are switched to 2N, a multiple of it, decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_modulus: Option<String>,
    /// Gadget of the RGSW ciphertexts made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<usize>,
    /// Base of the automorphism keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_base: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_dropped: Option<usize>,
    /// Base of the squaring key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub squaring_base: Option<u64>,
    /// Coefficients between rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spacing: Option<usize>,
    /// Digits only, as the following: modulus of the switch to the small key, decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_modulus: Option<String>,
    /// Base of that switch's gadget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_base: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_dropped: Option<usize>,
    /// Standard deviation of the errors of its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_stddev: Option<f64>,
    /// Bit of the phase at which the lowest digit begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<u32>,
    /// Bits of a digit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digit_bits: Option<u32>,
    /// Digits of a message; the modulus ends with the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digits: Option<u32>,
}

fn batch() -> usize {
    16
}

/// What a trial takes.
pub struct Costs {
    /// NTTs of size N modulo one prime.
    pub trial: usize,
    /// Rows of all keys.
    pub key_rows: usize,
    /// Blind rotations.
    pub rotations: usize,
    /// Errors from -limit to limit - 1 do no harm.
    pub limit: usize,
}

/// Settings of digits, and those of RGSW.
const OF_DIGITS: [&str; 7] =
    ["switch_modulus", "switch_base", "switch_dropped", "switch_stddev", "low", "digit_bits", "digits"];
const OF_RGSW: [&str; 7] =
    ["input_modulus", "base", "dropped", "trace_base", "trace_dropped", "squaring_base", "spacing"];

impl Own {
    /// Reads and checks the settings.
    ///
    /// # Errors
    /// A setting unknown, missing or out of range.
    pub fn read(settings: &Settings) -> Result<Self, Refusal> {
        let own: Self = settings.parse()?;
        bounded(own.trials, "trials", 1..=1 << 30)?;
        bounded(own.batch, "batch", 1..=256)?;
        bounded(own.dimension, "dimension", 1..=1 << 14)?;
        own.error()?;
        own.secret()?;
        own.input_error()?;
        let foreign = if own.decision == Decision::Rgsw { OF_DIGITS } else { OF_RGSW };
        if let Some(key) = foreign.into_iter().find(|key| settings.0.contains_key(*key)) {
            return Err(Refusal::new(key, "this decision does not take it. Remove it."));
        }
        // A digit's error is known from a second switch of the same input, which takes other coins.
        if own.decision != Decision::Rgsw && !["symmetric", "balanced", "unsigned"].contains(&own.family.as_str()) {
            return Err(Refusal::new(
                "family",
                "digits need one without coins: `symmetric`, `balanced` or `unsigned`.",
            ));
        }
        Ok(own)
    }

    /// The digits of a message.
    pub fn layout(&self) -> Result<DigitLayout, Refusal> {
        let low = bounded(required(&self.low, "low")?, "low", 1..=60)?;
        let bits =
            bounded(required(&self.digit_bits, "digit_bits")?, "digit_bits", 1..=self.n.ilog2().saturating_sub(1))?;
        let digits = bounded(required(&self.digits, "digits")?, "digits", 1..=60)?;
        let one = self.decision == Decision::Bits;
        if one != (digits == 1) {
            let wanted = if one { "one digit has bits" } else { "floors need two digits at least" };
            return Err(Refusal::new("digits", format!("{digits} digits: {wanted}.")));
        }
        let refuse = |error: lattice::LatticeError| Refusal::new("digits", error.to_string());
        DigitLayout::try_new(low + bits * digits, low, bits, digits).map_err(refuse)
    }

    /// The gadget of the switch to the small key.
    pub fn switch_gadget(&self, kernel: Kernel) -> Result<Box<dyn Gadget<u64>>, Refusal> {
        let q = modulus(&self.switch_modulus, "switch_modulus", 1 << 10..=1 << 50)?;
        let base = required(&self.switch_base, "switch_base")?;
        let dropped = self.switch_dropped.unwrap_or(0);
        new_gadget(family(&self.family)?, q, base, dropped, kernel)
            .map_err(|e| Refusal::new("switch_base", e.to_string()))
    }

    pub fn switch_error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(required(&self.switch_stddev, "switch_stddev")?, "switch_stddev")
    }

    pub fn ring(&self) -> Result<RingSettings, Refusal> {
        RingSettings::new(self.n, self.prime_bits.clone())
    }

    pub fn secret(&self) -> Result<Secret, Refusal> {
        secret(self.secret, self.secret_stddev, self.secret_weight)
    }

    pub fn error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(self.stddev, "stddev")
    }

    pub fn input_error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(self.input_stddev, "input_stddev")
    }

    /// The inputs' modulus.
    pub fn input_modulus(&self) -> Result<Modulus<u64>, Refusal> {
        let order = 2 * self.n as u64;
        let q = modulus(&self.input_modulus, "input_modulus", order..=1 << 50)?;
        if !q.is_multiple_of(order) {
            return Err(Refusal::new("input_modulus", format!("{q} is no multiple of 2n = {order}.")));
        }
        Modulus::new(q).map_err(|error| Refusal::new("input_modulus", error.to_string()))
    }

    pub fn shape(&self) -> RotationShape {
        let form = match self.form {
            FormName::Cmux => Form::Cmux,
            FormName::Joint => Form::Joint,
        };
        RotationShape { dimension: self.dimension, secret: SmallSecret::Binary, form }
    }

    fn gadget<W: Word>(
        &self,
        ring: &Arc<Ring<W>>,
        base: u64,
        dropped: usize,
        key: &str,
    ) -> Result<RingGadget<W>, Refusal> {
        let gadget = GadgetSettings { family: family(&self.family)?, base, dropped };
        gadget.build(ring).map_err(|refusal| Refusal::new(key, refusal.problem))
    }

    pub fn rotation_gadget<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<RingGadget<W>, Refusal> {
        self.gadget(ring, self.rotation_base, self.rotation_dropped, "rotation_base")
    }

    /// Output, automorphisms, square.
    pub fn converter_gadgets<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<[RingGadget<W>; 3], Refusal> {
        let gadget = |base: &Option<u64>, dropped: Option<usize>, key: &'static str| {
            self.gadget(ring, required(base, key)?, dropped.unwrap_or(0), key)
        };
        Ok([
            gadget(&self.base, self.dropped, "base")?,
            gadget(&self.trace_base, self.trace_dropped, "trace_base")?,
            gadget(&self.squaring_base, None, "squaring_base")?,
        ])
    }

    /// Coefficients between rows.
    pub fn spacing(&self, rows: usize) -> Result<usize, Refusal> {
        let spacing = required(&self.spacing, "spacing")?;
        let widest = RgswConverter::<u64>::widest_spacing(self.n, rows, 1);
        if spacing % 2 == 1 || !(2..=widest).contains(&spacing) {
            let bounds = format!("an even number from 2 to {widest}, for {rows} rows");
            return Err(Refusal::new("spacing", format!("{spacing} is not {bounds}.")));
        }
        Ok(spacing)
    }

    /// What trials take.
    pub fn costs<W: Word>(&self, ring: &RingSettings) -> Result<Costs, Refusal> {
        let ring = ring.build::<W>(ring::Kernel::best())?;
        let (primes, shape, rotation) = (ring.primes().len(), self.shape(), self.rotation_gadget(&ring)?);
        let (forward, inverse) = shape.ntts(rotation.length(), primes);
        let rotation_rows = shape.selectors() * 2 * rotation.length();
        match self.decision {
            Decision::Rgsw => {
                let gadgets = self.converter_gadgets(&ring)?;
                let [rows, trace, squaring] = [0, 1, 2].map(|i: usize| gadgets[i].length());
                let spacing = self.spacing(rows)?;
                let positions: Vec<usize> = (0..rows).map(|row| row * spacing).collect();
                let tree = lattice::convert::Extraction::Tree;
                let automorphisms = lattice::convert::extraction_automorphisms(self.n, &positions, tree);
                let converted = automorphisms * (trace + 2) + rows * (squaring + 6);
                self.input_modulus()?;
                Ok(Costs {
                    trial: forward + inverse + converted * primes,
                    key_rows: rotation_rows + self.n.ilog2() as usize * trace + squaring,
                    rotations: 1,
                    limit: spacing / 2,
                })
            }
            Decision::Floor | Decision::Digit | Decision::Bits => {
                let layout = self.layout()?;
                self.switch_gadget(ring.kernel())?;
                self.switch_error()?;
                let rotations = match self.decision {
                    Decision::Floor => layout.floor_rotations(),
                    Decision::Digit => layout.floor_rotations() * (layout.digits() - 1),
                    Decision::Bits | Decision::Rgsw => 1,
                } as usize;
                let tables = if self.decision == Decision::Bits { 2 * layout.bits() as usize + 2 } else { 0 };
                Ok(Costs {
                    trial: rotations * (forward + inverse) + tables * primes,
                    key_rows: rotation_rows,
                    rotations,
                    limit: layout.tolerance(self.n) as usize,
                })
            }
        }
    }
}
