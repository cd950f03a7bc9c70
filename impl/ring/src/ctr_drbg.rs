//! CTR_DRBG with AES-128 and no derivation function (NIST SP 800-90A Rev. 1, section 10.2.1), which expands a 32-byte seed.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Block};

/// Bytes of the seed: a key and a block.
pub const DRBG_SEED_BYTES: usize = 32;

/// Most bytes of one request: 2^19 bits (SP 800-90A, table 3).
const REQUEST_BYTES: usize = 1 << 16;

/// The generator. It is deterministic: a seed is sent instead of its expansion.
pub struct CtrDrbg {
    cipher: Aes128,
    counter: u128,
}

impl CtrDrbg {
    /// The generator of that seed and personalization string: different strings give different streams of one seed.
    pub fn new(seed: &[u8; DRBG_SEED_BYTES], personalization: &[u8; DRBG_SEED_BYTES]) -> Self {
        let mut drbg = Self { cipher: Aes128::new(&[0; 16].into()), counter: 0 };
        drbg.update(&std::array::from_fn(|i| seed[i] ^ personalization[i]));
        drbg
    }

    fn next(&mut self) -> [u8; 16] {
        self.counter = self.counter.wrapping_add(1);
        let mut block = Block::from(self.counter.to_be_bytes());
        self.cipher.encrypt_block(&mut block);
        block.into()
    }

    /// CTR_DRBG_Update.
    fn update(&mut self, data: &[u8; DRBG_SEED_BYTES]) {
        let (mut key, mut counter) = (self.next(), self.next());
        key.iter_mut().zip(&data[..16]).for_each(|(byte, data)| *byte ^= data);
        counter.iter_mut().zip(&data[16..]).for_each(|(byte, data)| *byte ^= data);
        self.cipher = Aes128::new(&key.into());
        self.counter = u128::from_be_bytes(counter);
    }

    /// The next bytes: a request for each 2^16 of them.
    pub fn fill(&mut self, out: &mut [u8]) {
        for request in out.chunks_mut(REQUEST_BYTES) {
            for part in request.chunks_mut(16) {
                part.copy_from_slice(&self.next()[..part.len()]);
            }
            self.update(&[0; DRBG_SEED_BYTES]);
        }
    }
}

#[cfg(test)]
mod tests;
