//! Single coefficients of a phase as ciphertexts of constants.

use crate::decompose::RingGadget;
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::Rlwe;
use crate::trace::{TraceKeys, inverse_power_of_two};
use ring::{Coefficient, Word};

/// How several coefficients are taken from one ciphertext. The noise of each output is the same either way (docs/bootstrapping.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extraction {
    /// One trace each, log2 N automorphisms, as Pirouette (Algorithm 14) and Wang et al. have it.
    Traces,
    /// An oblivious expansion cut down to the branches that lead to a wanted coefficient: positions that agree modulo 2^i share the
    /// first i automorphisms. For l = 2^c positions at multiples of N / l, log2 N - c + l - 1 automorphisms instead of l log2 N.
    #[default]
    Tree,
}

/// Automorphisms that [`RingGadget::coefficients`] takes in dimension n.
pub fn extraction_automorphisms(n: usize, positions: &[usize], extraction: Extraction) -> usize {
    let levels = n.ilog2();
    match extraction {
        Extraction::Traces => positions.len() * levels as usize,
        Extraction::Tree => (0..levels).map(|level| classes(positions, level).len()).sum(),
    }
}

/// The different residues of the positions modulo 2^level, ascending.
fn classes(positions: &[usize], level: u32) -> Vec<usize> {
    let mut residues: Vec<usize> = positions.iter().map(|position| position % (1 << level)).collect();
    residues.sort_unstable();
    residues.dedup();
    residues
}

impl<W: Word> RingGadget<W> {
    /// The coefficients of the phase at those positions (below N, all different), each as a ciphertext whose phase is that constant, in
    /// that order. `self` is the gadget of the keys, whose levels are 1 to log2 N.
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
        input.check(ring)?;
        if let Some(position) = positions.iter().find(|position| **position >= n) {
            return Err(LatticeError::Parameter(format!("coefficient {position} of a ring of dimension {n}")));
        }
        if classes(positions, n.ilog2()).len() != positions.len() {
            return Err(LatticeError::Parameter(format!("positions {positions:?}: give each once")));
        }
        match extraction {
            Extraction::Traces => positions
                .iter()
                .map(|position| self.trace(&input.mul_monomial(ring, 2 * n - position), 1, keys, workspace))
                .collect(),
            Extraction::Tree => self.coefficient_tree(input, positions, keys, workspace),
        }
    }

    fn coefficient_tree(
        &self,
        input: &Rlwe<W, Coefficient>,
        positions: &[usize],
        keys: &TraceKeys<W>,
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Rlwe<W, Coefficient>>, LatticeError> {
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        let ring = self.ring();
        let (n, log_n) = (ring.n(), ring.n().ilog2());
        let mut root = input.clone();
        root.mul_scalar_assign(ring, inverse_power_of_two(self.modulus(), log_n));
        let mut nodes = vec![(0, root)];
        let (mut mapped, mut difference) = (Rlwe::zero(ring), Rlwe::zero(ring));
        for level in 0..log_n {
            let key = keys.level(log_n - level)?;
            let wanted = classes(positions, level + 1);
            let step = 1 << level;
            let mut next = Vec::with_capacity(wanted.len());
            for (residue, mut node) in nodes {
                self.automorphism(&node, key, workspace, &mut mapped)?;
                let (even, odd) = (wanted.binary_search(&residue), wanted.binary_search(&(residue + step)));
                if odd.is_ok() {
                    difference.copy_from(&node);
                    difference.sub_assign(ring, &mapped);
                    // X^(-2^i) = X^(2 N - 2^i).
                    next.push((residue + step, difference.mul_monomial(ring, 2 * n - step)));
                }
                if even.is_ok() {
                    node.add_assign(ring, &mapped);
                    next.push((residue, node));
                }
            }
            nodes = next;
        }
        let place = |residue: usize| positions.iter().position(|position| *position == residue);
        nodes.sort_unstable_by_key(|(residue, _)| place(*residue));
        Ok(nodes.into_iter().map(|(_, node)| node).collect())
    }
}
