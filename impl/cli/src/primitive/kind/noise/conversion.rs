//! `rgsw-conversion`: noise of RGSW rows made from rotated tables, and of products with them.

use std::sync::Arc;

use lattice::convert::{ConverterKeys, Extraction, RgswConverter};
use lattice::{RingGadget, Rlwe, RlwePrime};
use ring::{Coefficient, Poly, Ring, Seed, Word};
use serde::{Deserialize, Serialize};

use super::fixture::{Fixture, Tally};
use super::objects::{GadgetSettings, RingSettings, SecretName, family, gaussian, secret};
use super::settings::bounded;
use super::{describe_gadget, describe_ring, keys, seconds_per_polynomial};
use crate::primitive::settings::{Refusal, Settings, complete};
use crate::primitive::{Context, Described, Failed, Primitive, Session};

/// The noise of LWE to RGSW after the blind rotation.
pub struct Conversion;

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

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    n: usize,
    prime_bits: Vec<u32>,
    #[serde(default)]
    secret: SecretName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_stddev: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_weight: Option<usize>,
    /// Standard deviation of the errors of keys, and of rotated tables.
    stddev: f64,
    /// Fresh secret keys.
    #[serde(default = "super::settings::keys")]
    keys: u64,
    /// Conversions in all, at least.
    conversions: u64,
    /// Gadget of the RGSW ciphertexts made.
    family: String,
    base: u64,
    #[serde(default)]
    dropped: usize,
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

/// The gadgets of a converter: output, automorphisms, square.
struct Gadgets<W> {
    output: RingGadget<W>,
    trace: RingGadget<W>,
    squaring: RingGadget<W>,
}

impl Own {
    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let own: Self = settings.parse()?;
        bounded(own.keys, "keys", 1..=1 << 20)?;
        bounded(own.conversions, "conversions", 1..=1 << 30)?;
        bounded(own.shared, "shared", 0..=own.n.max(1).ilog2())?;
        gaussian(own.stddev, "stddev")?;
        secret(own.secret, own.secret_stddev, own.secret_weight)?;
        Ok(own)
    }

    fn ring(&self) -> Result<RingSettings, Refusal> {
        RingSettings::new(self.n, self.prime_bits.clone())
    }

    fn gadget(&self, base: u64, dropped: usize) -> Result<GadgetSettings, Refusal> {
        Ok(GadgetSettings { family: family(&self.family)?, base, dropped })
    }

    fn gadgets<W: Word>(&self, ring: &Arc<Ring<W>>) -> Result<Gadgets<W>, Refusal> {
        let build = |base, dropped, key: &str| {
            let gadget = self.gadget(base, dropped)?.build(ring);
            gadget.map_err(|refusal| Refusal::new(key, refusal.problem))
        };
        Ok(Gadgets {
            output: build(self.base, self.dropped, "base")?,
            trace: build(self.trace_base, 0, "trace_base")?,
            squaring: build(self.squaring_base, 0, "squaring_base")?,
        })
    }

    fn spacing(&self, rows: usize) -> Result<usize, Refusal> {
        match RgswConverter::<u64>::widest_spacing(self.n, rows, self.shared) {
            0 => Err(Refusal::new("shared", format!("{rows} rows have no room in {} coefficients.", self.n))),
            spacing => Ok(spacing),
        }
    }

    fn describe<W: Word>(&self, described: &mut Described, ring: &RingSettings) -> Result<(), Refusal> {
        let gadgets = self.gadgets(&ring.build::<W>(ring::Kernel::best())?)?;
        let (rows, trace, squaring) = (gadgets.output.length(), gadgets.trace.length(), gadgets.squaring.length());
        let spacing = self.spacing(rows)?;
        let positions: Vec<usize> = (0..rows).map(|row| row * spacing).collect();
        let automorphisms = lattice::convert::extraction_automorphisms(self.n, &positions, self.extraction.into());
        let counts = [("rows", rows), ("spacing", spacing), ("automorphisms", automorphisms)];
        described.counts.extend(counts.map(|(name, count)| (name.to_string(), count as f64)));
        // Keys at six polynomials a row; a conversion's products, its rows' phases, and the product with them.
        let levels = self.n.ilog2() as usize;
        let made = 6 * (levels * trace + squaring);
        let converted = automorphisms * (trace + 2) + rows * (squaring + 16) + 2 * rows + 32;
        let polynomials = self.keys as f64 * made as f64 + self.conversions.max(self.keys) as f64 * converted as f64;
        described.predicted_seconds = polynomials * seconds_per_polynomial(ring) / self.keys as f64;
        described.peak_bytes =
            ((8 * (levels * trace + squaring) + 32 * rows + 64) * self.n * ring.primes.len() * 8) as u64;
        Ok(())
    }
}

