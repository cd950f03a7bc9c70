//! The permutations of slots by automorphisms, and matrices with one value for each automorphism and slot.
//!
//! Slot j has exponent 2 bitrev(j) + 1. An automorphism permutes the slots by multiplying their exponents; it maps a strip of 16
//! aligned slots onto another, because these agree in the low bits of their exponents. So among the automorphisms that map strip b
//! onto strip b', of which there are at most 16, each lane of b meets each lane of b' once, and the values for all of them fill one
//! tile, 16 columns of a strip, in either of two orders. *Final*: in lane l, the value for sigma is in the column of sigma's slot
//! for that lane, so that the matrix times a key is a sum over sigma. *By first slots*: the whole line for sigma is in the
//! column of its slot for lane 0, so that it is read and written as one. Tiles are rearranged in place.

use ring::BlockDiagonal;
use ring::matrix::diagonal::{LINE, Line};
use ring::modulus::inverse_of_odd;

/// Side of the blocks that hold a group of `order` automorphisms, those with sigma = 1 modulo 2 N / order: they map slots within aligned
/// blocks of that size. It is at least a line.
pub(super) fn side(order: usize) -> usize {
    order.max(LINE)
}

/// Makes slot permutations of automorphisms of one N faster than by computing each alone.
pub(super) struct SlotMaps {
    /// The exponent of each slot.
    exponents: Vec<u32>,
    /// The slot of exponent 2 i + 1.
    slots: Vec<u32>,
}

impl SlotMaps {
    pub(super) fn new(n: usize) -> Self {
        let slots: Vec<u32> = (0..n as u32).map(|i| i.reverse_bits() >> (u32::BITS - n.ilog2())).collect();
        Self { exponents: slots.iter().map(|reversed| 2 * reversed + 1).collect(), slots }
    }

    /// For each slot of an image under X -> X^`exponent` the slot of the argument.
    pub(super) fn fill(&self, exponent: u64, out: &mut Vec<u32>) {
        let (mask, exponent) = (2 * self.slots.len() as u32 - 1, exponent as u32);
        out.clear();
        out.extend(self.exponents.iter().map(|e| self.slots[((e.wrapping_mul(exponent) & mask) >> 1) as usize]));
    }

    /// The inverse of an odd exponent modulo 2n.
    pub(super) fn inverse(exponent: u64, n: usize) -> u64 {
        inverse_of_odd(exponent) & (2 * n as u64 - 1)
    }
}

/// Writes the values of one automorphism, as lines, into a matrix by first slots.
pub(super) fn put(matrix: &mut BlockDiagonal, band: usize, slots: &[u32], values: &[u32]) {
    for (strip, (values, slots)) in values.chunks_exact(LINE).zip(slots.chunks_exact(LINE)).enumerate() {
        let columns = matrix.columns_mut(strip, band);
        let column = slots[0] as usize % columns.len();
        columns[column].copy_from_slice(values);
    }
}

/// Reads what [`put`] writes.
pub(super) fn take(matrix: &BlockDiagonal, band: usize, slots: &[u32], values: &mut [u32]) {
    for (strip, (values, slots)) in values.chunks_exact_mut(LINE).zip(slots.chunks_exact(LINE)).enumerate() {
        let columns = matrix.columns(strip, band);
        values.copy_from_slice(&columns[slots[0] as usize % columns.len()]);
    }
}

/// For a tile and its columns c, by first slots, and lanes l: the column of (c, l) in the final order.
type Places = [[u8; LINE]; LINE];

/// Reverses four bits.
fn reversed(lane: usize) -> usize {
    const { assert!(LINE == 16) };
    [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15][lane]
}

/// Calls `each` with every tile of a band and its places.
fn for_tiles(matrix: &mut BlockDiagonal, band: usize, mut rearrange: impl FnMut(&mut [Line], &Places)) {
    let n = matrix.n();
    let exponent = |slot: usize| 2 * (slot.reverse_bits() >> (usize::BITS - n.ilog2())) + 1;
    for strip in 0..n / LINE {
        let columns = matrix.columns_mut(strip, band);
        let start = strip * LINE / columns.len() * columns.len();
        // Modulo 16 an odd number to the fourth power is 1.
        let inverse = exponent(strip * LINE).pow(3) % 16;
        let mut known: Option<(usize, Places)> = None;
        for (tile, lines) in columns.chunks_exact_mut(LINE).enumerate() {
            // Lane l of strip b has exponent e_b + N / 8 bitrev(l), which sigma takes to e_b' + N / 8 (bitrev(c) + sigma bitrev(l)),
            // where c is the column for lane 0: only sigma modulo 16 matters.
            let sigma = |c: usize| exponent(start + tile * LINE + c) * inverse % 16;
            let first = sigma(0);
            // From N = 128 on all columns of a tile have one sigma modulo 16.
            let places = match known {
                Some((sigma, places)) if n >= 8 * LINE && sigma == first => places,
                _ => std::array::from_fn(|c| {
                    std::array::from_fn(|l| reversed((reversed(c) + reversed(l) * sigma(c)) % LINE) as u8)
                }),
            };
            known = Some((first, places));
            rearrange(lines, &places);
        }
    }
}

/// Rearranges a band from the order by first slots to the final one.
pub(super) fn finish(matrix: &mut BlockDiagonal, band: usize) {
    for_tiles(matrix, band, |tile, places| {
        let mut lines = [[0; LINE]; LINE];
        lines.copy_from_slice(tile);
        for (line, places) in lines.iter().zip(places) {
            for (lane, (value, place)) in line.iter().zip(places).enumerate() {
                tile[usize::from(*place)][lane] = *value;
            }
        }
    });
}

/// Rearranges a band from the final order to that by first slots.
pub(super) fn by_first(matrix: &mut BlockDiagonal, band: usize) {
    for_tiles(matrix, band, |tile, places| {
        let mut lines = [[0; LINE]; LINE];
        lines.copy_from_slice(tile);
        for (line, places) in tile.iter_mut().zip(places) {
            for (lane, (value, place)) in line.iter_mut().zip(places).enumerate() {
                *value = lines[usize::from(*place)][lane];
            }
        }
    });
}

#[cfg(test)]
mod tests;
