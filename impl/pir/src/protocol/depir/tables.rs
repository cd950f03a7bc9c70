//! Tables of a polynomial's values, and derivatives, at all points modulo a small prime.
//!
//! One variable after the other is fixed, the first one first (iterated partial evaluation): of the polynomials in the last two variables, values
//! of the coefficients at all points of the first of them make a matrix, whose product with the powers of the other is a block of values.

use ring::{Buffer, Kind, Lookups, Modulus, Small, Work};

use super::monomials::{Monomials, monomials};
use super::plan::Plan;
use super::set::{Evaluator, Set};
use crate::core::threads::side_by_side;
use crate::core::{Error, Result};

/// Bytes after the last record, so that eight can be read of it.
const PADDING: usize = 8;

/// The records of all points modulo a prime, the columns of each side by side.
pub struct Table {
    /// p.
    pub prime: Small,
    /// The modulus of values: p or p^2.
    pub modulus: Small,
    /// Bytes of a record.
    pub stride: usize,
    bytes: Buffer<u32>,
}

impl Table {
    /// The records, and [`PADDING`] bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }
}

/// Bytes of a table in memory, for records of that many columns.
pub fn table_bytes(plan: &Plan, prime: u64, columns: u64) -> u64 {
    plan.table_bytes(prime).saturating_mul(columns).saturating_add(PADDING as u64).div_ceil(4).saturating_mul(4)
}

/// Makes the tables of polynomials, one for each column, with coefficients of magnitude below t.
pub struct TableMaker<'a> {
    set: &'a Set,
    monomials: Monomials,
    /// Of each column the polynomial, and with derivatives those of each variable.
    polynomials: Vec<Vec<Vec<i64>>>,
    /// Of v variables the numbers of monomials that differ in the first one alone.
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

    /// The table modulo a prime.
    pub fn make(&self, plan: &Plan, prime: u64, threads: usize) -> Result<Table> {
        let columns = self.polynomials.len();
        let width = self.set.tables.evaluator.record_bytes(self.set.variables);
        let refuse = || Error::Workload(format!("a table modulo {prime} is too large; give tables.memory_mib less."));
        let small = |modulus: u64| Small::new(modulus).ok_or_else(refuse);
        let (points, stride) = (prime.pow(self.set.variables as u32), columns * width);
        u32::try_from(points).map_err(|_| refuse())?;
        let length = (points as usize * stride + PADDING).div_ceil(4);
        let (prime, modulus) = (small(prime)?, small(plan.modulus(prime))?);
        let mut bytes = Buffer::zeroed(length)?;
        let part = if self.set.variables == 1 { points as usize } else { points as usize / prime.value() as usize };
        let records = &mut bytes.bytes_mut()[..points as usize * stride];
        let makers = self.polynomials.iter().enumerate().flat_map(|(column, polynomials)| {
            polynomials.iter().enumerate().map(move |(number, polynomial)| {
                let (value, place) = (number == 0, number + usize::from(number > 0));
                let modulus = if value { modulus } else { prime };
                let bytes = if value { modulus.value().ilog2() as usize / 8 + 1 } else { 1 };
                (Place { stride, offset: column * width + place, bytes }, modulus, polynomial)
            })
        });
        let makers = makers.map(|(place, modulus, polynomial)| {
            Ok(PartMaker::new(self, place, (prime, modulus), reduced(polynomial, modulus)?))
        });
        let makers = makers.collect::<Result<Vec<_>>>()?;
        let make = |(x, records): (usize, &mut [u8])| {
            makers.iter().for_each(|maker| maker.part(x, records));
            Ok(())
        };
        side_by_side(records.chunks_mut(part * stride).enumerate(), threads, make)?;
        Ok(Table { prime, modulus, stride, bytes })
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
            1 => self.row(&self.coefficients, &mut vec![0; self.prime], records),
            2 => self.row(&self.fix(2, &self.coefficients, x), &mut vec![0; self.prime], records),
            m => self.fill(m - 1, &self.fix(m, &self.coefficients, x), records),
        }
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
        let (lookups, mut rest, mut sums) = (self.maker.lookups, coefficients, vec![0; self.prime]);
        let mut residues = vec![0; self.prime];
        let mut fixed = vec![vec![0; self.powers.len()]; self.prime];
        for (exponent, run) in self.maker.runs[1].iter().enumerate() {
            let (here, after) = rest.split_at(*run);
            rest = after;
            here.iter().zip(&self.powers).for_each(|(c, powers)| lookups.add_product(powers, *c, &mut sums));
            lookups.take(self.modulus, &mut sums, &mut residues);
            fixed.iter_mut().zip(&residues).for_each(|(fixed, residue)| fixed[exponent] = *residue);
        }
        for (fixed, records) in fixed.iter().zip(records.chunks_exact_mut(part)) {
            self.row(fixed, &mut sums, records);
        }
    }

    /// Values at all points of one variable; `sums` are zero, and become zero.
    fn row(&self, coefficients: &[u32], sums: &mut [u64], records: &mut [u8]) {
        let (lookups, Place { stride, offset, bytes }) = (self.maker.lookups, self.place);
        coefficients.iter().zip(&self.powers).for_each(|(c, powers)| lookups.add_product(powers, *c, sums));
        let mut residues = [0; 256];
        let residues = &mut residues[..self.prime];
        lookups.take(self.modulus, sums, residues);
        for (record, residue) in records.chunks_exact_mut(stride).zip(residues) {
            record[offset..offset + bytes].copy_from_slice(&residue.to_le_bytes()[..bytes]);
        }
    }
}

/// The work of making all tables of a column.
pub fn make_work(set: &Set, plan: &Plan) -> Work {
    let derivatives = if set.tables.evaluator == Evaluator::Values { 0 } else { set.variables as u64 };
    let values = plan.memory.iter().map(|prime| prime.saturating_pow(set.variables as u32));
    let values = values.fold(0u64, u64::saturating_add).saturating_mul(1 + derivatives);
    let products = values.saturating_mul(set.degree as u64 + 1);
    let derived = monomials(set.variables, set.degree).saturating_mul(derivatives);
    Work::from([(Kind::TableProducts, products), (Kind::TableValues, values), (Kind::MovedSlots, derived)])
}
