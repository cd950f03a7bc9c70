//! Every operation that returns a result refuses what belongs to another gadget or to another ring, and serves again after.

use super::*;
use crate::{
    AutomorphismKey, Extractor, LatticeError, Rgsw, RlwePrime, SeededRgsw, SeededRlwePrime, TraceKeys,
    automorphism_key, project, switching_key, trace_keys,
};

/// Refused because operands do not belong together.
fn refused<T>(result: Result<T, LatticeError>) -> bool {
    matches!(result, Err(LatticeError::Mismatch(_)))
}

const N: usize = 64;

/// A key of every kind that `gadget` can make.
struct Keys {
    prime: RlwePrime<u32>,
    rgsw: Rgsw<u32>,
    automorphism: AutomorphismKey<u32>,
    trace: TraceKeys<u32>,
}

fn keys(t: &mut Setup<u32>, gadget: &RingGadget<u32>) -> Keys {
    let one = t.ring.forward(t.small(&[1]));
    let (log_n, error) = (t.ring.n().ilog2(), &t.error);
    let prime = SeededRlwePrime::new(&t.key, &one, gadget, error, &mut t.masks, &mut t.rng).unwrap();
    let rgsw = SeededRgsw::new(&t.key, &one, gadget, error, &mut t.masks, &mut t.rng).unwrap();
    let automorphism = automorphism_key(&t.key, 5, gadget, error, &mut t.masks, &mut t.rng).unwrap();
    let trace = trace_keys(&t.key, 1..=log_n, gadget, error, &mut t.masks, &mut t.rng).unwrap();
    Keys {
        prime: prime.expand(&t.ring),
        rgsw: rgsw.expand(&t.ring),
        automorphism: AutomorphismKey::new(&t.ring, 5, &automorphism).unwrap(),
        trace: TraceKeys::new(&t.ring, 1, &trace).unwrap(),
    }
}

/// What each operation with a key says to those operands, by name.
fn outcomes(
    gadget: &RingGadget<u32>,
    keys: &Keys,
    input: &Rlwe<u32, Coefficient>,
    out: &mut Rlwe<u32, Coefficient>,
    w: &mut Workspace<u32>,
) -> Vec<(&'static str, Result<(), LatticeError>)> {
    vec![
        ("gadget product", gadget.gadget_product(&input.a, &keys.prime, w, out)),
        ("external product", gadget.external_product(input, &keys.rgsw, w, out)),
        ("cmux", gadget.cmux(&keys.rgsw, input, input, w, out)),
        ("key switch", gadget.key_switch(input, &keys.prime, w, out)),
        ("automorphism", gadget.automorphism(input, &keys.automorphism, w, out)),
        ("trace", gadget.trace(input, 1, &keys.trace, w).map(drop)),
        ("expansion", expand(gadget, input, 2, 4, &keys.trace, w).map(drop)),
    ]
}

/// Rings of another dimension, other primes, fewer primes; most have polynomials of as many residues.
fn strangers() -> Vec<Setup<u32>> {
    let mut strangers = vec![Setup::new(2 * N, 28, 2, 2), Setup::new(N, 29, 2, 3), Setup::new(N, 28, 1, 4)];
    // As many residues, in another shape.
    strangers.push(Setup::new(2 * N, 28, 1, 5));
    // The same primes in another order.
    let mut swapped = Setup::new(N, 28, 2, 6);
    let primes: Vec<u64> = swapped.ring.primes().iter().rev().copied().collect();
    swapped.ring = Ring::new(N, &primes, Kernel::best()).unwrap();
    swapped.key = RlweKey::sample(&swapped.ring, &Secret::Ternary, &mut swapped.rng).unwrap();
    strangers.push(swapped);
    strangers
}

#[test]
fn keys_of_another_gadget_are_refused() {
    let mut t = Setup::<u32>::new(N, 28, 2, 1);
    let own = t.gadget(Family::Balanced, 1 << 19, 0);
    let input = t.encrypt(&t.ring.zero());
    let mut out = Rlwe::zero(&t.ring);
    // As many rows in another base; in the same base, dropping digits; another number of rows.
    for (base, dropped) in [(1 << 20, 0), (1 << 15, 1), (1 << 19, 1), (1 << 14, 0)] {
        let other = t.gadget(Family::Balanced, base, dropped);
        assert!(base != 1 << 20 && base != 1 << 15 || other.length() == own.length());
        let keys = keys(&mut t, &other);
        for (name, outcome) in outcomes(&own, &keys, &input, &mut out, &mut t.workspace) {
            assert!(refused(outcome), "{name}, base {base}, {dropped} dropped");
        }
        for (name, outcome) in outcomes(&other, &keys, &input, &mut out, &mut t.workspace) {
            assert!(outcome.is_ok(), "{name}, base {base}, {dropped} dropped");
        }
    }
}

