//! Settings of failure experiments.

use std::ops::RangeInclusive;
use std::sync::Arc;

use gadget::Family;
use lattice::convert::{Extraction, RgswConverter, extraction_automorphisms};
use lattice::functional::DigitLayout;
use lattice::lwe::LweKey;
use lattice::{BlindRotationKey, Form, RingGadget, RotationShape, SmallSecret};
use ring::{DiscreteGaussian, Modulus, Ring, Word};
use serde::{Deserialize, Serialize, Serializer};

use crate::lab::Lab;
use crate::primitive::Failed;
use crate::setting::{GadgetSetting, Setting, bounded, gaussian, modulus, number};
use crate::settings::{Refusal, Settings, tagged};
use crate::switch_setting::SwitchSetting;

/// The decision, with the settings that only it has.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Decision {
    /// LWE to RGSW decides in which half of the circle the phase is.
    Rgsw(RgswSetting),
    /// The floor of the lowest digit decides which digit is subtracted.
    Floor(SwitchSetting),
    /// Each floor decides which digit is subtracted.
    Digit(SwitchSetting),
    /// The bits of a digit.
    Bits(SwitchSetting),
}

/// Conversions to RGSW.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RgswSetting {
    /// Modulus of the inputs before they are switched to 2N, a multiple of it, decimal.
    input_modulus: String,
    /// Gadget of the RGSW ciphertexts made.
    base: u64,
    #[serde(default)]
    dropped: usize,
    /// Gadget of the automorphism keys.
    trace_base: u64,
    #[serde(default)]
    trace_dropped: usize,
    /// Base of the squaring key.
    squaring_base: u64,
    /// Coefficients between rows.
    spacing: usize,
}

/// Observed failures; the setting is that of the ring's keys.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    #[serde(flatten, serialize_with = "named")]
    pub(super) decision: Decision,
    #[serde(flatten)]
    pub(super) setting: Setting,
    #[serde(flatten)]
    pub(super) common: Tried,
}

fn named<S: Serializer>(decision: &Decision, serializer: S) -> Result<S::Ok, S::Error> {
    tagged("decision", decision, serializer)
}

/// The settings that all decisions have.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// Trials of one repetition, all under one key.
    pub(super) trials: u64,
    /// Rotations side by side.
    #[serde(default = "number::<16, _>")]
    pub(super) batch: usize,
    /// Dimension of the small key, which is binary.
    dimension: usize,
    form: Form,
    /// Family of all gadgets.
    pub(super) family: Family,
    /// Gadget of the blind-rotation key.
    rotation_base: u64,
    #[serde(default)]
    rotation_dropped: usize,
    /// Standard deviation of the inputs' errors, at their modulus.
    input_stddev: f64,
}

impl Tried {
    const KEYS: [&str; 8] =
        ["trials", "batch", "dimension", "form", "family", "rotation_base", "rotation_dropped", "input_stddev"];
}

/// Moduli of the switch to the small key.
pub(super) const SWITCH_MODULI: RangeInclusive<u64> = 1 << 10..=1 << 50;

/// The cost of a trial.
pub struct Costs {
    /// NTTs of size N modulo one prime.
    pub(super) trial: usize,
    /// Rows of all keys.
    pub(super) key_rows: usize,
    /// Blind rotations.
    pub(super) rotations: usize,
    /// Errors from -limit to limit - 1 are harmless.
    pub(super) limit: usize,
}

impl Failure {
    /// Reads and checks the settings.
    pub(super) fn read(settings: &Settings) -> Result<Self, Refusal> {
        let mut rest = settings.clone();
        let (setting, common): (Setting, Tried) = (rest.take(&Setting::KEYS)?, rest.take(&Tried::KEYS)?);
        let own = Self { decision: rest.variant("decision", &[])?, setting, common };
        bounded(own.common.trials, "trials", 1..=1 << 30)?;
        bounded(own.common.batch, "batch", 1..=256)?;
        bounded(own.common.dimension, "dimension", 1..=1 << 14)?;
        own.setting.check()?;
        own.input_error()?;
        if let Some(switch) = own.decision.switch() {
            if switch.log_modulus.is_some() {
                return Err(Refusal::new("log_modulus", "the modulus ends with the last digit. Remove it."));
            }
            // A digit's error is known from a second switch of the same input, which takes other coins.
            if own.common.family.randomised() {
                return Err(Refusal::new(
                    "family",
                    "digits need one without coins: `symmetric`, `balanced` or `unsigned`.",
                ));
            }
        }
        Ok(own)
    }

    /// The digits of a message.
    pub(super) fn layout(&self, switch: &SwitchSetting) -> Result<DigitLayout, Refusal> {
        let SwitchSetting { low, digit_bits, digits, .. } = *switch;
        bounded(low, "low", 1..=60)?;
        bounded(digit_bits, "digit_bits", 1..=self.setting.n.ilog2().saturating_sub(1))?;
        bounded(digits, "digits", 1..=60)?;
        let one = matches!(self.decision, Decision::Bits(_));
        if one != (digits == 1) {
            let wanted = if one { "one digit has bits" } else { "floors need two digits at least" };
            return Err(Refusal::new("digits", format!("{digits} digits: {wanted}.")));
        }
        DigitLayout::try_new(low + digit_bits * digits, low, digit_bits, digits).map_err(Refusal::of("digits"))
    }

