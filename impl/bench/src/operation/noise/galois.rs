//! The operations by automorphisms: one automorphism, the trace, the expansion.

use lattice::{AutomorphismKey, RingGadget, Rlwe, TraceKeys, automorphism_key, trace_keys};
use ring::{Automorphism, Coefficient, Poly, Ring, Word};

use super::once::{Once, both};
use crate::lab::{Lab, Tally};
use crate::primitive::Failed;

/// An automorphism and its key switch.
pub fn automorphism<'a, W: Word>(
    lab: &mut Lab<W>,
    gadget: &'a RingGadget<W>,
    exponent: u64,
) -> Result<Once<'a, W>, Failed> {
    let key = automorphism_key(&lab.key, exponent, gadget, &lab.error, &mut lab.masks, &mut lab.rng)?;
    let key = AutomorphismKey::new(&lab.ring, exponent, &key)?;
    let map = Automorphism::new(lab.ring.n(), exponent)?;
    let mut out = Rlwe::zero(&lab.ring);
    Ok(Box::new(move |lab, tally| {
        let (message, input) = lab.input();
        tally.operate(|| gadget.automorphism(&input, &key, &mut lab.workspace, &mut out))?;
        let mapped = |poly: &Poly<W, Coefficient>| lab.ring.automorphism_coefficient(poly, &map);
        both(lab, tally, &out, &mapped(&message), &mapped(&lab.key.phase_coefficient(&input)))
    }))
}

/// The keys of all levels from `first` on.
fn galois_keys<W: Word>(lab: &mut Lab<W>, gadget: &RingGadget<W>, first: u32) -> Result<TraceKeys<W>, Failed> {
    let levels = first..=lab.ring.n().ilog2();
    let keys = trace_keys(&lab.key, levels, gadget, &lab.error, &mut lab.masks, &mut lab.rng)?;
    Ok(TraceKeys::new(&lab.ring, first, &keys)?)
}

/// The coefficients of `poly` at `offset` modulo `stride`, moved down by `offset`; zero elsewhere.
fn class<W: Word>(ring: &Ring<W>, poly: &Poly<W, Coefficient>, offset: usize, stride: usize) -> Poly<W, Coefficient> {
    let mut out = ring.zero();
    for limb in 0..ring.primes().len() {
        let source = poly.limb(limb);
        for (j, slot) in out.limb_mut(limb).iter_mut().enumerate().step_by(stride) {
            *slot = source[j + offset];
        }
    }
    out
}

/// Errors of all coefficients, and of those at multiples of `stride`.
fn subring_errors<W: Word>(
    lab: &Lab<W>,
    tally: &mut Tally,
    out: &Rlwe<W, Coefficient>,
    stride: usize,
    (message, phase): (&Poly<W, Coefficient>, &Poly<W, Coefficient>),
) -> Result<(), Failed> {
    let found = lab.key.phase_coefficient(out);
    for (all, kept, known) in [("output", "kept", message), ("added", "added-kept", phase)] {
        let errors = lab.errors(&found, known)?;
        tally.add(all, &errors);
        tally.add(kept, &errors.into_iter().step_by(stride).collect::<Vec<_>>());
    }
    Ok(())
}

/// The trace to `kept` coefficients.
pub fn trace<'a, W: Word>(lab: &mut Lab<W>, gadget: &'a RingGadget<W>, kept: usize) -> Result<Once<'a, W>, Failed> {
    let keys = galois_keys(lab, gadget, kept.ilog2() + 1)?;
    let stride = lab.ring.n() / kept;
    Ok(Box::new(move |lab, tally| {
        let (message, input) = lab.input();
        let out = gadget.trace(&input, kept, &keys, &mut lab.workspace)?;
        let phase = lab.key.phase_coefficient(&input);
        let known = (&class(&lab.ring, &message, 0, stride), &class(&lab.ring, &phase, 0, stride));
        subring_errors(lab, tally, &out, stride, known)
    }))
}

/// The expansion to 2^depth ciphertexts.
pub fn expansion<'a, W: Word>(lab: &mut Lab<W>, gadget: &'a RingGadget<W>, depth: u32) -> Result<Once<'a, W>, Failed> {
    let keys = galois_keys(lab, gadget, lab.ring.n().ilog2() - depth + 1)?;
    let positions: Vec<usize> = (0..1 << depth).collect();
    Ok(Box::new(move |lab, tally| {
        let (message, input) = lab.input();
        let tree = gadget.coefficient_tree(&input, depth, &positions, &keys, &mut lab.workspace)?;
        let outputs = tree.collect::<Result<Vec<_>, _>>()?;
        let (phase, count) = (lab.key.phase_coefficient(&input), positions.len());
        for (j, out) in &outputs {
            let known = (&class(&lab.ring, &message, *j, count), &class(&lab.ring, &phase, *j, count));
            subring_errors(lab, tally, out, count, known)?;
        }
        Ok(())
    }))
}
