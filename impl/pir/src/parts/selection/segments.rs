//! Rows that are selected a segment at a time; a segment has a matrix of plaintexts of its own.

use std::ops::Range;

use ring::{PolyMatrix, PolyPairs};

use crate::core::{Result, Turns};

/// Rows in segments.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    /// Rows of all segments.
    pub rows: usize,
    /// Rows of a segment; the last has what is left.
    pub each: usize,
}

impl Segments {
    /// Number of the segments.
    pub fn count(self) -> usize {
        self.rows.div_ceil(self.each)
    }

    /// The rows of a segment.
    pub fn rows_of(self, segment: usize) -> Range<usize> {
        let first = segment * self.each;
        first..self.rows.min(first + self.each)
    }

    /// The segment of a row, and the row's number in it.
    pub fn place(self, row: usize) -> (usize, usize) {
        (row / self.each, row % self.each)
    }

    /// Rows and columns of every segment's matrix, which has `times` rows for each of the segment's.
    pub fn matrices(self, times: usize, columns: usize) -> Vec<(usize, usize)> {
        (0..self.count()).map(|segment| (self.rows_of(segment).len() * times, columns)).collect()
    }
}

/// The sums over segments of matrices times the vectors of every query, in one pass over the plaintexts; `vectors` selects those of a segment.
pub fn sum_segments(
    segments: &[PolyMatrix],
    steps: &mut Turns,
    threads: usize,
    vectors: impl Fn(usize, &mut Turns) -> Result<Vec<PolyPairs>>,
) -> Result<Vec<PolyPairs>> {
    let mut sums = Vec::<PolyPairs>::new();
    for (segment, matrix) in segments.iter().enumerate() {
        let vectors = vectors(segment, steps)?;
        steps.time("answer_product", || {
            matrix.multiply_add(&vectors.iter().collect::<Vec<_>>(), 0..matrix.columns(), &mut sums, threads)
        })?;
    }
    Ok(sums)
}
