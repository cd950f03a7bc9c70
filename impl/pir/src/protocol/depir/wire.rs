//! Residues on the wire: those of several primes together, as one number below the product of these, so that they take less than a bit more than
//! the logarithm.

use std::ops::Range;

use lattice::wire::{Reader, Writer};
use ring::{Poly, Ring};

use crate::core::{Error, Result};

/// Words of 32 bits of the largest number: the residues of eight primes.
const WORDS: usize = 8;

/// A number, its lowest word first.
type Number = [u32; WORDS];

/// number * prime + residue.
fn append(number: &mut Number, prime: u64, residue: u32) {
    let mut carry = u64::from(residue);
    for word in number {
        carry += u64::from(*word) * prime;
        *word = carry as u32;
        carry >>= u32::BITS;
    }
}

/// The residue modulo a prime; the number becomes the quotient.
fn take(number: &mut Number, prime: u64) -> u32 {
    number.iter_mut().rev().fold(0, |rest: u64, word| {
        let wide = rest << u32::BITS | u64::from(*word);
        *word = (wide / prime) as u32;
        wide % prime
    }) as u32
}

/// Up to eight primes each, with the bits of a number below their product.
fn groups(primes: &[u64]) -> impl Iterator<Item = (Range<usize>, u32)> {
    (0..primes.len()).step_by(WORDS).map(|first| {
        let range = first..primes.len().min(first + WORDS);
        let mut largest = [0; WORDS];
        primes[range.clone()].iter().for_each(|prime| append(&mut largest, *prime, (prime - 1) as u32));
        let zeros = largest.iter().rev().take_while(|word| **word == 0).count();
        let bits = (WORDS - zeros) as u32 * u32::BITS;
        (range, bits - largest[WORDS - 1 - zeros].leading_zeros())
    })
}

/// Bits of each word of a number of that many bits.
fn word_bits(bits: u32) -> impl Iterator<Item = u32> {
    (0..bits).step_by(u32::BITS as usize).map(move |first| (bits - first).min(u32::BITS))
}

/// Bytes of a polynomial; its degree is a multiple of eight.
pub fn poly_bytes(degree: usize, primes: &[u64]) -> u64 {
    let bits: u64 = groups(primes).map(|(_, bits)| u64::from(bits)).sum();
    (degree as u64 * bits).div_ceil(8)
}

/// Appends a polynomial.
pub fn write<D>(out: &mut Writer, ring: &Ring<u32>, poly: &Poly<u32, D>) {
    for (range, bits) in groups(ring.primes()) {
        for i in 0..ring.n() {
            let mut number = [0; WORDS];
            for limb in range.clone().rev() {
                append(&mut number, ring.primes()[limb], poly.limb(limb)[i]);
            }
            number.iter().zip(word_bits(bits)).for_each(|(word, bits)| out.write(u64::from(*word), bits));
        }
    }
}

/// The next polynomial of a message of that name.
///
/// # Errors
/// A number that is not below its product.
pub fn read<D>(input: &mut Reader, ring: &Ring<u32>, message: &'static str) -> Result<Poly<u32, D>> {
    let mut poly = ring.zero();
    for (range, bits) in groups(ring.primes()) {
        for i in 0..ring.n() {
            let mut number = [0; WORDS];
            number.iter_mut().zip(word_bits(bits)).for_each(|(word, bits)| *word = input.bits(bits) as u32);
            for limb in range.clone() {
                poly.limb_mut(limb)[i] = take(&mut number, ring.primes()[limb]);
            }
            if number != [0; WORDS] {
                return Err(Error::message(
                    message,
                    format!("coefficient {i} is not below the product of its primes."),
                ));
            }
        }
    }
    Ok(poly)
}
