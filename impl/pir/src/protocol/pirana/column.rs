//! The plaintexts of a column, made from the database.

use lattice::wire::Reader;
use ring::{PolyMatrix, RingShape, Work};

use super::engine::Engine;
use super::layout::Turn;
use super::{Layout, Set};
use crate::core::threads::side_by_side;
use crate::core::{Context, Database, Result};
use crate::parts::bfv::RingTable;
use crate::parts::slots::{plaintext, read_value};

/// Plaintexts that are made before they are stored: they lie side by side in the matrix, and their entries side by side in an item.
const GROUP: usize = 32;
/// Columns up to this number of bytes are read whole, larger ones item by item.
const MOST_READ: u64 = 16 << 20;

/// Bytes that are read at once for a group of plaintexts.
fn read_bytes(layout: &Layout) -> Option<u64> {
    let bytes = layout.item_bits().checked_mul(layout.classes as u64).map(|bits| bits.div_ceil(8));
    bytes.filter(|bytes| *bytes <= MOST_READ)
}

/// Makes the plaintexts of a column and stores them in the matrix of its segment.
pub fn encode(
    engine: &Engine,
    matrix: &mut PolyMatrix,
    column: usize,
    database: &Database,
    context: &Context,
) -> Result<()> {
    let layout = &engine.layout;
    let first = column as u64 * layout.classes as u64 * layout.item_bits();
    let whole = match read_bytes(layout) {
        None => None,
        Some(bytes) => {
            let mut whole = vec![0; bytes as usize];
            let bits = (layout.classes as u64 * layout.item_bits()) as usize;
            database.read_bits(first, bits, &mut Vec::new(), &mut whole)?;
            Some(whole)
        }
    };
    let mut pending = Vec::with_capacity(2 * GROUP);
    let mut start = 0;
    while start < layout.polynomials {
        // Plaintexts of one row of the matrix.
        let turn = layout.turn(start);
        let end = (start + 1..layout.polynomials.min(start + GROUP))
            .find(|t| layout.matrix_row(column, layout.turn(*t)) != layout.matrix_row(column, turn))
            .unwrap_or(layout.polynomials.min(start + GROUP));
        let values = values(engine, (database, whole.as_deref()), column, start..end, turn)?;
        let turns = (start..end).map(|polynomial| layout.turn(polynomial));
        let entry = |(turn, values): (Turn, Vec<u64>)| {
            let place = (layout.matrix_row(column, turn), layout.matrix_column(turn));
            Ok((place, plaintext(&engine.exchange.scheme, &values)?))
        };
        pending.extend(side_by_side(turns.zip(values), context.threads, entry)?);
        start = end;
        if pending.len() >= GROUP || start == layout.polynomials {
            matrix.set(&pending, context.threads)?;
            pending.clear();
        }
    }
    Ok(())
}

/// The values of the slots of plaintexts of consecutive numbers that are turned by the same baby step before their products.
fn values(
    engine: &Engine,
    (database, whole): (&Database, Option<&[u8]>),
    column: usize,
    polynomials: std::ops::Range<usize>,
    turn: Turn,
) -> Result<Vec<Vec<u64>>> {
    let (layout, words) = (&engine.layout, engine.exchange.words());
    let (width, item_bits) = (u64::from(layout.entry_bits), layout.item_bits());
    let mut values = vec![engine.exchange.zeros(); polynomials.len()];
    let (mut scratch, mut read) = (Vec::new(), Vec::new());
    let items = layout.shape.records.div_ceil(layout.records_per_item);
    let first_item = column as u64 * layout.classes as u64;
    let classes = (items - first_item).min(layout.classes as u64) as usize;
    for repetition in 0..layout.repetitions {
        let entry = layout.entry(polynomials.start, repetition);
        let count = polynomials.len().min(layout.entries.saturating_sub(entry));
        let first = entry as u64 * width;
        let bits = (count as u64 * width).min(item_bits.saturating_sub(first));
        for class in 0..if bits > 0 { classes } else { 0 } {
            let mut input = match whole {
                Some(whole) => {
                    let at = class as u64 * item_bits + first;
                    let mut input = Reader::of(&whole[(at / 8) as usize..]);
                    if !at.is_multiple_of(8) {
                        input.bits((at % 8) as u32);
                    }
                    input
                }
                None => {
                    read.clear();
                    read.resize((bits as usize).div_ceil(8), 0);
                    let at = (first_item + class as u64) * item_bits + first;
                    database.read_bits(at, bits as usize, &mut scratch, &mut read)?;
                    Reader::of(&read)
                }
            };
            let slot = layout.turned(layout.slot(repetition, class), turn.half, turn.baby * layout.giants);
            let mut left = bits;
            for values in &mut values[..count] {
                let here = left.min(width);
                read_value(&mut input, here as u32, &mut values[slot * words..][..words]);
                left -= here;
            }
        }
    }
    Ok(values)
}

/// The work of making the plaintexts of a column.
pub fn column_work(set: &Set, layout: &Layout) -> Result<Work> {
    let slots = set.ring.plaintext.family().slots_work(set.ring.degree)?;
    Ok((slots + bfv::Scheme::<u32>::prepare_work(set.ring.shape()) + moved(set.ring.shape()))
        * layout.polynomials as u64)
}

/// The work of moving a plaintext's values into its slots and its residues into the matrix.
pub fn moved(ring: RingShape) -> Work {
    ring.moves(1) + RingShape { primes: 1, ..ring }.moves(1)
}

/// Bytes that are alive while the plaintexts of a column are made.
pub fn making_bytes(set: &Set, layout: &Layout) -> Result<u64> {
    let words = u64::from(set.ring.slot_bits()? + 1).div_ceil(64);
    let slots = set.ring.plaintext.family().slots(set.ring.degree) as u64;
    let group = layout.polynomials.min(GROUP) as u64;
    Ok(2 * read_bytes(layout).unwrap_or(0) + group * (8 * words * slots + 2 * set.ring.shape().poly_bytes()))
}
