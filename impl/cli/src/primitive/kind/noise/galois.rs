//! The operations by automorphisms: one automorphism, the trace, the expansion.

use lattice::{AutomorphismKey, RingGadget, Rlwe, TraceKeys, automorphism_key, trace_keys};
use ring::{Automorphism, Coefficient, Poly, Ring, Word};

use super::fixture::{Fixture, Tally};
use super::operations::{Once, both};
use crate::primitive::Failed;

/// An automorphism and its key switch.
///
/// # Errors
/// What the keys' making refuses.
pub fn automorphism<'a, W: Word>(
    f: &mut Fixture<W>,
    gadget: &'a RingGadget<W>,
    exponent: u64,
) -> Result<Once<'a, W>, Failed> {
    let key = automorphism_key(&f.key, exponent, gadget, &f.error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
    let key = AutomorphismKey::new(&f.ring, exponent, &key).map_err(Failed::from)?;
    let map = Automorphism::new(f.ring.n(), exponent).map_err(Failed::from)?;
    let mut out = Rlwe::zero(&f.ring);
    Ok(Box::new(move |f, tally| {
        let message = f.uniform();
        let input = f.fresh(&message);
        tally.operate(|| gadget.automorphism(&input, &key, &mut f.workspace, &mut out))?;
        let mapped = |poly: &Poly<W, Coefficient>| f.ring.automorphism_coefficient(poly, &map);
        both(f, tally, &out, &mapped(&message), &mapped(&f.key.phase_coefficient(&input)))
    }))
}

/// The keys of all levels from `first` on.
fn galois_keys<W: Word>(f: &mut Fixture<W>, gadget: &RingGadget<W>, first: u32) -> Result<TraceKeys<W>, Failed> {
    let levels = first..=f.ring.n().ilog2();
    let keys = trace_keys(&f.key, levels, gadget, &f.error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
    TraceKeys::new(&f.ring, first, &keys).map_err(Failed::from)
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
    f: &Fixture<W>,
    tally: &mut Tally,
    out: &Rlwe<W, Coefficient>,
    stride: usize,
    (message, phase): (&Poly<W, Coefficient>, &Poly<W, Coefficient>),
) -> Result<(), Failed> {
    let found = f.key.phase_coefficient(out);
    for (all, kept, known) in [("output", "kept", message), ("added", "added-kept", phase)] {
        let errors = f.errors(&found, known)?;
        tally.add(all, &errors);
        tally.add(kept, &errors.into_iter().step_by(stride).collect::<Vec<_>>());
    }
    Ok(())
}

/// The trace to `kept` coefficients.
///
/// # Errors
/// What the keys' making refuses.
pub fn trace<'a, W: Word>(f: &mut Fixture<W>, gadget: &'a RingGadget<W>, kept: usize) -> Result<Once<'a, W>, Failed> {
    let keys = galois_keys(f, gadget, kept.ilog2() + 1)?;
    let stride = f.ring.n() / kept;
    Ok(Box::new(move |f, tally| {
        let message = f.uniform();
        let input = f.fresh(&message);
        let out = gadget.trace(&input, kept, &keys, &mut f.workspace).map_err(Failed::from)?;
        let phase = f.key.phase_coefficient(&input);
        let known = (&class(&f.ring, &message, 0, stride), &class(&f.ring, &phase, 0, stride));
        subring_errors(f, tally, &out, stride, known)
    }))
}

/// The expansion to 2^depth ciphertexts.
///
/// # Errors
/// What the keys' making refuses.
pub fn expansion<'a, W: Word>(
    f: &mut Fixture<W>,
    gadget: &'a RingGadget<W>,
    depth: u32,
) -> Result<Once<'a, W>, Failed> {
    let keys = galois_keys(f, gadget, f.ring.n().ilog2() - depth + 1)?;
    let count = 1 << depth;
    Ok(Box::new(move |f, tally| {
        let message = f.uniform();
        let input = f.fresh(&message);
        let outputs = gadget.expand(&input, depth, count, &keys, &mut f.workspace).map_err(Failed::from)?;
        let phase = f.key.phase_coefficient(&input);
        for (j, out) in outputs.iter().enumerate() {
            let known = (&class(&f.ring, &message, j, count), &class(&f.ring, &phase, j, count));
            subring_errors(f, tally, out, count, known)?;
        }
        Ok(())
    }))
}