impl Primitive for Conversion {
    fn name(&self) -> &'static str {
        "rgsw-conversion"
    }

    fn summary(&self) -> &'static str {
        "errors of RGSW rows made from rotated tables, and of products with them, under many keys"
    }

    fn describe(&self, settings: &Settings) -> Result<Described, Refusal> {
        let own = Own::read(settings)?;
        let ring = own.ring()?;
        let mut described = Described { settings: complete(&own)?, ..Described::default() };
        describe_ring(&mut described, &ring);
        describe_gadget(&mut described, &ring, own.gadget(own.base, own.dropped)?)?;
        if ring.narrow() {
            own.describe::<u32>(&mut described, &ring)?
        } else {
            own.describe::<u64>(&mut described, &ring)?
        }
        Ok(described)
    }

    fn start(&self, settings: &Settings, context: &Context) -> Result<Box<dyn Session>, Failed> {
        let own = Own::read(settings)?;
        if own.ring()?.narrow() { start::<u32>(own, context) } else { start::<u64>(own, context) }
    }
}

fn start<W: Word>(own: Own, context: &Context) -> Result<Box<dyn Session>, Failed> {
    let ring: Arc<Ring<W>> = own.ring()?.build(context.kernel)?;
    let gadgets = own.gadgets(&ring)?;
    let error = gaussian(own.stddev, "stddev")?;
    let distribution = secret(own.secret, own.secret_stddev, own.secret_weight)?;
    keys(own.keys, context, move |seed: Seed| {
        let mut fixture = Fixture::new(&ring, distribution, &error, seed)?;
        run(&own, &mut fixture, &gadgets)
    })
}

fn run<W: Word>(own: &Own, f: &mut Fixture<W>, gadgets: &Gadgets<W>) -> Result<Tally, Failed> {
    let Gadgets { output, trace, squaring } = gadgets;
    let keys = ConverterKeys::new(&f.key, trace, squaring, &f.error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
    let spacing = own.spacing(output.length())?;
    let converter = RgswConverter::new(output, spacing, own.extraction.into(), (trace, squaring), &keys);
    let converter = converter.map_err(Failed::from)?;
    let (n, limit, table) = (f.ring.n(), converter.limit(), converter.table());
    let mut tally = Tally::default();
    let mut product = Rlwe::zero(&f.ring);
    for _ in 0..own.conversions.div_ceil(own.keys) {
        let bit = f.bit();
        // An LWE phase within the limits; the rotation is X to its negative.
        let phase = usize::from(bit) * n + 2 * n - limit + f.below(2 * limit);
        let accumulator = f.fresh(&f.ring.mul_monomial(&table, 4 * n - phase));
        let mut made = None;
        tally.operate(|| {
            made = Some(converter.rgsw(&accumulator, &mut f.workspace)?);
            Ok(())
        })?;
        let Some(rgsw) = made else { continue };
        for (row, &weight) in output.weights().iter().enumerate() {
            let known = constant(f, if bit { weight } else { 0 });
            let errors = row_errors(f, &rgsw.body, row, &known)?;
            tally.add("body", &errors);
            tally.add("body-constant", &errors[..1]);
            let mut known = f.product(&known, f.key.ntt());
            f.ring.neg_assign(&mut known);
            tally.add("mask", &row_errors(f, &rgsw.mask, row, &known)?);
        }
        let message = f.uniform();
        let input = f.fresh(&message);
        output.external_product(&input, &rgsw, &mut f.workspace, &mut product).map_err(Failed::from)?;
        let known = if bit { f.key.phase_coefficient(&input) } else { f.ring.zero() };
        tally.add("product", &f.errors(&f.key.phase_coefficient(&product), &known)?);
    }
    Ok(tally)
}

/// A constant polynomial.
pub fn constant<W: Word>(f: &Fixture<W>, value: u128) -> Poly<W, Coefficient> {
    let mut integers = vec![0; f.ring.n()];
    integers[0] = value;
    f.ring.from_u128(&integers)
}

fn row_errors<W: Word>(
    f: &Fixture<W>,
    rows: &RlwePrime<W>,
    row: usize,
    known: &Poly<W, Coefficient>,
) -> Result<Vec<f64>, Failed> {
    f.errors(&f.key.phase(&rows.rows()[row]), known)
}
