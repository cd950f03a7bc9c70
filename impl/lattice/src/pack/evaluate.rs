//! Sums of images of polynomials under automorphisms, by transforms.
//!
//! This module computes r_sigma = sum_j X^j sigma(c_j) for all sigma of the group of `order` automorphisms, sigma = 1 modulo 2 N / order.
//! The definition takes order^2 products of polynomials. But in the slot of exponent e, with u = e sigma,
//! r_sigma is sum_j c_j(psi^u) psi^(e j): with u fixed, these are values at psi^e of one polynomial in Y,
//! C_u(Y) = sum_j c_j(psi^u) Y^j.
//!
//! * All odd e (order = N): one negacyclic transform of size N for each slot u and prime, in total 2 N log2 N butterflies for what
//!   the definition does with N^2 products.
//! * order < N: e = u (1 + m 2 N / order), where sum_j (c_j X^j) W^(j m), W = X^(2 N / order), is a cyclic transform of length order whose
//!   elements are polynomials and whose roots are monomials; r_sigma is the image under sigma of the sum for sigma^-1.
//!
//! For a handful of terms the definition is faster than both.

use super::slots::{self, SlotMaps};
use crate::error::LatticeError;
use crate::trace::inverse_power_of_two;
use ring::matrix::diagonal::LINE;
use ring::{BlockDiagonal, Ntt, Poly, Ring, RingShape, Work};

/// Most terms that are added by the definition. A term costs a permutation and a product for each sigma; the other methods cost two or
/// more transforms for each sigma, whatever the number of terms.
pub const DIRECT_TERMS: usize = 4;

/// The sums for one group of order below N, or for a handful of terms. For order N see [`fill`].
pub(super) enum Sums {
    /// For a handful of terms: X^j and c_j, and a buffer for an image.
    Direct(Vec<(Poly<u32, Ntt>, Poly<u32, Ntt>)>, Poly<u32, Ntt>),
    /// Otherwise: sum_j (c_j X^j) W^(j m) at the index whose bits are those of m reversed.
    Powers(Vec<Poly<u32, Ntt>>),
}

impl Sums {
    /// `terms` are pairs of j below `order` and c_j; other c_j are zero. All sums are multiplied by `factors`, a residue for each prime.
    pub(super) fn new(ring: &Ring<u32>, terms: &[(usize, &Poly<u32, Ntt>)], order: usize, factors: &[u32]) -> Self {
        if terms.len() > DIRECT_TERMS {
            return Self::Powers(transform_polynomials(ring, terms, order, factors));
        }
        let scaled = |(j, term): &(usize, &Poly<u32, Ntt>)| {
            let mut term = (*term).clone();
            scale(ring, &mut term, factors);
            (ring.monomial_ntt(*j), term)
        };
        Self::Direct(terms.iter().map(scaled).collect(), ring.zero())
    }

    /// r_sigma for sigma: X -> X^`exponent`, whose slot permutation is `slots`.
    pub(super) fn get(&mut self, ring: &Ring<u32>, exponent: u64, slots: &[u32], out: &mut Poly<u32, Ntt>) {
        match self {
            Self::Direct(terms, image) => {
                out.limbs_mut().for_each(|limb| limb.fill(0));
                for (monomial, term) in terms {
                    ring.permute_slots(term, slots, image);
                    ring.mul_assign(image, monomial);
                    ring.add_assign(out, image);
                }
            }
            Self::Powers(powers) => {
                let n = ring.n() as u64;
                let step = 2 * n / powers.len() as u64;
                let m = (SlotMaps::inverse(exponent, ring.n()) / step) as usize;
                // One element alone has no bits to reverse.
                let index = m.reverse_bits().checked_shr(usize::BITS - powers.len().ilog2()).unwrap_or(0);
                ring.permute_slots(&powers[index], slots, out);
            }
        }
    }
}

/// Products of the transform of `order` polynomials whose roots are monomials.
pub(super) fn butterflies(order: usize) -> u64 {
    (order / 2) as u64 * u64::from(order.ilog2())
}

/// The work of summing `terms` terms for all automorphisms of a group of that order: by the definition, by transforms of all slots, or
/// by transforms of polynomials.
pub(super) fn sums_work(ring: RingShape, order: usize, terms: usize) -> Work {
    let (products, transforms) = match terms {
        ..=DIRECT_TERMS => ((terms * order) as u64, 0),
        _ if order == ring.degree => (0, ring.degree as u64),
        _ => (butterflies(order), 0),
    };
    ring.products(products) + ring.moves(products) + ring.transforms(transforms)
}

