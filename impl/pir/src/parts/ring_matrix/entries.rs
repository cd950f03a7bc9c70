//! Entries of 16-bit matrices: strings of bits cut into entries, matrices filled by lines of rows.

use std::ops::Range;

use lattice::wire::Writer;
use rayon::prelude::*;
use ring::ColumnMatrix;
use ring::matrix::column::LINE;

use crate::core::database::{Record, copy_bits};
use crate::core::error::Result;
use crate::core::protocol::Context;

/// What was added to consecutive entries of a row.
pub(crate) struct Difference {
    pub row: usize,
    pub first_column: usize,
    pub added: Vec<i32>,
}

/// Overwrites `bits` bits from bit `first` on of those columns' entries in a row, which have `width` bits and are stored centred.
pub(crate) fn replace_record(
    matrix: &mut ColumnMatrix,
    (row, columns): (usize, Range<usize>),
    (width, first): (u32, u64),
    record: &[u8],
    bits: u64,
) -> Result<Difference> {
    let (first_column, offset) = (columns.start, 1 << (width - 1));
    let old: Vec<i32> = columns.map(|column| matrix.get(row, column)).collect();
    let mut entries: Vec<u16> = old.iter().map(|entry| (entry + offset) as u16).collect();
    replace_bits(&mut entries, width, first, record, bits);
    let mut added = Vec::with_capacity(old.len());
    for ((column, entry), old) in (first_column..).zip(entries).zip(old) {
        let centred = i32::from(entry) - offset;
        matrix.set(row, column, centred)?;
        added.push(centred - old);
    }
    Ok(Difference { row, first_column, added })
}

/// Overwrites `bits` bits from bit `first` on of a string of entries of `width` bits.
fn replace_bits(entries: &mut [u16], width: u32, first: u64, record: &[u8], bits: u64) {
    for i in 0..bits {
        let at = first + i;
        let (entry, shift) = ((at / u64::from(width)) as usize, (at % u64::from(width)) as u32);
        let bit = u16::from(record[(i / 8) as usize] >> (i % 8) & 1);
        entries[entry] = entries[entry] & !(1 << shift) | bit << shift;
    }
}

/// The record of `bits` bits from bit `first` on of decrypted entries modulo 2^`width`, `offset` above what was stored.
pub(crate) fn read_record(entries: &[u64], width: u32, offset: i32, first: u64, bits: usize) -> Record {
    let offset = offset as u64;
    let mut writer = Writer::default();
    entries.iter().for_each(|entry| writer.write(entry + offset, width));
    let bytes = writer.finish();
    let mut record = vec![0; bits.div_ceil(8)];
    copy_bits(&bytes[(first / 8) as usize..], (first % 8) as u32, bits, &mut record);
    record
}

/// Fills the first `rows` rows of a matrix, 32 at a time, by several threads: `entries` gives those of so many rows from one on, row by
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
        let parts: Vec<Result<Vec<i16>>> = match lines {
            [(start, rows)] => vec![entries(*start, *rows)],
            several => several.par_iter().map(|&(start, rows)| entries(start, rows)).collect(),
        };
        for (&line, part) in lines.iter().zip(parts) {
            matrix.set_rows(line, (0, columns), &part?, columns)?;
        }
        context.progress.advance(lines.len() as u64);
    }
    context.progress.end();
    Ok(())
}
