//! Coefficients that are decomposed together, and the coins of these.

use crate::coins::Coins;

/// Coefficients whose carries share one word.
pub(crate) const BLOCK: usize = 64;
/// The most coefficients that are decomposed together: their planes stay in the first-level cache.
pub(crate) const TILE: usize = 2048;
/// Coefficients whose values below a bound are drawn together, whatever tile they are decomposed in; also the tile size of a
/// longer polynomial.
pub(crate) const UNIT: usize = 1024;

/// The coefficients of a tile of a polynomial. Stores are fastest if rows follow one another without gaps, as the rows of a whole
/// polynomial do. A longer polynomial has gaps in any case; larger tiles then gain nothing, and are slower if rows leave the caches.
pub(crate) fn tile(coefficients: usize) -> usize {
    if coefficients <= TILE { TILE } else { UNIT }
}

/// The values of one tile that are drawn below bounds.
#[derive(Clone, Copy)]
pub(crate) struct Draws<'a, W> {
    pub(crate) thresholds: &'a [W],
    pub(crate) dither: &'a [W],
}

/// The words of fair coins of one tile.
pub(crate) enum Words<'a> {
    Drawn(&'a [u64]),
    /// The words are drawn in order between rows of digits, whose stores complete while the cipher computes.
    Fresh {
        words: &'a mut [u64],
        drawn: usize,
        coins: &'a mut Coins,
    },
}

/// Words drawn at a time, which the widest cipher makes in one step.
const STEP: usize = 64;

impl Words<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Drawn(words) => words.len(),
            Self::Fresh { words, .. } => words.len(),
        }
    }

    /// All words, of which the first `count` at least, or all there are, have been drawn.
    #[inline]
    pub(crate) fn drawn(&mut self, count: usize) -> &[u64] {
        match self {
            Self::Drawn(words) => words,
            Self::Fresh { words, drawn, coins } => {
                // Draws a step ahead, so that no read waits for words just drawn.
                let until = (count + STEP).next_multiple_of(STEP).min(words.len());
                if *drawn < until {
                    coins.fill(&mut words[*drawn..until]);
                    *drawn = until;
                }
                words
            }
        }
    }
}

/// The row of words that holds the carries out of a digit below the top one.
pub(crate) fn carry_row(digit: usize) -> usize {
    digit + 1
}

/// The row of words that selects u - q.
pub(crate) const SELECT_ROW: usize = 0;

/// The digits of a tile: digit t of coefficient j goes to `digits[t * stride + start + j]`.
pub(crate) struct Rows<'a, D> {
    pub(crate) digits: &'a mut [D],
    pub(crate) stride: usize,
    pub(crate) start: usize,
}

impl<D> Rows<'_, D> {
    /// The digits from the tile's first on, rows `stride` apart.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn tile_rows(&mut self) -> &mut [D] {
        &mut self.digits[self.start..]
    }

    /// The part of row `t` that `coefficients` of the tile take.
    pub(crate) fn row(&mut self, t: usize, coefficients: usize) -> &mut [D] {
        let start = t * self.stride + self.start;
        &mut self.digits[start..start + coefficients]
    }
}
