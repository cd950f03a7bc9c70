//! The operand of products modulo 2^32 and of column products: a register of 16-bit halves.

/// Half a chunk of a query or a quarter of a pair of rows of a panel: one register, one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [i16; 32]);

impl Lanes {
    pub(crate) const ZERO: Self = Self([0; 32]);
}

/// The signed 16-bit halves of an element: element = low + 2^16 * high modulo 2^32.
#[inline(always)]
pub(crate) fn split(element: u32) -> (i16, i16) {
    (element as i16, (element.wrapping_add(0x8000) >> 16) as i16)
}
