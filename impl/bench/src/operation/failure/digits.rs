//! Floors, digits and bits of digits, of ciphertexts under the ring key.

use std::sync::Arc;

use gadget::Gadget;
use lattice::functional::{Bootstrapper, DigitLayout};
use lattice::lwe::{Lwe, LweKey};
use ring::{DiscreteGaussian, Word};

use super::settings::{Decision, Failure};
use super::trial::{Rotations, Trial, Trials};
use crate::lab::Lab;
use crate::primitive::Failed;
use crate::switch_setting::SwitchSetting;

/// Decompositions under one key.
pub struct Decompositions<W: Word> {
    lab: Lab<W>,
    bootstrapper: Bootstrapper<W>,
    /// The ring's key as an LWE key, and the small one.
    key: LweKey,
    small: LweKey,
    error: DiscreteGaussian,
    layout: DigitLayout,
    decision: Decision,
}

/// A ciphertext, its message, and the error that its first rotation sees.
struct Input {
    ciphertext: Lwe,
    message: u64,
    error: i64,
}

impl<W: Word> Decompositions<W> {
    pub fn new(own: &Failure, switch: &SwitchSetting, mut lab: Lab<W>) -> Result<Self, Failed> {
        let Rotations { small, key: rotation, .. } = Rotations::new(own, &mut lab)?;
        let gadget: Arc<dyn Gadget<u64>> = own.switch_gadget(switch, lab.ring.kernel())?.into();
        let masks = lab.seed("failure: switch masks");
        let bootstrapper = lab.bootstrapper(rotation, &small, (gadget, &switch.error()?), masks)?;
        let (key, layout, error) = (lab.key.to_lwe(), own.layout(switch)?, own.input_error()?);
        Ok(Self { lab, bootstrapper, key, small, error, layout, decision: own.decision.clone() })
    }

    /// A ciphertext of a uniform message.
    fn input(&mut self) -> Result<Input, Failed> {
        let (lab, layout) = (&mut self.lab, &self.layout);
        let modulus = layout.modulus()?;
        let message = lab.below(1 << (layout.bits() * layout.digits())) as u64;
        let ciphertext = self.key.encrypt(modulus, message << layout.low(), &self.error, &mut lab.rng);
        let digit = self.bootstrapper.digit(layout, &ciphertext, 0)?;
        let small = self.bootstrapper.digits_to_small(layout, &[digit], &mut lab.workspace)?;
        let (n, order) = (lab.ring.n() as u64, small[0].modulus);
        // In the middle of the window of the lowest digit.
        let low = message & ((1 << layout.bits()) - 1);
        let centre = ((2 * low + 1) * n) >> layout.bits();
        let phase = self.small.phase(&small[0])?;
        Ok(Input { ciphertext, message, error: order.centred(order.sub(phase, centre)) })
    }

    /// The multiple of 2^`log_step` that a phase under the ring key is nearest to.
    fn nearest(&self, ciphertext: &Lwe, log_step: u32) -> Result<u64, Failed> {
        let phase = self.key.phase(ciphertext)?;
        let modulus = &ciphertext.modulus;
        Ok(modulus.add(phase, (1 << log_step) >> 1) >> log_step)
    }

    /// Whether `rest` is `whole` without the lowest `bits` bits of the message: the error of the input stays in both.
    fn lacks(&self, mut whole: Lwe, rest: &Lwe, message: u64, bits: u32) -> Result<bool, Failed> {
        whole.sub_assign(rest)?;
        Ok(self.nearest(&whole, self.layout.low())? == message & ((1 << bits) - 1))
    }

    /// Whether the floor subtracts the lowest digit, and not another.
    fn floor(&mut self, input: &Input) -> Result<bool, Failed> {
        let (layout, workspace) = (&self.layout, &mut self.lab.workspace);
        let rest = self.bootstrapper.floor(layout, &input.ciphertext, 0, workspace)?;
        self.lacks(input.ciphertext.clone(), &rest, input.message, layout.bits())
    }

    /// Whether every floor subtracts its digit. What a wrong one leaves is mere noise to the next digit, mostly.
    fn digits(&mut self, input: &Input) -> Result<bool, Failed> {
        let (layout, workspace) = (self.layout, &mut self.lab.workspace);
        let digits = self.bootstrapper.digits(&layout, &input.ciphertext, workspace)?;
        for (k, digit) in (0..).zip(&digits).skip(1) {
            let whole = self.bootstrapper.digit(&layout, &input.ciphertext, k)?;
            if !self.lacks(whole, digit, input.message, k * layout.bits())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// For each digit, whether all of its bits decrypt.
    fn bits(&mut self, inputs: &[Input]) -> Result<Vec<bool>, Failed> {
        let ciphertexts: Vec<Lwe> = inputs.iter().map(|input| input.ciphertext.clone()).collect();
        let (layout, workspace) = (self.layout, &mut self.lab.workspace);
        let all = self.bootstrapper.bits(&layout, &ciphertexts, workspace)?;
        let right = |(input, bits): (&Input, &Vec<Lwe>)| {
            for (k, bit) in bits.iter().enumerate() {
                let phase = self.key.phase(bit)?;
                let one = bit.modulus.centred(phase).unsigned_abs() > bit.modulus.value() / 4;
                if one != (input.message >> k & 1 == 1) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        inputs.iter().zip(&all).map(right).collect()
    }
}

impl<W: Word> Trials for Decompositions<W> {
    fn run(&mut self, count: usize) -> Result<Vec<Trial>, Failed> {
        let inputs: Vec<Input> = (0..count).map(|_| self.input()).collect::<Result<_, _>>()?;
        let right = match self.decision {
            Decision::Floor(_) => inputs.iter().map(|input| self.floor(input)).collect::<Result<_, _>>()?,
            Decision::Digit(_) => inputs.iter().map(|input| self.digits(input)).collect::<Result<_, _>>()?,
            Decision::Bits(_) | Decision::Rgsw(_) => self.bits(&inputs)?,
        };
        Ok(inputs
            .iter()
            .zip(right)
            .map(|(input, right)| Trial { error: input.error, wrong: !right, rows: Vec::new() })
            .collect())
    }

    /// The second rotation decides most floors, and its error is not seen here.
    fn decides(&self) -> Option<std::ops::Range<i64>> {
        let limit = self.layout.tolerance(self.lab.ring.n()) as i64;
        matches!(self.decision, Decision::Bits(_)).then_some(-limit..limit)
    }
}
