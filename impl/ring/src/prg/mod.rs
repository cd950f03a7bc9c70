//! The pseudorandom generator: AES-128 in counter mode, with random access.

#[cfg(target_arch = "x86_64")]
mod vaes;

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Block};
use rand::rngs::OsRng;
use rand::{RngCore, TryRngCore};
use sha2::{Digest, Sha256};
#[cfg(target_arch = "x86_64")]
use vaes::Vaes;
use zeroize::Zeroize;

/// A 128-bit seed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(pub [u8; 16]);

/// The operating system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the operating system's random generator failed: {0}")]
pub struct OsRandomError(String);

impl Seed {
    /// A seed from the operating system's generator.
    pub fn from_os() -> Result<Self, OsRandomError> {
        let mut seed = [0; 16];
        OsRng.try_fill_bytes(&mut seed).map_err(|error| OsRandomError(error.to_string()))?;
        Ok(Self(seed))
    }

    /// A seed for one purpose: the first 16 bytes of SHA-256("pirlab seed\0" || seed || label). Different labels give
    /// independent seeds.
    pub fn derive(&self, label: &str) -> Self {
        let digest = Sha256::new().chain_update(b"pirlab seed\0").chain_update(self.0).chain_update(label).finalize();
        let mut seed = [0; 16];
        seed.copy_from_slice(&digest[..16]);
        Self(seed)
    }

    /// The generator of this seed.
    pub fn prg(&self) -> Prg {
        Prg::new(self.0)
    }
}

impl Zeroize for Seed {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Keeps seeds, which may be keys, out of logs.
impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// A stream of 2^64 bytes: byte `16 * i + j` is byte `j` of AES-128(seed, i as a big-endian 128-bit number).
#[derive(Clone)]
pub struct Prg {
    cipher: Aes128,
    #[cfg(target_arch = "x86_64")]
    wide: Option<Vaes>,
}

const BLOCK: usize = 16;
/// Blocks encrypted per call, 16 KiB: many, so that the cipher's parallel path runs at full length, yet in the first-level
/// cache.
const BATCH: usize = 1024;
/// The least number of blocks for the widest instructions, which make many at once.
#[cfg(target_arch = "x86_64")]
const FEWEST_WIDE: usize = 8;
/// Bytes a reader makes at a time.
const READ_BYTES: usize = 1024;

impl Prg {
    /// The generator with that key.
    pub fn new(seed: [u8; 16]) -> Self {
        Self {
            cipher: Aes128::new(&seed.into()),
            #[cfg(target_arch = "x86_64")]
            wide: Vaes::new(&seed),
        }
    }

    /// Encrypts the counters from `counter` on.
    fn blocks(&self, mut counter: u128, blocks: &mut [Block]) {
        for block in blocks.iter_mut() {
            *block = counter.to_be_bytes().into();
            counter = counter.wrapping_add(1);
        }
        self.cipher.encrypt_blocks(blocks);
    }

    /// Keystream from byte `offset` on. Whole blocks are made in place: counters are written where their ciphertexts belong.
    fn keystream(&self, offset: u128, out: &mut [u8]) {
        let (mut counter, skip) = (offset / BLOCK as u128, (offset % BLOCK as u128) as usize);
        let ragged = if skip == 0 { 0 } else { out.len().min(BLOCK - skip) };
        let (first, rest) = out.split_at_mut(ragged);
        if ragged > 0 {
            self.part(counter, skip, first);
            counter = counter.wrapping_add(1);
        }
        let rest = self.wide_steps(&mut counter, rest);
        let (blocks, last) = Block::slice_as_chunks_mut(rest);
        for batch in blocks.chunks_mut(BATCH) {
            self.blocks(counter, batch);
            counter = counter.wrapping_add(batch.len() as u128);
        }
        if !last.is_empty() {
            self.part(counter, 0, last);
        }
    }

    /// Fills the part of `out` that the widest instructions make, and returns the rest.
    #[cfg(target_arch = "x86_64")]
    fn wide_steps<'a>(&self, counter: &mut u128, out: &'a mut [u8]) -> &'a mut [u8] {
        let blocks = out.len() / BLOCK;
        match &self.wide {
            Some(wide) if blocks >= FEWEST_WIDE && (*counter as u64).checked_add(blocks as u64).is_some() => {
                let (now, rest) = out.split_at_mut(blocks * BLOCK);
                wide.counters(*counter, now);
                *counter += blocks as u128;
                rest
            }
            _ => out,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn wide_steps<'a>(&self, _: &mut u128, out: &'a mut [u8]) -> &'a mut [u8] {
        out
    }

    /// Some bytes of one block, from byte `skip` of it on.
    fn part(&self, counter: u128, skip: usize, out: &mut [u8]) {
        let mut block = [Block::default()];
        self.blocks(counter, &mut block);
        out.copy_from_slice(&block[0][skip..skip + out.len()]);
    }

    /// Encrypts each block where it stands, with the cipher itself: a pseudorandom function of inputs in any order, as long as none is also
    /// a counter of the stream that is used.
    pub fn permute(&self, blocks: &mut [[u8; BLOCK]]) {
        self.cipher.encrypt_blocks(Block::cast_slice_from_core_mut(blocks));
    }

    /// Fills `out` with the bytes of the stream from `byte_offset` on.
    pub fn fill_at(&self, byte_offset: u64, out: &mut [u8]) {
        self.keystream(u128::from(byte_offset), out);
    }

    /// Fills `out` with the 32-bit little-endian words of the stream from word `word_offset` on (byte `4 * word_offset`).
    pub fn fill_u32_at(&self, word_offset: u64, out: &mut [u32]) {
        self.keystream(u128::from(word_offset) * 4, bytemuck::cast_slice_mut(out));
        if cfg!(target_endian = "big") {
            out.iter_mut().for_each(|word| *word = u32::from_le(*word));
        }
    }

    /// Fills `out` with the bytes of one of 2^64 streams, which do not overlap, from `byte_offset` on: stream `s` begins at byte
    /// `s * 2^64` of the cipher's whole keystream, so stream 0 is that of [`Self::fill_at`].
    pub fn fill_stream_at(&self, stream: u64, byte_offset: u64, out: &mut [u8]) {
        self.keystream(u128::from(stream) << 64 | u128::from(byte_offset), out);
    }

    /// A sequential reader of the stream from byte 0 on, for the samplers.
    pub fn rng(&self) -> PrgRng {
        PrgRng { prg: self.clone(), next: 0, buffer: [0; READ_BYTES], used: READ_BYTES }
    }
}

/// The stream of a [`Prg`] as a random number generator.
#[derive(Clone)]
pub struct PrgRng {
    prg: Prg,
    next: u64,
    buffer: [u8; READ_BYTES],
    used: usize,
}

impl PrgRng {
    #[inline]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        if let Some(bytes) = self.buffer.get(self.used..self.used + N) {
            out.copy_from_slice(bytes);
            self.used += N;
        } else {
            self.fill_bytes(&mut out);
        }
        out
    }
}

impl RngCore for PrgRng {
    #[inline]
    fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    #[inline]
    fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn fill_bytes(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.used == self.buffer.len() {
                self.prg.fill_at(self.next, &mut self.buffer);
                self.next = self.next.wrapping_add(self.buffer.len() as u64);
                self.used = 0;
            }
            let taken = out.len().min(self.buffer.len() - self.used);
            let (now, later) = out.split_at_mut(taken);
            now.copy_from_slice(&self.buffer[self.used..self.used + taken]);
            self.used += taken;
            out = later;
        }
    }
}

#[cfg(test)]
mod tests;
