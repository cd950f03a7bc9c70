//! Where entries stand, what is encrypted and what is stored, as both parties know it.

use bfv::Multiplier;

use super::{Layout, Set};
use crate::core::{Database, Result};
use crate::parts::selection::Exchange;
use crate::parts::slots::read_entry;

/// What a set and a shape determine.
pub struct Engine {
    pub set: Set,
    pub layout: Layout,
    pub exchange: Exchange,
    pub multiplier: Multiplier<u32>,
}

impl Engine {
    /// The plaintext of the first entry of every item of a record's column.
    pub fn column(&self, database: &Database, number: u64) -> Result<Vec<i64>> {
        let (layout, mut values, words) = (&self.layout, self.exchange.zeros(), self.exchange.words());
        let first = layout.place(number).0 * layout.classes;
        for item in first..layout.count().min(first + layout.classes) {
            let bits = layout.items.item(database, item as u64)?;
            let value = &mut values[(item - first) * words..][..words];
            read_entry((&bits, layout.items.bits()), layout.entry_bits, 0, value);
        }
        Ok(self.exchange.scheme.modulus().encode(&values)?)
    }
}
