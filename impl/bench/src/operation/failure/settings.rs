//! Settings of failure experiments.

use std::sync::Arc;

use gadget::Gadget;
use lattice::convert::{Extraction, RgswConverter, extraction_automorphisms};
use lattice::functional::DigitLayout;
use lattice::{RingGadget, RotationShape, SmallSecret};
use ring::{DiscreteGaussian, Kernel, Modulus, Ring, Word};
use serde::{Deserialize, Serialize};

use crate::setting::{FormName, GadgetSetting, Setting, bounded, gaussian, modulus, required};
use crate::settings::{Refusal, Settings};
use crate::switch_setting::SwitchSetting;

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

/// Observed failures; the setting is that of the ring's keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub(super) decision: Decision,
    /// Trials of one repetition, all under one key.
    pub(super) trials: u64,
    /// Rotations side by side.
    #[serde(default = "batch")]
    pub(super) batch: usize,
    #[serde(flatten, skip_deserializing)]
    pub(super) setting: Setting,
    /// Dimension of the small key, which is binary.
    pub(super) dimension: usize,
    pub(super) form: FormName,
    /// Family of all gadgets.
    pub(super) family: String,
    /// Gadget of the blind-rotation key.
    pub(super) rotation_base: u64,
    #[serde(default)]
    pub(super) rotation_dropped: usize,
    /// Standard deviation of the inputs' errors, at their modulus.
    pub(super) input_stddev: f64,
    /// RGSW only: modulus of the inputs before they are switched to 2N, a multiple of it, decimal.
    pub(super) input_modulus: Option<String>,
    /// Gadget of the RGSW ciphertexts made.
    pub(super) base: Option<u64>,
    pub(super) dropped: Option<usize>,
    /// Base of the automorphism keys.
    pub(super) trace_base: Option<u64>,
    pub(super) trace_dropped: Option<usize>,
    /// Base of the squaring key.
    pub(super) squaring_base: Option<u64>,
    /// Coefficients between rows.
    pub(super) spacing: Option<usize>,
    /// The switch to the small key, and digits; the modulus ends with the last digit.
    #[serde(flatten, skip_deserializing)]
    pub(super) switch: SwitchSetting,
}

fn batch() -> usize {
    16
}

/// What a trial takes.
pub struct Costs {
    /// NTTs of size N modulo one prime.
    pub(super) trial: usize,
    /// Rows of all keys.
    pub(super) key_rows: usize,
    /// Blind rotations.
    pub(super) rotations: usize,
    /// Errors from -limit to limit - 1 do no harm.
    pub(super) limit: usize,
}

/// Settings of RGSW decisions alone; those of digits are the switch's.
const OF_RGSW: [&str; 7] =
    ["input_modulus", "base", "dropped", "trace_base", "trace_dropped", "squaring_base", "spacing"];

