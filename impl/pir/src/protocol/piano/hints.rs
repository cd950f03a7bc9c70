//! Sums of entries, and entries by position, one after the other.

use std::collections::HashMap;

/// Entries, or sums of entries, each of the same number of words.
pub struct Sums {
    words: Vec<u64>,
    each: usize,
}

impl Sums {
    /// `count` zeros of `each` words.
    pub fn zero(each: usize, count: usize) -> Self {
        Self { words: vec![0; each * count], each }
    }

    /// One of them.
    pub fn get(&self, i: usize) -> &[u64] {
        &self.words[i * self.each..(i + 1) * self.each]
    }

    /// One of them.
    pub fn get_mut(&mut self, i: usize) -> &mut [u64] {
        &mut self.words[i * self.each..(i + 1) * self.each]
    }

    /// All words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

/// Entries of the same number of words, by their positions.
pub struct Entries {
    numbers: HashMap<u32, u32>,
    words: Vec<u64>,
    each: usize,
}

impl Entries {
    /// An empty table for entries of `each` words.
    pub fn new(each: usize) -> Self {
        Self { numbers: HashMap::new(), words: Vec::new(), each }
    }

    /// Bytes that `count` entries of `bytes` bytes take at most: both tables double, and an eighth of the map stays free.
    pub fn bytes(count: u64, bytes: u64) -> u64 {
        9 * (count * 8 / 7 + 1).next_power_of_two() + count.next_power_of_two() * bytes
    }

    /// Adds an entry, or replaces it.
    pub fn insert(&mut self, position: u32, entry: &[u64]) {
        let next = self.numbers.len();
        let number = *self.numbers.entry(position).or_insert(next as u32) as usize;
        if number == next {
            self.words.extend_from_slice(entry);
        } else {
            self.words[number * self.each..][..self.each].copy_from_slice(entry);
        }
    }

    /// Whether the entry at that position is there.
    pub fn has(&self, position: u32) -> bool {
        self.numbers.contains_key(&position)
    }

    /// The entry at that position.
    pub fn get(&self, position: u32) -> Option<&[u64]> {
        self.numbers.get(&position).map(|&number| &self.words[number as usize * self.each..][..self.each])
    }

    /// The entry at that position.
    pub fn get_mut(&mut self, position: u32) -> Option<&mut [u64]> {
        self.numbers.get(&position).map(|&number| &mut self.words[number as usize * self.each..][..self.each])
    }

    /// Number of entries.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Positions, in order.
    pub fn positions(&self) -> Vec<u32> {
        let mut positions: Vec<u32> = self.numbers.keys().copied().collect();
        positions.sort_unstable();
        positions
    }
}

/// Adds `other` to `sum`, bit by bit modulo 2.
#[inline]
pub fn xor(sum: &mut [u64], other: &[u64]) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum ^= other);
}
