//! Digits of a message too long for one rotation (Liu, Micciancio, Polyakov, ASIACRYPT 2022, with one ciphertext modulus throughout).
//!
//! The message lies in the upper bits of a phase modulo 2^M. Reduced modulo 2^m, m the end of its lowest digit, the ciphertext encrypts that
//! digit alone, exactly. The *floor* subtracts it: then the next digit is the lowest. In the original the modulus shrinks with every
//! digit; keeping it and reducing modulo greater powers instead is equivalent and rounds nothing.

use super::Bootstrapper;
use crate::error::LatticeError;
use crate::lwe::Lwe;
use crate::product::Workspace;
use ring::{Modulus, Word};

/// The places of a message's digits in a phase modulo 2^`log_modulus`: digit k begins at bit low + k bits, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DigitLayout {
    log_modulus: u32,
    low: u32,
    bits: u32,
    digits: u32,
}

impl DigitLayout {
    /// `digits` digits of `bits` bits from bit `low` on.
    ///
    /// # Errors
    /// No digits or bits, digits that do not fit the modulus, no room for noise below them, a modulus above 2^61.
    pub fn try_new(log_modulus: u32, low: u32, bits: u32, digits: u32) -> Result<Self, LatticeError> {
        let top = u64::from(bits) * u64::from(digits) + u64::from(low);
        if bits == 0 || digits == 0 || low == 0 || top > log_modulus.into() || log_modulus > 61 {
            return Err(LatticeError::Parameter(format!(
                "{digits} digits of {bits} bits from bit {low} on of a phase modulo 2^{log_modulus}: needs digits, bits and low at least \
                 1, all digits below the modulus, and that at most 2^61"
            )));
        }
        Ok(Self { log_modulus, low, bits, digits })
    }

    /// Bit at which the lowest digit begins.
    pub fn low(&self) -> u32 {
        self.low
    }

    /// Bits of a digit.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Number of digits.
    pub fn digits(&self) -> u32 {
        self.digits
    }

    /// The modulus of the whole ciphertext.
    ///
    /// # Errors
    /// Never fails, because the constructor checked the modulus.
    pub fn modulus(&self) -> Result<Modulus<u64>, LatticeError> {
        power(self.log_modulus)
    }

    /// Bit at which digit `digit` begins.
    fn start(&self, digit: u32) -> u32 {
        self.low + digit * self.bits
    }

    /// Blind rotations of a floor: one for the upper bit, and one for the others if there are any.
    pub fn floor_rotations(&self) -> u32 {
        if self.bits == 1 { 1 } else { 2 }
    }

    /// Blind rotations that separate all digits (the last needs no floor) and decompose each into bits: 2 (5 - 1) + 5 = 13 for five.
    pub fn rotations(&self) -> u32 {
        self.floor_rotations() * (self.digits - 1) + self.digits
    }

    /// Half of a window modulo 2N: the noise of [`Bootstrapper::to_small`] and of its input must stay below it.
    pub fn tolerance(&self, n: usize) -> f64 {
        n as f64 / f64::from(self.bits).exp2()
    }

    fn check_ring(&self, n: usize) -> Result<(), LatticeError> {
        if self.bits > n.ilog2() {
            return Err(LatticeError::Parameter(format!(
                "digits of {} bits leave no room for noise modulo 2 N = {}",
                self.bits,
                2 * n
            )));
        }
        Ok(())
    }
}

fn power(log: u32) -> Result<Modulus<u64>, LatticeError> {
    Modulus::new(1u64 << log).map_err(|error| LatticeError::Parameter(error.to_string()))
}

impl<W: Word> Bootstrapper<W> {
    /// The value of `x` modulo Q, which is Q x 2^-log_modulus rounded.
    fn scaled(&self, x: u64, log_modulus: u32) -> u64 {
        let product = u128::from(x) * u128::from(self.modulus().value());
        ((product + (1 << log_modulus >> 1)) >> log_modulus) as u64
    }

    /// Digit `digit` of the phase, the lowest that was not subtracted yet, as a ciphertext modulo 2^(its end), exactly.
    ///
    /// # Errors
    /// A digit that the layout has not, a ciphertext of another modulus.
    pub fn digit(&self, layout: &DigitLayout, input: &Lwe, digit: u32) -> Result<Lwe, LatticeError> {
        if digit >= layout.digits || input.modulus != layout.modulus()? {
            return Err(LatticeError::Mismatch("a digit layout and a digit or a ciphertext of another"));
        }
        input.reduce_modulus(power(layout.start(digit + 1))?)
    }

