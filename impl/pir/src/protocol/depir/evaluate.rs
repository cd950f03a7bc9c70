//! The polynomial's values modulo a ciphertext prime, from tables modulo small primes.
//!
//! With P the product of the moduli p_i, u_i = (P / p_i)^-1 modulo p_i and residues x_i, the value is sum_i x_i u_i P / p_i - d P with d the integer
//! nearest to sum_i x_i u_i / p_i, because it is at most P / 4 in magnitude. Modulo q that is two sums of products by constants, one in fixed
//! point, whose terms need no reduction: residues may be any representatives below 2^17.

use ring::{Kind, Lookups, Modulus, Work};

use super::plan::{Plan, Uses};
use super::set::Evaluator;
use super::table::Table;
use crate::core::plan::count;
use crate::core::{Error, Result};

/// Points that are evaluated together: the lines of all of them are asked for before the first is read.
const BATCH: usize = 256;

/// Points that are evaluated together, of `slots`: where tables are mapped as many as there are, whose pages are read in one sweep.
pub fn batch(plan: &Plan, slots: usize) -> usize {
    if plan.disk.is_empty() { slots.min(BATCH) } else { slots }
}

/// A modulus q, with what takes values from residues to it.
struct Level {
    modulus: Modulus<u32>,
    /// Tables, in memory and then mapped, and level-1 primes that it takes.
    tables: usize,
    level1: usize,
    /// u_i P / p_i modulo q, and u_i / p_i in units of 2^-32; of the tables, then of the level-1 primes.
    factors: Vec<[u32; 2]>,
    /// -P modulo q.
    negated: u32,
    /// For each of them what makes inputs x + (q - 1) / 2 residues of x.
    shifts: Vec<u32>,
}

impl Level {
    fn new(uses: &Uses, tables: &[Table], level1: &[Self]) -> Result<Self> {
        let own = Modulus::new(u32::try_from(uses.modulus).map_err(|_| Error::Workload("a long prime".into()))?)?;
        let read = uses.memory + uses.disk;
        let moduli = tables[..read].iter().map(|table| table.layout.modulus.value());
        let moduli: Vec<u32> = moduli.chain(level1[..uses.level1].iter().map(|level| level.modulus.value())).collect();
        let half = own.value() / 2;
        // The product of the moduli but one.
        let others = |modulus: &Modulus<u32>, without: usize| {
            let others = moduli.iter().enumerate().filter(|(i, _)| *i != without);
            others.fold(1, |product, (_, p)| modulus.mul(product, modulus.reduce_u64((*p).into())))
        };
        let factors = |(i, p): (usize, &u32)| {
            let modulus = Modulus::new(*p)?;
            let inverse = modulus.inverse(others(&modulus, i)).unwrap_or_default();
            let value = own.mul(others(&own, i), own.reduce_u64(inverse.into()));
            Ok([value, ((u64::from(inverse) << 32) / u64::from(*p)) as u32])
        };
        // Level-1 primes take their inputs with half of their own added.
        let shift = |(i, p): (usize, &u32)| {
            let wanted = if i < read { 0 } else { u64::from(p / 2) };
            ((wanted + u64::from(*p) - u64::from(half % p)) % u64::from(*p)) as u32
        };
        Ok(Self {
            modulus: own,
            tables: read,
            level1: uses.level1,
            factors: moduli.iter().enumerate().map(factors).collect::<Result<_>>()?,
            negated: own.neg(others(&own, usize::MAX)),
            shifts: moduli.iter().enumerate().map(shift).collect(),
        })
    }

    /// The values of which `sums` are the two sums.
    fn finish(&self, sums: &[Vec<u64>; 2], out: &mut [u32]) {
        for ((out, sum), part) in out.iter_mut().zip(&sums[0]).zip(&sums[1]) {
            let wraps = (part + (1 << 31)) >> 32;
            *out = self.modulus.reduce_u64(sum + wraps * u64::from(self.negated));
        }
    }
}

/// The tables, and the levels above them.
pub struct Evaluation {
    tables: Vec<Table>,
    columns: usize,
    variables: usize,
    evaluator: Evaluator,
    level1: Vec<Level>,
    top: Vec<Level>,
    lookups: Lookups,
}

/// Memory that evaluations of batches share.
pub struct Workspace {
    /// Places in a table and in the next, and what is above the residues there.
    places: [Vec<u32>; 2],
    high: [Vec<u32>; 2],
    read: Vec<u32>,
    /// Sums of the level at hand, of all columns.
    sums: [[Vec<u64>; 2]; 2],
    inputs: Vec<u32>,
    values: Vec<u32>,
    /// Pages of a mapped table.
    pages: Vec<u32>,
}

impl Evaluation {
    /// Of the tables of a plan, in its order.
    pub fn new(
        plan: &Plan,
        tables: Vec<Table>,
        (variables, columns): (usize, usize),
        evaluator: Evaluator,
        lookups: Lookups,
    ) -> Result<Self> {
        let level1 = plan.level1.iter().map(|uses| Level::new(uses, &tables, &[])).collect::<Result<Vec<_>>>()?;
        let top = plan.top.iter().map(|uses| Level::new(uses, &tables, &level1)).collect::<Result<_>>()?;
        Ok(Self { tables, columns, variables, evaluator, level1, top, lookups })
    }