impl Failure {
    /// Reads and checks the settings.
    pub(super) fn read_own(settings: &Settings) -> Result<Self, Refusal> {
        let mut rest = settings.clone();
        let setting: Setting = rest.take(&Setting::KEYS)?;
        let switch: SwitchSetting = rest.take(&SwitchSetting::KEYS)?;
        let own = Self { setting, switch, ..rest.parse()? };
        bounded(own.trials, "trials", 1..=1 << 30)?;
        bounded(own.batch, "batch", 1..=256)?;
        bounded(own.dimension, "dimension", 1..=1 << 14)?;
        own.setting.check()?;
        own.input_error()?;
        let foreign = if own.decision == Decision::Rgsw { SwitchSetting::KEYS } else { OF_RGSW };
        if let Some(key) = foreign.into_iter().find(|key| settings.map.contains_key(*key)) {
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
    pub(super) fn layout(&self) -> Result<DigitLayout, Refusal> {
        let low = bounded(required(&self.switch.low, "low")?, "low", 1..=60)?;
        let bits = bounded(
            required(&self.switch.digit_bits, "digit_bits")?,
            "digit_bits",
            1..=self.setting.n.ilog2().saturating_sub(1),
        )?;
        let digits = bounded(required(&self.switch.digits, "digits")?, "digits", 1..=60)?;
        let one = self.decision == Decision::Bits;
        if one != (digits == 1) {
            let wanted = if one { "one digit has bits" } else { "floors need two digits at least" };
            return Err(Refusal::new("digits", format!("{digits} digits: {wanted}.")));
        }
        DigitLayout::try_new(low + bits * digits, low, bits, digits).map_err(Refusal::of("digits"))
    }

    /// The gadget of the switch to the small key.
    pub(super) fn switch_gadget(&self, kernel: Kernel) -> Result<Box<dyn Gadget<u64>>, Refusal> {
        self.switch.gadget(&self.gadget(0, 0), 1 << 10..=1 << 50, kernel)
    }

    fn gadget(&self, base: u64, dropped: usize) -> GadgetSetting {
        GadgetSetting { family: self.family.clone(), base, dropped }
    }

    pub(super) fn input_error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(self.input_stddev, "input_stddev")
    }

    /// The inputs' modulus.
    pub(super) fn input_modulus(&self) -> Result<Modulus<u64>, Refusal> {
        let order = 2 * self.setting.n as u64;
        let q = modulus(&self.input_modulus, "input_modulus", order..=1 << 50)?;
        if !q.is_multiple_of(order) {
            return Err(Refusal::new("input_modulus", format!("{q} is no multiple of 2n = {order}.")));
        }
        Modulus::new(q).map_err(Refusal::of("input_modulus"))
    }

    pub(super) fn shape(&self) -> RotationShape {
        RotationShape { dimension: self.dimension, secret: SmallSecret::Binary, form: self.form.into() }
    }

    pub(super) fn rotation_gadget<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<RingGadget<W>, Refusal> {
        self.gadget(self.rotation_base, self.rotation_dropped).build(ring, "rotation_base")
    }

    /// Output, automorphisms, square.
    pub(super) fn converter_gadgets<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<[RingGadget<W>; 3], Refusal> {
        let gadget = |base: &Option<u64>, dropped: Option<usize>, key: &'static str| {
            self.gadget(required(base, key)?, dropped.unwrap_or(0)).build(ring, key)
        };
        Ok([
            gadget(&self.base, self.dropped, "base")?,
            gadget(&self.trace_base, self.trace_dropped, "trace_base")?,
            gadget(&self.squaring_base, None, "squaring_base")?,
        ])
    }

    /// Coefficients between rows.
    pub(super) fn spacing(&self, rows: usize) -> Result<usize, Refusal> {
        let spacing = required(&self.spacing, "spacing")?;
        let widest = RgswConverter::<u64>::widest_spacing(self.setting.n, rows, 1);
        if spacing % 2 == 1 || !(2..=widest).contains(&spacing) {
            let bounds = format!("an even number from 2 to {widest}, for {rows} rows");
            return Err(Refusal::new("spacing", format!("{spacing} is not {bounds}.")));
        }
        Ok(spacing)
    }

    /// What trials take.
    pub(super) fn costs<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<Costs, Refusal> {
        let (n, primes) = (ring.n(), ring.primes().len());
        let (shape, rotation) = (self.shape(), self.rotation_gadget(ring)?);
        let (forward, inverse) = shape.ntts(rotation.length(), primes);
        let rotation_rows = shape.selectors() * 2 * rotation.length();
        match self.decision {
            Decision::Rgsw => {
                let gadgets = self.converter_gadgets(ring)?;
                let [rows, trace, squaring] = [0, 1, 2].map(|i: usize| gadgets[i].length());
                let spacing = self.spacing(rows)?;
                let positions: Vec<usize> = (0..rows).map(|row| row * spacing).collect();
                let automorphisms = extraction_automorphisms(n, &positions, Extraction::Tree);
                let converted = automorphisms * (trace + 2) + rows * (squaring + 6);
                self.input_modulus()?;
                Ok(Costs {
                    trial: forward + inverse + converted * primes,
                    key_rows: rotation_rows + n.ilog2() as usize * trace + squaring,
                    rotations: 1,
                    limit: spacing / 2,
                })
            }
            Decision::Floor | Decision::Digit | Decision::Bits => {
                let layout = self.layout()?;
                self.switch_gadget(ring.kernel())?;
                self.switch.error()?;
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
                    limit: layout.tolerance(n) as usize,
                })
            }
        }
    }
}
