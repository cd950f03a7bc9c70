//! Leaves and selectors from the coefficients of an encrypted query.

use lattice::convert::{CoefficientTree, Levels};
use lattice::{Rgsw, RingGadget, Rlwe, Workspace};
use ring::Coefficient;

use crate::core::Result;

/// Leaves that are in memory at once while the vector is made of them: each gives one line, and this many lines are written at a time.
pub const LEAVES_AT_A_TIME: usize = 16;

/// The places of a query's first `count` values among 2^depth: number k is at bitrev(k), so that numbers below `count` share the most
/// automorphisms.
pub fn positions(depth: u32, count: usize) -> Vec<usize> {
    (0..count).map(|k| k.reverse_bits().checked_shr(usize::BITS - depth).unwrap_or(0)).collect()
}

/// The leaves of a tree, a few at a time, in the order in which they come: that of the reversed bits of their positions.
pub fn leaves<L: Levels<u32>>(
    tree: CoefficientTree<'_, u32, L>,
) -> impl Iterator<Item = Result<Vec<Rlwe<u32, Coefficient>>>> + use<'_, L> {
    let mut leaves = tree.map(|leaf| Ok(leaf?.1));
    std::iter::from_fn(move || {
        let part: Result<Vec<_>> = leaves.by_ref().take(LEAVES_AT_A_TIME).collect();
        part.map(|part| (!part.is_empty()).then_some(part)).transpose()
    })
}

/// The rows of all selectors from a tree, in the order of their positions: of each bit, bit times each weight.
pub fn rows<L: Levels<u32>>(tree: CoefficientTree<'_, u32, L>) -> Result<Vec<Rlwe<u32, Coefficient>>> {
    let mut rows: Vec<(usize, _)> = tree.collect::<std::result::Result<_, _>>()?;
    rows.sort_unstable_by_key(|(index, _)| *index);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// One selector for each bit from the rows of m of all bits: those of -s m are converted from them by a product with RGSW(-s).
pub fn selectors(
    rows: Vec<Rlwe<u32, Coefficient>>,
    selector: &RingGadget<u32>,
    (conversion, key): (&RingGadget<u32>, &Rgsw<u32>),
    workspace: &mut Workspace<u32>,
) -> Result<Vec<Rgsw<u32>>> {
    let (ring, digits) = (selector.ring(), selector.length());
    let (bits, mut rows) = (rows.len() / digits, rows.into_iter());
    let mut one = || {
        let (mut mask, mut body) = (Vec::with_capacity(digits), Vec::with_capacity(digits));
        for row in rows.by_ref().take(digits) {
            let mut masked = Rlwe::zero(ring);
            conversion.external_product(&row, key, workspace, &mut masked)?;
            mask.push(masked.forward(ring));
            body.push(row.forward(ring));
        }
        Ok(Rgsw::from_rows(selector, mask, body)?)
    };
    (0..bits).map(|_| one()).collect()
}
