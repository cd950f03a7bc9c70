//! The pseudorandom generator: AES-128 in counter mode, with random access.

#[cfg(target_arch = "x86_64")]
#[cfg(target_arch = "x86_64")]
mod vaes;

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Block};
use rand::rngs::OsRng;
use rand::{RngCore, TryRngCore};
use sha2::{Digest, Sha256};
use vaes::Vaes;

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
/// Fewer blocks are not worth the widest instructions, which make many at once.
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

    /// Makes as much of the stream as the widest instructions do, and returns what is left of `out`.
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
    /// `s * 2^64` of all that the cipher gives, so stream 0 is that of [`Self::fill_at`].
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
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert_eq, proptest};

    /// NIST SP 800-38A, F.5.1: the key stream of CTR-AES128.
    #[test]
    fn keystream_equals_the_standard_vector() {
        let prg = Prg::new(0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes());
        let mut out = [0; 64];
        prg.blocks(0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff, Block::slice_as_chunks_mut(&mut out).0);
        let expected: [u128; 4] = [
            0xec8c_df73_9860_7cb0_f2d2_1675_ea9e_a1e4,
            0x362b_7c3c_6773_5163_18a0_77d7_fc50_73ae,
            0x6a2c_c378_7889_374f_beb4_c81b_17ba_6c44,
            0xe89c_399f_f0f1_98c6_d40a_31db_156c_abfe,
        ];
        for (block, expected) in out.chunks_exact(16).zip(expected) {
            assert_eq!(block, expected.to_be_bytes());
        }
    }

    /// The stream, its wide steps included, is the library's cipher applied to the counters one by one.
    #[test]
    fn keystream_is_the_encryption_of_counters() {
        for first in [0u128, 5, (1 << 32) - 3, u128::from(u64::MAX) - 100] {
            let mut prg = Prg::new([0x5a; 16]);
            let mut out = vec![0; 16 * 333 + 5];
            prg.keystream(first * 16, &mut out);
            for (i, block) in out.chunks(16).enumerate() {
                let mut expected = Block::from((first + i as u128).to_be_bytes());
                prg.cipher.encrypt_block(&mut expected);
                assert_eq!(block, &expected[..block.len()], "block {i} from {first}");
            }
            #[cfg(target_arch = "x86_64")]
            for wide in [prg.wide.map(Vaes::narrow), None] {
                prg.wide = wide;
                for len in [out.len(), 16 * 9, 16 * 16 + 3] {
                    let mut again = vec![0; len];
                    prg.keystream(first * 16, &mut again);
                    assert_eq!(again, out[..len], "{len} bytes from {first}");
                }
            }
        }
    }

    #[test]
    fn derived_seeds_differ_by_label_and_seed() {
        let seed = Seed([7; 16]);
        assert_eq!(seed.derive("a"), seed.derive("a"));
        assert_ne!(seed.derive("a"), seed.derive("b"));
        assert_ne!(seed.derive("a"), Seed([8; 16]).derive("a"));
    }

    #[test]
    fn streams_are_parts_of_the_counter_mode_stream() {
        let (prg, mut out, mut block) = (Prg::new([5; 16]), [0; 20], [Block::default(); 2]);
        prg.fill_stream_at(3, 8, &mut out);
        prg.blocks(3 << 60, &mut block);
        assert_eq!((&out[..8], &out[8..]), (&block[0][8..], &block[1][..12]));
        let (mut first, mut zeroth) = ([0; 40], [0; 40]);
        prg.fill_at(7, &mut first);
        prg.fill_stream_at(0, 7, &mut zeroth);
        assert_eq!(first, zeroth);
    }

    #[test]
    fn the_last_bytes_of_the_stream_are_reachable() {
        let mut out = [0; 3];
        Seed([1; 16]).prg().fill_at(u64::MAX - 3, &mut out);
    }

    proptest! {
        #[test]
        fn random_access_equals_the_sequential_stream(offset in 0usize..3000, len in 0usize..2000) {
            let prg = Prg::new([3; 16]);
            let mut all = vec![0; 5000];
            prg.rng().fill_bytes(&mut all);
            let mut part = vec![0; len];
            prg.fill_at(offset as u64, &mut part);
            prop_assert_eq!(&part, &all[offset..offset + len]);
            let mut words = vec![0; len / 4];
            prg.fill_u32_at((offset / 4) as u64, &mut words);
            let start = offset / 4 * 4;
            for (word, four) in words.iter().zip(all[start..].chunks_exact(4)) {
                prop_assert_eq!(&word.to_le_bytes(), four);
            }
        }
    }
}
