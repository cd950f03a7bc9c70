//! Entries of 16-bit matrices: their changes, and matrices that are filled row by row.

use ring::ColumnMatrix;
use ring::matrix::column::LINE;

use crate::core::threads::side_by_side;
use crate::core::{Context, Result};

/// The change of consecutive entries of a row.
pub(crate) struct Difference {
    pub row: usize,
    pub first_column: usize,
    pub added: Vec<i32>,
}

/// A matrix of rows of values of which each `together` become `digits` entries, as `cut` says; `copies` times as many stand in a row.
pub(crate) fn digit_columns(
    values: &[u32],
    (copies, together, digits): (usize, usize, usize),
    degree: usize,
    cut: impl Fn(&[u32], &mut [i16]),
) -> Result<ColumnMatrix> {
    let (each, columns) = (copies * together, copies * digits);
    let mut matrix = ColumnMatrix::new(values.len() / each, columns, degree)?;
    let mut entries = vec![0i16; LINE * columns];
    for (start, values) in (0..).step_by(LINE).zip(values.chunks(LINE * each)) {
        values.chunks_exact(together).zip(entries.chunks_exact_mut(digits)).for_each(|(values, out)| cut(values, out));
        matrix.set_rows((start, values.len() / each), (0, columns), &entries, columns)?;
    }
    Ok(matrix)
}

/// Fills the first `rows` rows of a matrix, 32 at a time, by several threads: `entries(first, count)` returns those of `count` rows, row by
/// row.
pub(crate) fn fill_rows(
    matrix: &mut ColumnMatrix,
    (progress, rows): (&str, usize),
    context: &Context,
    entries: impl Fn(usize, usize) -> Result<Vec<i16>> + Sync,
) -> Result<()> {
    let columns = matrix.cols();
    let lines: Vec<(usize, usize)> = (0..rows).step_by(LINE).map(|start| (start, LINE.min(rows - start))).collect();
    context.progress.begin(progress, lines.len() as u64);
    for lines in lines.chunks(context.threads.max(1)) {
        let parts = side_by_side(lines.iter(), lines.len(), |&(start, rows)| entries(start, rows))?;
        for (&line, part) in lines.iter().zip(parts) {
            matrix.set_rows(line, (0, columns), &part, columns)?;
        }
        context.progress.advance(lines.len() as u64);
    }
    context.progress.end();
    Ok(())
}
