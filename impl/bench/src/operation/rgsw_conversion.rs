//! `rgsw-conversion`: noise of RGSW rows made from rotated tables, and of products with them.

use lattice::convert::{ConverterKeys, Extraction, RgswConverter, extraction_automorphisms};
use lattice::{RingGadget, Rlwe};
use ring::Word;
use serde::{Deserialize, Serialize};

use crate::in_ring::{Bench, InRing, Shared, polynomial_bytes, seconds_per_polynomial};
use crate::lab::{CALLS, Lab, Tally};
use crate::primitive::{About, Described, Failed};
use crate::setting::{GadgetSetting, bounded};
use crate::settings::{Refusal, Settings};

/// The noise of LWE to RGSW after the blind rotation; the setting's errors are those of keys, and of rotated tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversion {
    /// Conversions in all, at least.
    conversions: u64,
    /// Base of the automorphism keys' gadget, of the same family.
    trace_base: u64,
    /// Base of the squaring key's gadget, of the same family.
    squaring_base: u64,
    #[serde(default)]
    extraction: Extraction,
    /// Least number of automorphisms that all rows share, which determines their distance.
    #[serde(default)]
    shared: u32,
}

pub const ABOUT: About =
    ("rgsw-conversion", "errors of RGSW rows made from rotated tables, and of products with them, under many keys");

impl InRing for Conversion {
    fn read(rest: &Settings, shared: &Shared) -> Result<Self, Refusal> {
        let own: Self = rest.parse()?;
        bounded(own.conversions, "conversions", 1..=1 << 30)?;
        bounded(own.shared, "shared", 0..=shared.setting.n.ilog2())?;
        Ok(own)
    }

    fn describe<W: Word>(&self, bench: &Bench<W>, described: &mut Described) -> Result<(), Refusal> {
        let Bench { shared, ring, .. } = bench;
        let rows = bench.length();
        let gadgets = self.gadgets(bench)?;
        let [trace, squaring] = gadgets.map(|gadget| gadget.length());
        let spacing = self.spacing(ring.n(), rows)?;
        let positions: Vec<usize> = (0..rows).map(|row| row * spacing).collect();
        let automorphisms = extraction_automorphisms(ring.n(), &positions, self.extraction);
        described.counts([("rows", rows), ("spacing", spacing), ("automorphisms", automorphisms)]);
        // Keys at six polynomials a row; a conversion's products, of timed calls too; its rows' phases, and the product with them.
        let key_rows = ring.n().ilog2() as usize * trace + squaring;
        let conversions = shared.for_each_key(self.conversions) as usize;
        let converted = automorphisms * (trace + 2) + rows * (squaring + 2);
        let polynomials = 6 * key_rows + (conversions + CALLS as usize) * converted + conversions * (16 * rows + 32);
        described.predicted_seconds = polynomials as f64 * seconds_per_polynomial(ring);
        described.peak_bytes = polynomial_bytes(ring, 8 * key_rows + 32 * rows + 64);
        Ok(())
    }

    fn run<W: Word>(&self, bench: &Bench<W>, lab: &mut Lab<W>) -> Result<Tally, Failed> {
        let (output, [trace, squaring]) = (bench.gadget()?, self.gadgets(bench)?);
        let keys = ConverterKeys::new(&lab.key, &trace, &squaring, &lab.error, &mut lab.masks, &mut lab.rng)?;
        let spacing = self.spacing(lab.ring.n(), output.length())?;
        let converter = RgswConverter::new(output, spacing, self.extraction, (&trace, &squaring), &keys)?;
        let (n, limit, table) = (lab.ring.n(), converter.limit(), converter.table());
        let mut tally = Tally::default();
        let mut product = Rlwe::zero(&lab.ring);
        for _ in 0..bench.shared.for_each_key(self.conversions) {
            let bit = lab.bit();
            // An LWE phase within the limits; the rotation is X to its negative.
            let phase = usize::from(bit) * n + 2 * n - limit + lab.below(2 * limit);
            let accumulator = lab.fresh(&lab.ring.mul_monomial(&table, 4 * n - phase));
            let rgsw = tally.operate(|| converter.rgsw(&accumulator, &mut lab.workspace))?;
            for (row, &weight) in output.weights().iter().enumerate() {
                let known = lab.constant(if bit { weight } else { 0 });
                let errors = lab.errors(&lab.key.phase(&rgsw.body.rows()[row]), &known)?;
                tally.add("body", &errors);
                tally.add("body-constant", &errors[..1]);
                let mut known = lab.product(&known, lab.key.ntt());
                lab.ring.neg_assign(&mut known);
                tally.add("mask", &lab.errors(&lab.key.phase(&rgsw.mask.rows()[row]), &known)?);
            }
            let (_, input) = lab.input();
            output.external_product(&input, &rgsw, &mut lab.workspace, &mut product)?;
            let known = if bit { lab.key.phase_coefficient(&input) } else { lab.ring.zero() };
            tally.add("product", &lab.errors(&lab.key.phase_coefficient(&product), &known)?);
        }
        Ok(tally)
    }
}

impl Conversion {
    /// The gadgets of the automorphisms and of the square.
    fn gadgets<W: Word>(&self, Bench { shared, ring, .. }: &Bench<W>) -> Result<[RingGadget<W>; 2], Refusal> {
        let family = shared.family()?;
        let of = |base, key| GadgetSetting { family, base, dropped: 0 }.build(ring, key);
        Ok([of(self.trace_base, "trace_base")?, of(self.squaring_base, "squaring_base")?])
    }

    fn spacing(&self, n: usize, rows: usize) -> Result<usize, Refusal> {
        match RgswConverter::<u64>::widest_spacing(n, rows, self.shared) {
            0 => Err(Refusal::new("shared", format!("{rows} rows have no room in {n} coefficients."))),
            spacing => Ok(spacing),
        }
    }
}
