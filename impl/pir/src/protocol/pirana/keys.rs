//! The keys that a client uploads.

use bfv::ModulusId;

use super::Layout;

/// The exponents of the keys that a layout needs, in the order in which they travel: for products, the swap of rows, turns by G places
/// and turns by one.
pub fn exponents(layout: &Layout, id: ModulusId) -> Vec<u64> {
    let needed = [
        (1, layout.code.weight > 1),
        (id.swap(), layout.halves > 1),
        (id.rotation(layout.giants), layout.baby > 1),
        (id.rotation(1), layout.giants > 1),
    ];
    needed.into_iter().filter(|(_, needed)| *needed).map(|(exponent, _)| exponent).collect()
}
