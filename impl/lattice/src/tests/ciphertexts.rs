use super::*;
use crate::wire::WireError;
use crate::{LatticeError, RlwePrime, SeededRgsw, SeededRlwe, SeededRlwePrime};

fn opens<W: Word>(t: &mut Setup<W>) {
    let message = t.uniform();
    let fresh = t.encrypt(&message);
    let expected = t.integers(&message);
    t.assert_phase(&fresh, &expected, 10.0 * SIGMA);
    // The fast phase is the schoolbook phase.
    assert_eq!(t.integers(&t.key.phase_coefficient(&fresh)), t.phase(&fresh));
    // Messages in the NTT domain encrypt to the same phase.
    let ntt = t.ring.forward(message);
    let fresh = t.key.encrypt_ntt(&ntt, &t.error, &mut t.masks, &mut t.rng).expand(&t.ring);
    t.assert_phase(&fresh.inverse(&t.ring), &expected, 10.0 * SIGMA);
}
on_all_rings!(fresh_ciphertexts_open_to_their_message, opens);

fn linear<W: Word>(t: &mut Setup<W>) {
    let (x, y) = (t.uniform(), t.uniform());
    let (cx, cy) = (t.encrypt(&x), t.encrypt(&y));
    let q = t.q();
    let (px, py) = (t.phase(&cx), t.phase(&cy));
    let combine = |f: &dyn Fn(u128, u128) -> u128| px.iter().zip(&py).map(|(&x, &y)| f(x, y) % q).collect::<Vec<_>>();
    let mut sum = cx.clone();
    sum.add_assign(&t.ring, &cy);
    assert_eq!(t.phase(&sum), combine(&|x, y| x + y));
    let mut difference = cx.clone();
    difference.sub_assign(&t.ring, &cy);
    assert_eq!(t.phase(&difference), combine(&|x, y| x + q - y));
    let mut negative = cx.clone();
    negative.neg_assign(&t.ring);
    assert_eq!(t.phase(&negative), combine(&|x, _| q - x));
    let mut scaled = cx.clone();
    scaled.mul_scalar_assign(&t.ring, 12345);
    assert_eq!(t.phase(&scaled), combine(&|x, _| x * 12345));
    let plain = t.ternary();
    let mut product = cx.clone().forward(&t.ring);
    product.mul_plain_assign(&t.ring, &t.ring.forward(t.ring.from_signed(&plain)));
    assert_eq!(t.phase(&product.inverse(&t.ring)), schoolbook(&px, &plain, q));
    let n = t.ring.n();
    for exponent in [0, 1, n - 1, n, n + 3, 2 * n - 1] {
        let mut monomial = vec![0; n];
        monomial[exponent % n] = if exponent < n { 1 } else { -1 };
        assert_eq!(t.phase(&cx.mul_monomial(&t.ring, exponent)), schoolbook(&px, &monomial, q));
    }
}
on_all_rings!(linear_operations_act_on_phases, linear);

fn same_rows<W: Word>(x: &RlwePrime<W>, y: &RlwePrime<W>) {
    assert_eq!(x.rows.len(), y.rows.len());
    assert!(x.rows.iter().zip(&y.rows).all(|(x, y)| x.a == y.a && x.b == y.b));
}

fn travels<W: Word>(t: &mut Setup<W>) {
    let ring = t.ring.clone();
    let message = t.uniform();
    let seeded = t.key.encrypt(&message, &t.error, &mut t.masks, &mut t.rng);
    let bytes = seeded.to_bytes(&ring);
    assert_eq!(bytes.len(), SeededRlwe::wire_bytes(&ring));
    let (back, whole) = (SeededRlwe::from_bytes(&ring, &bytes).unwrap().expand(&ring), seeded.expand(&ring));
    assert_eq!((back.a.as_slice(), back.b.as_slice()), (whole.a.as_slice(), whole.b.as_slice()));
    let refused = |bytes: &[u8]| SeededRlwe::<W>::from_bytes(&ring, bytes).unwrap_err();
    assert!(matches!(refused(&bytes[1..]), LatticeError::Wire(WireError::Length { .. })));
    assert!(matches!(refused(&vec![0xff; bytes.len()]), LatticeError::Wire(WireError::Residue { .. })));

    let gadget = t.gadget(Family::Balanced, 1 << 9, 1);
    let message = ring.forward(message);
    let prime = SeededRlwePrime::new(&t.key, &message, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let bytes = prime.to_bytes(&ring);
    assert_eq!(bytes.len(), SeededRlwePrime::wire_bytes(&ring, gadget.length()));
    let back = SeededRlwePrime::from_bytes(&gadget, &bytes).unwrap();
    same_rows(&back.expand(&ring), &prime.expand(&ring));

    let rgsw = SeededRgsw::new(&t.key, &message, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let bytes = rgsw.to_bytes(&ring);
    assert_eq!(bytes.len(), SeededRgsw::wire_bytes(&ring, gadget.length()));
    let back = SeededRgsw::from_bytes(&gadget, &bytes).unwrap();
    let (x, y) = (back.expand(&ring), rgsw.expand(&ring));
    same_rows(&x.mask, &y.mask);
    same_rows(&x.body, &y.body);
    assert!(SeededRgsw::from_bytes(&gadget, &bytes[1..]).is_err());
}
on_all_rings!(keys_and_ciphertexts_survive_the_wire, travels);

#[test]
fn masks_are_never_given_twice() {
    let mut t = Setup::<u32>::new(64, 28, 2, 9);
    let zero = t.ring.zero();
    let mut fresh = || t.key.encrypt(&zero, &t.error, &mut t.masks, &mut t.rng);
    let (x, y) = (fresh(), fresh());
    assert_ne!(x.stream, y.stream);
    assert_ne!(x.expand(&t.ring).a.as_slice(), y.expand(&t.ring).a.as_slice());
}

#[test]
fn keys_fit_their_ring() {
    let t = Setup::<u32>::new(64, 28, 2, 9);
    assert!(RlweKey::from_coefficients(&t.ring, vec![0; 63]).is_err());
    assert!(RlweKey::sample(&t.ring, &Secret::Uniform, &mut ChaCha20Rng::seed_from_u64(1)).is_err());
}
