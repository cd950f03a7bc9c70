//! `selector-tree`: noise of the leaves, and of their sum with database digits.

use std::sync::Arc;

use lattice::convert::{SelectorTree, selector_tree};
use lattice::{Rgsw, RingGadget, Rlwe, SeededRgsw};
use ring::{Ring, Seed, Word};
use serde::{Deserialize, Serialize};

use super::conversion::constant;
use super::fixture::{Fixture, Tally};
use super::objects::{GadgetSettings, RingSettings, SecretName, family, gaussian, secret};
use super::settings::{Message, PlainDigits, bounded};
use super::{describe_gadget, describe_ring, keys, seconds_per_polynomial};
use crate::primitive::settings::{Refusal, Settings, complete};
use crate::primitive::{Context, Described, Failed, Primitive, Session};

/// The noise of a selector tree.
pub struct Selector;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    n: usize,
    prime_bits: Vec<u32>,
    #[serde(default)]
    secret: SecretName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_stddev: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_weight: Option<usize>,
    /// Standard deviation of the errors of the selectors.
    stddev: f64,
    /// Fresh secret keys.
    #[serde(default = "super::settings::keys")]
    keys: u64,
    /// Trees in all, at least.
    trees: u64,
    family: String,
    base: u64,
    #[serde(default)]
    dropped: usize,
    /// Bits of the index.
    bits: usize,
    /// Database digits are uniform modulo p, in this range.
    plain_modulus: u64,
    plain_digits: PlainDigits,
}

impl Own {
    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let own: Self = settings.parse()?;
        bounded(own.keys, "keys", 1..=1 << 20)?;
        bounded(own.trees, "trees", 1..=1 << 30)?;
        // Of one bit there would only be the product of the root, a constant whose digits are no average.
        bounded(own.bits, "bits", 2..=16)?;
        bounded(own.plain_modulus, "plain_modulus", 2..=1 << 20)?;
        gaussian(own.stddev, "stddev")?;
        secret(own.secret, own.secret_stddev, own.secret_weight)?;
        Ok(own)
    }

    fn ring(&self) -> Result<RingSettings, Refusal> {
        RingSettings::new(self.n, self.prime_bits.clone())
    }

    fn gadget(&self) -> Result<GadgetSettings, Refusal> {
        Ok(GadgetSettings { family: family(&self.family)?, base: self.base, dropped: self.dropped })
    }
}

impl Primitive for Selector {
    fn name(&self) -> &'static str {
        "selector-tree"
    }

    fn summary(&self) -> &'static str {
        "errors of the leaves of selector trees and of first dimensions, under many keys"
    }

    fn describe(&self, settings: &Settings) -> Result<Described, Refusal> {
        let own = Own::read(settings)?;
        let ring = own.ring()?;
        let mut described = Described { settings: complete(&own)?, ..Described::default() };
        describe_ring(&mut described, &ring);
        let length = describe_gadget(&mut described, &ring, own.gadget()?)?;
        let (leaves, primes) = (1usize << own.bits, ring.primes.len());
        let (forward, inverse) = SelectorTree::<u64>::ntts(own.bits, 1, length, primes);
        let counts = [("leaves", leaves), ("forward_ntts", forward), ("inverse_ntts", inverse)];
        described.counts.extend(counts.map(|(name, count)| (name.to_string(), count as f64)));
        // Selectors at six polynomials a row, the products, the phases and plaintext products of the leaves.
        let polynomials = (forward + inverse) / primes + 12 * own.bits * length + 12 * leaves;
        let trees = own.trees.div_ceil(own.keys);
        described.predicted_seconds = trees as f64 * polynomials as f64 * seconds_per_polynomial(&ring);
        let residues = ring.n * primes * 8;
        described.peak_bytes =
            ((16 * own.bits * length + 64) * residues + SelectorTree::<u64>::peak_bytes(own.bits, 1, residues)) as u64;
        Ok(described)
    }

    fn start(&self, settings: &Settings, context: &Context) -> Result<Box<dyn Session>, Failed> {
        let own = Own::read(settings)?;
        if own.ring()?.narrow() { start::<u32>(own, context) } else { start::<u64>(own, context) }
    }
}

fn start<W: Word>(own: Own, context: &Context) -> Result<Box<dyn Session>, Failed> {
    let ring: Arc<Ring<W>> = own.ring()?.build(context.kernel)?;
    let gadget = own.gadget()?.build(&ring)?;
    let error = gaussian(own.stddev, "stddev")?;
    let distribution = secret(own.secret, own.secret_stddev, own.secret_weight)?;
    keys(own.keys, context, move |seed: Seed| {
        let mut fixture = Fixture::new(&ring, distribution, &error, seed)?;
        run(&own, &mut fixture, &gadget)
    })
}

fn run<W: Word>(own: &Own, f: &mut Fixture<W>, gadget: &RingGadget<W>) -> Result<Tally, Failed> {
    let leaves = 1 << own.bits;
    let weight = gadget.modulus() / u128::from(own.plain_modulus);
    let least = match own.plain_digits {
        PlainDigits::Unsigned => 0,
        PlainDigits::Balanced => -((own.plain_modulus / 2) as i64),
    };
    let mut tally = Tally::default();
    for _ in 0..own.trees.div_ceil(own.keys) {
        let index = f.below(leaves);
        let mut bits: Vec<Rgsw<W>> = Vec::with_capacity(own.bits);
        for place in (0..own.bits).rev() {
            let message = f.message(if index >> place & 1 == 1 { Message::One } else { Message::Zero });
            let rgsw = SeededRgsw::new(&f.key, &message, gadget, &f.error, &mut f.masks, &mut f.rng);
            bits.push(rgsw.map_err(Failed::from)?.expand(&f.ring));
        }
        let mut made = None;
        tally.operate(|| {
            made = Some(selector_tree(gadget, &[weight], &bits, std::slice::from_mut(&mut f.workspace))?);
            Ok(())
        })?;
        let Some(tree) = made else { continue };
        let (selected, zero) = (constant(f, weight), f.ring.zero());
        let (mut sum, mut known) = (Rlwe::zero(&f.ring), f.ring.zero());
        for leaf in 0..leaves {
            let ciphertext = &tree.leaf(leaf)[0];
            let errors = f.errors(&f.key.phase(ciphertext), if leaf == index { &selected } else { &zero })?;
            tally.add("leaves", &errors);
            let digits: Vec<i64> =
                (0..f.ring.n()).map(|_| least + f.below(own.plain_modulus as usize) as i64).collect();
            let digits = f.ring.forward(f.ring.from_signed(&digits));
            let mut product = ciphertext.clone();
            product.mul_plain_assign(&f.ring, &digits);
            sum.add_assign(&f.ring, &product);
            if leaf == index {
                tally.add("selected", &errors);
                known = f.product(&selected, &digits);
            }
        }
        tally.add("first-dimension", &f.errors(&f.key.phase(&sum), &known)?);
    }
    Ok(tally)
}