    pub(super) fn input_error(&self) -> Result<DiscreteGaussian, Refusal> {
        gaussian(self.common.input_stddev, "input_stddev")
    }

    /// The inputs' modulus.
    pub(super) fn input_modulus(&self, rgsw: &RgswSetting) -> Result<Modulus<u64>, Refusal> {
        let order = 2 * self.setting.n as u64;
        let q = modulus(&rgsw.input_modulus, "input_modulus", order..=1 << 50)?;
        if !q.is_multiple_of(order) {
            return Err(Refusal::new("input_modulus", format!("{q} is not a multiple of 2n = {order}.")));
        }
        Modulus::new(q).map_err(Refusal::of("input_modulus"))
    }

    fn shape(&self) -> RotationShape {
        let Tried { dimension, form, .. } = self.common;
        RotationShape { dimension, secret: SmallSecret::Binary, form }
    }

    fn gadget(&self, base: u64, dropped: usize) -> GadgetSetting {
        GadgetSetting { family: self.common.family, base, dropped }
    }

    /// A small key with its blind-rotation key.
    pub(super) fn rotation_keys<W: Word>(&self, lab: &mut Lab<W>) -> Result<(LweKey, BlindRotationKey<W>), Failed> {
        let gadget = self.rotation_gadget(&lab.ring)?;
        lab.rotation_keys(self.shape(), &gadget)
    }

    fn rotation_gadget<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<RingGadget<W>, Refusal> {
        self.gadget(self.common.rotation_base, self.common.rotation_dropped).build(ring, "rotation_base")
    }

    /// Output, automorphisms, square.
    pub(super) fn converter_gadgets<W: Word>(
        &self,
        rgsw: &RgswSetting,
        ring: &Arc<Ring<W>>,
    ) -> Result<[RingGadget<W>; 3], Refusal> {
        Ok([
            self.gadget(rgsw.base, rgsw.dropped).build(ring, "base")?,
            self.gadget(rgsw.trace_base, rgsw.trace_dropped).build(ring, "trace_base")?,
            self.gadget(rgsw.squaring_base, 0).build(ring, "squaring_base")?,
        ])
    }

    /// Coefficients between rows.
    pub(super) fn spacing(&self, rgsw: &RgswSetting, rows: usize) -> Result<usize, Refusal> {
        let spacing = rgsw.spacing;
        let widest = RgswConverter::<u64>::widest_spacing(self.setting.n, rows, 1);
        if spacing % 2 == 1 || !(2..=widest).contains(&spacing) {
            let bounds = format!("an even number from 2 to {widest}, for {rows} rows");
            return Err(Refusal::new("spacing", format!("{spacing} is not {bounds}.")));
        }
        Ok(spacing)
    }

    /// The cost of trials.
    pub(super) fn costs<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<Costs, Refusal> {
        let (n, primes) = (ring.n(), ring.primes().len());
        let (shape, rotation) = (self.shape(), self.rotation_gadget(ring)?);
        let (forward, inverse) = shape.ntts(rotation.length(), primes);
        let rotation_rows = shape.selectors() * 2 * rotation.length();
        match &self.decision {
            Decision::Rgsw(rgsw) => {
                let gadgets = self.converter_gadgets(rgsw, ring)?;
                let [rows, trace, squaring] = [0, 1, 2].map(|i: usize| gadgets[i].length());
                let spacing = self.spacing(rgsw, rows)?;
                let positions: Vec<usize> = (0..rows).map(|row| row * spacing).collect();
                let automorphisms = extraction_automorphisms(n, &positions, Extraction::Tree);
                let converted = automorphisms * (trace + 2) + rows * (squaring + 6);
                self.input_modulus(rgsw)?;
                Ok(Costs {
                    trial: forward + inverse + converted * primes,
                    key_rows: rotation_rows + n.ilog2() as usize * trace + squaring,
                    rotations: 1,
                    limit: spacing / 2,
                })
            }
            Decision::Floor(switch) | Decision::Digit(switch) | Decision::Bits(switch) => {
                let layout = self.layout(switch)?;
                switch.gadget(self.common.family, SWITCH_MODULI, ring.kernel())?;
                switch.error()?;
                let (rotations, tables) = match &self.decision {
                    Decision::Floor(_) => (layout.floor_rotations(), 0),
                    Decision::Digit(_) => (layout.floor_rotations() * (layout.digits() - 1), 0),
                    Decision::Bits(_) | Decision::Rgsw(_) => (1, 2 * layout.bits() + 2),
                };
                Ok(Costs {
                    trial: rotations as usize * (forward + inverse) + tables as usize * primes,
                    key_rows: rotation_rows,
                    rotations: rotations as usize,
                    limit: layout.tolerance(n) as usize,
                })
            }
        }
    }
}

impl Decision {
    /// The switch and the digits, if the decision has them.
    pub(super) fn switch(&self) -> Option<&SwitchSetting> {
        match self {
            Self::Rgsw(_) => None,
            Self::Floor(switch) | Self::Digit(switch) | Self::Bits(switch) => Some(switch),
        }
    }
}
