//! What operations on the slots of a family's moduli cost.

use super::{Family, columns, integer};
use crate::error::BfvError;
use ring::Work;

impl Family {
    /// The work of encoding or decoding the slots of a plaintext in degree `n`: that of
    /// [`PlainModulus::slots_work`](super::PlainModulus::slots_work), without the modulus at hand.
    ///
    /// # Errors
    /// A p that is too long.
    pub fn slots_work(&self, n: usize) -> Result<Work, BfvError> {
        Ok(match self {
            Self::Integer { .. } => integer::slots_work(n),
            _ => columns::work(self.slots(n), n, self.prime(n)?.len()).1,
        })
    }

    /// The work of [`PlainModulus::shorten`](super::PlainModulus::shorten) in degree `n`, without the modulus at hand.
    ///
    /// # Errors
    /// A p that is too long.
    pub fn shorten_work(&self, n: usize) -> Result<Work, BfvError> {
        Ok(match self {
            Self::Integer { .. } => integer::shorten_work(n),
            _ => columns::work(self.slots(n), n, self.prime(n)?.len()).0,
        })
    }
}
