//! The tree of selectors: from bits to a unary index.

use crate::decompose::{GadgetShape, RingGadget};
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::{Rgsw, Rlwe};
use rayon::prelude::*;
use ring::{Coefficient, Ntt, Word, Work};

/// The leaves of a tree in the NTT domain: 2^v ciphertexts for each weight.
#[derive(Clone, Debug)]
pub struct SelectorTree<W: Word> {
    rows: usize,
    leaves: Vec<Rlwe<W, Ntt>>,
}

impl<W: Word> SelectorTree<W> {
    /// The ciphertexts of one index, one for each weight: encryptions of the weights if the bits spell the index, else of zeros.
    pub fn leaf(&self, index: usize) -> &[Rlwe<W, Ntt>] {
        &self.leaves[index * self.rows..(index + 1) * self.rows]
    }

    /// Number of leaves, 2^v.
    pub fn len(&self) -> usize {
        self.leaves.len() / self.rows
    }

    /// Always false: there is a leaf even without bits.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// All ciphertexts, leaf by leaf.
    pub fn into_ciphertexts(self) -> Vec<Rlwe<W, Ntt>> {
        self.leaves
    }

    /// NTTs of size N modulo one prime that a tree of v bits takes with RGSW ciphertexts of that length: forward and inverse.
    ///
    /// 2^v - 1 products a weight; those of the last level stay in the NTT domain.
    pub fn ntts(bits: usize, weights: usize, length: usize, primes: usize) -> (usize, usize) {
        let products = (1 << bits) - 1;
        (products * weights * 2 * length * primes, (products / 2) * weights * 2 * primes)
    }

    /// The work of [`selector_tree`] with RGSW ciphertexts of that gadget. The transforms of the roots are not counted.
    pub fn work(bits: usize, weights: usize, gadget: GadgetShape) -> Work {
        let (forward, inverse) = Self::ntts(bits, weights, gadget.length, gadget.ring.primes);
        let parts = 2 * weights as u64 * ((1 << bits) - 1);
        let products = gadget.ring.products(2 * gadget.length as u64 * parts);
        gadget.ring.ntts((forward + inverse) as u64) + gadget.digits_work(parts) + products
    }

    /// Bytes while a tree grows: the leaves, and half as many ciphertexts in the coefficient domain.
    pub fn peak_bytes(bits: usize, weights: usize, residue_bytes: usize) -> usize {
        ((weights * residue_bytes) << bits) * 3
    }
}

/// Expands the RGSW encryptions of v bits, most significant first, to 2^v leaves: leaf `index` encrypts every weight (a constant
/// polynomial, say floor(q / p)) if the bits spell the index, and zeros otherwise. Pirouette, Algorithm 21 with its left child mended.
///
/// A node with bit b has right = RGSW(b) node and left = node - right: 2^v - 1 external products a weight. The levels are worked off
/// breadth first, so that the rows of one selector stay in cache; leaves are written in place. Each workspace is a task of the current
/// rayon pool.
///
/// # Errors
/// No workspace, no weight, more than 30 bits, a selector of another ring or made with another gadget.
pub fn selector_tree<W: Word>(
    gadget: &RingGadget<W>,
    weights: &[u128],
    bits: &[Rgsw<W>],
    workspaces: &mut [Workspace<W>],
) -> Result<SelectorTree<W>, LatticeError> {
    let ring = gadget.ring();
    let root = |&weight: &u128| {
        let mut constant = ring.zero();
        for (limb, (modulus, _)) in ring.limbs().iter().enumerate() {
            constant.limb_mut(limb)[0] = modulus.reduce_u128(weight);
        }
        Rlwe { a: ring.zero(), b: ring.forward(constant) }
    };
    let roots: Vec<_> = weights.iter().map(root).collect();
    subtree(gadget, &roots, bits, workspaces)
}

