//! The operands of one call of a kernel.

use crate::matrix::lanes::Lanes;

/// Up to 64 lines of some columns of a block, and the digits that they are multiplied with.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    /// The columns of the block, `height` entries each.
    pub(super) data: &'a [i16],
    /// Entries of a column.
    pub(super) height: usize,
    /// The first row of the part.
    pub(super) first_row: usize,
    /// For each line of the part, three digit vectors for each prime.
    pub(super) digits: &'a [Lanes],
    /// With several queries, this query's share of the next columns, which it prefetches.
    pub(super) share: Option<&'a [i16]>,
}
