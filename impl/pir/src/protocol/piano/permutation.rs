//! The public pseudorandom permutation under which entries are stored: queries for any records then fall into chunks as random ones do.

use ring::{Prg, Seed};

/// Rounds of the Feistel network, an even number.
const ROUNDS: u64 = 8;
/// Numbers that are permuted together.
const TOGETHER: usize = 256;

/// A permutation of the numbers below a bound: a Feistel network of AES-128 on the least power of two that is not below it, applied until
/// the number is below the bound.
pub struct Permutation {
    prg: Prg,
    /// Bits of the low part, before an even round and before an odd one: together those of a number.
    low_bits: [u32; 2],
    bound: u64,
}

impl Permutation {
    /// The permutation of the numbers below `bound`, at least 2, that the seed decides.
    pub fn new(seed: &Seed, bound: u64) -> Self {
        let bits = u64::BITS - (bound - 1).leading_zeros();
        Self { prg: seed.derive("piano permutation").prg(), low_bits: [bits / 2, bits.div_ceil(2)], bound }
    }

    /// The image of a number.
    pub fn apply(&self, number: u64) -> u64 {
        let mut numbers = [number];
        self.apply_each(&mut numbers);
        numbers[0]
    }

    /// Replaces each number by its image.
    pub fn apply_each(&self, numbers: &mut [u64]) {
        numbers.chunks_mut(TOGETHER).for_each(|numbers| self.network(numbers));
        for number in numbers {
            while *number >= self.bound {
                self.network(std::slice::from_mut(number));
            }
        }
    }

    /// The network on at most [`TOGETHER`] numbers.
    fn network(&self, numbers: &mut [u64]) {
        let mut blocks = [[0; 16]; TOGETHER];
        let blocks = &mut blocks[..numbers.len()];
        for round in 0..ROUNDS {
            let [low, high] = [0, 1].map(|other| self.low_bits[(round as usize + other) % 2]);
            let low_part = |number: u64| number & ((1 << low) - 1);
            for (block, number) in blocks.iter_mut().zip(&*numbers) {
                *block = (u128::from(round) << 64 | u128::from(low_part(*number))).to_le_bytes();
            }
            self.prg.permute(blocks);
            for (number, block) in numbers.iter_mut().zip(&*blocks) {
                let mask = u128::from_le_bytes(*block) as u64 & ((1 << high) - 1);
                *number = low_part(*number) << high | (*number >> low) ^ mask;
            }
        }
    }
}
