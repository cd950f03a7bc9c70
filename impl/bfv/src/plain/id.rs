//! Which plaintext modulus something is under.

use super::family::{self, Family};
use crate::error::BfvError;
use ring::poly::AutomorphismError;

/// t(X) in numbers, as keys and switches name it. A ciphertext does not carry it: whoever applies an automorphism knows the modulus of
/// its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModulusId {
    /// The family.
    pub family: Family,
    /// N.
    pub n: usize,
    /// The modulus is the family's t(X^class): below 2 N / k, odd.
    pub class: u64,
}

impl ModulusId {
    /// k: columns of a plaintext, and slots where all of them split.
    pub fn slots(&self) -> usize {
        self.family.slots(self.n)
    }

    /// Rows of slots, which rotations turn each on its own: two of N/2 for integers, else one.
    pub fn rows(&self) -> usize {
        self.family.rows(self.n)
    }

    /// The modulus t(X^exponent), under which the image of a plaintext by X -> X^exponent is. Integers keep theirs.
    ///
    /// # Errors
    /// An even exponent.
    pub fn image(&self, exponent: u64) -> Result<Self, BfvError> {
        Ok(self.split(exponent)?.0)
    }

    /// By how many places X -> X^exponent turns the slots, and whether it swaps the rows: slot i of the image is slot i + places of
    /// the argument, in the same row or in the other.
    ///
    /// # Errors
    /// An even exponent.
    pub fn turn(&self, exponent: u64) -> Result<(usize, bool), BfvError> {
        let (_, rest) = self.split(exponent)?;
        let (order, generator) = (2 * self.n as u64, self.generator());
        let place = |target: u64| {
            std::iter::successors(Some(1), |power| Some(power * generator % order))
                .take(self.slots() / self.rows())
                .position(|power| power == target)
        };
        Ok(match place(rest) {
            Some(places) => (places, false),
            None => (place(order - rest).unwrap_or(0), true),
        })
    }

    /// The class of the image, and the rest of the exponent: 1 modulo 2e, so a power of the generator, or minus one for integers.
    fn split(&self, exponent: u64) -> Result<(Self, u64), BfvError> {
        if exponent.is_multiple_of(2) {
            return Err(AutomorphismError::Even(exponent).into());
        }
        let (order, turn) = (2 * self.n as u64, 2 * (self.n / self.slots()) as u64);
        let total = self.class * (exponent % order) % order;
        let class = total % turn;
        Ok((Self { class, ..*self }, total * family::inverse(class, order) % order))
    }

    /// The exponent whose powers turn the slots: 5^(e/2), and 5 for integers.
    fn generator(&self) -> u64 {
        family::generator(self.n, self.slots())
    }

    /// The exponent of the automorphism that turns the slots of each row: slot i of the image is slot i + places of the argument.
    pub fn rotation(&self, places: usize) -> u64 {
        let (order, generator) = (2 * self.n as u64, self.generator());
        (0..places % (self.slots() / self.rows())).fold(1, |power, _| power * generator % order)
    }

    /// The exponent of the automorphism that swaps the two rows of slots of an integer modulus.
    pub fn swap(&self) -> u64 {
        2 * self.n as u64 - 1
    }
}
