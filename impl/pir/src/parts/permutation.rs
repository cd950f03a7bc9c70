//! Public pseudorandom permutations of the numbers below a bound.

use ring::{Prg, Seed};

/// Rounds of the Feistel network, an even number.
const ROUNDS: u64 = 8;
/// Numbers that are permuted together.
const TOGETHER: usize = 256;
/// The lowest bit of a family member's number in a block, above that of the round.
const MEMBER_BIT: u32 = 67;

/// A family of permutations of the numbers below a bound: Feistel networks of AES-128 on the least power of two that is not below it,
/// applied until the number is below the bound.
#[derive(Clone)]
pub struct Permutations {
    prg: Prg,
    /// Bits of the low part, before an even round and before an odd one: together those of a number.
    low_bits: [u32; 2],
    bound: u64,
}

impl Permutations {
    /// The permutations of the numbers below `bound`, at least 1, that the seed decides.
    pub fn new(seed: &Seed, bound: u64) -> Self {
        let bits = u64::BITS - (bound - 1).leading_zeros();
        Self { prg: seed.prg(), low_bits: [bits / 2, bits.div_ceil(2)], bound }
    }

    /// The image of a number under a member of the family, below 2^61.
    pub fn apply(&self, member: u64, number: u64) -> u64 {
        let mut numbers = [number];
        self.apply_each(member, &mut numbers);
        numbers[0]
    }

    /// The number whose image under a member this is.
    pub fn invert(&self, member: u64, image: u64) -> u64 {
        let mut numbers = [image];
        loop {
            (0..ROUNDS).rev().for_each(|round| self.round::<true>(member, round, &mut numbers));
            if numbers[0] < self.bound {
                return numbers[0];
            }
        }
    }

    /// Replaces each number by its image under a member.
    pub fn apply_each(&self, member: u64, numbers: &mut [u64]) {
        numbers.chunks_mut(TOGETHER).for_each(|numbers| self.network(member, numbers));
        for number in numbers {
            while *number >= self.bound {
                self.network(member, std::slice::from_mut(number));
            }
        }
    }

    /// The network on at most [`TOGETHER`] numbers.
    fn network(&self, member: u64, numbers: &mut [u64]) {
        (0..ROUNDS).for_each(|round| self.round::<false>(member, round, numbers));
    }

    /// A round of the network, or its inverse: the low part goes up, and the high part down under a mask that the low part decides.
    fn round<const INVERSE: bool>(&self, member: u64, round: u64, numbers: &mut [u64]) {
        let mut blocks = [[0; 16]; TOGETHER];
        let blocks = &mut blocks[..numbers.len()];
        let [low, high] = [0, 1].map(|other| self.low_bits[(round as usize + other) % 2]);
        let part = |number: u64, bits: u32| number & ((1 << bits) - 1);
        for (block, number) in blocks.iter_mut().zip(&*numbers) {
            let kept = if INVERSE { *number >> high } else { part(*number, low) };
            *block = (u128::from(member) << MEMBER_BIT | u128::from(round) << 64 | u128::from(kept)).to_le_bytes();
        }
        self.prg.permute(blocks);
        for (number, block) in numbers.iter_mut().zip(&*blocks) {
            let mask = part(u128::from_le_bytes(*block) as u64, high);
            *number = if INVERSE {
                (part(*number, high) ^ mask) << low | *number >> high
            } else {
                part(*number, low) << high | (*number >> low) ^ mask
            };
        }
    }
}

#[cfg(test)]
mod tests;
