//! The interpolated database: its encoding, and changes of records in it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ring::matrix::column::{EXCESS, LINE};
use ring::{ColumnMatrix, Kernel, Modulus, Vectors};

use super::interpolation::Interpolation;
use super::layout::{Layout, Place};
use super::set::Set;
use super::whitening::Whitening;
use crate::core::{Change, Context, Database, Result, put_bits};
use crate::parts::ring_matrix::{Difference, fill_rows};

/// The centred coefficients of the interpolated polynomials, as rows of a matrix whose columns are the coefficients of the packed
/// outputs.
pub(super) struct Encoded {
    pub layout: Layout,
    pub matrix: ColumnMatrix,
    modulus: Modulus<u32>,
    params: Set,
    whitening: Whitening,
}

impl Encoded {
    /// Encodes a database, 32 rows at a time, by several threads.
    pub fn encode(
        params: &Set,
        layout: Layout,
        whitening: &Whitening,
        database: &Database,
        context: &Context,
    ) -> Result<Self> {
        let mut matrix = ColumnMatrix::new(layout.rows, layout.columns(), layout.degree)?;
        let modulus = Modulus::new(params.folding.plain_modulus)?;
        let empty = ColumnMatrix::new(1, 1, LINE)?;
        let mut encoded = Self { layout, matrix: empty, modulus, params: params.clone(), whitening: whitening.clone() };
        let excess = Mutex::new(Vec::new());
        fill_rows(&mut matrix, ("encode", layout.rows), context, |first_row, rows| {
            let mut listed = Vec::new();
            let entries = encoded.rows((first_row, rows), database, context.kernel, &mut listed)?;
            excess.lock().unwrap_or_else(PoisonError::into_inner).extend(listed);
            Ok(entries)
        })?;
        for (row, col) in excess.into_inner().unwrap_or_else(PoisonError::into_inner) {
            matrix.set(row, col, EXCESS)?;
        }
        encoded.matrix = matrix;
        Ok(encoded)
    }

    /// The entries of some rows, row by row. Entries of 2^15 are stored as 2^15 - 1 and listed by row and column.
    fn rows(
        &self,
        (first_row, rows): (usize, usize),
        database: &Database,
        kernel: Kernel,
        excess: &mut Vec<(usize, usize)>,
    ) -> Result<Vec<i16>> {
        let layout = &self.layout;
        let mut interpolation = self.interpolation(kernel)?;
        let mut entries = vec![0i16; rows * layout.columns()];
        let mut values = vec![0; layout.points * layout.degree];
        let (mut bytes, mut scratch) = (Vec::new(), Vec::new());
        let places = (first_row..first_row + rows).flat_map(|row| (0..layout.groups).map(move |group| (row, group)));
        let mut out = entries.chunks_exact_mut(values.len());
        for ((row, group), plane) in places.flat_map(|place| (0..layout.planes).map(move |plane| (place, plane))) {
            let first_col = layout.output(group, plane) * layout.degree;
            for (point, value) in values.chunks_exact_mut(layout.degree).enumerate() {
                let item = layout.item(Place { row, group, point });
                let (first, bits) = layout.stretch(item, plane);
                bytes.resize(bits.div_ceil(8), 0);
                database.read_bits(first, bits, &mut scratch, &mut bytes)?;
                bytes.resize(self.whitening.bytes(), 0);
                self.whitening.apply(item, plane, &mut bytes);
                encode_plane(layout, &bytes, value);
            }
            interpolation.interpolate(&mut values);
            if let Some(out) = out.next() {
                self.centre(&values, out, |col| excess.push((row, first_col + col)));
            }
        }
        Ok(entries)
    }

    fn interpolation(&self, kernel: Kernel) -> Result<Interpolation> {
        let vectors = Vectors::new(kernel)?;
        let Layout { degree, side, variables, .. } = self.layout;
        Ok(Interpolation::new(self.params.folding.interpolation, self.modulus, vectors, degree, (side, variables)))
    }

