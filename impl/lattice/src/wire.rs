//! Bit-packed residues, the form of ciphertexts and keys on the wire.
//!
//! Residues modulo q take ceil(log2 q) bits each, least significant bit first, without gaps between the residues of one
//! message; the last byte is padded with zero bits.

use ring::{Poly, Ring, Seed, Word};

/// Bytes of a seed.
pub const SEED_BYTES: usize = 16;

/// The error about bytes that are not a message of the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The length is wrong.
    #[error("{found} bytes where the message has {expected}")]
    Length {
        /// Bytes the message has.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// A residue is out of range.
    #[error("residue {residue} is not below its modulus {modulus}")]
    Residue {
        /// The residue read.
        residue: u64,
        /// Its modulus.
        modulus: u64,
    },
    /// A padding bit is set.
    #[error("the padding after the last residue is not zero")]
    Padding,
}

/// Bits of a residue modulo `modulus` (at least 2): ceil(log2 modulus).
pub fn residue_bits(modulus: u64) -> u32 {
    u64::BITS - modulus.saturating_sub(1).leading_zeros()
}

/// Bytes of `count` residues of `bits` bits.
pub fn packed_bytes(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

/// Bits of one polynomial of `ring`: n residues of each prime.
pub fn poly_bits<W: Word>(ring: &Ring<W>) -> usize {
    ring.primes().iter().map(|&p| ring.n() * residue_bits(p) as usize).sum()
}

/// Bit-packs residues and other numbers.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
    pending: u128,
    filled: u32,
}

impl Writer {
    /// An empty message that will take `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), pending: 0, filled: 0 }
    }

    /// Appends residues of `bits` bits each (at most 64).
    pub fn write_all(&mut self, residues: &[impl Word], bits: u32) {
        for residue in residues {
            debug_assert!(bits == u64::BITS || residue.to_u64() >> bits == 0);
            self.write(residue.to_u64(), bits);
        }
    }

    /// Appends the low `bits` (1 to 64) of a number.
    #[inline]
    pub fn write(&mut self, number: u64, bits: u32) {
        self.pending |= u128::from(number & (u64::MAX >> (u64::BITS - bits))) << self.filled;
        self.filled += bits;
        while self.filled >= 32 {
            self.bytes.extend_from_slice(&(self.pending as u32).to_le_bytes());
            self.pending >>= 32;
            self.filled -= 32;
        }
    }

    /// Appends a seed.
    pub fn write_seed(&mut self, seed: &Seed) {
        self.write_all(&seed.0.map(u32::from), u8::BITS);
    }

    /// Appends a polynomial, limb by limb.
    pub fn write_poly<W: Word, D>(&mut self, ring: &Ring<W>, poly: &Poly<W, D>) {
        for (i, &prime) in ring.primes().iter().enumerate() {
            self.write_all(poly.limb(i), residue_bits(prime));
        }
    }

    /// The message.
    pub fn finish(mut self) -> Vec<u8> {
        let last = self.filled.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..last]);
        self.bytes
    }
}

/// Unpacks and checks residues.
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
}

impl<'a> Reader<'a> {
    /// A message that must have `expected` bytes.
    ///
    /// # Errors
    /// Another length.
    pub fn new(bytes: &'a [u8], expected: usize) -> Result<Self, WireError> {
        if bytes.len() != expected {
            return Err(WireError::Length { expected, found: bytes.len() });
        }
        Ok(Self::of(bytes))
    }

    /// A string of bits of any length.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `bits` bits, 1 to 64: zeros beyond the message.
    #[inline]
    pub fn bits(&mut self, bits: u32) -> u64 {
        let (first, shift) = (self.at / 8, self.at % 8);
        self.at += bits as usize;
        // Keys have millions of residues: one unaligned load each, but for the last ones.
        let word = match self.bytes.get(first..).and_then(<[u8]>::first_chunk) {
            Some(&bytes) if shift + bits as usize <= 64 => u64::from_le_bytes(bytes) >> shift,
            _ => (self.two_words(first) >> shift) as u64,
        };
        word & (u64::MAX >> (u64::BITS - bits))
    }

    /// The 16 bytes from `first` on, zeros beyond the message.
    #[cold]
    fn two_words(&self, first: usize) -> u128 {
        let left = self.bytes.get(first..).unwrap_or_default();
        let mut words = [0; 16];
        let count = left.len().min(words.len());
        words[..count].copy_from_slice(&left[..count]);
        u128::from_le_bytes(words)
    }

    /// The next `count` residues modulo `modulus`.
    ///
    /// # Errors
    /// A residue that is not below the modulus.
    pub fn residues<W: Word>(&mut self, count: usize, modulus: u64) -> Result<Vec<W>, WireError> {
        let mut out = vec![W::default(); count];
        self.fill(&mut out, modulus)?;
        Ok(out)
    }

    fn fill<W: Word>(&mut self, out: &mut [W], modulus: u64) -> Result<(), WireError> {
        let bits = residue_bits(modulus);
        for slot in out {
            let residue = self.bits(bits);
            if residue >= modulus {
                return Err(WireError::Residue { residue, modulus });
            }
            *slot = W::from_u64(residue);
        }
        Ok(())
    }

    /// The next 16 bytes, a seed.
    pub fn seed(&mut self) -> Seed {
        Seed([(); SEED_BYTES].map(|()| self.bits(u8::BITS) as u8))
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.bits(u64::BITS)
    }

    /// The next polynomial of `ring`, limb by limb.
    ///
    /// # Errors
    /// A residue that is not below its prime.
    pub fn poly<W: Word, D>(&mut self, ring: &Ring<W>) -> Result<Poly<W, D>, WireError> {
        let mut poly = ring.zero();
        for (i, &prime) in ring.primes().iter().enumerate() {
            self.fill(poly.limb_mut(i), prime)?;
        }
        Ok(poly)
    }

    /// Ends the message.
    ///
    /// # Errors
    /// Padding that is not zero.
    pub fn finish(self) -> Result<(), WireError> {
        let mut left = self.bytes.iter().skip(self.at / 8);
        let partial = left.next().is_some_and(|&byte| byte >> (self.at % 8) != 0);
        if partial || left.any(|&byte| byte != 0) {
            return Err(WireError::Padding);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
