//! `rgsw-conversion`: noise of RGSW rows made from rotated tables, and of products with them.

use std::sync::Arc;

use lattice::convert::{ConverterKeys, Extraction, RgswConverter, extraction_automorphisms};
use lattice::{RingGadget, Rlwe, RlwePrime};
use ring::{Coefficient, Poly, Ring, Word};
use serde::{Deserialize, Serialize};

use crate::in_ring::{InRing, Measure, polynomial_bytes, seconds_per_polynomial};
use crate::lab::{Lab, Tally};
use crate::primitive::{Described, Failed};
use crate::setting::{GadgetSetting, Setting, bounded, twenty};
use crate::settings::{Refusal, Settings};

/// How coefficients are extracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtractionName {
    /// One trace a row.
    Traces,
    /// One tree for all rows.
    #[default]
    Tree,
}

impl From<ExtractionName> for Extraction {
    fn from(name: ExtractionName) -> Self {
        match name {
            ExtractionName::Traces => Self::Traces,
            ExtractionName::Tree => Self::Tree,
        }
    }
}

/// The noise of LWE to RGSW after the blind rotation; the setting's errors are those of keys, and of rotated tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversion {
    #[serde(flatten, skip_deserializing)]
    setting: Setting,
    #[serde(default = "twenty")]
    keys: u64,
    /// Conversions in all, at least.
    conversions: u64,
    /// Gadget of the RGSW ciphertexts made.
    #[serde(flatten, skip_deserializing)]
    gadget: GadgetSetting,
    /// Base of the automorphism keys' gadget, of the same family.
    trace_base: u64,
    /// Base of the squaring key's gadget, of the same family.
    squaring_base: u64,
    #[serde(default)]
    extraction: ExtractionName,
    /// Automorphisms that all rows share at least; decides how far apart they are.
    #[serde(default)]
    shared: u32,
}

/// The gadgets of a converter.
struct Gadgets<W> {
    output: RingGadget<W>,
    trace: RingGadget<W>,
    squaring: RingGadget<W>,
}

impl InRing for Conversion {
    const NAME: &'static str = "rgsw-conversion";
    const SUMMARY: &'static str =
        "errors of RGSW rows made from rotated tables, and of products with them, under many keys";

    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let mut rest = settings.clone();
        let (setting, gadget) = (rest.take::<Setting>(&Setting::KEYS)?, rest.take(&GadgetSetting::KEYS)?);
        let own = Self { setting, gadget, ..rest.parse()? };
        bounded(own.conversions, "conversions", 1..=1 << 30)?;
        bounded(own.shared, "shared", 0..=own.setting.n.max(1).ilog2())?;
        Ok(own)
    }

    fn shared(&self) -> (&Setting, u64, Option<&GadgetSetting>) {
        (&self.setting, self.keys, Some(&self.gadget))
    }

    fn describe<W: Word>(&self, ring: &Arc<Ring<W>>, rows: usize, described: &mut Described) -> Result<(), Refusal> {
        let gadgets = self.gadgets(ring)?;
        let (trace, squaring) = (gadgets.trace.length(), gadgets.squaring.length());
        let spacing = self.spacing(rows)?;
        let positions: Vec<usize> = (0..rows).map(|row| row * spacing).collect();
        let automorphisms = extraction_automorphisms(ring.n(), &positions, self.extraction.into());
        described.counts([("rows", rows), ("spacing", spacing), ("automorphisms", automorphisms)]);
        // Keys at six polynomials a row; a conversion's products, its rows' phases, and the product with them.
        let key_rows = ring.n().ilog2() as usize * trace + squaring;
        let converted = automorphisms * (trace + 2) + rows * (squaring + 16) + 2 * rows + 32;
        let (keys, conversions) = (self.keys as f64, self.conversions.max(self.keys) as f64);
        let polynomials = keys * (6 * key_rows) as f64 + conversions * converted as f64;
        described.predicted_seconds = polynomials * seconds_per_polynomial(ring) / keys;
        described.peak_bytes = polynomial_bytes(ring, 8 * key_rows + 32 * rows + 64);
        Ok(())
    }

    fn measure<W: Word>(self, ring: &Arc<Ring<W>>) -> Result<Measure<W>, Failed> {
        let gadgets = self.gadgets(ring)?;
        Ok(Box::new(move |lab| run(&self, lab, &gadgets)))
    }
}

impl Conversion {
    fn gadgets<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<Gadgets<W>, Refusal> {
        Ok(Gadgets {
            output: self.gadget.build(ring, "base")?,
            trace: GadgetSetting::new(&self.gadget.family, self.trace_base, 0).build(ring, "trace_base")?,
            squaring: GadgetSetting::new(&self.gadget.family, self.squaring_base, 0).build(ring, "squaring_base")?,
        })
    }

    fn spacing(&self, rows: usize) -> Result<usize, Refusal> {
        let n = self.setting.n;
        match RgswConverter::<u64>::widest_spacing(n, rows, self.shared) {
            0 => Err(Refusal::new("shared", format!("{rows} rows have no room in {n} coefficients."))),
            spacing => Ok(spacing),
        }
    }
}

fn run<W: Word>(own: &Conversion, lab: &mut Lab<W>, gadgets: &Gadgets<W>) -> Result<Tally, Failed> {
    let Gadgets { output, trace, squaring } = gadgets;
    let keys = ConverterKeys::new(&lab.key, trace, squaring, &lab.error, &mut lab.masks, &mut lab.rng)?;
    let spacing = own.spacing(output.length())?;
    let converter = RgswConverter::new(output, spacing, own.extraction.into(), (trace, squaring), &keys);
    let converter = converter?;
    let (n, limit, table) = (lab.ring.n(), converter.limit(), converter.table());
    let mut tally = Tally::default();
    let mut product = Rlwe::zero(&lab.ring);
    for _ in 0..own.conversions.div_ceil(own.keys) {
        let bit = lab.bit();
        // An LWE phase within the limits; the rotation is X to its negative.
        let phase = usize::from(bit) * n + 2 * n - limit + lab.below(2 * limit);
        let accumulator = lab.fresh(&lab.ring.mul_monomial(&table, 4 * n - phase));
        let rgsw = tally.operate(|| converter.rgsw(&accumulator, &mut lab.workspace))?;
        for (row, &weight) in output.weights().iter().enumerate() {
            let known = lab.constant(if bit { weight } else { 0 });
            let errors = row_errors(lab, &rgsw.body, row, &known)?;
            tally.add("body", &errors);
            tally.add("body-constant", &errors[..1]);
            let mut known = lab.product(&known, lab.key.ntt());
            lab.ring.neg_assign(&mut known);
            tally.add("mask", &row_errors(lab, &rgsw.mask, row, &known)?);
        }
        let message = lab.uniform();
        let input = lab.fresh(&message);
        output.external_product(&input, &rgsw, &mut lab.workspace, &mut product)?;
        let known = if bit { lab.key.phase_coefficient(&input) } else { lab.ring.zero() };
        tally.add("product", &lab.errors(&lab.key.phase_coefficient(&product), &known)?);
    }
    Ok(tally)
}

fn row_errors<W: Word>(
    lab: &Lab<W>,
    rows: &RlwePrime<W>,
    row: usize,
    known: &Poly<W, Coefficient>,
) -> Result<Vec<f64>, Failed> {
    lab.errors(&lab.key.phase(&rows.rows()[row]), known)
}
