//! Single coefficients of a phase as ciphertexts of constants.

use crate::decompose::{GadgetShape, RingGadget};
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::Rlwe;
use crate::trace::{TraceKeys, inverse_power_of_two};
use ring::{Coefficient, Ring, RingShape, Word, Work};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The method that takes several coefficients from one ciphertext. The noise of each output does not depend on it (docs/bootstrapping.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extraction {
    /// One trace of log2 N automorphisms for each coefficient (Pirouette, Algorithm 14; Wang et al.).
    Traces,
    /// An oblivious expansion cut down to the branches that lead to a wanted coefficient: positions that agree modulo 2^i share the
    /// first i automorphisms. For l = 2^c positions at multiples of N / l, log2 N - c + l - 1 automorphisms instead of l log2 N.
    #[default]
    Tree,
}

/// Number of automorphisms of [`RingGadget::coefficients`] in dimension n.
pub fn extraction_automorphisms(n: usize, positions: &[usize], extraction: Extraction) -> usize {
    let levels = n.ilog2();
    match extraction {
        Extraction::Traces => positions.len() * levels as usize,
        Extraction::Tree => tree_automorphisms(positions, levels),
    }
}

/// Number of automorphisms of [`RingGadget::coefficient_tree`].
fn tree_automorphisms(positions: &[usize], depth: u32) -> usize {
    (0..depth).map(|level| classes(positions, level).len()).sum()
}

/// The different residues of the positions modulo 2^level, ascending.
fn classes(positions: &[usize], level: u32) -> Vec<usize> {
    let mut residues: Vec<usize> = positions.iter().map(|position| position % (1 << level)).collect();
    residues.sort_unstable();
    residues.dedup();
    residues
}

impl GadgetShape {
    /// The work of [`RingGadget::coefficients`].
    pub fn coefficients_work(self, positions: &[usize], extraction: Extraction) -> Work {
        let degree = self.ring.degree;
        match extraction {
            Extraction::Traces => {
                self.automorphism_work() * extraction_automorphisms(degree, positions, extraction) as u64
            }
            Extraction::Tree => self.coefficient_tree_work(positions, degree.ilog2()),
        }
    }

    /// The work of [`RingGadget::coefficient_tree`].
    pub fn coefficient_tree_work(self, positions: &[usize], depth: u32) -> Work {
        tree_work(self.ring, self.automorphism_work(), positions, depth)
    }
}

/// The work of a [`CoefficientTree`] whose automorphisms take `automorphism` each. One is followed by a sum with the ciphertext, or by a
/// difference and its product with a monomial.
pub fn tree_work(ring: RingShape, automorphism: Work, positions: &[usize], depth: u32) -> Work {
    (automorphism + ring.moves(2)) * tree_automorphisms(positions, depth) as u64
}

/// The automorphisms of an oblivious expansion, whatever their keys are made with.
pub trait Levels<W: Word> {
    /// The ring of ciphertexts.
    fn ring(&self) -> &Ring<W>;

    /// Maps the phase of `input` by X -> X^(2^level + 1), under the same key. `out` is overwritten.
    ///
    /// # Errors
    /// No key of that level, a ciphertext of another ring.
    fn map(
        &self,
        level: u32,
        input: &Rlwe<W, Coefficient>,
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError>;
}

/// A gadget and the automorphism keys that were made with it.
#[derive(Clone, Copy)]
pub struct GadgetLevels<'a, W: Word>(&'a RingGadget<W>, &'a TraceKeys<W>);

impl<W: Word> Levels<W> for GadgetLevels<'_, W> {
    fn ring(&self) -> &Ring<W> {
        self.0.ring()
    }

    fn map(
        &self,
        level: u32,
        input: &Rlwe<W, Coefficient>,
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        self.0.automorphism(input, self.1.level(level)?, workspace, out)
    }
}

impl<W: Word> RingGadget<W> {
    /// The coefficients of the phase at those positions (below N, all different), in order, each as a ciphertext whose phase is that
    /// constant. `self` is the gadget of the keys, whose levels are 1 to log2 N.
    ///
    /// Multiplies by N^-1 modulo q first. Level i = 0, 1, ... of the tree then takes the ciphertext c of a residue r modulo 2^i, phase
    /// 2^i sum_u m_(r + u 2^i) X^(u 2^i), to c + tau(c) for r and X^(-2^i) (c - tau(c)) for r + 2^i modulo 2^(i + 1), with
    /// tau: X -> X^(N / 2^i + 1).
    ///
    /// # Errors
    /// A position not below N or given twice, a missing key, a ciphertext or a key of another ring, a key made with another gadget.
    pub fn coefficients(
        &self,
        input: &Rlwe<W, Coefficient>,
        positions: &[usize],
        extraction: Extraction,
        keys: &TraceKeys<W>,
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Rlwe<W, Coefficient>>, LatticeError> {
        let ring = self.ring();
        let n = ring.n();
        check(ring, input, positions, n.ilog2())?;
        match extraction {
            Extraction::Traces => positions
                .iter()
                .map(|position| self.trace(&input.mul_monomial(ring, 2 * n - position), 1, keys, workspace))
                .collect(),
            Extraction::Tree => {
                let tree = self.coefficient_tree(input, n.ilog2(), positions, keys, workspace)?;
                let mut found = tree.collect::<Result<Vec<_>, _>>()?;
                found.sort_unstable_by_key(|(index, _)| *index);
                Ok(found.into_iter().map(|(_, coefficient)| coefficient).collect())
            }
        }
    }

    /// The ciphertexts of [`Extraction::Tree`] one by one, with keys made with this gadget: see [`CoefficientTree::new`].
    ///
    /// # Errors
    /// Those of the tree, a key made with another gadget.
    pub fn coefficient_tree<'a>(
        &'a self,
        input: &Rlwe<W, Coefficient>,
        depth: u32,
        positions: &[usize],
        keys: &'a TraceKeys<W>,
        workspace: &'a mut Workspace<W>,
    ) -> Result<CoefficientTree<'a, W>, LatticeError> {
        CoefficientTree::new(GadgetLevels(self, keys), input, depth, positions, workspace)
    }
}

