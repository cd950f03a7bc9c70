//! AES-128 in counter mode, four blocks a register (VAES on AVX-512) or two (on AVX2): the bits of the `aes` crate, which encrypts
//! blocks that lie in memory; here counters never leave the registers, which is more than twice as fast.

use std::arch::x86_64::*;

use zeroize::Zeroize;

/// The round keys of a processor that has the instructions, wiped when dropped.
#[derive(Clone)]
pub(crate) struct Vaes {
    keys: [__m128i; 11],
    /// Registers have 512 bits, else 256.
    wide: bool,
}

impl Drop for Vaes {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

/// Bytes of a block.
const BLOCK: usize = 16;
/// Registers in flight, to cover the latency of a round.
const REGISTERS: usize = 8;

impl Vaes {
    /// The expanded key, if the processor has AES-NI, VAES, and AVX-512 F and BW or AVX2.
    pub(crate) fn new(key: &[u8; 16]) -> Option<Self> {
        let present =
            is_x86_feature_detected!("aes") && is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx2");
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        // SAFETY: AES-NI is there.
        present.then(|| Self { keys: unsafe { expand(key) }, wide })
    }

    /// With registers of 256 bits.
    #[cfg(test)]
    pub(crate) fn narrow(self) -> Self {
        Self { wide: false, ..self }
    }

    /// Sets block i of `out` to the encryption of `counter` + i as a big-endian number. `out` is a whole number of blocks;
    /// the counter's low 64 bits must not overflow.
    pub(crate) fn counters(&self, counter: u128, out: &mut [u8]) {
        assert!(out.len().is_multiple_of(BLOCK));
        assert!((counter as u64).checked_add((out.len() / BLOCK) as u64).is_some());
        // SAFETY: `new` saw the features.
        unsafe { if self.wide { counters512(&self.keys, counter, out) } else { counters256(&self.keys, counter, out) } }
    }
}

/// The key schedule of FIPS 197.
#[target_feature(enable = "aes")]
fn expand(key: &[u8; 16]) -> [__m128i; 11] {
    #[target_feature(enable = "aes")]
    fn next(key: __m128i, assist: __m128i) -> __m128i {
        let mut sum = key;
        for _ in 0..3 {
            sum = _mm_xor_si128(_mm_slli_si128::<4>(sum), key);
        }
        _mm_xor_si128(sum, _mm_shuffle_epi32::<0xff>(assist))
    }
    // SAFETY: 16 bytes.
    let mut keys = [unsafe { _mm_loadu_si128(key.as_ptr().cast()) }; 11];
    macro_rules! rounds {
        ($($round:literal: $constant:literal),*) => {
            $(keys[$round] = next(keys[$round - 1], _mm_aeskeygenassist_si128::<$constant>(keys[$round - 1]));)*
        };
    }
    rounds!(1: 1, 2: 2, 3: 4, 4: 8, 5: 16, 6: 32, 7: 64, 8: 128, 9: 0x1b, 10: 0x36);
    keys
}

#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn counters512(keys: &[__m128i; 11], counter: u128, out: &mut [u8]) {
    const LANES: usize = 4;
    let keys = keys.map(|key| _mm512_broadcast_i32x4(key));
    let (high, low) = ((counter >> 64) as i64, counter as i64);
    // Little-endian counters, whose bytes are reversed block by block.
    let reverse = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    let mut next = _mm512_add_epi64(
        _mm512_set_epi64(high, low, high, low, high, low, high, low),
        _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0),
    );
    let step = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let mut make = || {
        let mut blocks = [_mm512_setzero_si512(); REGISTERS];
        for block in &mut blocks {
            *block = _mm512_xor_si512(_mm512_shuffle_epi8(next, reverse), keys[0]);
            next = _mm512_add_epi64(next, step);
        }
        for key in &keys[1..10] {
            for block in &mut blocks {
                *block = _mm512_aesenc_epi128(*block, *key);
            }
        }
        blocks.map(|block| _mm512_aesenclast_epi128(block, keys[10]))
    };
    let (steps, rest) = out.as_chunks_mut::<{ BLOCK * LANES * REGISTERS }>();
    for out in steps {
        for (block, out) in make().into_iter().zip(out.chunks_exact_mut(BLOCK * LANES)) {
            // SAFETY: 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), block) };
        }
    }
    if !rest.is_empty() {
        for (block, out) in make().into_iter().zip(rest.chunks_mut(BLOCK * LANES)) {
            let inside = 0xff >> (8 - out.len() / 8);
            // SAFETY: the mask covers what the chunk has.
            unsafe { _mm512_mask_storeu_epi64(out.as_mut_ptr().cast(), inside, block) };
        }
    }
}

/// As [`counters512`].
#[target_feature(enable = "avx2,vaes")]
fn counters256(keys: &[__m128i; 11], counter: u128, out: &mut [u8]) {
    const LANES: usize = 2;
    let keys = keys.map(|key| _mm256_broadcastsi128_si256(key));
    let (high, low) = ((counter >> 64) as i64, counter as i64);
    let reverse = _mm256_broadcastsi128_si256(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    let mut next = _mm256_add_epi64(_mm256_set_epi64x(high, low, high, low), _mm256_set_epi64x(0, 1, 0, 0));
    let step = _mm256_set_epi64x(0, 2, 0, 2);
    let mut make = || {
        let mut blocks = [_mm256_setzero_si256(); REGISTERS];
        for block in &mut blocks {
            *block = _mm256_xor_si256(_mm256_shuffle_epi8(next, reverse), keys[0]);
            next = _mm256_add_epi64(next, step);
        }
        for key in &keys[1..10] {
            for block in &mut blocks {
                *block = _mm256_aesenc_epi128(*block, *key);
            }
        }
        blocks.map(|block| _mm256_aesenclast_epi128(block, keys[10]))
    };
    let (steps, rest) = out.as_chunks_mut::<{ BLOCK * LANES * REGISTERS }>();
    for out in steps {
        for (block, out) in make().into_iter().zip(out.chunks_exact_mut(BLOCK * LANES)) {
            // SAFETY: 32 bytes.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), block) };
        }
    }
    if !rest.is_empty() {
        let mut made = [0; BLOCK * LANES * REGISTERS];
        for (block, out) in make().into_iter().zip(made.chunks_exact_mut(BLOCK * LANES)) {
            // SAFETY: 32 bytes.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), block) };
        }
        rest.copy_from_slice(&made[..rest.len()]);
    }
}
