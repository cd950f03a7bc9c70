//! The server's work on ring queries: products with columns of 16-bit entries, their hints, and packing.

use std::collections::BTreeSet;

use gadget::Coins;
use lattice::pack::{Packing, PackingKeys, PackingMasks, PackingTable};
use lattice::{Rlwe, Workspace};
use ring::matrix::column::{ring_products, ring_products_work};
use ring::{Coefficient, ColumnMatrix, Kernel, Ntt, Poly, ResidueVector, Ring, RingShape, Seed, Work};

use super::{Difference, RingQueries};
use crate::core::plan::count;
use crate::core::threads::side_by_side;
use crate::core::{Error, Result};

/// Buffers of packing. Only randomised gadgets draw coins, and packing uses none.
pub(crate) fn workspace() -> Workspace<u32> {
    Workspace::new(Coins::from_seed(Seed([0; 16])))
}

/// The ring masks of `count` columns from `first` on under these masks of the query, computed by several threads.
pub(crate) fn column_masks(
    matrix: &ColumnMatrix,
    ring: &Ring<u32>,
    query: &[Poly<u32, Ntt>],
    (first, count): (usize, usize),
    threads: usize,
) -> Result<Vec<Poly<u32, Ntt>>> {
    let mut out: Vec<Poly<u32, Ntt>> = (0..count).map(|_| ring.zero()).collect();
    let each = count.div_ceil(threads.max(1)).max(1);
    let task = |(i, out): (usize, &mut [Poly<u32, Ntt>])| {
        ring_products(matrix, ring, query, first + i * each, out).map_err(Error::from)
    };
    side_by_side(out.chunks_mut(each).enumerate(), threads, task)?;
    Ok(out)
}

/// The number of single entries whose update costs as much as recomputing a block: an entry takes a product with a constant and a sum, a
/// block two transforms.
const ROWS_PER_BLOCK: usize = 20;

/// Whether it is less work to add `changed` entries than to compute the ring masks of `columns` columns of `blocks` blocks again.
pub(crate) fn is_incremental(changed: usize, columns: usize, blocks: usize) -> bool {
    changed <= ROWS_PER_BLOCK.saturating_mul(columns).saturating_mul(blocks)
}

/// Brings the ring masks of a matrix's columns up to date, group by group: adds the changes of entries or, if that is less work, computes
/// the touched groups `again`.
pub(crate) fn update_masks(
    groups: &mut [Vec<Poly<u32, Ntt>>],
    (ring, queries): (&Ring<u32>, &RingQueries),
    differences: &[Difference],
    touched: &BTreeSet<usize>,
    again: impl Fn(usize) -> Result<Vec<Poly<u32, Ntt>>>,
) -> Result<()> {
    let columns = touched.iter().map(|&group| groups[group].len()).sum();
    let changed = differences.iter().map(|difference| difference.added.len()).sum();
    if !is_incremental(changed, columns, queries.blocks()) {
        for &group in touched {
            // Frees the old masks before the new ones are made.
            groups[group].clear();
            groups[group] = again(group)?;
        }
        return Ok(());
    }
    for Difference { row, first_column, added } in differences {
        let masks = groups.iter_mut().flatten().skip(*first_column);
        add_to_masks(ring, queries, *row, masks.zip(added.iter().copied()));
    }
    Ok(())
}

/// The packing table of columns with these ring masks.
pub(crate) fn packing_table(packing: &Packing, masks: &PackingMasks, hint: &[Poly<u32, Ntt>]) -> Result<PackingTable> {
    packing.preprocess(masks, hint, &mut workspace()).map_err(Error::from)
}

/// The work of bringing the ring masks of `columns` columns of `rows` rows up to date: [`add_to_masks`] for the `changed` of `listed`
/// entries, or [`ring_products`] if that is less.
pub(crate) fn masks_update_work(ring: RingShape, (changed, listed): (u64, u64), rows: u64, columns: u64) -> Work {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    if is_incremental(size(listed), size(columns), size(rows.div_ceil(ring.degree as u64))) {
        add_to_masks_work(ring, changed)
    } else {
        ring_products_work(ring, rows, columns)
    }
}

/// The work of [`add_to_masks`] for `changed` entries, each of which copies, multiplies and adds the factor.
pub(crate) fn add_to_masks_work(ring: RingShape, entries: u64) -> Work {
    ring.products(count(&[3, entries]))
}

/// Adds changes of entries in row `row` to the ring masks of their columns: the difference times X^-row a(X).
pub(crate) fn add_to_masks<'a>(
    ring: &Ring<u32>,
    queries: &RingQueries,
    row: usize,
    changes: impl Iterator<Item = (&'a mut Poly<u32, Ntt>, i32)>,
) {
    let n = ring.n();
    let mut factor = queries.mask(row / n);
    ring.mul_assign(&mut factor, &ring.monomial_ntt(2 * n - row % n));
    let mut term = ring.zero();
    for (mask, difference) in changes.filter(|(_, difference)| *difference != 0) {
        term.copy_from(&factor);
        ring.mul_signed_assign(&mut term, difference.into());
        ring.add_assign(mask, &term);
    }
}

/// The products of a matrix with a query, as residues modulo each prime.
pub(crate) fn bodies(
    kernel: Kernel,
    matrix: &ColumnMatrix,
    queries: &[ResidueVector],
    threads: usize,
) -> Result<Vec<Vec<u32>>> {
    ring::matrix::column::product(kernel, matrix, queries, threads).map_err(Error::from)
}

/// The polynomial with `count` consecutive products (of all columns modulo the first prime, then the second) as its first
/// coefficients.
pub(crate) fn body_poly(ring: &Ring<u32>, products: &[u32], first: usize, count: usize) -> Poly<u32, Coefficient> {
    let mut poly = ring.zero();
    let columns = products.len() / ring.primes().len();
    for (limb, products) in poly.limbs_mut().zip(products.chunks_exact(columns)) {
        limb[..count].copy_from_slice(&products[first..first + count]);
    }
    poly
}

/// For each query, `count` consecutive products from the first on, packed by one table.
pub(crate) fn pack<'a>(
    ring: &Ring<u32>,
    table: &PackingTable,
    keys: impl Iterator<Item = &'a PackingKeys>,
    products: &[Vec<u32>],
    (first, count): (usize, usize),
) -> Result<Vec<Rlwe<u32, Coefficient>>> {
    let bodies: Vec<_> = products.iter().map(|products| body_poly(ring, products, first, count)).collect();
    table.pack_batch(&keys.zip(&bodies).collect::<Vec<_>>()).map_err(Error::from)
}

/// A query's packing keys, from the bytes that travelled.
pub(crate) fn read_keys(packing: &Packing, bytes: &[u8]) -> Result<PackingKeys> {
    PackingKeys::from_bytes(packing, bytes).map_err(Error::in_message("keys"))
}

/// For each query, the outputs packed by each table: output x packs the products from column x d on. Each table is read once.
pub(crate) fn pack_all(
    ring: &Ring<u32>,
    tables: &[&PackingTable],
    keys: &[PackingKeys],
    products: &[Vec<u32>],
) -> Result<Vec<Vec<Rlwe<u32, Coefficient>>>> {
    let mut packed: Vec<Vec<_>> = keys.iter().map(|_| Vec::with_capacity(tables.len())).collect();
    for (x, table) in tables.iter().enumerate() {
        let outputs = pack(ring, table, keys.iter(), products, (x * ring.n(), ring.n()))?;
        packed.iter_mut().zip(outputs).for_each(|(packed, output)| packed.push(output));
    }
    Ok(packed)
}

#[cfg(test)]
mod tests;
