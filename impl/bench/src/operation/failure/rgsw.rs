//! LWE to RGSW: wrong if the row of the largest weight is nearer to the value at another place of the table.
//!
//! All rows are read from one rotated table, so that they are right or wrong together. The largest weight decides which; the rotation's noise
//! may exceed a quarter of the least weight, where it is noise and not a decision.

use lattice::convert::{ConverterKeys, Extraction, RgswConverter};
use lattice::lwe::{Lwe, LweKey};
use lattice::{BlindRotationKey, RingGadget};
use ring::{DiscreteGaussian, Modulus, Word};

use super::settings::{Failure, RgswSetting};
use super::trial::{Trial, Trials};
use crate::lab::Lab;
use crate::primitive::Failed;

/// The row that decides whether a conversion is right, and the error from which it is wrong.
struct Deciding {
    row: usize,
    limit: f64,
}

impl Deciding {
    /// The row of the largest weight. Where the phase is outside the limits, it holds half the weight of another row, or half its
    /// own with the other sign or none: it is off by half the difference to the next weight at least. The limit is half of that.
    fn of(weights: &[u128]) -> Self {
        let row = (0..weights.len()).max_by_key(|&row| weights[row]).unwrap_or(0);
        let largest = weights.get(row).copied().unwrap_or(0);
        let next = weights.iter().filter(|&&weight| weight < largest).max().copied().unwrap_or(0);
        Self { row, limit: (largest - next) as f64 / 4.0 }
    }

    fn wrong(&self, errors: &[f64]) -> bool {
        errors[self.row].abs() >= self.limit
    }
}

/// Conversions under one key.
pub struct Conversions<W: Word> {
    lab: Lab<W>,
    small: LweKey,
    rotation: BlindRotationKey<W>,
    /// The modulus 2N.
    order: Modulus<u64>,
    converter: RgswConverter<W>,
    deciding: Deciding,
    output: RingGadget<W>,
    /// The modulus of the inputs before they are switched to 2N.
    modulus: Modulus<u64>,
    error: DiscreteGaussian,
}

impl<W: Word> Conversions<W> {
    pub fn new(own: &Failure, rgsw: &RgswSetting, mut lab: Lab<W>) -> Result<Self, Failed> {
        let (small, rotation) = own.rotation_keys(&mut lab)?;
        let order = Modulus::new(2 * lab.ring.n() as u64)?;
        let [output, trace, squaring] = own.converter_gadgets(rgsw, &lab.ring)?;
        let keys = ConverterKeys::new(&lab.key, &trace, &squaring, &lab.error, &mut lab.masks, &mut lab.rng)?;
        let spacing = own.spacing(rgsw, output.length())?;
        let converter = RgswConverter::new(&output, spacing, Extraction::Tree, (&trace, &squaring), &keys)?;
        let (modulus, error) = (own.input_modulus(rgsw)?, own.input_error()?);
        let deciding = Deciding::of(output.weights());
        Ok(Self { lab, small, rotation, order, converter, deciding, output, modulus, error })
    }

    /// A ciphertext modulo 2N of a bit, and its error.
    fn input(&mut self, bit: bool) -> Result<(Lwe, i64), Failed> {
        let (small, order) = (&self.small, self.order);
        let half = |modulus: &Modulus<u64>| if bit { modulus.value() / 2 } else { 0 };
        let input = small.encrypt(self.modulus, half(&self.modulus), &self.error, &mut self.lab.rng);
        let input = input.switch_modulus_compensated(order);
        let phase = small.phase(&input)?;
        Ok((input, order.centred(order.sub(phase, half(&order)))))
    }
}

impl<W: Word> Trials for Conversions<W> {
    fn run(&mut self, count: usize) -> Result<Vec<Trial>, Failed> {
        let bits: Vec<bool> = (0..count).map(|_| self.lab.bit()).collect();
        let made: Vec<_> = bits.iter().map(|&bit| self.input(bit)).collect::<Result<_, _>>()?;
        let (inputs, errors): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        let lab = &mut self.lab;
        let all = self.converter.convert_all(&inputs, &self.rotation, &mut lab.workspace)?;
        let mut trials = Vec::with_capacity(count);
        for ((rgsw, bit), error) in all.iter().zip(bits).zip(errors) {
            let mut rows = Vec::with_capacity(self.output.length());
            for (row, &weight) in rgsw.body.rows().iter().zip(self.output.weights()) {
                let known = lab.constant(if bit { weight } else { 0 });
                rows.push(lab.errors(&lab.key.phase(row), &known)?[0]);
            }
            let wrong = self.deciding.wrong(&rows);
            trials.push(Trial { error, wrong, rows: if wrong { Vec::new() } else { rows } });
        }
        Ok(trials)
    }

    fn decides(&self) -> Option<std::ops::Range<i64>> {
        let limit = self.converter.limit() as i64;
        Some(-limit..limit)
    }
}
