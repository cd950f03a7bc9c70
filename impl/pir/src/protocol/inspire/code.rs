//! Bits as coefficients of a polynomial modulo p, in linear time.
//!
//! Three codes. For p = 65537 a coefficient is a 16-bit word. For p = 65535 all values but 65535 are words; d - 1 words and 15 bits
//! more, 16 d - 1 bits, fit into d coefficients all the same: the places of the words 65535 form a chain. The last coefficient
//! is the 15 bits where no word is 65535; else it is 2^15 + the first such place, each such place holds 2^15 + the next, and
//! the last of them the 15 bits. For other p a coefficient is floor(log2 p) bits.

/// Bits of a word.
const WORD: usize = 16;
/// The word that is no residue modulo 65535, and that modulus.
const MISSING: u32 = 65535;
/// Where the places in a chain begin, above all values of 15 bits.
const LINK: u32 = 1 << 15;

/// How bits become residues modulo p.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Each coefficient is so many bits.
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
                let mut reader = crate::core::wire::BitReader::new(bytes);
                out.iter_mut().for_each(|out| *out = reader.take(each as u32));
            }
            Self::Chained => {
                words(bytes, out);
                link(out);
            }
        }
    }

    /// Inverse of [`Self::encode`]: `8 * out.len()` bits at most. Residues that encode nothing give some bits.
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
        let mut writer = crate::core::wire::BitWriter::default();
        words.iter().for_each(|word| writer.put(*word, each as u32));
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
    // From the last place to the first, each holds what the one after it was reached by.
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
    // Every step of a chain goes up, so that a chain that is none ends too.
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn survives(p: u32, bytes: &[u8], coefficients: usize) {
        let code = Code::new(p);
        let bits = code.bits(coefficients).min(8 * bytes.len());
        let mut given = bytes[..bits.div_ceil(8)].to_vec();
        if !bits.is_multiple_of(8) {
            *given.last_mut().unwrap() &= (1 << (bits % 8)) - 1;
        }
        assert!(code.coefficients(bits) <= coefficients);
        let mut encoded = vec![0; code.coefficients(bits)];
        code.encode(&given, &mut encoded);
        assert!(encoded.iter().all(|coefficient| *coefficient < p), "{p}");
        let mut back = vec![1; given.len()];
        code.decode(&encoded, &mut back);
        assert_eq!(back, given, "{p}");
    }

    #[test]
    fn extreme_strings_survive() {
        for p in [3, 5, 65, 12289, 65535, 65537] {
            for coefficients in [1, 2, 3, 64, 2048] {
                for byte in [0, 1, 0x7f, 0x80, 0xfe, 0xff] {
                    survives(p, &[byte; 4100], coefficients);
                }
                for place in [0, 1, coefficients / 2, coefficients - 1] {
                    let mut bytes = vec![0x55; 2 * coefficients];
                    let start = bytes.len().min(2 * place);
                    bytes[start..].fill(0xff);
                    survives(p, &bytes, coefficients);
                    let end = bytes.len().min(2 * place + 2);
                    bytes[end..].fill(0);
                    survives(p, &bytes, coefficients);
                }
            }
        }
    }

    #[test]
    fn a_polynomial_modulo_65535_holds_one_bit_less_than_words_do() {
        assert_eq!(Code::new(65535).bits(2048), 32767);
        assert_eq!(Code::new(65537).bits(2048), 32768);
        assert_eq!((Code::new(65535).coefficients(15), Code::new(65535).coefficients(16)), (1, 2));
    }

    #[test]
    fn residues_that_encode_nothing_end_too() {
        // A chain that turns back, one that leaves the polynomial, one of all places.
        for coefficients in [vec![LINK, LINK, LINK], vec![7, 8, 65534], (1..40).map(|i| LINK + i).collect()] {
            Code::new(65535).decode(&coefficients, &mut [0; 100]);
        }
    }

    proptest! {
        #[test]
        fn strings_survive(bytes in proptest::collection::vec(prop_oneof![Just(0xffu8), any::<u8>()], 1..300), p in 3u32..=65537) {
            for p in [p, 65535, 65537] {
                let code = Code::new(p);
                let coefficients = code.coefficients(8 * bytes.len());
                survives(p, &bytes, coefficients);
                survives(p, &bytes, coefficients / 2 + 1);
            }
        }
    }
}