fn check<W: Word>(
    ring: &Ring<W>,
    input: &Rlwe<W, Coefficient>,
    positions: &[usize],
    depth: u32,
) -> Result<(), LatticeError> {
    let n = ring.n();
    input.check(ring)?;
    if depth > n.ilog2() {
        return Err(LatticeError::Parameter(format!("a tree of depth {depth} for a ring of dimension {n}")));
    }
    if let Some(position) = positions.iter().find(|position| **position >> depth != 0) {
        return Err(LatticeError::Parameter(format!("coefficient {position} of {}", 1usize << depth)));
    }
    if classes(positions, n.ilog2()).len() != positions.len() {
        return Err(LatticeError::Parameter(format!("positions {positions:?}: give each once")));
    }
    Ok(())
}

/// An oblivious expansion in progress: the ciphertexts of [`Extraction::Tree`] one by one, each with the index of its position.
pub struct CoefficientTree<'a, W: Word, L = GadgetLevels<'a, W>> {
    levels: L,
    depth: u32,
    workspace: &'a mut Workspace<W>,
    /// Reversed bits and index of each wanted position, ascending.
    wanted: Vec<(usize, usize)>,
    /// The open nodes, the next one last.
    waiting: Vec<Node<W>>,
    mapped: Rlwe<W, Coefficient>,
    difference: Rlwe<W, Coefficient>,
}

/// A ciphertext with the coefficients of one residue modulo 2^level.
struct Node<W: Word> {
    level: u32,
    /// Its wanted coefficients, a range of [`CoefficientTree::wanted`].
    wanted: Range<usize>,
    ciphertext: Rlwe<W, Coefficient>,
}