#[test]
fn gadgets_of_another_family_and_equal_rings_are_served() {
    let mut t = Setup::<u32>::new(N, 28, 2, 1);
    let balanced = t.gadget(Family::Balanced, 1 << 10, 0);
    let keys = keys(&mut t, &balanced);
    let again = Ring::new(N, t.ring.primes(), Kernel::best()).unwrap();
    let unsigned = RingGadget::new(&again, Family::Unsigned, 1 << 10, 0).unwrap();
    assert_eq!(unsigned.length(), keys.prime.rows().len());
    let message = t.uniform();
    let input = t.encrypt(&message);
    let mut out = Rlwe::zero(&again);
    unsigned.external_product(&input, &keys.rgsw, &mut t.workspace, &mut out).unwrap();
    t.assert_phase(&out, &t.phase(&input), t.product_bound(&unsigned, 2));
}

#[test]
fn keys_inputs_and_outputs_of_another_ring_are_refused() {
    let mut t = Setup::<u32>::new(N, 28, 2, 1);
    let gadget = t.gadget(Family::Balanced, 1 << 10, 0);
    let own = keys(&mut t, &gadget);
    let message = t.uniform();
    let input = t.encrypt(&message);
    let mut out = Rlwe::zero(&t.ring);
    for mut stranger in strangers() {
        let primes = stranger.ring.primes().to_vec();
        let other = stranger.gadget(Family::Balanced, 1 << 10, 0);
        let foreign = keys(&mut stranger, &other);
        let mut foreign_out = stranger.encrypt(&stranger.ring.zero());
        let foreign_input = foreign_out.clone();
        let mixed = Rlwe { a: input.a.clone(), b: foreign_input.b.clone() };
        let w = &mut t.workspace;
        for (name, outcome) in outcomes(&gadget, &foreign, &input, &mut out, w) {
            assert!(refused(outcome), "{name}: keys, {primes:?}");
        }
        for (name, outcome) in outcomes(&gadget, &own, &foreign_input, &mut out, w) {
            assert!(refused(outcome), "{name}: input, {primes:?}");
        }
        // The gadget product takes the mask alone.
        for (name, outcome) in outcomes(&gadget, &own, &mixed, &mut out, w).into_iter().skip(1) {
            assert!(refused(outcome), "{name}: body, {primes:?}");
        }
        for (name, outcome) in outcomes(&gadget, &own, &input, &mut foreign_out, w).into_iter().take(5) {
            assert!(refused(outcome), "{name}: out, {primes:?}");
        }
        assert!(refused(gadget.cmux(&own.rgsw, &input, &foreign_input, w, &mut out)), "cmux: one, {primes:?}");
        assert_eq!(foreign_out.b, foreign_input.b, "nothing is written");
    }
    // And the workspace serves on.
    gadget.external_product(&input, &own.rgsw, &mut t.workspace, &mut out).unwrap();
    t.assert_phase(&out, &t.phase(&input), t.product_bound(&gadget, 2));
}

#[test]
fn keys_are_made_and_expanded_for_their_ring_only() {
    let mut t = Setup::<u32>::new(N, 28, 2, 1);
    let gadget = t.gadget(Family::Balanced, 1 << 10, 0);
    let one = t.ring.forward(t.small(&[1]));
    let seeded = automorphism_key(&t.key, 5, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let (key, error, masks, rng) = (&t.key, &t.error, &mut t.masks, &mut t.rng);
    for stranger in strangers() {
        let other = stranger.gadget(Family::Balanced, 1 << 10, 0);
        let foreign = stranger.ring.forward(stranger.small(&[1]));
        for (message, gadget) in [(&one, &other), (&foreign, &gadget)] {
            assert!(refused(SeededRlwePrime::new(key, message, gadget, error, masks, rng)));
            assert!(refused(SeededRgsw::new(key, message, gadget, error, masks, rng)));
            assert!(refused(switching_key(message, key, gadget, error, masks, rng)));
        }
        assert!(refused(automorphism_key(key, 5, &other, error, masks, rng)));
        assert!(refused(trace_keys(key, 1..=2, &other, error, masks, rng)));
        assert!(refused(AutomorphismKey::new(&stranger.ring, 5, &seeded)));
        assert!(refused(TraceKeys::new(&stranger.ring, 2, std::slice::from_ref(&seeded))));
    }
}

#[test]
fn keyless_operations_refuse_ciphertexts_of_another_ring() {
    let t = Setup::<u32>::new(2 * N, 28, 2, 1);
    let small = Ring::new(N, t.ring.primes(), Kernel::best()).unwrap();
    let first = t.ring.prefix(1).unwrap();
    let own = Rlwe::zero(&t.ring);
    assert!(own.rescale(&t.ring, &first).is_ok());
    assert!(refused(own.rescale(&t.ring, &small.prefix(1).unwrap())));
    assert!(project(&t.ring, &small, &own).is_ok());
    for stranger in [Setup::<u32>::new(N, 28, 2, 2), Setup::new(2 * N, 29, 2, 3), Setup::new(2 * N, 28, 1, 4)] {
        let foreign = Rlwe::zero(&stranger.ring);
        assert!(refused(foreign.rescale(&t.ring, &first)));
        assert!(refused(foreign.split_switch(&t.ring, 1 << 20, 1 << 20)));
        assert!(refused(project(&t.ring, &small, &foreign)));
        assert!(refused(Extractor::new(&t.ring, &foreign)));
        assert!(refused(crate::noise::errors(&t.ring, &foreign.b, &own.b)));
        assert!(refused(crate::noise::errors(&t.ring, &own.b, &foreign.b)));
    }
}
