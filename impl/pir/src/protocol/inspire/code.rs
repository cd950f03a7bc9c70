//! Bits as coefficients of a polynomial modulo p, in linear time.
//!
//! There are three codes. For p = 65537 a coefficient is a 16-bit word. For p = 65535 a coefficient is a word other than 65535; d - 1
//! words and 15 bits, 16 d - 1 bits together, still fit into d coefficients, because the places of the words 65535 form a chain. The last
//! coefficient is the 15 bits if no word is 65535; else it is 2^15 + the first such place, each such place holds 2^15 + the next, and
//! the last of them holds the 15 bits. For other p a coefficient is floor(log2 p) bits.

use lattice::wire::{Reader, Writer};

/// Bits of a word.
const WORD: usize = 16;
/// The word that is not a residue modulo 65535, which is that modulus too.
const MISSING: u32 = 65535;
/// The offset of the places in a chain, above all values of 15 bits.
const LINK: u32 = 1 << 15;

/// The encoding of bits as residues modulo p.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A fixed number of bits in each coefficient.
    Plain(usize),
    /// Words of 16 bits modulo 65535.
    Chained,
}

impl Code {
    /// The code for p = 3 to 65537.
    pub fn new(p: u32) -> Self {
        if p == MISSING { Self::Chained } else { Self::Plain(p.ilog2() as usize) }
    }

    /// Bits that `coefficients` (at most 2^15) hold.
    pub fn bits(self, coefficients: usize) -> usize {
        match self {
            Self::Plain(each) => each * coefficients,
            Self::Chained => (WORD * coefficients).saturating_sub(1),
        }
    }

    /// Coefficients that hold `bits` bits.
    pub fn coefficients(self, bits: usize) -> usize {
        match self {
            Self::Plain(each) => bits.div_ceil(each),
            Self::Chained => (bits + 1).div_ceil(WORD),
        }
    }

    /// The coefficients of a bit string, least significant bit first; bits past the end of `bytes` are zero.
    pub fn encode(self, bytes: &[u8], out: &mut [u32]) {
        match self {
            Self::Plain(WORD) => words(bytes, out),
            Self::Plain(each) => {
                let mut reader = Reader::of(bytes);
                out.iter_mut().for_each(|out| *out = reader.bits(each as u32) as u32);
            }
            Self::Chained => {
                words(bytes, out);
                link(out);
            }
        }
    }

    /// Inverse of [`Self::encode`]: `8 * out.len()` bits at most. Residues that encode nothing give arbitrary bits.
    pub fn decode(self, coefficients: &[u32], out: &mut [u8]) {
        let mut unlinked = Vec::new();
        let (each, words) = match self {
            Self::Plain(each) => (each, coefficients),
            Self::Chained => {
                unlinked.extend_from_slice(coefficients);
                unlink(&mut unlinked);
                (WORD, unlinked.as_slice())
            }
        };
        let mut writer = Writer::default();
        words.iter().for_each(|word| writer.write((*word).into(), each as u32));
        let bytes = writer.finish();
        let count = bytes.len().min(out.len());
        out[..count].copy_from_slice(&bytes[..count]);
        out[count..].fill(0);
    }
}

/// The 16-bit words of a bit string.
fn words(bytes: &[u8], out: &mut [u32]) {
    let pairs = bytes.chunks_exact(2);
    let rest = pairs.remainder().first().map(|byte| u32::from(*byte));
    let words = pairs.map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]])));
    let mut words = words.chain(rest);
    out.iter_mut().for_each(|out| *out = words.next().unwrap_or(0));
}

/// Replaces the words 65535; the last word is below 2^15.
fn link(words: &mut [u32]) {
    let Some((last, words)) = words.split_last_mut() else { return };
    let mut next = *last;
    // From the last place to the first, each receives the link to the one after it.
    for place in (0..words.len()).rev() {
        if words[place] == MISSING {
            words[place] = next;
            next = LINK + place as u32;
        }
    }
    *last = next;
}

/// Inverse of [`link`].
fn unlink(words: &mut [u32]) {
    let Some((last, words)) = words.split_last_mut() else { return };
    // Places must increase along a chain, so that the loop also ends for residues that encode nothing.
    let mut from = 0;
    while let Some(place) = last.checked_sub(LINK).map(|place| place as usize) {
        if place < from || place >= words.len() {
            *last %= LINK;
            return;
        }
        *last = std::mem::replace(&mut words[place], MISSING);
        from = place + 1;
    }
}

#[cfg(test)]
mod tests;
