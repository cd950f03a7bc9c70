//! `cmux-chain`: noise after 1, 10, 100, ... CMUXes.

use lattice::Rlwe;
use ring::{Coefficient, Poly, Word};
use serde::{Deserialize, Serialize};

use crate::in_ring::{Bench, InRing, Shared, polynomial_bytes, seconds_per_polynomial};
use crate::lab::{Lab, Tally};
use crate::primitive::{About, Described, Failed};
use crate::settings::{Refusal, Settings};

/// The choice of each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Input {
    /// The sum so far or its multiple by a random monomial, by a random bit: the shape of a blind rotation.
    Rotate,
    /// The sum so far plus a ciphertext fixed in advance whose coefficients are all equal, always.
    Constant,
}

/// The RGSW encryptions that select.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Selectors {
    /// A fresh one in each step.
    Fresh,
    /// The same one in all steps.
    One,
}

/// The noise of chains of CMUXes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Lengths after which the noise is measured, ascending.
    lengths: Vec<u64>,
    input: Input,
    selectors: Selectors,
}

pub const ABOUT: About = ("cmux-chain", "errors after chains of CMUXes, under many keys");

impl InRing for Chain {
    fn read(rest: &Settings, _: &Shared) -> Result<Self, Refusal> {
        let own: Self = rest.parse()?;
        let ascending = own.lengths.windows(2).all(|pair| pair[0] < pair[1]);
        if own.lengths.is_empty() || own.lengths[0] == 0 || !ascending {
            return Err(Refusal::new("lengths", "give ascending numbers from 1, e.g. [1, 10, 100, 1000]."));
        }
        Ok(own)
    }

    fn describe<W: Word>(&self, bench: &Bench<W>, described: &mut Described) -> Result<(), Refusal> {
        let (ring, length) = (&bench.ring, bench.length());
        // A selector's 2 length rows are made, at six polynomials each, and used in every step.
        let (rows, steps) = (2 * length as u64, self.steps());
        let selectors = if self.selectors == Selectors::One { 1 } else { steps };
        let polynomials = selectors * rows * 6 + steps * (rows + 2);
        described.predicted_seconds = polynomials as f64 * seconds_per_polynomial(ring);
        described.peak_bytes = polynomial_bytes(ring, 32 * length + 64);
        Ok(())
    }

    fn run<W: Word>(&self, bench: &Bench<W>, lab: &mut Lab<W>) -> Result<Tally, Failed> {
        let gadget = bench.gadget()?;
        let mut known = lab.ring.zero();
        let mut sum = Rlwe::zero(&lab.ring);
        if self.input == Input::Rotate {
            known = lab.uniform();
            sum = lab.fresh(&known);
        }
        let fixed = constant(lab);
        let fixed_phase = lab.key.phase_coefficient(&fixed);
        let bit = |lab: &mut Lab<W>| self.input == Input::Constant || lab.bit();
        let mut selected = bit(lab);
        let mut rgsw = lab.rgsw_bit(selected, gadget)?;
        let mut next = Rlwe::zero(&lab.ring);
        let mut tally = Tally::default();
        for step in 1..=self.steps() {
            if self.selectors == Selectors::Fresh && step > 1 {
                selected = bit(lab);
                rgsw = lab.rgsw_bit(selected, gadget)?;
            }
            let other = match self.input {
                Input::Rotate => {
                    let exponent = lab.below(2 * lab.ring.n());
                    if selected {
                        known = lab.ring.mul_monomial(&known, exponent);
                    }
                    sum.mul_monomial(&lab.ring, exponent)
                }
                Input::Constant => {
                    lab.ring.add_assign(&mut known, &fixed_phase);
                    let mut other = sum.clone();
                    other.add_assign(&lab.ring, &fixed);
                    other
                }
            };
            gadget.cmux(&rgsw, &sum, &other, &mut lab.workspace, &mut next)?;
            std::mem::swap(&mut sum, &mut next);
            if self.lengths.contains(&step) {
                let errors = lab.errors(&lab.key.phase_coefficient(&sum), &known)?;
                tally.add(&format!("after-{step}"), &errors);
            }
        }
        Ok(tally)
    }
}

impl Chain {
    fn steps(&self) -> u64 {
        self.lengths.last().copied().unwrap_or_default()
    }
}

/// A pair whose 2 N coefficients are one uniform residue.
fn constant<W: Word>(lab: &mut Lab<W>) -> Rlwe<W, Coefficient> {
    let residue = lab.uniform();
    let part = || {
        let mut poly: Poly<W, Coefficient> = lab.ring.zero();
        for limb in 0..lab.ring.primes().len() {
            poly.limb_mut(limb).fill(residue.limb(limb)[0]);
        }
        poly
    };
    Rlwe { a: part(), b: part() }
}
