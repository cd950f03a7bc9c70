//! Residues on the wire: those of several primes together, as one number below the product of these, so that they take less than a bit more than
//! the logarithm.

use lattice::wire::{Reader, WireError, Writer, residue_bits};
use ring::{Poly, Ring};

use crate::core::{Error, Result};

/// Primes whose product is below 2^126, in order; the product takes two words.
fn groups(primes: &[u64]) -> Vec<(std::ops::Range<usize>, u128)> {
    let mut groups: Vec<(std::ops::Range<usize>, u128)> = Vec::new();
    for (i, &prime) in primes.iter().enumerate() {
        match groups.last_mut() {
            Some((range, product)) if *product < 1 << 94 => {
                range.end = i + 1;
                *product *= u128::from(prime);
            }
            _ => groups.push((i..i + 1, prime.into())),
        }
    }
    groups
}

/// Bits of the low and of the high word of a number below the product, of 64 bits or fewer.
fn word_bits(product: u128) -> [u32; 2] {
    let bits = match u64::try_from(product) {
        Ok(product) => residue_bits(product),
        Err(_) => u128::BITS - (product - 1).leading_zeros(),
    };
    [bits.min(u64::BITS), bits.saturating_sub(u64::BITS)]
}

/// Bits of a coefficient.
pub fn coefficient_bits(primes: &[u64]) -> u64 {
    groups(primes).into_iter().flat_map(|(_, product)| word_bits(product)).map(u64::from).sum()
}

/// Bytes of a polynomial; its degree is a multiple of eight.
pub fn poly_bytes(degree: usize, primes: &[u64]) -> u64 {
    (degree as u64 * coefficient_bits(primes)).div_ceil(8)
}

/// Appends a polynomial.
pub fn write<D>(out: &mut Writer, ring: &Ring<u32>, poly: &Poly<u32, D>) {
    for (range, product) in groups(ring.primes()) {
        let [low, high] = word_bits(product);
        for i in 0..ring.n() {
            let digits = range.clone().rev().map(|limb| (ring.primes()[limb], poly.limb(limb)[i]));
            let number = digits.fold(0u128, |sum, (prime, residue)| sum * u128::from(prime) + u128::from(residue));
            out.write(number as u64, low);
            if high > 0 {
                out.write((number >> u64::BITS) as u64, high);
            }
        }
    }
}

/// The next polynomial of a message of that name.
///
/// # Errors
/// A number that is not below its product.
pub fn read<D>(input: &mut Reader, ring: &Ring<u32>, message: &'static str) -> Result<Poly<u32, D>> {
    let mut poly = ring.zero();
    for (range, product) in groups(ring.primes()) {
        let [low, high] = word_bits(product);
        for i in 0..ring.n() {
            let mut number = u128::from(input.bits(low));
            if high > 0 {
                number |= u128::from(input.bits(high)) << u64::BITS;
            }
            if number >= product {
                let (residue, modulus) = (number as u64, product as u64);
                return Err(Error::in_message(message)(WireError::Residue { residue, modulus }));
            }
            for limb in range.clone() {
                let prime = ring.primes()[limb];
                poly.limb_mut(limb)[i] = (number % u128::from(prime)) as u32;
                number /= u128::from(prime);
            }
        }
    }
    Ok(poly)
}
