//! Whitening: before it is encoded, every polynomial's bit string is added (XOR) to a stream of the public seed, which clients remove
//! again.
//!
//! Whatever the records, the interpolations of whitened values are uniform modulo p: one entry in 65537 is 2^15, which a matrix of 16 bits
//! must list, and no two columns agree, whose packing errors would add up. This holds for databases that do not depend on the seed.
//! Whitening hides nothing.

use ring::{Prg, Seed};

use super::layout::Layout;

/// The streams of a database: one for each polynomial of each item.
#[derive(Clone)]
pub struct Whitening {
    prg: Prg,
    planes: u64,
    /// Bits that the used coefficients of a polynomial hold.
    bits: usize,
}

impl Whitening {
    /// The streams of `seed`.
    pub fn new(layout: &Layout, seed: Seed) -> Self {
        Self { prg: seed.prg(), planes: layout.planes as u64, bits: layout.code.bits(layout.used) }
    }

    /// Bytes of a polynomial's bit string.
    pub fn bytes(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// Adds the stream of a polynomial to its bit string, or removes it; the rest of `string` is unchanged.
    ///
    /// # Panics
    /// If `string` is shorter than the polynomial's.
    pub fn apply(&self, item: u64, plane: usize, string: &mut [u8]) {
        let mut stream = vec![0; self.bytes()];
        self.prg.fill_stream_at(item * self.planes + plane as u64, 0, &mut stream);
        if !self.bits.is_multiple_of(8)
            && let Some(last) = stream.last_mut()
        {
            *last &= (1 << (self.bits % 8)) - 1;
        }
        string[..stream.len()].iter_mut().zip(&stream).for_each(|(byte, stream)| *byte ^= stream);
    }
}
