//! Constant-weight codewords (Mahdavi, Kerschbaum; USENIX Security 2022): words of m bits of which k are one, in colexicographic order.
//!
//! Word i of weight k has its highest one in the highest place p with C(p, k) <= i, and the others are those of word i - C(p, k) of
//! weight k - 1. So a code of more bits begins with the words of a shorter one.

/// The number of ways to choose `k` of `n`; beyond 2^64 the largest number.
fn choose(n: u64, k: u64) -> u64 {
    // Every partial product is a number of ways, so that each division is exact.
    (0..k.min(n.saturating_add(1))).fold(1u64, |ways, i| {
        let next = u128::from(ways) * u128::from(n - i) / u128::from(i + 1);
        u64::try_from(next).unwrap_or(u64::MAX)
    })
}

/// The words of m bits of which k are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantWeight {
    /// m, bits of a word.
    pub bits: usize,
    /// k, ones of a word: from 1 to m.
    pub weight: usize,
}

impl ConstantWeight {
    /// The shortest code of that weight, at least 1, with at least `words` words.
    pub fn shortest(weight: usize, words: u64) -> Self {
        let (mut low, mut high) = (weight as u64, (weight as u64).max(1));
        while choose(high, weight as u64) < words {
            (low, high) = (high, high.saturating_mul(2));
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if choose(middle, weight as u64) < words { low = middle + 1 } else { high = middle }
        }
        Self { bits: high as usize, weight }
    }

    /// Number of words.
    pub fn words(self) -> u64 {
        choose(self.bits as u64, self.weight as u64)
    }

    /// The places of the ones of word `number`, below [`Self::words`], the highest first.
    pub fn ones(self, mut number: u64) -> Vec<usize> {
        let (mut ones, mut end) = (Vec::with_capacity(self.weight), self.bits as u64);
        for k in (1..=self.weight as u64).rev() {
            // The highest place below the last one with C(place, k) <= number; C(k - 1, k) is 0.
            let (mut low, mut high) = (k - 1, end - 1);
            while low < high {
                let middle = high - (high - low) / 2;
                if choose(middle, k) <= number { low = middle } else { high = middle - 1 }
            }
            number -= choose(low, k);
            ones.push(low as usize);
            end = low;
        }
        ones
    }

    /// The number of the word with ones in those places, the highest first: inverse of [`Self::ones`].
    pub fn number(self, ones: &[usize]) -> u64 {
        let weights = (1..=ones.len() as u64).rev();
        ones.iter().zip(weights).map(|(place, k)| choose(*place as u64, k)).sum()
    }
}

#[cfg(test)]
mod tests;
