use super::*;
use crate::{SeededRgsw, SeededRlwePrime};

/// Gadgets of every family; the approximate ones with low digits dropped.
fn gadgets<W: Word>(t: &Setup<W>) -> Vec<RingGadget<W>> {
    let mut gadgets: Vec<_> = Family::ALL.iter().map(|&family| t.gadget(family, 32, 0)).collect();
    gadgets.push(t.gadget(Family::Balanced, 7, 0));
    gadgets.push(t.gadget(Family::Balanced, 16, 1));
    gadgets.push(t.gadget(Family::Unsigned, 16, 1));
    gadgets
}

fn gadget_product<W: Word>(t: &mut Setup<W>) {
    for gadget in gadgets(t) {
        let m = t.ternary();
        let message = t.ring.forward(t.ring.from_signed(&m));
        let key = SeededRlwePrime::new(&t.key, &message, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
        let key = key.expand(&t.ring);
        let c = t.uniform();
        let mut out = Rlwe::zero(&t.ring);
        gadget.gadget_product(&c, &key, &mut t.workspace, &mut out).unwrap();
        let expected = schoolbook(&t.integers(&c), &m, t.q());
        t.assert_phase(&out, &expected, t.product_bound(&gadget, 1));
    }
}
on_all_rings!(gadget_products_multiply_by_the_message, gadget_product);

fn external_product<W: Word>(t: &mut Setup<W>) {
    for gadget in gadgets(t) {
        let m = t.ternary();
        let message = t.ring.forward(t.ring.from_signed(&m));
        let rgsw = SeededRgsw::new(&t.key, &message, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
        let rgsw = rgsw.expand(&t.ring);
        let plain = t.uniform();
        let input = t.encrypt(&plain);
        let mut out = t.encrypt(&plain);
        gadget.external_product(&input, &rgsw, &mut t.workspace, &mut out).unwrap();
        let expected = schoolbook(&t.phase(&input), &m, t.q());
        t.assert_phase(&out, &expected, t.product_bound(&gadget, 2));
    }
}
on_all_rings!(external_products_multiply_phases, external_product);

/// The bit selects one of two inputs.
fn selects<W: Word>(t: &mut Setup<W>, base: u64, bit: usize) {
    let gadget = t.gadget(Family::Balanced, base, 0);
    let message = t.ring.forward(t.small(&[bit as i64]));
    let rgsw = SeededRgsw::new(&t.key, &message, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    let rgsw = rgsw.expand(&t.ring);
    let messages = [t.uniform(), t.uniform()];
    let inputs = messages.each_ref().map(|m| t.encrypt(m));
    let mut out = Rlwe::zero(&t.ring);
    gadget.cmux(&rgsw, &inputs[0], &inputs[1], &mut t.workspace, &mut out).unwrap();
    t.assert_phase(&out, &t.phase(&inputs[bit]), t.product_bound(&gadget, 2));
}

fn cmux<W: Word>(t: &mut Setup<W>) {
    for bit in [0, 1] {
        selects(t, 32, bit);
    }
}
on_all_rings!(cmux_selects, cmux);

#[test]
fn a_workspace_serves_products_of_all_sizes_and_rings() {
    let mut small = Setup::<u32>::new(64, 28, 1, 10);
    let mut large = Setup::<u32>::new(128, 28, 2, 11);
    for base in [1 << 10, 1 << 5] {
        // The buffers go to and fro between the rings.
        for t in [&mut small, &mut large] {
            selects(t, base, 1);
        }
        std::mem::swap(&mut small.workspace, &mut large.workspace);
    }
}

#[test]
fn gadgets_that_do_not_fit_are_refused() {
    let t = Setup::<u32>::new(64, 20, 2, 9);
    assert!(RingGadget::new(&t.ring, Family::Balanced, 1, 0).is_err());
    assert!(RingGadget::new(&t.ring, Family::Balanced, 4, 40).is_err());
    // Unsigned digits in base 2^20 reach the primes of 20 bits.
    assert!(RingGadget::new(&t.ring, Family::Unsigned, 1 << 20, 0).is_err());
}
