//! The public pseudorandom permutation under which entries are stored: queries for any records then fall into chunks as random ones do.

use ring::{Prg, Seed};

/// Rounds of the Feistel network.
const ROUNDS: u64 = 8;

/// A permutation of the numbers below a bound: a Feistel network of AES-128 on the least power of four above it, applied until the number
/// is below the bound again.
pub struct Permutation {
    prg: Prg,
    half_bits: u32,
    bound: u64,
}

impl Permutation {
    /// The permutation of the numbers below `bound` that the seed decides.
    pub fn new(seed: &Seed, bound: u64) -> Self {
        let half_bits = (u64::BITS - (bound - 1).leading_zeros()).div_ceil(2).max(1);
        Self { prg: seed.derive("piano permutation").prg(), half_bits, bound }
    }

    /// Where `number` goes.
    pub fn apply(&self, number: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let mut value = number;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for round in 0..ROUNDS {
                let mut block = [(u128::from(round) << 64 | u128::from(right)).to_le_bytes()];
                self.prg.permute(&mut block);
                let word = u128::from_le_bytes(block[0]) as u64;
                (left, right) = (right, left ^ word & mask);
            }
            value = left << self.half_bits | right;
            if value < self.bound {
                return value;
            }
        }
    }
}
