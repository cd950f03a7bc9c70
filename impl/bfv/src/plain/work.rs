//! What operations on the slots of a family's moduli cost.

use super::{Family, columns, integer};
use crate::error::BfvError;
use ring::Work;

impl Family {
    /// Bytes of the tables of a [`PlainModulus`](super::PlainModulus) in degree `n`.
    ///
    /// # Errors
    /// A p that is too long.
    pub fn table_bytes(&self, n: usize) -> Result<u64, BfvError> {
        Ok(match self {
            Self::Integer { .. } => integer::table_bytes(n),
            _ => columns::table_bytes(self.slots(n), self.prime(n)?.len()),
        })
    }

    /// The work of encoding or decoding the slots of a plaintext in degree `n`.
    ///
    /// # Errors
    /// A p that is too long.
    pub fn slots_work(&self, n: usize) -> Result<Work, BfvError> {
        Ok(match self {
            Self::Integer { .. } => integer::slots_work(n),
            _ => columns::work(self.slots(n), n, self.prime(n)?.len()).1,
        })
    }

    /// The work of [`PlainModulus::shorten`](super::PlainModulus::shorten) in degree `n`.
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
