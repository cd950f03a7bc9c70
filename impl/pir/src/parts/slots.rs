//! Entries of items as the values of slots.

use bfv::Scheme;
use lattice::wire::{Reader, Writer};
use ring::{Ntt, Poly};

use crate::core::Result;

/// Reads entry number `entry`, of `width` bits, of an item of `bits` bits as the words of a slot's value; zeros beyond the item.
pub fn read_entry((item, bits): (&[u8], u64), width: u32, entry: usize, value: &mut [u64]) {
    let first = entry as u64 * u64::from(width);
    value.fill(0);
    let bits = u64::from(width).min(bits.saturating_sub(first));
    if bits > 0 {
        let mut input = Reader::of(&item[(first / 8) as usize..]);
        if !first.is_multiple_of(8) {
            input.bits((first % 8) as u32);
        }
        read_value(&mut input, bits as u32, value);
    }
}

/// Reads the next bits as the words of a number.
pub fn read_value(input: &mut Reader, mut bits: u32, value: &mut [u64]) {
    for word in value {
        let here = bits.min(u64::BITS);
        if here > 0 {
            *word = input.bits(here);
        }
        bits -= here;
    }
}

/// Writes the lowest `width` bits of a number.
pub fn write_value(out: &mut Writer, value: &[u64], width: u32) {
    let mut left = width;
    for word in value {
        let bits = left.min(u64::BITS);
        if bits > 0 {
            out.write(*word, bits);
        }
        left -= bits;
    }
}

/// The plaintext of these values, ready for products.
pub fn plaintext(scheme: &Scheme<u32>, values: &[u64]) -> Result<Poly<u32, Ntt>> {
    Ok(scheme.prepare(&scheme.modulus().encode(values)?)?)
}

/// The values of a plaintext that is ready for products: inverse of [`plaintext`].
pub fn values(scheme: &Scheme<u32>, plaintext: Poly<u32, Ntt>) -> Result<Vec<u64>> {
    let ring = scheme.ring();
    let mut coefficients = vec![0; ring.n()];
    ring.rns().compose_centred_wrapping(ring.inverse(plaintext).as_slice(), &mut coefficients);
    let short: Vec<i64> = coefficients.into_iter().map(|x| x as i64).collect();
    Ok(scheme.modulus().decode(&short)?)
}
