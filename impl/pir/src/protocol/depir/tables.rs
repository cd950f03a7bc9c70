//! Tables of a polynomial's values, and derivatives, at all points modulo a small prime.
//!
//! One variable after the other is fixed, the first one first (iterated partial evaluation): of the polynomials in the last two variables, values
//! of the coefficients at all points of the first of them make a matrix, whose product with the powers of the other is a block of values.

use ring::{Buffer, Kind, Lookups, Modulus, Small, Work};

use super::monomials::{Monomials, monomials};
use super::plan::Plan;
use super::set::{Evaluator, Set};
use super::table::{Bytes, Layout, Table};
use crate::core::Result;
use crate::core::plan::count;
use crate::core::threads::side_by_side;

/// Parts of a table that are made before they are written.
pub const PARTS: usize = 4;

/// Makes the tables of polynomials, one for each column, with coefficients of magnitude below t.
pub struct TableMaker<'a> {
    set: &'a Set,
    monomials: Monomials,
    /// Of each column the polynomial, and with derivatives those of each variable.
    polynomials: Vec<Vec<Vec<i64>>>,
    /// For v variables: how many monomials differ only in the first.
    runs: Vec<Vec<usize>>,
    lookups: Lookups,
}

impl<'a> TableMaker<'a> {
    /// For the polynomials of the columns.
    pub fn new(set: &'a Set, columns: Vec<Vec<i64>>, lookups: Lookups) -> Self {
        let monomials = Monomials::new(set.variables, set.degree);
        let derivatives = if set.tables.evaluator == Evaluator::Values { 0 } else { set.variables };
        let with_derivatives = |polynomial: Vec<i64>| {
            let of_variable = |variable| derivative(&monomials, variable, &polynomial);
            let mut all: Vec<_> = (0..derivatives).map(of_variable).collect();
            all.insert(0, polynomial);
            all
        };
        let polynomials = columns.into_iter().map(with_derivatives).collect();
        let runs = (1..=set.variables).map(|v| monomials.runs(v)).collect();
        Self { set, monomials, polynomials, runs, lookups }
    }

    /// A table in memory.
    pub fn make(&self, layout: &Layout, threads: usize) -> Result<Table> {
        let mut bytes = Buffer::zeroed((layout.bytes() / 4) as usize)?;
        let records = layout.points as usize * layout.stride;
        self.parts(&self.makers(layout)?, (layout, 0), &mut bytes.bytes_mut()[..records], threads)?;
        Ok(Table::new(*layout, Bytes::Memory(bytes)))
    }

    /// Passes on the bytes of a table, a few parts at a time.
    pub fn stream(&self, layout: &Layout, threads: usize, pass: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (makers, part) = (self.makers(layout)?, layout.part_bytes(self.set.variables));
        let all = layout.points as usize * layout.stride / part;
        let mut records = vec![0; part * all.min(PARTS)];
        for first in (0..all).step_by(PARTS) {
            let records = &mut records[..part * PARTS.min(all - first)];
            self.parts(&makers, (layout, first), records, threads)?;
            pass(records)?;
        }
        pass(&vec![0; layout.bytes() as usize - all * part])
    }

    /// Makes parts of a table, side by side, from that of first coordinate `first` on.
    fn parts(
        &self,
        makers: &[PartMaker],
        (layout, first): (&Layout, usize),
        records: &mut [u8],
        threads: usize,
    ) -> Result<()> {
        let parts = records.chunks_mut(layout.part_bytes(self.set.variables)).enumerate();
        let make = |(x, records): (usize, &mut [u8])| {
            makers.iter().for_each(|maker| maker.part(first + x, records));
            Ok(())
        };
        side_by_side(parts, threads, make).map(drop)
    }

    /// The makers of what stands side by side in a record.
    fn makers(&self, layout: &Layout) -> Result<Vec<PartMaker<'_>>> {
        let Layout { prime, modulus, value, column, stride, .. } = *layout;
        let all = self.polynomials.iter().enumerate().flat_map(|(number, polynomials)| {
            polynomials.iter().enumerate().map(move |(i, polynomial)| (number * column, i, polynomial))
        });
        let maker = |(start, number, polynomial): (usize, usize, &Vec<i64>)| {
            let (modulus, bytes, place) = match number {
                0 => (modulus, value, 0),
                derivative => (prime, 1, value + derivative - 1),
            };
            let place = Place { stride, offset: start + place, bytes };
            Ok(PartMaker::new(self, place, (prime, modulus), reduced(polynomial, modulus)?))
        };
        all.map(maker).collect()
    }
}

/// Coefficients modulo a small number.
fn reduced(polynomial: &[i64], modulus: Small) -> Result<Vec<u32>> {
    let modulus = Modulus::new(modulus.value())?;
    Ok(polynomial.iter().map(|c| modulus.from_signed(*c)).collect())
}

/// The derivative along a variable, with the same monomials.
fn derivative(monomials: &Monomials, variable: usize, polynomial: &[i64]) -> Vec<i64> {
    let mut out = vec![0; polynomial.len()];
    for (position, coefficient) in polynomial.iter().enumerate() {
        let mut exponents = monomials.exponents(position);
        let exponent = exponents[variable];
        if exponent > 0 {
            exponents[variable] -= 1;
            out[monomials.position(&exponents)] = coefficient * exponent as i64;
        }
    }
    out
}

/// Where values of a polynomial stand in records.
#[derive(Clone, Copy)]
struct Place {
    stride: usize,
    offset: usize,
    bytes: usize,
}