    /// The centred representatives of residues, from -p/2 to p/2. Those of 2^15 become 2^15 - 1 and are reported.
    fn centre(&self, residues: &[u32], out: &mut [i16], mut is_excess: impl FnMut(usize)) {
        let p = self.modulus.value() as i32;
        let mut largest = 0;
        for (out, residue) in out.iter_mut().zip(residues) {
            let residue = *residue as i32;
            let centred = if residue > p / 2 { residue - p } else { residue };
            largest = largest.max(centred);
            *out = centred.min(i16::MAX.into()) as i16;
        }
        if largest == EXCESS {
            let listed = residues.iter().enumerate().filter(|(_, residue)| **residue as i32 == EXCESS);
            listed.for_each(|(i, _)| is_excess(i));
        }
    }

    /// The coefficients modulo p of the polynomial in a plane at that place.
    pub fn values(&self, place: Place, plane: usize, kernel: Kernel) -> Result<Vec<u32>> {
        let (coefficients, mut interpolation) = (self.coefficients(place, plane), self.interpolation(kernel)?);
        Ok(interpolation.evaluate(&coefficients, place.point))
    }

    /// The interpolation in that row, group and plane, modulo p.
    fn coefficients(&self, place: Place, plane: usize) -> Vec<u32> {
        let (layout, p) = (&self.layout, i64::from(self.modulus.value()));
        let first_col = layout.output(place.group, plane) * layout.degree;
        let columns = first_col..first_col + layout.points * layout.degree;
        columns.map(|col| i64::from(self.matrix.get(place.row, col)).rem_euclid(p) as u32).collect()
    }

    /// Changes records; returns the changes of the polynomials by row.
    pub fn change(&mut self, changes: &[Change], kernel: Kernel) -> Result<Vec<Difference>> {
        let layout = self.layout;
        let mut items: BTreeMap<Place, Vec<(usize, &[u8])>> = BTreeMap::new();
        for (index, record) in changes {
            let (item, bit) = layout.find(*index);
            items.entry(layout.place(item)).or_default().push((bit, record));
        }
        let mut interpolation = self.interpolation(kernel)?;
        let mut differences = Vec::new();
        for (place, records) in items {
            for plane in 0..layout.planes {
                differences.push(self.change_plane(place, plane, &records, &mut interpolation)?);
            }
        }
        Ok(differences)
    }

    /// Changes one value of an interpolation. The polynomials are linear in the values: their change interpolates the value's change at its
    /// point and zeros elsewhere.
    fn change_plane(
        &mut self,
        place: Place,
        plane: usize,
        records: &[(usize, &[u8])],
        interpolation: &mut Interpolation,
    ) -> Result<Difference> {
        let (layout, p) = (self.layout, i64::from(self.modulus.value()));
        let first_col = layout.output(place.group, plane) * layout.degree;
        let columns = first_col..first_col + layout.points * layout.degree;
        let coefficients = self.coefficients(place, plane);
        let old = interpolation.evaluate(&coefficients, place.point);
        let mut bytes = vec![0; layout.plane_bits().div_ceil(8)];
        layout.code.decode(&old[..layout.used], &mut bytes);
        self.whitening.apply(layout.item(place), plane, &mut bytes);
        for (bit, record) in records {
            let first = plane * layout.plane_bits();
            let count = (layout.shape.record_bits as usize - first).min(layout.plane_bits());
            put_bits(record, first as u64, count as u64, &mut bytes, *bit as u64);
        }
        self.whitening.apply(layout.item(place), plane, &mut bytes);
        let mut added = vec![0; coefficients.len()];
        let value = &mut added[place.point * layout.degree..][..layout.degree];
        encode_plane(&layout, &bytes, value);
        for (value, old) in value.iter_mut().zip(&old) {
            *value = self.modulus.sub(*value, *old);
        }
        interpolation.interpolate(&mut added);
        let mut differences = Vec::with_capacity(added.len());
        for ((col, coefficient), added) in columns.zip(coefficients).zip(added) {
            let sum = i64::from(self.modulus.add(coefficient, added));
            let fresh = if sum > p / 2 { sum - p } else { sum } as i32;
            differences.push(fresh - self.matrix.get(place.row, col));
            self.matrix.set(place.row, col, fresh)?;
        }
        Ok(Difference { row: place.row, first_column: first_col, added: differences })
    }
}

/// The coefficients of a plane's bits.
fn encode_plane(layout: &Layout, bytes: &[u8], coefficients: &mut [u32]) {
    let (used, unused) = coefficients.split_at_mut(layout.used);
    layout.code.encode(bytes, used);
    unused.fill(0);
}
