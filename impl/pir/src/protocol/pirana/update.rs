//! Changed records: the plaintexts of their columns are made again.

use std::collections::{BTreeMap, BTreeSet};

use ring::{PolyMatrix, Work};

use super::column::moved;
use super::engine::Engine;
use super::{Layout, Set};
use crate::core::threads::side_by_side;
use crate::core::{Context, Database, Result};
use crate::parts::bfv::RingTable;
use crate::parts::slots::{plaintext, values};

/// Plaintexts that are made before they are stored.
const GROUP: usize = 32;

/// Writes the items of changed records, given by their numbers in the order of the layout, into the plaintexts of their columns. No other
/// item is read: what a plaintext holds is decoded from it.
pub fn rewrite(
    engine: &Engine,
    segments: &mut [PolyMatrix],
    (laid_out, changed): (&Database, &[u64]),
    context: &Context,
) -> Result<()> {
    let (layout, words) = (&engine.layout, engine.exchange.words());
    let mut columns: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for number in changed {
        let (column, class) = layout.place(*number);
        columns.entry(column).or_default().insert(class);
    }
    for (column, classes) in columns {
        let matrix = &mut segments[layout.segments().place(column).0];
        let item = |class: usize| {
            let number = column as u64 * layout.classes as u64 + class as u64;
            Ok((class, layout.items().item(laid_out, number)?))
        };
        let items = classes.into_iter().map(item).collect::<Result<Vec<_>>>()?;
        let renew = |polynomial: usize| {
            let turn = layout.turn(polynomial);
            let place = (layout.matrix_row(column, turn), layout.matrix_column(turn));
            let mut slots = values(&engine.exchange.scheme, matrix.get(place.0, place.1)?)?;
            for (class, item) in &items {
                for repetition in 0..layout.repetitions {
                    let slot = layout.slot(repetition, *class);
                    let slot = layout.turned(slot, turn.half, turn.baby * layout.giants);
                    let entry = layout.entry(polynomial, repetition);
                    engine.read_entry(item, entry, &mut slots[slot * words..][..words]);
                }
            }
            Ok((place, plaintext(&engine.exchange.scheme, &slots)?))
        };
        let mut made = Vec::new();
        for first in (0..layout.polynomials).step_by(GROUP) {
            let group = first..layout.polynomials.min(first + GROUP);
            made.push(side_by_side(group, context.threads, renew)?);
        }
        made.iter().try_for_each(|group| matrix.set(group, context.threads))?;
    }
    Ok(())
}

/// The work of making the plaintexts of a changed column again.
pub fn rewrite_work(set: &Set, layout: &Layout) -> Result<Work> {
    let (ring, slots) = (set.ring.shape(), set.ring.plaintext.family().slots_work(set.ring.degree)?);
    Ok((slots * 2 + ring.transforms(2) + moved(ring) * 2) * layout.polynomials as u64)
}
