//! Vectors of ciphertexts that share a mask, against the phases of their parts.

use super::*;
use crate::{LatticeError, VectorPrime, VectorRgsw, VectorRlwe, seeded_vector};
use ring::{Ntt, Work};

const PLACES: usize = 3;

/// Keys of a vector, and the gadget encryption of the main key's negative at each place.
fn packing<W: Word>(t: &mut Setup<W>, gadget: &RingGadget<W>) -> (Vec<RlweKey<W>>, Vec<VectorPrime<W>>) {
    let sample = |_| RlweKey::sample(&t.ring, &Secret::Ternary, &mut t.rng).unwrap();
    let keys: Vec<_> = (0..PLACES).map(sample).collect();
    let mut negated = t.key.ntt().clone();
    t.ring.neg_assign(&mut negated);
    let places = (0..PLACES).map(|place| at_place(t, gadget, &keys, &negated, place)).collect();
    (keys, places)
}

/// The gadget encryption of a message at a place and zeros elsewhere.
fn at_place<W: Word>(
    t: &mut Setup<W>,
    gadget: &RingGadget<W>,
    keys: &[RlweKey<W>],
    message: &Poly<W, Ntt>,
    place: usize,
) -> VectorPrime<W> {
    let messages: Vec<_> = (0..PLACES).map(|j| if j == place { message.clone() } else { t.ring.zero() }).collect();
    expanded(t, gadget, keys, &messages)
}

fn expanded<W: Word>(
    t: &mut Setup<W>,
    gadget: &RingGadget<W>,
    keys: &[RlweKey<W>],
    messages: &[Poly<W, Ntt>],
) -> VectorPrime<W> {
    let seed = Seed([t.rng.next_u32() as u8; 16]);
    let parts = seeded_vector(keys, messages, gadget, &t.error, seed, &mut t.rng).unwrap();
    VectorPrime::new(&t.ring, &parts).unwrap()
}

/// The phase of each part is near the message.
fn assert_phases<W: Word>(
    t: &Setup<W>,
    keys: &[RlweKey<W>],
    vector: &VectorRlwe<W, Coefficient>,
    messages: &[Poly<W, Coefficient>],
    bound: f64,
) {
    for (j, (key, message)) in keys.iter().zip(messages).enumerate() {
        let phase = key.phase_coefficient(&vector.part(j));
        let errors = crate::noise::errors(&t.ring, &phase, message).unwrap();
        assert!(errors.iter().all(|error| error.abs() <= bound), "place {j}");
    }
}

fn inverse<W: Word>(ring: &Ring<W>, vector: VectorRlwe<W, Ntt>) -> VectorRlwe<W, Coefficient> {
    let bodies = vector.bodies.into_iter().map(|body| ring.inverse(body)).collect();
    VectorRlwe { a: ring.inverse(vector.a), bodies }
}

fn vectors<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 16, 0);
    let (keys, places) = packing(t, &gadget);
    let messages: Vec<_> = (0..PLACES).map(|_| t.uniform()).collect();
    let ciphertexts: Vec<_> = messages.iter().map(|message| t.encrypt(message)).collect();
    let bound = (1 + PLACES) as f64 * t.product_bound(&gadget, 1);
    let mut packed = VectorRlwe::zero(&t.ring, PLACES);
    gadget.pack_vector(&ciphertexts, &places, &mut t.workspace, &mut packed).unwrap();
    assert_phases(t, &keys, &packed, &messages, bound);
    // Fewer than places leave zeros.
    let mut fewer = VectorRlwe::zero(&t.ring, PLACES);
    gadget.pack_vector(&ciphertexts[..1], &places, &mut t.workspace, &mut fewer).unwrap();
    assert_phases(t, &keys, &fewer, &[messages[0].clone(), t.ring.zero(), t.ring.zero()], bound);
    let spread = gadget.spread(&ciphertexts[1], &places, &mut t.workspace).unwrap();
    for (place, vector) in spread.into_iter().enumerate() {
        let mut expected: Vec<_> = (0..PLACES).map(|_| t.ring.zero()).collect();
        expected[place] = messages[1].clone();
        assert_phases(t, &keys, &inverse(&t.ring, vector), &expected, bound);
    }
    // A selector of fresh rows.
    let others: Vec<_> = messages.iter().map(|_| t.uniform()).collect();
    let ciphertexts: Vec<_> = others.iter().map(|message| t.encrypt(message)).collect();
    let mut one = VectorRlwe::zero(&t.ring, PLACES);
    gadget.pack_vector(&ciphertexts, &places, &mut t.workspace, &mut one).unwrap();
    for bit in [false, true] {
        let message = t.ring.forward(t.small(&[bit.into()]));
        let masks: Vec<_> = keys
            .iter()
            .map(|key| {
                let mut masked = message.clone();
                t.ring.mul_assign(&mut masked, key.ntt());
                t.ring.neg_assign(&mut masked);
                masked
            })
            .collect();
        let mask = expanded(t, &gadget, &keys, &masks);
        let bodies = (0..PLACES).map(|place| at_place(t, &gadget, &keys, &message, place)).collect();
        let (selector, mut out) = (VectorRgsw { mask, bodies }, VectorRlwe::zero(&t.ring, PLACES));
        gadget.vector_cmux(&selector, &packed, &one, &mut t.workspace, &mut out).unwrap();
        assert_phases(t, &keys, &out, if bit { &others } else { &messages }, 4.0 * bound);
    }
}
on_all_rings!(vectors_have_the_phases_of_their_parts, vectors);

