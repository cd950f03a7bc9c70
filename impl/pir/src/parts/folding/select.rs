//! Selection: rows by a product with encrypted unit vectors, columns and positions by CMUX trees.

use std::ops::Range;
use std::sync::Arc;

use lattice::{Rgsw, RingGadget, Rlwe, VectorRlwe, Workspace};
use ring::{Coefficient, Ntt, Poly, PolyMatrix, PolyPairs, Ring};

use super::Layout;
use crate::core::threads::side_by_side;
use crate::core::{Error, Result};

/// Selects from a matrix of polynomials modulo all primes of the ring of ciphertexts, or modulo its first one.
///
/// With only the first prime P of q = P P', leaves are switched to P before the product, and its result is multiplied by P', which
/// makes it a ciphertext modulo q again. This halves the matrix; the switch adds an error of variance (1 + N E[s^2]) / 12 in units
/// of P to each leaf.
#[derive(Clone, Debug)]
pub struct Selection {
    layout: Layout,
    ring: Arc<Ring<u32>>,
    matrix_ring: Arc<Ring<u32>>,
    threads: usize,
}

impl Selection {
    /// A selection with ciphertexts over `ring` and a matrix modulo its first `primes` primes.
    pub fn new(layout: Layout, ring: &Arc<Ring<u32>>, primes: usize, threads: usize) -> Result<Self> {
        let matrix_ring = matrix_ring(ring, primes)?;
        Ok(Self { layout, ring: Arc::clone(ring), matrix_ring, threads: threads.max(1) })
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn ring(&self) -> &Ring<u32> {
        &self.ring
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// The ring of the matrix.
    pub fn matrix_ring(&self) -> &Arc<Ring<u32>> {
        &self.matrix_ring
    }

    /// The vector by which the matrix is multiplied: a leaf for each row, which encrypts q / p in the selected row and 0 in the others.
    /// `leaves` is called for a few at a time, which are freed before the next call, and not for more leaves than rows.
    pub fn leaves(&self, parts: impl IntoIterator<Item = Result<Vec<Rlwe<u32, Coefficient>>>>) -> Result<PolyPairs> {
        let vectors = self.vectors(1, parts, |leaf| {
            let (ring, to) = (&self.ring, &self.matrix_ring);
            let leaf = if self.is_whole() { leaf } else { leaf.rescale(ring, to)? };
            Ok(vec![leaf.forward(to)])
        });
        vectors.map(|mut vectors| vectors.remove(0))
    }

    /// The same for leaves in the NTT domain.
    pub fn leaves_ntt(&self, parts: impl IntoIterator<Item = Result<Vec<Rlwe<u32, Ntt>>>>) -> Result<PolyPairs> {
        let vectors = self.vectors(1, parts, |leaf| Ok(vec![self.narrow(leaf)?]));
        vectors.map(|mut vectors| vectors.remove(0))
    }

    /// The same for leaves that are vectors of that many bodies: mask and bodies two by two, with zeros if one is left over.
    pub fn leaves_of_vectors(
        &self,
        bodies: usize,
        parts: impl IntoIterator<Item = Result<Vec<VectorRlwe<u32, Ntt>>>>,
    ) -> Result<Vec<PolyPairs>> {
        self.vectors((1 + bodies).div_ceil(2), parts, |leaf: VectorRlwe<u32, Ntt>| {
            let mut polys = std::iter::once(leaf.a).chain(leaf.bodies);
            let pair = || polys.next().map(|a| Rlwe { a, b: polys.next().unwrap_or_else(|| self.ring.zero()) });
            std::iter::from_fn(pair).map(|pair| self.narrow(pair)).collect()
        })
    }

    /// A pair modulo all primes, reduced to the matrix's.
    fn narrow(&self, pair: Rlwe<u32, Ntt>) -> Result<Rlwe<u32, Ntt>> {
        let (ring, to) = (&self.ring, &self.matrix_ring);
        if self.is_whole() {
            return Ok(pair);
        }
        Ok(pair.inverse(ring).rescale(ring, to)?.forward(to))
    }

    /// `count` vectors of the pairs of leaves, given modulo all primes and reduced to the matrix's.
    fn vectors<L: Send>(
        &self,
        count: usize,
        parts: impl IntoIterator<Item = Result<Vec<L>>>,
        pairs: impl Fn(L) -> Result<Vec<Rlwe<u32, Ntt>>> + Sync,
    ) -> Result<Vec<PolyPairs>> {
        let rows = self.layout.matrix_rows();
        let mut vectors: Vec<_> =
            (0..count).map(|_| PolyPairs::zero(&self.matrix_ring, rows)).collect::<std::result::Result<_, _>>()?;
        let mut first = 0;
        for leaves in parts {
            let mut leaves = leaves?;
            leaves.truncate(rows - first);
            let switched = side_by_side(leaves.into_iter(), self.threads, &pairs)?;
            for (number, vector) in vectors.iter_mut().enumerate() {
                let pairs: Vec<_> = switched.iter().map(|leaf| [&leaf[number].a, &leaf[number].b]).collect();
                vector.set(first, &pairs)?;
            }
            first += switched.len();
            if first == rows {
                return Ok(vectors);
            }
        }
        Err(Error::Workload(format!("{first} leaves for {rows} rows")))
    }

    /// Whether the matrix has all primes.
    fn is_whole(&self) -> bool {
        self.ring.is_same(&self.matrix_ring)
    }

    /// For each vector, the ciphertexts of a range of columns of `block`. All vectors share one pass over the memory.
    pub fn rows(
        &self,
        block: &PolyMatrix,
        columns: Range<usize>,
        vectors: &[&PolyPairs],
    ) -> Result<Vec<Vec<Rlwe<u32, Coefficient>>>> {
        let lifted = |[a, b]: [_; 2]| Ok(Rlwe { a: self.lifted(a), b: self.lifted(b) });
        let all = |products: PolyPairs| {
            let pairs = products.tuples(0..products.len())?;
            drop(products);
            side_by_side(pairs.into_iter(), self.threads, lifted)
        };
        block.multiply_part(vectors, columns, self.threads)?.into_iter().map(all).collect()
    }

    /// A product in the coefficient domain, modulo q.
    fn lifted(&self, product: Poly<u32, Ntt>) -> Poly<u32, Coefficient> {
        let product = self.matrix_ring.inverse(product);
        if self.is_whole() {
            return product;
        }
        let kept = self.matrix_ring.primes().len();
        let mut out: Poly<u32, Coefficient> = self.ring.zero();
        let limbs = out.limbs_mut().zip(product.limbs()).zip(self.ring.limbs());
        for ((out, limb), (modulus, _)) in limbs {
            // A multiple of the other primes is zero modulo them.
            let others = &self.ring.primes()[kept..];
            let scale = others.iter().fold(1, |scale, &prime| modulus.mul(scale, modulus.reduce_u64(prime)));
            out.copy_from_slice(limb);
            self.ring.vectors().mul_scalar(modulus, out, scale);
        }
        out
    }

    /// Moves the position whose bits the selectors encrypt, most significant first, to position 0: multiplies by X^-2^(v3 - 1 - r)
    /// if bit r is set.
    pub fn position(
        &self,
        gadget: &RingGadget<u32>,
        selectors: &[Rgsw<u32>],
        ciphertext: Rlwe<u32, Coefficient>,
        workspace: &mut Workspace<u32>,
    ) -> Result<Rlwe<u32, Coefficient>> {
        let mut selected = ciphertext;
        let mut out = Rlwe::zero(&self.ring);
        for (level, selector) in selectors.iter().enumerate() {
            let step = 1usize << (selectors.len() - 1 - level);
            let turned = selected.mul_monomial(&self.ring, 2 * self.ring.n() - step);
            gadget.cmux(selector, &selected, &turned, workspace, &mut out)?;
            std::mem::swap(&mut selected, &mut out);
        }
        Ok(selected)
    }

    /// The slots of the item at position 0 of its parts, each brought to slot 0.
    pub fn slots(&self, parts: &[Rlwe<u32, Coefficient>]) -> Vec<Rlwe<u32, Coefficient>> {
        let (layout, n) = (&self.layout, self.ring.n());
        (0..layout.slots)
            .map(|slot| {
                let (part, slot) = (slot / layout.slots_per_polynomial(), slot % layout.slots_per_polynomial());
                parts[part].mul_monomial(&self.ring, 2 * n - slot * layout.positions())
            })
            .collect()
    }
}

/// The ring of the first `primes` primes.
pub(crate) fn matrix_ring(ring: &Arc<Ring<u32>>, primes: usize) -> Result<Arc<Ring<u32>>> {
    ring.prefix(primes)
        .ok_or_else(|| Error::Workload(format!("a ring of {} primes has not {primes}", ring.primes().len())))
}