    /// Subtracts digit `digit`, after all lower ones: the phase loses the digit and gains the noise of two
    /// rotations. Noise must be below half a unit of the digit, after the switch too: see [`DigitLayout::tolerance`].
    ///
    /// Both rotations read the digit plus half a unit, so that noise of both signs leaves it in its window. The first finds the digit's
    /// upper bit, whose subtraction puts the phase where negacyclic functions are free; the second finds the rest.
    pub fn floor(
        &self,
        layout: &DigitLayout,
        input: &Lwe,
        digit: u32,
        workspace: &mut Workspace<W>,
    ) -> Result<Lwe, LatticeError> {
        let (ring, n) = (self.ring(), self.ring().n());
        let unit = 1u64 << layout.start(digit);
        let mut rest = self.without_upper_bit(layout, input, digit, workspace)?;
        if layout.bits > 1 {
            let window = n >> (layout.bits - 1);
            let value = |j: usize| self.scaled((j / window) as u64 * unit, layout.log_modulus);
            let others = ring.from_u64(&(0..n).map(value).collect::<Vec<_>>());
            rest.sub_assign(&self.of_digit(layout, &rest, digit, &others, workspace)?)?;
        }
        Ok(rest)
    }

    /// The first half of [`Self::floor`]: subtracts the digit's upper bit.
    pub fn without_upper_bit(
        &self,
        layout: &DigitLayout,
        input: &Lwe,
        digit: u32,
        workspace: &mut Workspace<W>,
    ) -> Result<Lwe, LatticeError> {
        let (ring, n) = (self.ring(), self.ring().n());
        layout.check_ring(n)?;
        let modulus = layout.modulus()?;
        let quarter = 1u64 << layout.start(digit) << layout.bits >> 2;
        let half = ring.from_u64(&vec![self.modulus().neg(self.scaled(quarter, layout.log_modulus)); n]);
        let mut rest = input.clone();
        // -1/4 of the digit's modulus if its upper bit is 0, 1/4 if it is 1.
        rest.sub_assign(&self.of_digit(layout, &rest, digit, &half, workspace)?)?;
        rest.b = modulus.sub(rest.b, quarter);
        Ok(rest)
    }

    /// A function of a digit, at the layout's modulus.
    fn of_digit(
        &self,
        layout: &DigitLayout,
        input: &Lwe,
        digit: u32,
        test: &ring::Poly<W, ring::Coefficient>,
        workspace: &mut Workspace<W>,
    ) -> Result<Lwe, LatticeError> {
        let small = self.digits_to_small(layout, &[self.digit(layout, input, digit)?], workspace)?;
        let value = self.evaluate(test, &small, workspace)?.swap_remove(0);
        Ok(value.switch_modulus(layout.modulus()?))
    }

    /// Digits modulo 2^m as ciphertexts modulo 2N under the small key, with half a unit added: every phase in the middle of its window.
    ///
    /// # Errors
    /// A ciphertext whose modulus is not a power of two from 2^(bits + 1) on.
    pub fn digits_to_small(
        &self,
        layout: &DigitLayout,
        digits: &[Lwe],
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Lwe>, LatticeError> {
        layout.check_ring(self.ring().n())?;
        let centred = |digit: &Lwe| {
            let q = digit.modulus.value();
            if !q.is_power_of_two() || q.ilog2() <= layout.bits {
                return Err(LatticeError::Mismatch("a digit layout and a digit of another"));
            }
            let mut centred = digit.clone();
            centred.b = digit.modulus.add(digit.b, q >> (layout.bits + 1));
            Ok(centred)
        };
        let centred: Vec<Lwe> = digits.iter().map(centred).collect::<Result<_, _>>()?;
        self.to_small(&centred, workspace)
    }

    /// All digits, the lowest first, each as [`Self::digit`] gives it.
    pub fn digits(
        &self,
        layout: &DigitLayout,
        input: &Lwe,
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Lwe>, LatticeError> {
        let mut rest = input.clone();
        let mut digits = vec![self.digit(layout, &rest, 0)?];
        for digit in 1..layout.digits {
            rest = self.floor(layout, &rest, digit - 1, workspace)?;
            digits.push(self.digit(layout, &rest, digit)?);
        }
        Ok(digits)
    }
}
