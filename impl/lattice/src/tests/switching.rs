use super::*;
use crate::lwe::Lwe;
use crate::{Extractor, SplitKey, SplitRlwe, embed_key, project, switching_key};
use ring::Modulus;

fn key_switch<W: Word>(t: &mut Setup<W>) {
    let other = RlweKey::sample(&t.ring, &Secret::Binary, &mut t.rng).unwrap();
    for family in [Family::Balanced, Family::Unsigned, Family::Jlp24] {
        let gadget = t.gadget(family, 16, 0);
        let key = switching_key(other.ntt(), &t.key, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
        let key = key.expand(&t.ring);
        let message = t.uniform();
        let old = other.encrypt(&message, &t.error, &mut t.masks, &mut t.rng).expand(&t.ring).inverse(&t.ring);
        let mut out = Rlwe::zero(&t.ring);
        gadget.key_switch(&old, &key, &mut t.workspace, &mut out).unwrap();
        t.assert_phase(&out, &t.integers(&message), t.product_bound(&gadget, 1) + 10.0 * SIGMA);
    }
}
on_all_rings!(key_switching_keeps_the_phase, key_switch);

#[test]
fn ring_switching_keeps_every_stride_th_coefficient() {
    for dropped in [0, 1] {
        let mut t = Setup::<u32>::new(256, 28, 2, 6);
        let small = Ring::new(64, t.ring.primes(), Kernel::best()).unwrap();
        let target = RlweKey::sample(&small, &Secret::Ternary, &mut t.rng).unwrap();
        let embedded = embed_key(&target, &t.ring).unwrap();
        let gadget = t.gadget(Family::Balanced, 1 << 8, dropped);
        let key = switching_key(t.key.ntt(), &embedded, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
        let key = key.expand(&t.ring);
        let message = t.uniform();
        let input = t.encrypt(&message);
        let mut switched = Rlwe::zero(&t.ring);
        gadget.key_switch(&input, &key, &mut t.workspace, &mut switched).unwrap();
        let out = project(&t.ring, &small, &switched).unwrap();
        let expected: Vec<u128> = t.integers(&message).into_iter().step_by(4).collect();
        let bound = t.product_bound(&gadget, 1) + 10.0 * SIGMA;
        assert_close(&schoolbook_phase(&small, &out, target.coefficients()), &expected, t.q(), bound);
        assert!(project(&small, &t.ring, &out).is_err());
        assert!(embed_key(&t.key, &small).is_err());
    }
}

/// round(x to / q) modulo `to`; x < 2^64.
fn nearest(x: u128, q: u128, to: u64) -> u64 {
    ((x * u128::from(to) + q / 2) / q) as u64 % to
}

#[test]
fn switched_moduli_round_to_nearest_and_decode() {
    let mut t = Setup::<u32>::new(128, 28, 2, 7);
    let (qa, qb, p) = (268_369_921, 1 << 20, 1 << 8);
    let q = t.q();
    let plain: Vec<u64> = (0..128).map(|_| u64::from(t.rng.next_u32()) % p).collect();
    let message: Vec<u64> = plain.iter().map(|&m| (q * u128::from(m) / u128::from(p)) as u64).collect();
    let input = t.encrypt(&t.ring.from_u64(&message));
    let switched = input.split_switch(&t.ring, qa, qb).unwrap();
    for (part, to, found) in [(&input.a, qa, switched.a()), (&input.b, qb, switched.b())] {
        for (x, &y) in t.integers(part).into_iter().zip(found) {
            assert_eq!(y, nearest(x, q, to));
        }
    }
    let bytes = switched.to_bytes();
    assert_eq!(bytes.len(), (128 * 28 + 128 * 20) / 8);
    assert_eq!(SplitRlwe::from_bytes((128, 128), (qa, qb), &bytes).unwrap(), switched);
    assert!(SplitRlwe::from_bytes((128, 127), (qa, qb), &bytes).is_err());
    let opener = SplitKey::new(&t.key).unwrap();
    assert_eq!(opener.decode(&switched, p).unwrap(), plain);
    let mut truncated = switched.clone();
    truncated.truncate_body(16);
    assert_eq!(truncated.to_bytes().len(), SplitRlwe::wire_bytes(128, 16, qa, qb));
    assert_eq!(opener.decode(&truncated, p).unwrap(), plain[..16]);
    // The rounding noise: 1/2 for b, and N ternary coefficients times 1/2 (q_b / q_a) for a.
    for (&m, phase) in plain.iter().zip(opener.phase(&switched).unwrap()) {
        let error = phase - (m as f64) * (qb as f64 / p as f64);
        let error = error - (error / qb as f64).round() * qb as f64;
        assert!(error.abs() < 2.0, "{error}");
    }
    assert!(input.split_switch(&t.ring, 1, qb).is_err());
    assert!(opener.decode(&switched, 1).is_err());
}

/// Products in a prime of 50 bits and in two of 61, quotients of one word and of two: against arithmetic in integers.
#[test]
fn openers_are_exact_for_short_and_long_moduli() {
    let mut t = Setup::<u32>::new(64, 28, 1, 9);
    let opener = SplitKey::new(&t.key).unwrap();
    let key: Vec<i128> = t.key.coefficients().iter().map(|&s| s.into()).collect();
    for (qa, qb, p) in [(268_369_921, 1 << 20, 257), (1 << 42, 1 << 30, 1 << 20), ((1 << 61) + 1, (1 << 40) - 87, 3)] {
        let mut residues = |count: usize, q: u64| -> Vec<u64> { (0..count).map(|_| t.rng.next_u64() % q).collect() };
        let (a, b) = (residues(64, qa), residues(64, qb));
        let mut bytes = crate::wire::Writer::default();
        bytes.write_all(&a, crate::wire::residue_bits(qa));
        bytes.write_all(&b, crate::wire::residue_bits(qb));
        let ciphertext = SplitRlwe::from_bytes((64, 64), (qa, qb), &bytes.finish()).unwrap();
        let (found, fractions) = (opener.decode(&ciphertext, p).unwrap(), opener.fractions(&ciphertext).unwrap());
        for (i, ((&body, message), fraction)) in b.iter().zip(found).zip(fractions).enumerate() {
            let term = |j: usize| if j <= i { a[i - j] as i128 * key[j] } else { -(a[64 + i - j] as i128) * key[j] };
            let mask = (0..64).map(term).sum::<i128>().rem_euclid(qa.into());
            let both = i128::from(qa) * i128::from(qb);
            let phase = (i128::from(body) * i128::from(qa) - mask * i128::from(qb)).rem_euclid(both);
            assert_eq!(i128::from(message), (phase * i128::from(p) + both / 2).div_euclid(both) % i128::from(p));
            let error = (fraction as f64 / 64f64.exp2() - phase as f64 / both as f64).abs();
            assert!(error.min(1.0 - error) < 50f64.exp2().recip(), "{error}");
        }
    }
}

#[test]
fn rescaling_divides_the_phase_by_the_dropped_prime() {
    let mut t = Setup::<u64>::new(64, 40, 2, 8);
    let last = *t.ring.primes().last().unwrap();
    let small = Ring::new(64, &t.ring.primes()[..1], Kernel::best()).unwrap();
    let message: Vec<i64> = (0..64).map(|_| i64::from(t.rng.next_u32() >> 12)).collect();
    let mut scaled = t.ring.from_signed(&message);
    t.ring.mul_scalar_assign(&mut scaled, last.into());
    let out = t.encrypt(&scaled).rescale(&t.ring, &small).unwrap();
    let expected: Vec<u128> = message.iter().map(|&m| m as u128).collect();
    assert_close(
        &schoolbook_phase(&small, &out, t.key.coefficients()),
        &expected,
        small.modulus_u128().unwrap(),
        1.0 + 64.0 / 2.0,
    );
}

#[test]
fn extracted_samples_open_to_their_coefficient() {
    let mut t = Setup::<u32>::new(64, 28, 2, 8);
    let message = t.uniform();
    let input = t.encrypt(&message);
    let phase = t.phase(&input);
    let extractor = Extractor::new(&t.ring, &input).unwrap();
    let key = t.key.to_lwe();
    for (index, &expected) in phase.iter().enumerate() {
        let sample: Lwe = extractor.coefficient(index).unwrap();
        assert_eq!(sample.modulus, Modulus::new(t.q() as u64).unwrap());
        assert_eq!(u128::from(key.phase(&sample).unwrap()), expected);
    }
    assert!(extractor.coefficient(64).is_err());
    let wide = Setup::<u64>::new(64, 50, 2, 8);
    assert!(Extractor::new(&wide.ring, &Rlwe::zero(&wide.ring)).is_err());
}
