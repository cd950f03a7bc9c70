//! Floors, digits and bits of digits, of ciphertexts under the ring key.

use lattice::lwe::Lwe;
use ring::{DiscreteGaussian, Word};

use super::settings::{Decision, Failure, SWITCH_MODULI};
use super::trial::{Trial, Trials};
use crate::lab::Lab;
use crate::primitive::Failed;
use crate::switch_setting::{SwitchSetting, Switched};

/// Decompositions under one key.
pub struct Decompositions<W: Word> {
    lab: Lab<W>,
    switched: Switched<W>,
    error: DiscreteGaussian,
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
        let keys = own.rotation_keys(&mut lab)?;
        let gadget = switch.gadget(own.common.family, SWITCH_MODULI, lab.ring.kernel())?;
        let masks = lab.seed("failure: switch masks");
        let switched = Switched::new(&mut lab, keys, (gadget, &switch.error()?), masks, own.layout(switch)?)?;
        Ok(Self { lab, switched, error: own.input_error()?, decision: own.decision.clone() })
    }

    /// A ciphertext of a uniform message.
    fn input(&mut self) -> Result<Input, Failed> {
        let Self { lab, switched, error, .. } = self;
        let Switched { small, bootstrapper, layout, .. } = &*switched;
        let (ciphertext, message) = switched.input(error, &mut lab.rng)?;
        let digit = bootstrapper.digit(layout, &ciphertext, 0)?;
        let switched_digit = bootstrapper.digits_to_small(layout, &[digit], &mut lab.workspace)?;
        let (n, order) = (lab.ring.n() as u64, switched_digit[0].modulus);
        // The phase is in the middle of the window of the lowest digit.
        let centre = ((2 * switched.lowest(message) + 1) * n) >> layout.bits();
        let phase = small.phase(&switched_digit[0])?;
        Ok(Input { ciphertext, message, error: order.centred(order.sub(phase, centre)) })
    }

    /// Whether `rest` is `whole` without the lowest `bits` bits of the message: the error of the input stays in both.
    fn lacks(&self, mut whole: Lwe, rest: &Lwe, message: u64, bits: u32) -> Result<bool, Failed> {
        whole.sub_assign(rest)?;
        let (phase, low) = (self.switched.key.phase(&whole)?, self.switched.layout.low());
        let nearest = whole.modulus.add(phase, (1 << low) >> 1) >> low;
        Ok(nearest == message & ((1 << bits) - 1))
    }

    /// Whether the floor subtracts the lowest digit, and not another.
    fn floor(&mut self, input: &Input) -> Result<bool, Failed> {
        let Switched { bootstrapper, layout, .. } = &self.switched;
        let rest = bootstrapper.floor(layout, &input.ciphertext, 0, &mut self.lab.workspace)?;
        self.lacks(input.ciphertext.clone(), &rest, input.message, layout.bits())
    }

    /// Whether every floor subtracts its digit. For the next digit, the result of a wrong floor is mostly noise.
    fn digits(&mut self, input: &Input) -> Result<bool, Failed> {
        let Switched { bootstrapper, layout, .. } = &self.switched;
        let digits = bootstrapper.digits(layout, &input.ciphertext, &mut self.lab.workspace)?;
        for (k, digit) in (0..).zip(&digits).skip(1) {
            let whole = bootstrapper.digit(layout, &input.ciphertext, k)?;
            if !self.lacks(whole, digit, input.message, k * layout.bits())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// For each digit, whether all of its bits decrypt.
    fn bits(&mut self, inputs: &[Input]) -> Result<Vec<bool>, Failed> {
        let ciphertexts: Vec<Lwe> = inputs.iter().map(|input| input.ciphertext.clone()).collect();
        let Switched { key, bootstrapper, layout, .. } = &self.switched;
        let all = bootstrapper.bits(layout, &ciphertexts, &mut self.lab.workspace)?;
        let right = |(input, bits): (&Input, &Vec<Lwe>)| {
            for (k, bit) in bits.iter().enumerate() {
                let phase = key.phase(bit)?;
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
        let limit = self.switched.layout.tolerance(self.lab.ring.n()) as i64;
        matches!(self.decision, Decision::Bits(_)).then_some(-limit..limit)
    }
}
