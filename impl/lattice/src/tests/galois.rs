use super::*;
use crate::{AutomorphismKey, TraceKeys, automorphism_key, trace_keys};

/// f(X^exponent).
fn mapped(f: &[u128], exponent: usize, q: u128) -> Vec<u128> {
    let n = f.len();
    let mut out = vec![0; n];
    for (j, &x) in f.iter().enumerate() {
        let position = j * exponent % (2 * n);
        out[position % n] = if position < n { x } else { (q - x) % q };
    }
    out
}

fn automorphism<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 16, 0);
    let n = t.ring.n();
    for exponent in [3, 5, n + 1, 2 * n - 1] {
        let key = automorphism_key(&t.key, exponent as u64, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
        let key = AutomorphismKey::new(&t.ring, exponent as u64, &key).unwrap();
        let message = t.uniform();
        let input = t.encrypt(&message);
        let mut out = Rlwe::zero(&t.ring);
        gadget.automorphism(&input, &key, &mut t.workspace, &mut out).unwrap();
        let expected = mapped(&t.phase(&input), exponent, t.q());
        t.assert_phase(&out, &expected, t.product_bound(&gadget, 1));
    }
    assert!(automorphism_key(&t.key, 4, &gadget, &t.error, &mut t.masks, &mut t.rng).is_err());
}
on_all_rings!(automorphisms_permute_the_phase, automorphism);

/// A gadget, and trace keys from that level on.
fn traced<W: Word>(t: &mut Setup<W>, base: u64, first: u32) -> (RingGadget<W>, TraceKeys<W>) {
    let (gadget, last) = (t.gadget(Family::Balanced, base, 0), t.ring.n().ilog2());
    let keys = trace_keys(&t.key, first..=last, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    (gadget, TraceKeys::new(&t.ring, first, &keys).unwrap())
}

fn trace<W: Word>(t: &mut Setup<W>) {
    let n = t.ring.n();
    let (gadget, keys) = traced(t, 4, 1);
    for kept in [1, 4, n / 2, n] {
        let message = t.uniform();
        let input = t.encrypt(&message);
        let out = gadget.trace(&input, kept, &keys, &mut t.workspace).unwrap();
        let expected: Vec<u128> = t
            .integers(&message)
            .into_iter()
            .enumerate()
            .map(|(j, x)| if j % (n / kept) == 0 { x } else { 0 })
            .collect();
        t.assert_phase(&out, &expected, n as f64 * t.product_bound(&gadget, 1));
    }
    let input = t.encrypt(&t.ring.zero());
    assert!(gadget.trace(&input, 3, &keys, &mut t.workspace).is_err());
    assert!(gadget.trace(&input, 2 * n, &keys, &mut t.workspace).is_err());
}
on_all_rings!(traces_keep_the_subring, trace);

fn expansion<W: Word>(t: &mut Setup<W>) {
    let (n, log_n) = (t.ring.n(), t.ring.n().ilog2());
    let (gadget, keys) = traced(t, 4, log_n - 3);
    for (depth, count) in [(0, 1), (1, 2), (3, 8), (4, 16), (4, 11), (4, 5), (3, 1)] {
        let message = t.uniform();
        let input = t.encrypt(&message);
        let all = expand(&gadget, &input, depth, count, &keys, &mut t.workspace).unwrap();
        assert_eq!(all.len(), count);
        let message = t.integers(&message);
        for (j, out) in all.iter().enumerate() {
            let mut expected = vec![0; n];
            for u in (0..n).step_by(1 << depth) {
                expected[u] = message[u + j];
            }
            t.assert_phase(out, &expected, 16.0 * t.product_bound(&gadget, 1));
        }
    }
    let input = t.encrypt(&t.ring.zero());
    assert!(expand(&gadget, &input, 3, 9, &keys, &mut t.workspace).is_err());
    // Level log2 N - 4 has no key.
    assert!(expand(&gadget, &input, 5, 32, &keys, &mut t.workspace).is_err());
    assert!(expand(&gadget, &input, log_n + 1, 1, &keys, &mut t.workspace).is_err());
}
on_all_rings!(expansion_yields_the_coefficients, expansion);

fn joining<W: Word>(t: &mut Setup<W>) {
    let (n, log_n) = (t.ring.n(), t.ring.n().ilog2());
    let (gadget, keys) = traced(t, 4, log_n - 3);
    for count in [1, 2, 8, 16] {
        let messages: Vec<_> = (0..count).map(|_| t.uniform()).collect();
        let inputs: Vec<_> = messages.iter().map(|message| t.encrypt(message)).collect();
        let joined = gadget.join(inputs, &keys, &mut t.workspace).unwrap();
        let messages: Vec<_> = messages.iter().map(|message| t.integers(message)).collect();
        let expected: Vec<u128> = (0..n).map(|i| messages[i % count][i - i % count]).collect();
        t.assert_phase(&joined, &expected, 16.0 * t.product_bound(&gadget, 1));
    }
    for count in [0, 3, 2 * n] {
        let inputs: Vec<_> = (0..count).map(|_| Rlwe::zero(&t.ring)).collect();
        assert!(gadget.join(inputs, &keys, &mut t.workspace).is_err());
    }
    // Level log2 N - 4 has no key.
    let inputs = (0..32).map(|_| Rlwe::zero(&t.ring)).collect();
    assert!(gadget.join(inputs, &keys, &mut t.workspace).is_err());
}
on_all_rings!(joining_undoes_expansion, joining);

#[test]
fn full_expansion_of_an_indicator_selects() {
    let mut t = Setup::<u32>::new(64, 28, 2, 5);
    let (gadget, keys) = traced(&mut t, 256, 1);
    let scale = 1i64 << 50;
    let mut indicator = [0; 64];
    indicator[37] = scale;
    let input = t.encrypt(&t.ring.from_signed(&indicator));
    for (j, out) in expand(&gadget, &input, 6, 64, &keys, &mut t.workspace).unwrap().iter().enumerate() {
        let mut expected = vec![0; 64];
        expected[0] = if j == 37 { scale as u128 } else { 0 };
        t.assert_phase(out, &expected, (scale / 16) as f64);
    }
}