/// Makes the values of one polynomial where the first variable is fixed.
struct PartMaker<'a> {
    maker: &'a TableMaker<'a>,
    place: Place,
    prime: usize,
    modulus: Small,
    coefficients: Vec<u32>,
    /// Powers of all points, exponent by exponent, and point by point.
    powers: Vec<Vec<u32>>,
    powers_of: Vec<Vec<u32>>,
}

impl<'a> PartMaker<'a> {
    fn new(maker: &'a TableMaker<'a>, place: Place, (prime, modulus): (Small, Small), coefficients: Vec<u32>) -> Self {
        let (prime, degree) = (prime.value() as usize, maker.set.degree);
        let next = |x: u32| move |power: &u32| Some(modulus.reduce_wide(u64::from(*power) * u64::from(x)));
        let of = |x: u32| std::iter::successors(Some(1), next(x)).take(degree + 1).collect::<Vec<u32>>();
        let powers_of: Vec<Vec<u32>> = (0..prime as u32).map(of).collect();
        let powers = (0..=degree).map(|i| powers_of.iter().map(|powers| powers[i]).collect()).collect();
        Self { maker, place, prime, modulus, coefficients, powers, powers_of }
    }

    /// The records whose first coordinate is x; all of them where there is one variable.
    fn part(&self, x: usize, records: &mut [u8]) {
        match self.maker.monomials.variables() {
            1 => self.row(&self.coefficients, &mut self.space(), records),
            2 => self.row(&self.fix(2, &self.coefficients, x), &mut self.space(), records),
            m => self.fill(m - 1, &self.fix(m, &self.coefficients, x), records),
        }
    }

    /// Memory for rows.
    fn space(&self) -> (Vec<u64>, Vec<u32>) {
        (vec![0; self.prime], vec![0; self.prime])
    }

    /// The polynomial in one variable less, the first of `variables` fixed.
    fn fix(&self, variables: usize, coefficients: &[u32], x: usize) -> Vec<u32> {
        let (powers, mut rest) = (&self.powers_of[x], coefficients);
        let sum = |run: &usize| {
            let (here, after) = rest.split_at(*run);
            rest = after;
            let products = here.iter().zip(powers).map(|(c, power)| u64::from(*c) * u64::from(*power));
            self.modulus.reduce_wide(products.sum())
        };
        self.maker.runs[variables - 1].iter().map(sum).collect()
    }

    /// Values at all points of two variables or more.
    fn fill(&self, variables: usize, coefficients: &[u32], records: &mut [u8]) {
        let part = records.len() / self.prime;
        if variables > 2 {
            for (x, records) in records.chunks_exact_mut(part).enumerate() {
                self.fill(variables - 1, &self.fix(variables, coefficients, x), records);
            }
            return;
        }
        let (lookups, mut rest, mut space) = (self.maker.lookups, coefficients, self.space());
        let (sums, residues) = &mut space;
        let mut fixed = vec![vec![0; self.powers.len()]; self.prime];
        for (exponent, run) in self.maker.runs[1].iter().enumerate() {
            let (here, after) = rest.split_at(*run);
            rest = after;
            here.iter().zip(&self.powers).for_each(|(c, powers)| lookups.add_product(powers, *c, sums));
            lookups.take(self.modulus, sums, residues);
            fixed.iter_mut().zip(&*residues).for_each(|(fixed, residue)| fixed[exponent] = *residue);
        }
        for (fixed, records) in fixed.iter().zip(records.chunks_exact_mut(part)) {
            self.row(fixed, &mut space, records);
        }
    }

    /// Values at all points of one variable; the sums are zero, and become zero.
    fn row(&self, coefficients: &[u32], (sums, residues): &mut (Vec<u64>, Vec<u32>), records: &mut [u8]) {
        let (lookups, Place { stride, offset, bytes }) = (self.maker.lookups, self.place);
        coefficients.iter().zip(&self.powers).for_each(|(c, powers)| lookups.add_product(powers, *c, sums));
        lookups.take(self.modulus, sums, residues);
        for (record, residue) in records.chunks_exact_mut(stride).zip(residues) {
            record[offset..offset + bytes].copy_from_slice(&residue.to_le_bytes()[..bytes]);
        }
    }
}

/// Bytes of the polynomials of all columns while tables of at most `largest` points a coordinate are made.
pub fn make_bytes(set: &Set, columns: u64, largest: u64) -> u64 {
    let polynomials =
        count(&[columns, if set.tables.evaluator == Evaluator::Values { 1 } else { 1 + set.variables as u64 }]);
    let (records, degree) = (monomials(set.variables, set.degree), set.degree as u64 + 1);
    // Coefficients, reduced and not; powers of all points twice; of as many threads as there are parts, the polynomials of a matrix and two rows.
    let part = count(&[largest, largest, 4 * degree + 36]);
    count(&[polynomials, 12 * records + 8 * degree * largest]).saturating_add(part)
}

/// The work of making all tables of a column.
pub fn make_work(set: &Set, plan: &Plan) -> Work {
    let derivatives = if set.tables.evaluator == Evaluator::Values { 0 } else { set.variables as u64 };
    let values = plan.tables().map(|prime| prime.saturating_pow(set.variables as u32));
    let values = values.fold(0u64, u64::saturating_add).saturating_mul(1 + derivatives);
    let products = values.saturating_mul(set.degree as u64 + 1);
    let derived = monomials(set.variables, set.degree).saturating_mul(derivatives);
    Work::from([(Kind::TableProducts, products), (Kind::TableValues, values), (Kind::MovedSlots, derived)])
}