    /// The tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Memory for batches of `points` points; [`workspace_bytes`] has its size.
    pub fn workspace(&self, points: usize) -> Workspace {
        let sums = || [(); 2].map(|()| vec![0; points * self.columns]);
        Workspace {
            places: [(); 2].map(|()| vec![0; points]),
            high: [(); 2].map(|()| vec![0; points * self.variables]),
            read: vec![0; points],
            sums: [sums(), sums()],
            inputs: vec![0; points * self.variables],
            values: vec![0; points * self.columns],
            pages: Vec::new(),
        }
    }

    /// The values at points modulo ciphertext prime number `prime`, column by column. Coordinates lie one after the other, each x + (q - 1) / 2
    /// modulo q for the coordinate x.
    pub fn evaluate(&self, prime: usize, inputs: &[u32], space: &mut Workspace, out: &mut [u32]) {
        let top = &self.top[prime];
        let mut sums = std::mem::take(&mut space.sums[0]);
        self.add_tables(top, inputs, space, &mut sums);
        for (i, level) in self.level1[..top.level1].iter().enumerate() {
            let (mut below, mut own) = (std::mem::take(&mut space.sums[1]), std::mem::take(&mut space.inputs));
            let modulus = ring::Small::new(level.modulus.value().into());
            if let Some(modulus) = modulus {
                self.lookups.reduce(modulus, inputs, top.shifts[top.tables + i], &mut own);
            }
            self.add_tables(level, &own, space, &mut below);
            level.finish(&below, &mut space.values);
            let [first, second] = &mut sums;
            self.lookups.add_products(&space.values, top.factors[top.tables + i], first, second);
            (space.sums[1], space.inputs) = (below, own);
        }
        top.finish(&sums, out);
        space.sums[0] = sums;
    }

    /// The sums of a level over its tables.
    fn add_tables(&self, level: &Level, inputs: &[u32], space: &mut Workspace, sums: &mut [Vec<u64>; 2]) {
        sums.iter_mut().for_each(|sums| sums.fill(0));
        let points = space.read.len();
        for number in 0..=level.tables {
            // The lines of the next table are on their way while this one is read.
            if number < level.tables {
                let (table, side) = (&self.tables[number], number % 2);
                let (places, high) = (&mut space.places[side], &mut space.high[side]);
                match self.evaluator {
                    Evaluator::Values => {
                        self.lookups.places(table.layout.modulus, inputs, level.shifts[number], places)
                    }
                    Evaluator::Derivatives => {
                        let moduli = (table.layout.prime, table.layout.modulus);
                        self.lookups.split_places(moduli, inputs, level.shifts[number], places, high);
                    }
                }
                table.sweep(places, &mut space.pages);
                self.lookups.ask(table.bytes(), table.layout.stride, places);
            }
            let Some(number) = number.checked_sub(1) else { continue };
            let (table, side) = (&self.tables[number], number % 2);
            let (places, high, [first, second]) = (&space.places[side], &space.high[side], &mut *sums);
            let sums = first.chunks_exact_mut(points).zip(second.chunks_exact_mut(points));
            for (column, (first, second)) in sums.enumerate() {
                let (bytes, place) = (table.bytes(), (table.layout.stride, column * table.layout.column));
                match (self.evaluator, table.layout.value) {
                    (Evaluator::Values, 1) => self.lookups.bytes(bytes, place, places, &mut space.read),
                    (Evaluator::Values, _) => self.lookups.pairs(bytes, place, places, &mut space.read),
                    (Evaluator::Derivatives, _) => {
                        let record = (bytes, place.0, place.1);
                        self.lookups.jets(table.layout.prime, record, places, high, &mut space.read);
                    }
                }
                self.lookups.add_products(&space.read, level.factors[number], first, second);
            }
        }
    }
}

/// Bytes of a [`Workspace`], and of inputs and values beside it, for batches of that many points at `turns` points of Y.
pub fn workspace_bytes(variables: usize, columns: u64, points: usize, turns: usize) -> u64 {
    // Two sides of places and what is above, places of pages, inputs of two levels; two sums of two levels, values of both.
    let (own, of_column) = (4 * (2 * (1 + variables) + 2 + 2 * variables), 2 * 2 * 8 + 4 * (1 + turns));
    count(&[points as u64, (own as u64).saturating_add(columns.saturating_mul(of_column as u64))])
}

/// The work of [`Evaluation::evaluate`] at that many points modulo all ciphertext primes.
pub fn evaluate_work(plan: &Plan, evaluator: Evaluator, columns: u64, points: u64) -> Work {
    let kind = if evaluator == Evaluator::Values { Kind::TableReads } else { Kind::DerivativeReads };
    let [memory, disk] = plan.reads();
    let reads = Work::of(kind, &[memory.saturating_add(disk), columns, points]);
    if disk == 0 { reads } else { reads + Work::of(Kind::DiskReads, &[disk, plan.record_pages(columns), points]) }
}
