//! `selector-tree`: noise of the leaves, and of their sum with database digits.

use lattice::convert::{SelectorTree, selector_tree};
use lattice::{Rgsw, Rlwe};
use ring::Word;
use serde::{Deserialize, Serialize};

use crate::in_ring::{Bench, InRing, Shared, polynomial_bytes, seconds_per_polynomial};
use crate::lab::{CALLS, Lab, Tally};
use crate::primitive::{About, Described, Failed};
use crate::setting::{PlainDigits, bounded};
use crate::settings::{Refusal, Settings};

/// The noise of a selector tree; the setting's errors are those of the selectors.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Trees in all, at least.
    trees: u64,
    /// Bits of the index.
    bits: usize,
    /// Database digits are uniform modulo p, in this range.
    plain_modulus: u64,
    plain_digits: PlainDigits,
}

pub const ABOUT: About =
    ("selector-tree", "errors of the leaves of selector trees and of first dimensions, under many keys");

impl InRing for Tree {
    fn read(rest: &Settings, _: &Shared) -> Result<Self, Refusal> {
        let own: Self = rest.parse()?;
        bounded(own.trees, "trees", 1..=1 << 30)?;
        // A tree of one bit would have only the product of the root, a constant whose digits are not random.
        bounded(own.bits, "bits", 2..=16)?;
        bounded(own.plain_modulus, "plain_modulus", 2..=1 << 20)?;
        Ok(own)
    }

    fn describe<W: Word>(&self, bench: &Bench<W>, described: &mut Described) -> Result<(), Refusal> {
        let Bench { shared, ring, .. } = bench;
        let length = bench.length();
        let (leaves, primes) = (1usize << self.bits, ring.primes().len());
        let (forward, inverse) = SelectorTree::<u64>::ntts(self.bits, 1, length, primes);
        described.counts([("leaves", leaves), ("forward_ntts", forward), ("inverse_ntts", inverse)]);
        // The products, of timed calls too; selectors at six polynomials a row, the phases and plaintext products of the leaves.
        let trees = shared.for_each_key(self.trees) as usize;
        let products = (trees + CALLS as usize) * (forward + inverse) / primes;
        let polynomials = products + trees * (12 * self.bits * length + 12 * leaves);
        described.predicted_seconds = polynomials as f64 * seconds_per_polynomial(ring);
        let tree = SelectorTree::<u64>::peak_bytes(self.bits, 1, ring.n() * primes * 8) as u64;
        described.peak_bytes = polynomial_bytes(ring, 16 * self.bits * length + 64) + tree;
        Ok(())
    }

    fn run<W: Word>(&self, bench: &Bench<W>, lab: &mut Lab<W>) -> Result<Tally, Failed> {
        let gadget = bench.gadget()?;
        let leaves = 1 << self.bits;
        let weight = gadget.modulus() / u128::from(self.plain_modulus);
        let least = self.plain_digits.least(self.plain_modulus);
        let mut tally = Tally::default();
        for _ in 0..bench.shared.for_each_key(self.trees) {
            let index = lab.below(leaves);
            let mut bits: Vec<Rgsw<W>> = Vec::with_capacity(self.bits);
            for place in (0..self.bits).rev() {
                bits.push(lab.rgsw_bit(index >> place & 1 == 1, gadget)?);
            }
            let workspaces = std::slice::from_mut(&mut lab.workspace);
            let tree = tally.operate(|| selector_tree(gadget, &[weight], &bits, workspaces))?;
            let (selected, zero) = (lab.constant(weight), lab.ring.zero());
            let (mut sum, mut known) = (Rlwe::zero(&lab.ring), lab.ring.zero());
            for leaf in 0..leaves {
                let ciphertext = &tree.leaf(leaf)[0];
                let errors = lab.errors(&lab.key.phase(ciphertext), if leaf == index { &selected } else { &zero })?;
                tally.add("leaves", &errors);
                let digits: Vec<i64> =
                    (0..lab.ring.n()).map(|_| least + lab.below(self.plain_modulus as usize) as i64).collect();
                let digits = lab.ring.forward(lab.ring.from_signed(&digits));
                let mut product = ciphertext.clone();
                product.mul_plain_assign(&lab.ring, &digits);
                sum.add_assign(&lab.ring, &product);
                if leaf == index {
                    tally.add("selected", &errors);
                    known = lab.product(&selected, &digits);
                }
            }
            tally.add("first-dimension", &lab.errors(&lab.key.phase(&sum), &known)?);
        }
        Ok(tally)
    }
}
