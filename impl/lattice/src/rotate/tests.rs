use super::*;
use crate::lwe::{Lwe, LweKey};
use crate::tests::{SIGMA, Setup, on_all_rings};
use crate::{LatticeError, Masks, RingGadget, Rlwe, Secret, Workspace};
use gadget::{Coins, Family};
use rand::RngCore;
use ring::{Coefficient, Modulus, Ring, Seed, Word};

const SHAPES: [(SmallSecret, Form, usize); 4] = [
    (SmallSecret::Binary, Form::Cmux, 6),
    (SmallSecret::Binary, Form::Joint, 7),
    (SmallSecret::Ternary, Form::Cmux, 5),
    (SmallSecret::Ternary, Form::Joint, 5),
];

fn shape((secret, form, dimension): (SmallSecret, Form, usize)) -> RotationShape {
    RotationShape { dimension, secret, form }
}

/// A small key of that shape with every kind of coefficient, next to each other in every way that pairs can have.
fn small_key(shape: RotationShape) -> LweKey {
    let pattern: &[i32] = match shape.secret {
        SmallSecret::Binary => &[0, 0, 1, 0, 1, 1, 1],
        SmallSecret::Ternary => &[1, -1, 0, 0, 1],
    };
    LweKey::from_coefficients(pattern[..shape.dimension].to_vec())
}