impl<'a, W: Word, L: Levels<W>> CoefficientTree<'a, W, L> {
    /// The expansion of `input`. The order is that of the positions' reversed bits, which is depth first, so that at most `depth` + 1
    /// ciphertexts wait.
    ///
    /// A tree of fewer than log2 N levels takes positions below 2^depth, and the phase of an output is the sum over u of
    /// m_(j + u 2^depth) X^(u 2^depth): the constant m_j if the input has no coefficients from 2^depth on. The keys' levels are
    /// log2 N - depth + 1 to log2 N.
    ///
    /// # Errors
    /// A position not below 2^depth or given twice, a depth above log2 N, a ciphertext of another ring. The ciphertexts: a missing key, a
    /// key of another ring.
    pub fn new(
        levels: L,
        input: &Rlwe<W, Coefficient>,
        depth: u32,
        positions: &[usize],
        workspace: &'a mut Workspace<W>,
    ) -> Result<Self, LatticeError> {
        let ring = levels.ring();
        check(ring, input, positions, depth)?;
        let log_n = ring.n().ilog2();
        let reversed = |position: usize| position.reverse_bits() >> (usize::BITS - log_n);
        let mut wanted: Vec<_> = positions.iter().enumerate().map(|(index, &at)| (reversed(at), index)).collect();
        wanted.sort_unstable();
        let mut root = input.clone();
        for part in [&mut root.a, &mut root.b] {
            for ((prime, _), limb) in ring.limbs().iter().zip(part.limbs_mut()) {
                let inverse = inverse_power_of_two(u128::from(prime.value().to_u64()), depth);
                ring.vectors().mul_scalar(prime, limb, prime.reduce_u128(inverse));
            }
        }
        let mut waiting = Vec::with_capacity(depth as usize + 1);
        if !wanted.is_empty() {
            waiting.push(Node { level: 0, wanted: 0..wanted.len(), ciphertext: root });
        }
        let (mapped, difference) = (Rlwe::zero(ring), Rlwe::zero(ring));
        Ok(Self { levels, depth, workspace, wanted, waiting, mapped, difference })
    }

    /// Replaces a node by its children that lead to a wanted coefficient.
    fn split(&mut self, node: Node<W>) -> Result<(), LatticeError> {
        let Node { level, wanted, mut ciphertext } = node;
        let ring = self.levels.ring();
        let (n, log_n, step) = (ring.n(), ring.n().ilog2(), 1 << level);
        self.levels.map(log_n - level, &ciphertext, self.workspace, &mut self.mapped)?;
        // Bit `level` of a position, reversed.
        let is_even = |(reversed, _): &(usize, usize)| reversed >> (log_n - 1 - level) & 1 == 0;
        let middle = wanted.start + self.wanted[wanted.clone()].partition_point(is_even);
        let (even, odd) = (wanted.start..middle, middle..wanted.end);
        if !odd.is_empty() {
            self.difference.copy_from(&ciphertext);
            self.difference.sub_assign(ring, &self.mapped);
            // X^(-2^i) = X^(2 N - 2^i).
            let ciphertext = self.difference.mul_monomial(ring, 2 * n - step);
            self.waiting.push(Node { level: level + 1, wanted: odd, ciphertext });
        }
        if !even.is_empty() {
            ciphertext.add_assign(ring, &self.mapped);
            self.waiting.push(Node { level: level + 1, wanted: even, ciphertext });
        }
        Ok(())
    }
}

impl<W: Word, L: Levels<W>> Iterator for CoefficientTree<'_, W, L> {
    type Item = Result<(usize, Rlwe<W, Coefficient>), LatticeError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let node = self.waiting.pop()?;
            if node.level == self.depth {
                return Some(Ok((self.wanted[node.wanted.start].1, node.ciphertext)));
            }
            if let Err(error) = self.split(node) {
                self.waiting.clear();
                return Some(Err(error));
            }
        }
    }
}
