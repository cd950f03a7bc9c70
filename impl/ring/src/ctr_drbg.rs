//! CTR_DRBG with AES-128 and no derivation function (NIST SP 800-90A Rev. 1, section 10.2.1): what a 32-byte seed expands to.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Block};

/// Bytes of the seed: a key and a block.
pub const DRBG_SEED_BYTES: usize = 32;

/// Bytes of one request at most: 2^19 bits (SP 800-90A, table 3).
const REQUEST_BYTES: usize = 1 << 16;

/// The generator. Deterministic: seeds that travel in place of what they expand to.
pub struct CtrDrbg {
    cipher: Aes128,
    counter: u128,
}

impl CtrDrbg {
    /// The generator of that seed and personalization string: streams of one seed differ where these do.
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
mod tests {
    use super::*;

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
    }

    /// NIST CAVP, CTR_DRBG, AES-128 no df, no prediction resistance, no reseed, count 0: the second of two requests is what returns.
    #[test]
    fn output_equals_the_standard_vector() {
        let seed = bytes("ce50f33da5d4c1d3d4004eb35244b7f2cd7f2e5076fbf6780a7ff634b249a5fc");
        let mut drbg = CtrDrbg::new(&seed, &[0; 32]);
        let mut out = [0; 64];
        drbg.fill(&mut out);
        drbg.fill(&mut out);
        let expected: [u8; 64] = bytes(concat!(
            "6545c0529d372443b392ceb3ae3a99a30f963eaf313280f1d1a1e87f9db373d3",
            "61e75d18018266499cccd64d9bbb8de0185f213383080faddec46bae1f784e5a"
        ));
        assert_eq!(out, expected);
    }

    #[test]
    fn personalizations_make_streams_of_their_own() {
        let stream = |seed: u8, personalization: u8, bytes: usize| {
            let mut out = vec![0; bytes];
            CtrDrbg::new(&[seed; 32], &[personalization; 32]).fill(&mut out);
            out
        };
        assert_ne!(stream(1, 0, 40), stream(1, 1, 40));
        assert_ne!(stream(1, 0, 40), stream(2, 0, 40));
        // A prefix does not depend on how much is asked for, up to a request.
        assert_eq!(stream(1, 0, 40), stream(1, 0, 100)[..40]);
        // A second request goes on under another key.
        let long = stream(1, 0, (1 << 16) + 32);
        assert_ne!(long[1 << 16..], long[..32]);
    }
}
