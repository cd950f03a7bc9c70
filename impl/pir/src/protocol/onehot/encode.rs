//! The plaintexts of diagonals, made from the database.

use lattice::wire::Reader;
use ring::{PolyMatrix, Work};

use super::engine::Engine;
use super::{Layout, Set};
use crate::core::threads::side_by_side;
use crate::core::{Context, Database, Result};
use crate::parts::bfv::RingTable;
use crate::parts::slots::{plaintext, read_entry, read_value, values};

/// Bytes of values of slots that are made before they are encoded, about.
const MOST_BYTES: usize = 64 << 20;

/// Entries whose plaintexts are made together, so that the database is read in longer parts.
pub fn group(set: &Set, layout: &Layout) -> Result<usize> {
    Ok((MOST_BYTES / values_bytes(set, layout)? as usize).clamp(1, 16))
}

/// Bytes of the values of one entry's plaintexts.
fn values_bytes(set: &Set, layout: &Layout) -> Result<u64> {
    let words = u64::from(set.ring.slot_bits()? + 1).div_ceil(64);
    Ok(8 * words * set.ring.plaintext.family().slots(set.ring.degree) as u64 * plaintexts(layout))
}

/// Plaintexts of an entry.
fn plaintexts(layout: &Layout) -> u64 {
    (layout.matrix_rows() as u64).saturating_mul(layout.giants as u64)
}

/// Makes the plaintexts of some entries of all items from `first_entry` on, a matrix each.
pub fn encode(
    engine: &Engine,
    matrices: &mut [PolyMatrix],
    first_entry: usize,
    database: &Database,
    context: &Context,
) -> Result<()> {
    let (layout, words) = (&engine.layout, engine.exchange.words());
    let (width, slots) = (u64::from(layout.entry_bits), engine.exchange.scheme.modulus().slots());
    let each = slots * words * plaintexts(layout) as usize;
    let mut all = vec![0; each * matrices.len()];
    let (first, read_bits) = (first_entry as u64 * width, matrices.len() as u64 * width);
    let (mut scratch, mut read) = (Vec::new(), vec![0; read_bits.div_ceil(8) as usize]);
    for item in 0..layout.count() {
        let bits = layout.items.bits_of(item as u64).saturating_sub(first).min(read_bits);
        database.read_bits(item as u64 * layout.items.bits() + first, bits as usize, &mut scratch, &mut read)?;
        let (mut input, mut left) = (Reader::of(&read), bits);
        let place = layout.diagonal(item);
        let slot = ((place.row * layout.giants + place.giant) * slots + place.slot) * words;
        for values in all.chunks_exact_mut(each) {
            read_value(&mut input, left.min(width) as u32, &mut values[slot..][..words]);
            left -= left.min(width);
        }
    }
    for (matrix, values) in matrices.iter_mut().zip(all.chunks_exact(each)) {
        let encode = |(number, values): (usize, &[u64])| {
            Ok(((number / layout.giants, number % layout.giants), plaintext(&engine.exchange.scheme, values)?))
        };
        let made = side_by_side(values.chunks_exact(slots * words).enumerate(), context.threads, encode)?;
        matrix.set(&made, context.threads)?;
    }
    Ok(())
}

/// Writes a changed item into its plaintext of every entry.
pub fn rewrite(engine: &Engine, matrices: &mut [PolyMatrix], database: &Database, item: usize) -> Result<()> {
    let (layout, words, place) = (&engine.layout, engine.exchange.words(), engine.layout.diagonal(item));
    let bits = layout.items.item(database, item as u64)?;
    for (entry, matrix) in matrices.iter_mut().enumerate() {
        let mut slots = values(&engine.exchange.scheme, matrix.get(place.row, place.giant)?)?;
        let value = &mut slots[place.slot * words..][..words];
        read_entry((&bits, layout.items.bits()), layout.entry_bits, entry, value);
        matrix.set(&[((place.row, place.giant), plaintext(&engine.exchange.scheme, &slots)?)], 1)?;
    }
    Ok(())
}

/// The work of making all plaintexts.
pub fn encode_work(set: &Set, layout: &Layout) -> Result<Work> {
    let (ring, slots) = (set.ring.shape(), set.ring.plaintext.family().slots_work(set.ring.degree)?);
    let each = slots + bfv::Scheme::<u32>::prepare_work(ring) + ring.moves(2);
    Ok(each * plaintexts(layout).saturating_mul(layout.entries as u64))
}

/// The work of [`rewrite`].
pub fn rewrite_work(set: &Set, layout: &Layout) -> Result<Work> {
    let (ring, slots) = (set.ring.shape(), set.ring.plaintext.family().slots_work(set.ring.degree)?);
    Ok((slots * 2 + ring.transforms(2) + ring.moves(4)) * layout.entries as u64)
}

/// Bytes that are alive while plaintexts are made.
pub fn making_bytes(set: &Set, layout: &Layout) -> Result<u64> {
    let group = group(set, layout)?.min(layout.entries) as u64;
    Ok((values_bytes(set, layout)? * group)
        .saturating_add(plaintexts(layout).saturating_mul(set.ring.shape().poly_bytes())))
}
