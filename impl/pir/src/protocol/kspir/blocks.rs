//! The database in slots: plaintexts by baby step, block and giant step.

use std::collections::BTreeMap;
use std::ops::Range;

use bfv::Scheme;
use ring::{Kind, PolyMatrix, Work};

use super::Layout;
use super::engine::Engine;
use super::layout::Lines;
use crate::core::threads::side_by_side;
use crate::core::{Context, Database, Result};

/// Blocks that are made together, from one reading of the database.
pub const GROUP: usize = 8;
/// Baby steps whose plaintexts are made before they are stored.
const CHUNK: usize = 8;
/// Columns whose items are read before they are written into lines.
const COLUMNS: usize = 16;

/// The stored database: a row for each baby step, a column for each block and giant step.
pub struct Blocks {
    pub matrix: PolyMatrix,
}

/// Differences of entries: those of a column's item in that part, by part, column and class.
pub type Differences = BTreeMap<(usize, usize, usize), Vec<i32>>;

impl Blocks {
    /// A database of zeros.
    pub fn zero(engine: &Engine) -> Result<Self> {
        let layout = &engine.layout;
        Ok(Self { matrix: PolyMatrix::zero(&engine.ring, layout.baby, layout.blocks() * layout.giants())? })
    }

    /// Encodes all blocks, a group of them from one reading of its part.
    pub fn encode(&mut self, engine: &Engine, database: &Database, context: &Context) -> Result<()> {
        let layout = engine.layout;
        context.progress.begin("encode", layout.blocks() as u64);
        for part in 0..layout.parts {
            for first in (0..layout.classes).step_by(GROUP) {
                let classes = first..layout.classes.min(first + GROUP);
                let lines = read(engine, database, (part, classes.clone()), context)?;
                for (class, lines) in classes.zip(lines) {
                    self.store(engine, (part, class), (&lines, false), context)?;
                    context.progress.advance(1);
                }
            }
        }
        context.progress.end();
        Ok(())
    }

    /// Adds differences to the entries; blocks that hold none are left alone.
    pub fn add(&mut self, engine: &Engine, differences: &Differences, context: &Context) -> Result<()> {
        let (layout, t) = (engine.layout, i64::from(engine.set.slot_modulus as u32));
        for block in 0..layout.blocks() {
            let (part, class) = (block / layout.classes, block % layout.classes);
            let mut columns: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
            for (&(_, column, item), entries) in differences.range((part, 0, 0)..(part + 1, 0, 0)) {
                for (m, difference) in entries.iter().skip(class).step_by(layout.classes).enumerate() {
                    if *difference != 0 {
                        let polynomial = columns.entry(column).or_insert_with(|| vec![0; layout.slots]);
                        polynomial[m * layout.classes + item] = i64::from(*difference).rem_euclid(t);
                    }
                }
            }
            if columns.is_empty() {
                continue;
            }
            let mut lines = Lines::new(layout);
            for (column, polynomial) in columns {
                lines.set(column, &engine.scheme.modulus().decode(&polynomial)?);
            }
            self.store(engine, (part, class), (&lines, true), context)?;
        }
        Ok(())
    }

    /// Stores the plaintexts of a block's lines, or adds them to what is stored.
    fn store(
        &mut self,
        engine: &Engine,
        (part, class): (usize, usize),
        (lines, is_added): (&Lines, bool),
        context: &Context,
    ) -> Result<()> {
        let (layout, scheme) = (engine.layout, &engine.scheme);
        let first = (part * layout.classes + class) * layout.giants();
        for start in (0..layout.baby).step_by(CHUNK) {
            let babies = start..layout.baby.min(start + CHUNK);
            let places = babies.flat_map(|baby| (0..layout.giants()).map(move |giant| (baby, giant)));
            let entry = |(baby, giant): (usize, usize)| {
                let mut z = scheme.modulus().encode(&lines.slots(baby, giant))?;
                if is_added {
                    z.iter_mut().zip(self.stored(engine, (baby, first + giant))?).for_each(|(z, old)| *z += old);
                    // Reduced modulo t, so that noise does not grow with the number of updates.
                    z = scheme.modulus().shorten(&z)?;
                }
                Ok(((baby, first + giant), scheme.prepare(&z)?))
            };
            let entries = side_by_side(places, context.threads, entry)?;
            self.matrix.set(&entries, context.threads)?;
        }
        Ok(())
    }

    /// The coefficients of a stored plaintext, which are below half of the first prime.
    fn stored(&self, engine: &Engine, (row, column): (usize, usize)) -> Result<Vec<i64>> {
        let mut residues = self.matrix.get(row, column)?.limb(0).to_vec();
        let (prime, plan) = &engine.ring.limbs()[0];
        plan.inverse(&mut residues);
        Ok(residues.into_iter().map(|residue| prime.centred(residue)).collect())
    }
}

/// The lines of some blocks of a part.
fn read(
    engine: &Engine,
    database: &Database,
    (part, classes): (usize, Range<usize>),
    context: &Context,
) -> Result<Vec<Lines>> {
    let layout = engine.layout;
    let mut lines: Vec<Lines> = classes.clone().map(|_| Lines::new(layout)).collect();
    // The slots of a column's polynomials, block after block.
    let column = |column: usize| -> Result<Vec<Vec<u64>>> {
        let mut polynomials = vec![vec![0i64; layout.slots]; classes.len()];
        for item in 0..layout.classes {
            let entries = layout.entries(database, (column, item), part)?;
            for (m, entries) in entries.chunks_exact(layout.classes).enumerate() {
                for (polynomial, entry) in polynomials.iter_mut().zip(&entries[classes.clone()]) {
                    polynomial[m * layout.classes + item] = i64::from(*entry);
                }
            }
        }
        polynomials.iter().map(|polynomial| Ok(engine.scheme.modulus().decode(polynomial)?)).collect()
    };
    for first in (0..layout.columns).step_by(COLUMNS) {
        let columns = first..layout.columns.min(first + COLUMNS);
        for (number, blocks) in columns.clone().zip(side_by_side(columns, context.threads, column)?) {
            lines.iter_mut().zip(blocks).for_each(|(lines, slots)| lines.set(number, &slots));
        }
    }
    Ok(lines)
}

/// The work of making the polynomials of a block's columns in slots, `columns` of them, and the block's plaintexts.
pub fn block_work(engine_ring: ring::RingShape, layout: &Layout, columns: u64) -> Work {
    let slots = bfv::PlainModulus::integer_slots_work(layout.slots);
    let plaintext = Scheme::<u32>::prepare_work(engine_ring)
        + slots.clone()
        + Work::of(Kind::MovedSlots, &[engine_ring.primes as u64 + 1, layout.slots as u64]);
    slots * columns + plaintext * layout.columns as u64
}

/// Bytes that are alive while a group of blocks is made: their lines, the columns at hand and a chunk of plaintexts.
pub fn making_bytes(poly_bytes: u64, layout: &Layout) -> u64 {
    let group = GROUP.min(layout.classes) as u64;
    let columns = (COLUMNS.min(layout.columns) as u64 + 1) * group * 8 * layout.slots as u64;
    let chunk = (CHUNK.min(layout.baby) * layout.giants()) as u64 * poly_bytes;
    group * Lines::bytes(layout) + columns.max(chunk)
}
