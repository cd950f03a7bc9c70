//! Sums of entries, one after the other.

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

/// Adds `other` to `sum`, bit by bit modulo 2.
#[inline]
pub fn xor(sum: &mut [u64], other: &[u64]) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum ^= other);
}