fn make<W: Word>(
    t: &mut Setup<W>,
    shape: RotationShape,
    small: &LweKey,
    gadget: &RingGadget<W>,
) -> BlindRotationKey<W> {
    let seeded = SeededBlindRotationKey::new(shape, small, &t.key, gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    BlindRotationKey::new(gadget, &seeded).unwrap()
}

fn uniform_lwe<W: Word>(t: &mut Setup<W>, dimension: usize) -> Lwe {
    let order = 2 * t.ring.n() as u64;
    let mut residue = || t.rng.next_u64() % order;
    let a = (0..dimension).map(|_| residue()).collect();
    Lwe { modulus: Modulus::new(order).unwrap(), a, b: residue() }
}

/// Phase times X^exponent, by the definition.
fn rotated(phase: &[u128], exponent: usize, q: u128) -> Vec<u128> {
    let n = phase.len();
    let mut out = vec![0; n];
    for (i, &x) in phase.iter().enumerate() {
        let at = (i + exponent) % (2 * n);
        out[at % n] = if at < n { x } else { (q - x) % q };
    }
    out
}

/// Eight standard deviations of a rotation's noise, digits at their bound, and what dropped digits add.
fn bound<W: Word>(t: &Setup<W>, gadget: &RingGadget<W>, shape: RotationShape) -> f64 {
    let n = t.ring.n() as f64;
    let of_step = match (shape.secret, shape.form) {
        (_, Form::Cmux) => 1.0,
        (SmallSecret::Binary, Form::Joint) => 6.0,
        (SmallSecret::Ternary, Form::Joint) => 4.0,
    };
    let products = of_step * shape.step_count() as f64 * (2 * gadget.length()) as f64;
    8.0 * (products * n).sqrt() * gadget.bound() as f64 * SIGMA
        + shape.step_count() as f64 * 2.0 * gadget.error_bound() as f64 * (1.0 + n)
}

fn rotation<W: Word>(t: &mut Setup<W>) {
    let mut gadgets: Vec<_> = Family::ALL.iter().map(|&family| t.gadget(family, 32, 0)).collect();
    gadgets.push(t.gadget(Family::Balanced, 16, 1));
    for (gadget, shape) in gadgets.iter().flat_map(|gadget| SHAPES.map(|s| (gadget, shape(s)))) {
        let small = small_key(shape);
        let key = make(t, shape, &small, gadget);
        let inputs = [uniform_lwe(t, shape.dimension), uniform_lwe(t, shape.dimension)];
        let before = [t.uniform(), t.uniform()].map(|message| t.encrypt(&message));
        let mut after = before.clone();
        key.rotate_all(&mut after, &inputs, &mut t.workspace).unwrap();
        for ((before, after), input) in before.iter().zip(&after).zip(&inputs) {
            let exponent = 2 * t.ring.n() - small.phase(input).unwrap() as usize;
            t.assert_phase(after, &rotated(&t.phase(before), exponent, t.q()), bound(t, gadget, shape));
        }
    }
}
on_all_rings!(rotations_multiply_by_the_monomial_of_the_phase, rotation);

fn together<W: Word>(t: &mut Setup<W>) {
    let gadget = t.gadget(Family::Balanced, 32, 0);
    for shape in SHAPES.map(shape) {
        let key = make(t, shape, &small_key(shape), &gadget);
        let mut inputs = [(); 3].map(|()| uniform_lwe(t, shape.dimension));
        // A step that one of them skips, and one that does nothing at all.
        inputs[0].a[..2].fill(0);
        inputs[1].a.fill(0);
        let mut together = [(); 3].map(|()| {
            let message = t.uniform();
            t.encrypt(&message)
        });
        let mut alone = together.clone();
        key.rotate_all(&mut together, &inputs, &mut t.workspace).unwrap();
        for ((alone, input), together) in alone.iter_mut().zip(&inputs).zip(&together) {
            key.rotate(alone, input, &mut t.workspace).unwrap();
            assert_eq!((&alone.a, &alone.b), (&together.a, &together.b));
        }
    }
}
on_all_rings!(rotations_side_by_side_equal_those_alone, together);

#[test]
fn forms_agree_up_to_noise_and_on_every_path() {
    for kernel in ring::Kernel::available() {
        let mut t = Setup::<u32>::new(128, 28, 2, 9);
        let ring = Ring::new(128, t.ring.primes(), kernel).unwrap();
        let gadget = RingGadget::new(&ring, Family::Balanced, 128, 0).unwrap();
        let small = LweKey::sample(&Secret::Binary, 21, &mut t.rng).unwrap();
        let input = uniform_lwe(&mut t, 21);
        let message = t.uniform();
        let before = t.encrypt(&message);
        let phases = [Form::Cmux, Form::Joint].map(|form| {
            let shape = RotationShape { dimension: 21, secret: SmallSecret::Binary, form };
            let key = make(&mut t, shape, &small, &gadget);
            let mut after = before.clone();
            key.rotate(&mut after, &input, &mut t.workspace).unwrap();
            t.assert_phase(
                &after,
                &rotated(&t.phase(&before), 256 - small.phase(&input).unwrap() as usize, t.q()),
                bound(&t, &gadget, shape),
            );
            t.phase(&after)
        });
        assert_ne!(phases[0], phases[1]);
    }
}

#[test]
fn keys_travel_and_have_the_stated_sizes() {
    let mut t = Setup::<u32>::new(128, 28, 2, 3);
    let gadget = t.gadget(Family::Balanced, 128, 0);
    for shape in SHAPES.map(shape) {
        let small = small_key(shape);
        let seeded =
            SeededBlindRotationKey::new(shape, &small, &t.key, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
        let bytes = seeded.to_bytes(&t.ring);
        let rows = shape.selectors() * 2 * gadget.length();
        assert_eq!(bytes.len(), 24 + rows * 128 * 56 / 8);
        assert_eq!(bytes.len(), SeededBlindRotationKey::wire_bytes(&t.ring, shape, gadget.length()));
        let key = BlindRotationKey::new(&gadget, &seeded).unwrap();
        let back = SeededBlindRotationKey::from_bytes(shape, &gadget, &bytes).unwrap();
        let back = BlindRotationKey::new(&gadget, &back).unwrap();
        assert!(key.rows[..] == back.rows[..]);
        assert_eq!(4 * key.rows.len(), BlindRotationKey::expanded_bytes(&t.ring, shape, gadget.length()));
        assert_eq!(4 * key.rows.len(), rows * 2 * 128 * 2 * 4);
        assert_eq!(shape.steps().map(|step| step.selectors()).sum::<usize>(), shape.selectors());
        let wire = |bytes: &[u8]| SeededBlindRotationKey::from_bytes(shape, &gadget, bytes);
        assert!(matches!(wire(&bytes[1..]), Err(LatticeError::Wire(_))));
        let mut corrupt = bytes.clone();
        corrupt[24..32].fill(0xff);
        assert!(matches!(wire(&corrupt), Err(LatticeError::Wire(_))));
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let mut t = Setup::<u32>::new(128, 28, 2, 5);
    let other = Setup::<u32>::new(64, 28, 2, 6);
    let gadget = t.gadget(Family::Balanced, 128, 0);
    let binary = RotationShape { dimension: 6, secret: SmallSecret::Binary, form: Form::Cmux };
    let mut make = |coefficients: &[i32], gadget: &RingGadget<u32>| {
        let small = LweKey::from_coefficients(coefficients.to_vec());
        let mut masks = Masks::new(Seed([7; 16]));
        SeededBlindRotationKey::new(binary, &small, &t.key, gadget, &t.error, &mut masks, &mut t.rng)
    };
    let seeded = make(&[0, 1, 0, 1, 1, 0], &gadget).unwrap();
    // Small keys of another length, with other coefficients; a gadget of another ring.
    assert!(matches!(make(&[0, 1, 0, 1, 1], &gadget), Err(LatticeError::Mismatch(_))));
    assert!(matches!(make(&[0, 1, 0, 1, 1, -1], &gadget), Err(LatticeError::Mismatch(_))));
    assert!(make(&[0, 1, 0, 1, 1, 2], &gadget).is_err());
    let foreign = other.gadget(Family::Balanced, 128, 0);
    assert!(matches!(make(&[0, 1, 0, 1, 1, 0], &foreign), Err(LatticeError::Mismatch(_))));
    // Expanded for another ring, base or number of digits.
    for gadget in [foreign, t.gadget(Family::Balanced, 64, 0), t.gadget(Family::Balanced, 128, 1)] {
        assert!(matches!(BlindRotationKey::new(&gadget, &seeded), Err(LatticeError::Mismatch(_))));
    }
    let key = BlindRotationKey::new(&gadget, &seeded).unwrap();
    let mut workspace = Workspace::new(Coins::from_seed(Seed([1; 16])));
    let input = |order: u64, dimension: usize| Lwe::trivial(Modulus::new(order).unwrap(), dimension, 1);
    let mut outcome =
        |mut accumulator: Rlwe<u32, Coefficient>, input: Lwe| key.rotate(&mut accumulator, &input, &mut workspace);
    assert!(outcome(Rlwe::zero(&t.ring), input(256, 6)).is_ok());
    assert!(matches!(outcome(Rlwe::zero(&other.ring), input(256, 6)), Err(LatticeError::Mismatch(_))));
    for (order, dimension) in [(128, 6), (512, 6), (256, 5), (256, 7), (256, 0)] {
        assert!(matches!(outcome(Rlwe::zero(&t.ring), input(order, dimension)), Err(LatticeError::Mismatch(_))));
    }
    let mut beyond = input(256, 6);
    beyond.a[3] = 256;
    assert!(matches!(outcome(Rlwe::zero(&t.ring), beyond), Err(LatticeError::Mismatch(_))));
    let number = key.rotate_all(&mut [Rlwe::zero(&t.ring)], &[], &mut workspace);
    assert!(matches!(number, Err(LatticeError::Mismatch(_))));
}