/// For order N: fills the first band, of side N, of a matrix for each prime with the sums for every sigma, *by first slots*; see
/// [`slots`]. Arguments as of [`Sums::new`].
pub(super) fn fill(
    ring: &Ring<u32>,
    terms: &[(usize, &Poly<u32, Ntt>)],
    factors: &[u32],
    matrices: &mut [BlockDiagonal],
) {
    transform_slots(ring, terms, factors, matrices);
    matrices.iter_mut().for_each(|matrix| slots::by_first(matrix, 0));
}

/// Fills their first bands, of side N, in final order: column u, row e holds C_u(psi^e).
fn transform_slots(
    ring: &Ring<u32>,
    terms: &[(usize, &Poly<u32, Ntt>)],
    factors: &[u32],
    matrices: &mut [BlockDiagonal],
) {
    let n = ring.n();
    // Sixteen columns at a time; the strides between them are not multiples of a page, which would compete for the same sets of the caches.
    let stride = n + LINE;
    let mut columns = vec![0; LINE * stride];
    for ((limb, (modulus, plan)), matrix) in ring.limbs().iter().enumerate().zip(matrices) {
        for first in (0..n).step_by(LINE) {
            columns.fill(0);
            for (j, term) in terms {
                for (lane, &value) in term.limb(limb)[first..first + LINE].iter().enumerate() {
                    columns[lane * stride + j] = value;
                }
            }
            for column in columns.chunks_exact_mut(stride) {
                ring.vectors().mul_scalar(modulus, &mut column[..n], factors[limb]);
                plan.forward(&mut column[..n]);
            }
            for strip in 0..n / LINE {
                let lines = &mut matrix.columns_mut(strip, 0)[first..first + LINE];
                for (line, column) in lines.iter_mut().zip(columns.chunks_exact(stride)) {
                    line.copy_from_slice(&column[strip * LINE..][..LINE]);
                }
            }
        }
    }
}

/// The cyclic transform over polynomials, decimated in frequency.
fn transform_polynomials(
    ring: &Ring<u32>,
    terms: &[(usize, &Poly<u32, Ntt>)],
    order: usize,
    factors: &[u32],
) -> Vec<Poly<u32, Ntt>> {
    let n = ring.n();
    let mut values: Vec<Poly<u32, Ntt>> = (0..order).map(|_| ring.zero()).collect();
    for (j, term) in terms {
        values[*j] = ring.monomial_ntt(*j);
        ring.mul_assign(&mut values[*j], term);
        scale(ring, &mut values[*j], factors);
    }
    let roots: Vec<Poly<u32, Ntt>> = (0..order / 2).map(|k| ring.monomial_ntt(2 * n / order * k)).collect();
    let (mut length, mut difference) = (order, ring.zero());
    while length > 1 {
        let half = length / 2;
        for block in values.chunks_exact_mut(length) {
            let (upper, lower) = block.split_at_mut(half);
            for (k, (x, y)) in upper.iter_mut().zip(lower).enumerate() {
                // (x, y) becomes (x + y, (x - y) root).
                difference.copy_from(x);
                ring.sub_assign(&mut difference, y);
                ring.add_assign(x, y);
                std::mem::swap(y, &mut difference);
                if k > 0 {
                    ring.mul_assign(y, &roots[k * (order / length)]);
                }
            }
        }
        length = half;
    }
    values
}

/// Multiplies by a residue for each prime.
pub(super) fn scale(ring: &Ring<u32>, poly: &mut Poly<u32, Ntt>, factors: &[u32]) {
    for ((modulus, _), (limb, &factor)) in ring.limbs().iter().zip(poly.limbs_mut().zip(factors)) {
        if factor != 1 {
            ring.vectors().mul_scalar(modulus, limb, factor);
        }
    }
}

/// 1/order modulo each prime, for a power of two.
pub(super) fn inverses(ring: &Ring<u32>, order: usize) -> Vec<u32> {
    ring.primes().iter().map(|&p| inverse_power_of_two(p.into(), order.ilog2()) as u32).collect()
}

/// A zero matrix for each prime.
pub(super) fn zero_matrices(ring: &Ring<u32>, sides: &[usize]) -> Result<Vec<BlockDiagonal>, LatticeError> {
    let zero = |(modulus, _): &_| BlockDiagonal::zero(modulus, ring.n(), sides);
    Ok(ring.limbs().iter().map(zero).collect::<Result<_, _>>()?)
}
