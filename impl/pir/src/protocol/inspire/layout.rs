//! The layout of a database as rows of interpolated polynomials.

use lattice::wire::packed_bytes;
use serde_json::json;

use super::code::Code;
use super::interpolation::Interpolate;
use super::set::{Body, Folding, QueryCoefficients, Set, side_of};
use crate::core::plan::operations;
use crate::core::{Error, Result, Shape};

/// The rows may exceed the set's by this part before the points or the answers are doubled. Databases modulo 65535 need at most 1/63
/// more rows than a power of two.
const SPARE_ROWS: u64 = 16;

/// Largest number of columns, outputs times degree. It catches mistakes; larger layouts would fit the address space.
const MAX_OUTPUTS: u64 = 1 << 20;

/// The layout of a database. An item is a polynomial of whole records, or the polynomials (planes) of one record. Item
/// (row * groups + group) * points + j is the value at point j of the polynomials over R_p in that row and group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The database.
    pub shape: Shape,
    /// Ring degree d.
    pub degree: usize,
    /// The encoding of bits as coefficients.
    pub code: Code,
    /// Records of an item.
    pub records_per_item: u64,
    /// Polynomials of an item.
    pub planes: usize,
    /// Items.
    pub items: u64,
    /// Rows, N/t.
    pub rows: usize,
    /// Points of interpolation t.
    pub points: usize,
    /// Variables of interpolated polynomials.
    pub variables: u32,
    /// Points of one variable: t is its power.
    pub side: usize,
    /// Interpolations in a row. Each is evaluated, and answers hold the results of all.
    pub groups: usize,
    /// Coefficients of a polynomial that hold data.
    pub used: usize,
}

impl Layout {
    /// The layout under a set.
    pub fn choose(params: &Set, shape: Shape) -> Result<Self> {
        let (degree, code) = (params.rlwe.degree, Code::new(params.folding.plain_modulus));
        let capacity = code.bits(degree) as u64;
        let records_per_item = (capacity / shape.record_bits).clamp(1, shape.records);
        let planes = shape.record_bits.div_ceil(capacity);
        let items = shape.records.div_ceil(records_per_item);
        let Folding { rows: most_rows, points: most, .. } = params.folding;
        let limit = most_rows + most_rows / SPARE_ROWS;
        let (points, groups) = if items > limit * most {
            (most, items.div_ceil(limit * most))
        } else {
            let side = side_of(items.div_ceil(limit), params.folding.variables);
            let is_power = params.folding.interpolation == Interpolate::CooleyTukey;
            (if is_power { side.next_power_of_two() } else { side }.pow(params.folding.variables), 1)
        };
        let rows = items.div_ceil(points * groups).max(if params.folding.padded { most_rows } else { 1 });
        let outputs = groups.saturating_mul(planes).saturating_mul(points);
        if outputs > MAX_OUTPUTS {
            return Err(Error::Workload(format!(
                "{} records of {} bits in {} rows: {outputs} polynomials a row, more than {MAX_OUTPUTS}. Take a set with more rows.",
                shape.records, shape.record_bits, params.folding.rows
            )));
        }
        let item_bits = (records_per_item * shape.record_bits).min(capacity);
        Ok(Self {
            shape,
            degree,
            code,
            records_per_item,
            planes: planes as usize,
            items,
            rows: rows as usize,
            points: points as usize,
            variables: params.folding.variables,
            side: side_of(points, params.folding.variables) as usize,
            groups: groups as usize,
            used: code.coefficients(item_bits as usize),
        })
    }

    /// Bits of a plane at most.
    pub fn plane_bits(&self) -> usize {
        self.code.bits(self.degree)
    }

    /// Polynomials over R_q that are packed: those of a row.
    pub fn outputs(&self) -> usize {
        self.groups * self.planes * self.points
    }

    /// The first output of a group's plane; the coefficients of Z^0, Z^1, ... follow.
    pub fn output(&self, group: usize, plane: usize) -> usize {
        (group * self.planes + plane) * self.points
    }

    /// First and number of the columns of an output.
    pub fn columns_of(&self, output: usize) -> (usize, usize) {
        (output * self.degree, self.degree)
    }

    /// Ciphertexts of an answer.
    pub fn ciphertexts(&self) -> usize {
        self.groups * self.planes
    }

    /// Columns of the matrix.
    pub fn columns(&self) -> usize {
        self.outputs() * self.degree
    }

    /// Ring elements of a query.
    pub fn blocks(&self) -> usize {
        self.rows.div_ceil(self.degree)
    }

    /// Bytes of the matrix.
    pub fn stored_bytes(&self) -> u64 {
        ring::ColumnMatrix::stored_bytes_for(self.rows, self.columns())
    }

    /// The place of an item.
    pub fn place(&self, item: u64) -> Place {
        let (cell, point) = (item / self.points as u64, item % self.points as u64);
        let (row, group) = (cell / self.groups as u64, cell % self.groups as u64);
        Place { row: row as usize, group: group as usize, point: point as usize }
    }

    /// The item at a place.
    pub fn item(&self, place: Place) -> u64 {
        (place.row as u64 * self.groups as u64 + place.group as u64) * self.points as u64 + place.point as u64
    }

    /// The item that holds a record, and the first bit of the record in it.
    pub fn find(&self, record: u64) -> (u64, usize) {
        let (item, slot) = (record / self.records_per_item, record % self.records_per_item);
        (item, (slot * self.shape.record_bits) as usize)
    }

    /// The bits of the database's bit string that are plane `plane` of an item: the first, and how many; none past the end.
    pub fn stretch(&self, item: u64, plane: usize) -> (u64, usize) {
        let bits = self.records_per_item * self.shape.record_bits;
        let (start, end) = (item * bits, ((item + 1) * bits).min(self.shape.records * self.shape.record_bits));
        let first = (start + (plane * self.plane_bits()) as u64).min(end);
        (first, (end - first).min(self.plane_bits() as u64) as usize)
    }

    /// The layout as a description has it.
    pub fn describe(&self) -> serde_json::Map<String, serde_json::Value> {
        operations(json!({
            "rows": self.rows,
            "degree": self.points,
            "variables": self.variables,
            "groups": self.groups,
            "polynomials_per_record": self.planes,
            "records_per_polynomial": self.records_per_item,
            "polynomials": self.items * self.planes as u64,
            "used_coefficients": self.used,
            "columns": self.columns(),
            "packed_outputs": self.outputs(),
            "answer_ciphertexts": self.ciphertexts(),
            "stored_bits": 8 * self.stored_bytes(),
        }))
    }

    /// Bytes of a query's body.
    pub(super) fn query_bytes(&self, params: &Set) -> usize {
        match params.query_coefficients {
            QueryCoefficients::Bytes => params.rlwe.coefficient_bytes() * self.rows,
            QueryCoefficients::Bits => packed_bytes(self.rows, params.rlwe.residue_bits()),
        }
    }

    /// Whether queries have an encrypted point.
    pub(super) fn sends_point(&self, params: &Set) -> bool {
        params.evaluation.always_sent || self.points > 1
    }

    /// Coefficients of a body in an answer.
    pub(super) fn kept(&self, params: &Set) -> usize {
        match params.body {
            Body::Full => params.rlwe.degree,
            Body::Used => self.used,
        }
    }

    /// Bytes of one ciphertext of an answer.
    pub(super) fn ciphertext_bytes(&self, params: &Set) -> usize {
        params.switch.bytes(params.rlwe.degree, self.kept(params)) as usize
    }
}

/// The place of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The row.
    pub row: usize,
    /// The interpolation in that row.
    pub group: usize,
    /// The point.
    pub point: usize,
}
