//! The bits of digits: one rotation a digit, a table a bit.

use super::{Bootstrapper, DigitLayout, Table};
use crate::error::LatticeError;
use crate::lwe::Lwe;
use crate::product::Workspace;
use ring::Word;

impl<W: Word> Bootstrapper<W> {
    /// The bits of each digit (of [`Self::digits`]), the lowest first, as ciphertexts of bit * Q/2 modulo Q under the ring key, up to 1.
    ///
    /// With base A = Q/4 the table of the upper bit has the value -1 below N, hence 1 from N on, and A is added. The tables of the other bits have
    /// the value 2 bit, whose sign from N on vanishes, because -Q/2 = Q/2. The noise of bit k of w has 2^(w - 1 - k) times the variance of the
    /// rotation's.
    ///
    /// # Errors
    /// Digits too long for the ring, a ciphertext of another dimension than N or of another modulus than its digit's.
    pub fn bits(
        &self,
        layout: &DigitLayout,
        digits: &[Lwe],
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Vec<Lwe>>, LatticeError> {
        let small = self.digits_to_small(layout, digits, workspace)?;
        let tables = self.bit_tables(layout)?;
        let quarter = (self.modulus().value() + 2) / 4;
        let mut bits = self.evaluate_tables(quarter, &tables, &small, workspace)?;
        for upper in bits.iter_mut().filter_map(|bits| bits.last_mut()) {
            upper.b = self.modulus().add(upper.b, quarter);
        }
        Ok(bits)
    }

    /// The table of each bit, the lowest first.
    pub fn bit_tables(&self, layout: &DigitLayout) -> Result<Vec<Table<W>>, LatticeError> {
        let upper = layout.bits() - 1;
        let table = |bit: u32| {
            let value = |i: u32| if bit == upper { -1 } else { 2 * (i >> bit & 1) as i32 };
            Table::new(self.ring(), &(0..1 << upper).map(value).collect::<Vec<_>>())
        };
        (0..layout.bits()).map(table).collect()
    }
}
