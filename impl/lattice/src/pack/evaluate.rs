//! Sums of images of polynomials under automorphisms, by transforms.
//!
//! For polynomials c_v with positions p_v, the sum over v of X^(p_v) sigma(c_v) has in the slot of exponent e the value
//! sum_v c_v(psi^u) psi^(e p_v) with u = e sigma. With u fixed these are the values at psi^e of one polynomial
//! C_u(Y) = sum_v c_v(psi^u) Y^(p_v) of degree below N: one transform of size N gives all of them. As a matrix with a row for each
//! slot e and a column for each slot u it holds the sums for all sigma: slot e of the sum for sigma is in column e sigma.

use crate::error::LatticeError;
use ring::diagonal::{LINE, Line};
use ring::{BlockDiagonal, Ntt, Poly, Ring};

/// Residues of slots, as the ring's automorphisms list them: for each slot of an image the slot of the argument.
pub(super) type Slots = [u32];

/// Side of the blocks that hold a group of `order` automorphisms, those with sigma = 1 modulo 2 N / order: as those map slots within
/// aligned blocks of that size, but at least a line.
pub(super) fn side(order: usize) -> usize {
    order.max(LINE)
}

/// Writes the matrix of the sums for the group of `order` automorphisms into a band of each prime's matrix. `terms`: positions below
/// N and polynomials. `factors`: a residue for each prime by which all is multiplied.
pub(super) fn fill(
    ring: &Ring<u32>,
    terms: &[(usize, &Poly<u32, Ntt>)],
    order: usize,
    factors: &[u32],
    matrices: &mut [BlockDiagonal],
    band: usize,
) {
    let n = ring.n();
    let side = side(order);
    let mut columns = vec![0; LINE * n];
    for ((limb, (modulus, plan)), matrix) in ring.limbs().iter().enumerate().zip(matrices) {
        for first in (0..n).step_by(LINE) {
            columns.fill(0);
            for (position, term) in terms {
                for (lane, &value) in term.limb(limb)[first..first + LINE].iter().enumerate() {
                    columns[lane * n + position] = value;
                }
            }
            for (u, values) in (first..).zip(columns.chunks_exact_mut(n)) {
                ring.vectors().mul_scalar(modulus, values, factors[limb]);
                plan.forward(values);
                // Of the slots in the block around u only those whose exponents agree with that of u modulo 2 N / order.
                let start = u - u % order;
                for (slot, value) in (start..).zip(&values[start..start + order]) {
                    matrix.columns_mut(slot / LINE, band)[u % side][slot % LINE] = *value;
                }
            }
        }
    }
}

/// The sums of [`fill`], kept to be read.
pub(super) struct Sums {
    matrices: Vec<BlockDiagonal>,
    side: usize,
}

impl Sums {
    /// 1/order times the sum over j of X^j sigma(masks_j), for every sigma of the group of that order.
    pub(super) fn traces(ring: &Ring<u32>, masks: &[Poly<u32, Ntt>], order: usize) -> Result<Self, LatticeError> {
        let side = side(order);
        let mut matrices = zero_matrices(ring, &[side])?;
        let terms: Vec<_> = masks.iter().enumerate().collect();
        fill(ring, &terms, order, &inverses(ring, order), &mut matrices, 0);
        Ok(Self { matrices, side })
    }

    /// The sum for one automorphism.
    pub(super) fn get(&self, ring: &Ring<u32>, slots: &Slots) -> Poly<u32, Ntt> {
        let mut out = ring.zero();
        for (i, matrix) in self.matrices.iter().enumerate() {
            for (strip, (out, slots)) in
                out.limb_mut(i).chunks_exact_mut(LINE).zip(slots.chunks_exact(LINE)).enumerate()
            {
                let columns: &[Line] = matrix.columns(strip, 0);
                for (lane, (out, slot)) in out.iter_mut().zip(slots).enumerate() {
                    *out = columns[*slot as usize % self.side][lane];
                }
            }
        }
        out
    }
}

/// 1/order modulo each prime, for a power of two.
pub(super) fn inverses(ring: &Ring<u32>, order: usize) -> Vec<u32> {
    let halving = |p: u64| (0..order.ilog2()).fold(1, |x, _| if x & 1 == 0 { x >> 1 } else { (x + p) >> 1 });
    ring.primes().iter().map(|&p| halving(p) as u32).collect()
}

/// A zero matrix for each prime.
pub(super) fn zero_matrices(ring: &Ring<u32>, sides: &[usize]) -> Result<Vec<BlockDiagonal>, LatticeError> {
    let zero = |(modulus, _): &_| BlockDiagonal::zero(modulus, ring.n(), sides);
    Ok(ring.limbs().iter().map(zero).collect::<Result<_, _>>()?)
}
