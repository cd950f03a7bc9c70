//! From records to polynomials in the NTT domain, block by block.

use std::ops::Range;
use std::sync::Arc;

use lattice::wire::Writer;
use ring::{Ntt, Poly, PolyMatrix, Ring};

use super::select::matrix_ring;
use super::{Layout, Place};
use crate::core::threads::side_by_side;
use crate::core::{Context, Database, Error, Record, Result, copy_bits, put_bits};

/// Columns and rows whose polynomials are made before they are written: they fit into the second-level cache.
const TILE: (usize, usize) = (4, 16);

/// Makes polynomials of records, for a matrix of that layout.
#[derive(Clone, Debug)]
pub struct Encoder {
    layout: Layout,
    ring: Arc<Ring<u32>>,
}

impl Encoder {
    /// An encoder into polynomials of `ring`, of the layout's degree.
    pub fn new(layout: Layout, ring: &Arc<Ring<u32>>) -> Self {
        Self { layout, ring: Arc::clone(ring) }
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The ring of the polynomials.
    pub(super) fn ring(&self) -> &Ring<u32> {
        &self.ring
    }

    /// Makes a block, which is all rows of a range of columns. The whole matrix is the block of all columns; a matrix that does not fit in
    /// memory is streamed block by block.
    pub fn block(&self, database: &Database, columns: Range<usize>, context: &Context) -> Result<PolyMatrix> {
        let mut matrix = PolyMatrix::zero(&self.ring, self.layout.matrix_rows(), columns.len())?;
        self.refill(&mut matrix, database, columns, context)?;
        Ok(matrix)
    }

    /// Overwrites a block by the same number of other columns. It needs no new memory, whose pages the system clears more slowly than
    /// polynomials are made.
    pub fn refill(
        &self,
        matrix: &mut PolyMatrix,
        database: &Database,
        columns: Range<usize>,
        context: &Context,
    ) -> Result<()> {
        let (layout, all) = (&self.layout, self.layout.matrix_columns());
        if columns.end > all || (matrix.rows(), matrix.columns()) != (layout.matrix_rows(), columns.len()) {
            return Err(Error::Workload(format!("columns {columns:?} of a matrix of {all} columns.")));
        }
        context.progress.begin("encode", layout.matrix_rows() as u64 * columns.len() as u64);
        for first_row in (0..layout.matrix_rows()).step_by(TILE.1) {
            let rows = first_row..layout.matrix_rows().min(first_row + TILE.1);
            for first in columns.clone().step_by(TILE.0) {
                let tile = first..columns.end.min(first + TILE.0);
                let places: Vec<_> =
                    rows.clone().flat_map(|row| tile.clone().map(move |column| (row, column))).collect();
                let entries = side_by_side(0..places.len(), context.threads, |i| {
                    let (row, column) = places[i];
                    Ok(((row, column - columns.start), self.polynomial(database, row, column)?))
                })?;
                matrix.set(&entries, context.threads)?;
                context.progress.advance(places.len() as u64);
            }
        }
        context.progress.end();
        Ok(())
    }

    /// The polynomial in that row and column of the matrix.
    pub fn polynomial(&self, database: &Database, row: usize, column: usize) -> Result<Poly<u32, Ntt>> {
        let layout = &self.layout;
        let (rows, columns) = (layout.matrix_rows(), layout.matrix_columns());
        if row >= rows || column >= columns {
            return Err(Error::Workload(format!("row {row}, column {column} of a matrix of {rows} x {columns}.")));
        }
        let (part, column) = (column / layout.columns, column % layout.columns);
        let (row, stacked) = (row / layout.dimensions.stacked, row % layout.dimensions.stacked);
        let (cell, first) = (
            ((row as u64) << layout.column_bits) + column as u64,
            (part * layout.dimensions.stacked + stacked) * layout.slots_per_polynomial(),
        );
        let mut coefficients = vec![0i32; layout.dimensions.degree];
        let (mut scratch, mut bytes) = (Vec::new(), vec![0; layout.dimensions.slot_bits().div_ceil(8) as usize]);
        for position in 0..layout.positions() {
            let item = (cell << layout.position_bits) + position as u64;
            for slot in 0..layout.slots_per_polynomial() {
                let Some((start, count)) = layout.slot_bits_of(item, first + slot) else { continue };
                database.read_bits(start, count, &mut scratch, &mut bytes)?;
                self.write_slot(&bytes, position + slot * layout.positions(), &mut coefficients);
            }
        }
        Ok(self.ring.forward(self.ring.from_signed_i32(&coefficients)))
    }

    /// Cuts a slot's bytes into digits from -p/2 to p/2, least significant bit first, and writes them as the slot's coefficients.
    fn write_slot(&self, bytes: &[u8], slot: usize, coefficients: &mut [i32]) {
        let width = self.layout.dimensions.plain_bits;
        let (mask, half) = ((1u64 << width) - 1, 1i32 << (width - 1));
        let (mut pending, mut filled, mut bytes) = (0u64, 0, bytes.iter());
        for out in coefficients[slot..].iter_mut().step_by(self.layout.dimensions.slots()) {
            while filled < width {
                pending |= u64::from(bytes.next().copied().unwrap_or(0)) << filled;
                filled += 8;
            }
            let digit = (pending & mask) as i32;
            *out = if digit >= half { digit - (1 << width) } else { digit };
            pending >>= width;
            filled -= width;
        }
    }

    /// The bytes of a slot with those digits modulo p.
    pub(super) fn slot_bytes(width: u32, digits: impl Iterator<Item = u32>) -> Vec<u8> {
        let mut writer = Writer::default();
        digits.for_each(|digit| writer.write(digit.into(), width));
        writer.finish()
    }

    /// Replaces a record in the whole matrix.
    pub fn change(&self, matrix: &mut PolyMatrix, index: u64, record: &Record) -> Result<()> {
        let layout = &self.layout;
        let (place, slot_bits) = (layout.place(index), layout.dimensions.slot_bits());
        let width = layout.dimensions.plain_bits;
        for number in 0..layout.polynomials() {
            let (row, column) = layout.polynomial(&place, number);
            let mut coefficients = self.coefficients(matrix, (row, column))?;
            for slot in 0..layout.slots_per_polynomial() {
                let start = (number * layout.slots_per_polynomial() + slot) as u64 * slot_bits;
                if start + slot_bits <= place.first_bit || start >= place.first_bit + layout.shape.record_bits {
                    continue;
                }
                let at = place.position + slot * layout.positions();
                let digits = coefficients[at..].iter().step_by(layout.dimensions.slots()).map(|&x| x as u32);
                let mut bytes = Self::slot_bytes(width, digits);
                // This slot's part of the record: bits of the record from `from` on are bits of the slot from `to` on.
                let (from, to) = (start.saturating_sub(place.first_bit), place.first_bit.saturating_sub(start));
                let count = (layout.shape.record_bits - from).min(slot_bits - to);
                put_bits(record, from, count, &mut bytes, to);
                self.write_slot(&bytes, at, &mut coefficients);
            }
            let poly = self.ring.forward(self.ring.from_signed_i32(&coefficients));
            matrix.set(&[((row, column), poly)], 1)?;
        }
        Ok(())
    }

    /// The coefficients of a stored polynomial, as small integers.
    fn coefficients(&self, matrix: &PolyMatrix, (row, column): (usize, usize)) -> Result<Vec<i32>> {
        Ok(self.small(&matrix.get(row, column)?)?.into_iter().map(|digit| digit as i32).collect())
    }

    /// The centred coefficients of a polynomial whose coefficients have as many bits as those of the database.
    pub(super) fn small(&self, poly: &Poly<u32, Ntt>) -> Result<Vec<i64>> {
        let (mut modulus, mut primes) = (1u64, 0);
        while modulus >> (self.layout.dimensions.plain_bits + 1) == 0 && primes < self.ring.primes().len() {
            modulus *= self.ring.primes()[primes];
            primes += 1;
        }
        // As few primes as tell them apart.
        let ring = matrix_ring(&self.ring, primes)?;
        let (mut few, mut residues) = (ring.zero(), vec![0; ring.n()]);
        few.limbs_mut().zip(poly.limbs()).for_each(|(few, limb)| few.copy_from_slice(limb));
        ring.compose_u64(&ring.inverse(few), &mut residues);
        let centred = |x: u64| if x > modulus / 2 { x as i64 - modulus as i64 } else { x as i64 };
        Ok(residues.into_iter().map(centred).collect())
    }

    /// The record of an item's slots, given by their digits modulo p, slot after slot.
    pub fn record(layout: &Layout, place: &Place, slots: &[Vec<u64>]) -> Record {
        let mut bits = Writer::default();
        let digits = slots.iter().flatten();
        digits.for_each(|&digit| bits.write(digit, layout.dimensions.plain_bits));
        let bytes = bits.finish();
        let mut record = vec![0; layout.shape.record_bytes()];
        let (byte, shift) = ((place.first_bit / 8) as usize, (place.first_bit % 8) as u32);
        copy_bits(&bytes[byte..], shift, layout.shape.record_bits as usize, &mut record);
        record
    }
}
