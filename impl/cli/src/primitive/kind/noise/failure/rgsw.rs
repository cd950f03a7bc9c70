//! LWE to RGSW: wrong where a row is nearer to another multiple of its weight than to the bit's.

use lattice::RingGadget;
use lattice::convert::{ConverterKeys, RgswConverter};
use lattice::lwe::Lwe;
use ring::{DiscreteGaussian, Modulus, Word};

use super::super::conversion::constant;
use super::super::fixture::Fixture;
use super::settings::Own;
use super::{Rotations, Trial, Trials};
use crate::primitive::Failed;

/// Conversions under one key.
pub struct Conversions<W: Word> {
    fixture: Fixture<W>,
    rotations: Rotations<W>,
    converter: RgswConverter<W>,
    output: RingGadget<W>,
    /// Of the inputs before they are switched to 2N.
    modulus: Modulus<u64>,
    error: DiscreteGaussian,
}

impl<W: Word> Conversions<W> {
    pub fn new(own: &Own, mut f: Fixture<W>) -> Result<Self, Failed> {
        let rotations = Rotations::new(own, &mut f)?;
        let [output, trace, squaring] = own.converter_gadgets(&f.ring)?;
        let keys =
            ConverterKeys::new(&f.key, &trace, &squaring, &f.error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
        let spacing = own.spacing(output.length())?;
        let extraction = lattice::convert::Extraction::Tree;
        let converter =
            RgswConverter::new(&output, spacing, extraction, (&trace, &squaring), &keys).map_err(Failed::from)?;
        let (modulus, error) = (own.input_modulus()?, own.input_error()?);
        Ok(Self { fixture: f, rotations, converter, output, modulus, error })
    }

    /// A ciphertext modulo 2N of a bit, and its error.
    fn input(&mut self, bit: bool) -> Result<(Lwe, i64), Failed> {
        let (small, order) = (&self.rotations.small, self.rotations.order);
        let half = |modulus: &Modulus<u64>| if bit { modulus.value() / 2 } else { 0 };
        let input = small.encrypt(self.modulus, half(&self.modulus), &self.error, &mut self.fixture.rng);
        let input = input.switch_modulus_compensated(order);
        let phase = small.phase(&input).map_err(Failed::from)?;
        Ok((input, order.centred(order.sub(phase, half(&order)))))
    }
}

impl<W: Word> Trials for Conversions<W> {
    fn run(&mut self, count: usize) -> Result<Vec<Trial>, Failed> {
        let bits: Vec<bool> = (0..count).map(|_| self.fixture.bit()).collect();
        let made: Vec<_> = bits.iter().map(|&bit| self.input(bit)).collect::<Result<_, _>>()?;
        let (inputs, errors): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        let f = &mut self.fixture;
        let all = self.converter.convert_all(&inputs, &self.rotations.key, &mut f.workspace).map_err(Failed::from)?;
        let mut trials = Vec::with_capacity(count);
        for ((rgsw, bit), error) in all.iter().zip(bits).zip(errors) {
            let mut wrong = false;
            for (row, &weight) in rgsw.body.rows().iter().zip(self.output.weights()) {
                let known = constant(f, if bit { weight } else { 0 });
                let off = f.errors(&f.key.phase(row), &known)?;
                wrong |= off[0].abs() >= weight as f64 / 4.0;
            }
            trials.push(Trial { error, wrong });
        }
        Ok(trials)
    }

    fn decides(&self) -> Option<std::ops::Range<i64>> {
        let limit = self.converter.limit() as i64;
        Some(-limit..limit)
    }
}