/// The trees of [`selector_tree`] below its upper levels, of at most `depth` bits each: the same leaves in the same order, in
/// the memory of a small tree.
pub fn selector_subtrees<'a, W: Word>(
    gadget: &'a RingGadget<W>,
    weights: &[u128],
    bits: &'a [Rgsw<W>],
    depth: usize,
    workspaces: &'a mut [Workspace<W>],
) -> Result<impl Iterator<Item = Result<SelectorTree<W>, LatticeError>> + 'a, LatticeError> {
    let (upper, lower) = bits.split_at(bits.len().saturating_sub(depth));
    let roots = selector_tree(gadget, weights, upper, workspaces)?;
    Ok((0..roots.len()).map(move |root| subtree(gadget, roots.leaf(root), lower, workspaces)))
}

/// The tree below `roots`, which has one node for each weight.
fn subtree<W: Word>(
    gadget: &RingGadget<W>,
    roots: &[Rlwe<W, Ntt>],
    bits: &[Rgsw<W>],
    workspaces: &mut [Workspace<W>],
) -> Result<SelectorTree<W>, LatticeError> {
    let (ring, rows, depth) = (gadget.ring(), roots.len(), bits.len());
    if workspaces.is_empty() || rows == 0 || depth > 30 {
        return Err(LatticeError::Parameter(format!(
            "a tree of {depth} bits, {rows} weights, {} workspaces: give at most 30 bits, a weight and a workspace",
            workspaces.len()
        )));
    }
    for bit in bits {
        gadget.check_key(&bit.mask)?;
        gadget.check_key(&bit.body)?;
    }
    // A node of level d is at the place of its first leaf, and its coefficients at the place that this leaf has among half as many.
    let mut leaves: Vec<Rlwe<W, Ntt>> = (0..rows << depth).map(|_| Rlwe::zero(ring)).collect();
    let mut coefficients: Vec<Rlwe<W, Coefficient>> =
        (0..rows << depth.saturating_sub(1)).map(|_| Rlwe::zero(ring)).collect();
    for (row, root) in roots.iter().enumerate() {
        coefficients[row] = root.clone().inverse(ring);
        leaves[row].clone_from(root);
    }
    for (level, bit) in bits.iter().enumerate() {
        let nodes = 1usize << level;
        let group = nodes.div_ceil(workspaces.len()) * (rows << (depth - level));
        let last = level + 1 == depth;
        workspaces
            .par_iter_mut()
            .zip(leaves.par_chunks_mut(group).zip(coefficients.par_chunks_mut(group / 2)))
            .try_for_each(|(workspace, (leaves, coefficients))| {
                let stride = rows << (depth - level);
                for (leaves, coefficients) in leaves.chunks_mut(stride).zip(coefficients.chunks_mut(stride / 2)) {
                    grow(gadget, bit, rows, last, leaves, coefficients, workspace)?;
                }
                Ok::<(), LatticeError>(())
            })?;
    }
    Ok(SelectorTree { rows, leaves })
}

/// Replaces a node by its two children: the first `rows` of `leaves` and of `coefficients` are the node.
fn grow<W: Word>(
    gadget: &RingGadget<W>,
    bit: &Rgsw<W>,
    rows: usize,
    last: bool,
    leaves: &mut [Rlwe<W, Ntt>],
    coefficients: &mut [Rlwe<W, Coefficient>],
    workspace: &mut Workspace<W>,
) -> Result<(), LatticeError> {
    let ring = gadget.ring();
    let (left, right) = leaves.split_at_mut(leaves.len() / 2);
    for row in 0..rows {
        let node = &coefficients[row];
        gadget.product_ntt(&[(&node.a, &bit.mask), (&node.b, &bit.body)], workspace, &mut right[row])?;
        left[row].sub_assign(ring, &right[row]);
    }
    if !last {
        let (left_coefficients, right_coefficients) = coefficients.split_at_mut(coefficients.len() / 2);
        for row in 0..rows {
            let target = &mut right_coefficients[row];
            ring.inverse_into(&right[row].a, &mut target.a);
            ring.inverse_into(&right[row].b, &mut target.b);
            left_coefficients[row].sub_assign(ring, target);
        }
    }
    Ok(())
}