fn refusals<W: Word>(t: &mut Setup<W>) {
    let (gadget, other) = (t.gadget(Family::Balanced, 16, 0), t.gadget(Family::Balanced, 32, 0));
    let (keys, places) = packing(t, &gadget);
    let input = t.encrypt(&t.ring.zero());
    let refused = |result: Result<(), LatticeError>| assert!(matches!(result, Err(LatticeError::Mismatch(_))));
    let w = &mut t.workspace;
    let mut out = VectorRlwe::zero(&t.ring, PLACES);
    refused(other.vector_product(&[(&input.a, &places[0])], w, &mut out));
    refused(gadget.vector_product(&[(&input.a, &places[0])], w, &mut VectorRlwe::zero(&t.ring, PLACES + 1)));
    refused(gadget.pack_vector(&vec![input.clone(); PLACES + 1], &places, w, &mut out));
    refused(gadget.spread(&input, &places[1..], w).map(drop));
    let messages = [t.ring.zero(), t.ring.zero()];
    let mut part = |seed: u8| {
        let parts = seeded_vector(&keys[..2], &messages, &gadget, &t.error, Seed([seed; 16]), &mut t.rng);
        parts.unwrap().swap_remove(0)
    };
    refused(VectorPrime::new(&t.ring, &[part(1), part(2)]).map(drop));
    assert!(VectorPrime::new(&t.ring, &[part(1), part(1)]).is_ok());
    refused(VectorPrime::<W>::new(&t.ring, &[]).map(drop));
    refused(seeded_vector(&keys, &messages, &gadget, &t.error, Seed([1; 16]), &mut t.rng).map(drop));
    refused(VectorPrime::from_rows(&gadget, places[0].rows()[1..].to_vec()).map(drop));
}
on_all_rings!(vectors_that_do_not_fit_are_refused, refusals);

fn work<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 16, 0);
    let (keys, places) = packing(t, &gadget);
    let (n, shape, input) = (t.ring.n(), gadget.shape(), t.encrypt(&t.ring.zero()));
    let _ = keys;
    let (mut out, mut transformed) = (VectorRlwe::zero(&t.ring, PLACES), VectorRlwe::zero(&t.ring, PLACES));
    let check = |work: Work, call: &mut dyn FnMut()| super::work::check(n, &work, call);
    let w = &mut t.workspace;
    let parts = [(&input.a, &places[0]), (&input.b, &places[1])];
    check(shape.vector_product_work(2, PLACES), &mut || gadget.vector_product(&parts, w, &mut out).unwrap());
    check(shape.vector_product_ntt_work(2, PLACES), &mut || {
        gadget.vector_product_ntt(&parts, w, &mut transformed).unwrap();
    });
    check(shape.pack_vector_work(2, PLACES), &mut || {
        gadget.pack_vector(&[input.clone(), input.clone()], &places, w, &mut out).unwrap();
    });
    check(shape.spread_work(PLACES), &mut || drop(gadget.spread(&input, &places, w).unwrap()));
}
on_all_rings!(work_of_vectors, work);
