use super::*;
use crate::lwe::{Lwe, LweKey, LweSwitcher, SeededLweSwitchKey};
use crate::rotate::{BlindRotationKey, Form, RotationShape, SeededBlindRotationKey, SmallSecret};
use crate::tests::Setup;
use crate::{LatticeError, Masks, RingGadget, Rlwe, RlweKey, Secret, Workspace};
use gadget::{Coins, Family, Gadget, new_gadget};
use rand::RngCore;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{Coefficient, DiscreteGaussian, Kernel, Modulus, Ring, Seed, StdDev, Word};
use std::sync::Arc;

const DIMENSION: usize = 40;

/// A ring of that dimension with two primes of 28 bits, a small key, and what belongs to them.
struct Fixture<W: Word> {
    t: Setup<W>,
    small: LweKey,
    bootstrapper: Bootstrapper<W>,
}

fn switcher<W: Word>(t: &mut Setup<W>, small: &LweKey) -> LweSwitcher {
    let gadget: Arc<dyn Gadget<u64>> = new_gadget(Family::Balanced, 1 << 24, 4, 2, Kernel::best()).unwrap().into();
    let seed = Seed([3; 16]);
    let key = SeededLweSwitchKey::new(&t.key.to_lwe(), small, gadget.as_ref(), &t.error, seed, &mut t.rng).unwrap();
    LweSwitcher::new(key.expand().unwrap(), gadget).unwrap()
}

fn rotation_key<W: Word>(t: &mut Setup<W>, small: &LweKey, secret: SmallSecret, form: Form) -> BlindRotationKey<W> {
    let gadget = t.gadget(Family::Balanced, 128, 0);
    let shape = RotationShape { dimension: small.coefficients().len(), secret, form };
    let seeded =
        SeededBlindRotationKey::new(shape, small, &t.key, &gadget, &t.error, &mut t.masks, &mut t.rng).unwrap();
    BlindRotationKey::new(&gadget, &seeded).unwrap()
}

impl<W: Word> Fixture<W> {
    fn new(mut t: Setup<W>, secret: SmallSecret, form: Form) -> Self {
        let distribution = match secret {
            SmallSecret::Binary => Secret::Binary,
            SmallSecret::Ternary => Secret::Ternary,
        };
        let small = LweKey::sample(&distribution, DIMENSION, &mut t.rng).unwrap();
        let (rotation, switcher) = (rotation_key(&mut t, &small, secret, form), switcher(&mut t, &small));
        Self { bootstrapper: Bootstrapper::new(rotation, switcher).unwrap(), t, small }
    }

    fn encrypt(&mut self, modulus: u64, message: u64) -> Lwe {
        let modulus = Modulus::new(modulus).unwrap();
        self.t.key.to_lwe().encrypt(modulus, message, &self.t.error, &mut self.t.rng)
    }

    /// An LWE ciphertext modulo 2N under the small key, without noise.
    fn exact_small(&mut self, phase: u64) -> Lwe {
        let order = Modulus::new(2 * self.t.ring.n() as u64).unwrap();
        let mut lwe = Lwe::trivial(order, DIMENSION, 0);
        lwe.a.fill_with(|| self.t.rng.next_u64() % order.value());
        lwe.b = order.sub(phase, self.small.phase(&lwe).unwrap());
        lwe
    }

    /// Phase less `expected`, in units of the modulus.
    fn error(&self, lwe: &Lwe, expected: u64) -> f64 {
        let phase = self.t.key.to_lwe().phase(lwe).unwrap();
        let difference = lwe.modulus.sub(phase, lwe.modulus.reduce_u64(expected));
        lwe.modulus.centred(difference) as f64 / lwe.modulus.value() as f64
    }
}

/// Noise that no rotation here reaches, relative to the modulus.
const TINY: f64 = 1.0 / (1 << 20) as f64;

fn fixtures() -> [Fixture<u32>; 4] {
    let setup = |seed| Setup::new(256, 28, 2, seed);
    [
        Fixture::new(setup(1), SmallSecret::Binary, Form::Cmux),
        Fixture::new(setup(2), SmallSecret::Binary, Form::Joint),
        Fixture::new(setup(3), SmallSecret::Ternary, Form::Cmux),
        Fixture::new(setup(4), SmallSecret::Ternary, Form::Joint),
    ]
}

fn functions<W: Word>(f: &mut Fixture<W>) {
    let n = f.t.ring.n() as u64;
    let q = f.bootstrapper.modulus();
    let values: Vec<u64> = (0..n).map(|_| f.t.rng.next_u64() % q.value()).collect();
    let test = f.t.ring.from_u64(&values);
    let phases = [0, 1, 17, n - 1, n, n + 5, 2 * n - 1];
    let inputs = phases.map(|phase| f.exact_small(phase));
    let found = f.bootstrapper.evaluate(&test, &inputs, &mut f.t.workspace).unwrap();
    for (phase, found) in phases.into_iter().zip(&found) {
        let value = values[(phase % n) as usize];
        assert!(f.error(found, if phase < n { value } else { q.neg(value) }).abs() < TINY, "{phase}");
    }
}

fn tables<W: Word>(f: &mut Fixture<W>) {
    let (n, q) = (f.t.ring.n() as u64, f.bootstrapper.modulus());
    let rows: [&[i32]; 4] = [&[1], &[0, 2, 4, -6], &[1, -1, 3, 3, -5, 1, 1, 7], &[2, 2]];
    let tables = rows.map(|values| Table::new(&f.t.ring, values).unwrap());
    let base = q.value() / 16;
    let phases = [0, 1, n / 8 - 1, n / 8, n / 2, n - 1, n, n + n / 4, 2 * n - 1];
    let inputs = phases.map(|phase| f.exact_small(phase));
    let found = f.bootstrapper.evaluate_tables(base, &tables, &inputs, &mut f.t.workspace).unwrap();
    for (phase, found) in phases.into_iter().zip(&found) {
        for (values, found) in rows.iter().zip(found) {
            let value = values[((phase % n) as usize * values.len()) / n as usize];
            let value = if phase < n { value } else { -value };
            let expected = q.mul(base, q.from_signed(value.into()));
            assert!(f.error(found, expected).abs() < TINY, "{phase} of {values:?}");
        }
    }
}

#[test]
fn functions_of_phases_are_evaluated() {
    for mut f in fixtures() {
        functions(&mut f);
        tables(&mut f);
    }
    let mut wide = Fixture::new(Setup::<u64>::new(128, 50, 1, 5), SmallSecret::Binary, Form::Joint);
    functions(&mut wide);
    tables(&mut wide);
}

#[test]
fn switches_to_the_small_key_scale_phases() {
    for mut f in fixtures() {
        let n = f.t.ring.n() as u64;
        for modulus in [1 << 12, 1 << 41, f.bootstrapper.modulus().value()] {
            for _ in 0..50 {
                let message = f.t.rng.next_u64() % modulus;
                let input = f.encrypt(modulus, message);
                let small = f.bootstrapper.to_small(&[input], &mut f.t.workspace).unwrap();
                let phase = f.small.phase(&small[0]).unwrap() as f64;
                let expected = message as f64 * (2 * n) as f64 / modulus as f64;
                let distance = (phase - expected).rem_euclid(2.0 * n as f64);
                let distance = distance.min(2.0 * n as f64 - distance);
                // Eight deviations: rounding under a small key of at most 40 ternary coefficients, fresh noise modulo 2^12.
                let fresh = 3.2 * (2 * n) as f64 / modulus as f64;
                assert!(distance < 8.0 * (40.0 / 18.0 + 0.1 + 0.2 + fresh * fresh).sqrt(), "{modulus}: {distance}");
            }
        }
    }
}

/// Digits of two or three bits modulo 2N = 512, whose windows leave 64 or 32 for the noise.
#[test]
fn digits_and_bits_are_separated() {
    for (mut f, (bits, digits)) in fixtures().into_iter().zip([(2, 4), (3, 3), (2, 3), (1, 5)]) {
        let layout = DigitLayout::try_new(56, 40, bits, digits).unwrap();
        let all = 1u64 << (bits * digits);
        for message in [0, 1, all - 1, all / 2, all / 2 - 1, f.t.rng.next_u64() % all] {
            let input = f.encrypt(1 << 56, message << 40);
            let found = f.bootstrapper.digits(&layout, &input, &mut f.t.workspace).unwrap();
            assert_eq!(found.len(), digits as usize);
            for (k, digit) in found.iter().enumerate() {
                let k = k as u32;
                assert_eq!(digit.modulus.value(), 1 << (40 + bits * (k + 1)));
                let value = message >> (k * bits) & ((1 << bits) - 1);
                assert!(f.error(digit, value << (40 + k * bits)).abs() < TINY, "digit {k} of {message}");
            }
            let bits_of = f.bootstrapper.bits(&layout, &found, &mut f.t.workspace).unwrap();
            let q = f.bootstrapper.modulus().value();
            for (i, bit) in bits_of.iter().flatten().enumerate() {
                let value = message >> i & 1;
                assert!(f.error(bit, value * (q / 2)).abs() < TINY, "bit {i} of {message}");
            }
            // What a conversion to RGSW reads: bit N modulo 2N.
            let small = f.bootstrapper.to_small(&bits_of.concat(), &mut f.t.workspace).unwrap();
            for (i, bit) in small.iter().enumerate() {
                let phase = f.small.phase(bit).unwrap() as f64 / 512.0;
                let distance = phase - (message >> i & 1) as f64 / 2.0;
                assert!((distance - distance.round()).abs() < 0.03, "bit {i} of {message}: {phase}");
            }
        }
    }
}

/// Root mean square of what phases of `found` under `key` lie off the middle of windows of `window`, from `offset` on.
fn distance_from_middle(key: &LweKey, found: &[Lwe], window: f64, offset: f64) -> f64 {
    let square = |lwe: &Lwe| {
        let phase = key.phase(lwe).unwrap() as f64 - offset;
        (phase - (phase / window).round() * window).powi(2)
    };
    (found.iter().map(square).sum::<f64>() / found.len() as f64).sqrt()
}

/// At the size of Pirouette, with errors of 128 bits of security: right, and 8.2 standard deviations from every wrong decision.
#[test]
fn digits_and_bits_at_full_size_have_their_margins() {
    let primes = [268_369_921, 249_561_089];
    let ring = Ring::<u32>::new(2048, &primes, Kernel::best()).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap();
    let small = LweKey::sample(&Secret::Binary, 780, &mut rng).unwrap();
    let [ring_error, switch_error, query_error] = [20.0, 8.0, 3.2].map(|s| DiscreteGaussian::new(StdDev(s)).unwrap());
    let gadget = RingGadget::new(&ring, Family::Balanced, 1 << 8, 0).unwrap();
    let shape = RotationShape { dimension: 780, secret: SmallSecret::Binary, form: Form::Joint };
    let mut masks = Masks::new(Seed([4; 16]));
    let seeded = SeededBlindRotationKey::new(shape, &small, &key, &gadget, &ring_error, &mut masks, &mut rng).unwrap();
    let digits: Arc<dyn Gadget<u64>> = new_gadget(Family::Balanced, 1 << 20, 4, 2, Kernel::best()).unwrap().into();
    let lwe = key.to_lwe();
    let switch =
        SeededLweSwitchKey::new(&lwe, &small, digits.as_ref(), &switch_error, Seed([6; 16]), &mut rng).unwrap();
    let switcher = LweSwitcher::new(switch.expand().unwrap(), digits).unwrap();
    let bootstrapper = Bootstrapper::new(BlindRotationKey::new(&gadget, &seeded).unwrap(), switcher).unwrap();
    let layout = DigitLayout::try_new(56, 31, 5, 5).unwrap();
    let mut workspace = Workspace::new(Coins::from_seed(Seed([7; 16])));
    let (mut of_digits, mut of_bits) = (Vec::new(), Vec::new());
    for index in [0, (1 << 25) - 1, 0x0155_5555, 0x00aa_aaaa, rng.next_u64() % (1 << 25), rng.next_u64() % (1 << 25)] {
        let query = lwe.encrypt(Modulus::new(1 << 32).unwrap(), index << 7, &query_error, &mut rng);
        let lifted = query.switch_modulus(layout.modulus().unwrap());
        let found = bootstrapper.digits(&layout, &lifted, &mut workspace).unwrap();
        of_digits.extend(bootstrapper.digits_to_small(&layout, &found, &mut workspace).unwrap());
        let bits = bootstrapper.bits(&layout, &found, &mut workspace).unwrap().concat();
        let small_bits = bootstrapper.to_small(&bits, &mut workspace).unwrap();
        for (i, bit) in small_bits.iter().enumerate() {
            let phase = small.phase(bit).unwrap();
            assert_eq!(u64::from((1024..3072).contains(&phase)), index >> i & 1, "bit {i} of {index:#x}");
        }
        of_bits.extend(small_bits);
    }
    // Half a window of a digit; half a window of eight rows for what becomes RGSW.
    let digit = layout.tolerance(2048) / distance_from_middle(&small, &of_digits, 128.0, 64.0);
    let bit = 128.0 / distance_from_middle(&small, &of_bits, 2048.0, 0.0);
    println!("margins in standard deviations: digits {digit:.1}, bits {bit:.1}");
    assert!(digit > 8.2 && bit > 8.2, "{digit} {bit}");
}

/// A floor removes its digit and nothing else, noise of up to half a window included.
#[test]
fn floors_tolerate_noise_up_to_half_a_window() {
    let mut f = Fixture::new(Setup::<u32>::new(256, 28, 2, 7), SmallSecret::Binary, Form::Joint);
    let layout = DigitLayout::try_new(56, 40, 3, 2).unwrap();
    let window = 1i64 << 40;
    // Half a window is 32 of 512; the switch to the small key adds less than 8.
    for noise in [-window * 3 / 8, -window / 4, 0, window / 4, window * 3 / 8] {
        for message in [0u64, 5, 7, 8, 0o34, 0o77] {
            let modulus = Modulus::new(1 << 56).unwrap();
            let noisy = modulus.add(message << 40, modulus.from_signed(noise));
            let input = f.encrypt(1 << 56, noisy);
            let floor = f.bootstrapper.floor(&layout, &input, 0, &mut f.t.workspace).unwrap();
            let expected = modulus.add((message >> 3) << 43, modulus.from_signed(noise));
            assert!(f.error(&floor, expected).abs() < TINY, "{message} with {noise}");
        }
    }
}

#[test]
fn rotations_are_counted() {
    let layout = |low, bits, digits| DigitLayout::try_new(56, low, bits, digits).unwrap();
    assert_eq!(layout(31, 5, 5).rotations(), 13);
    assert_eq!(layout(31, 5, 4).rotations(), 10);
    assert_eq!(layout(31, 1, 3).rotations(), 5);
    assert!((layout(31, 5, 5).tolerance(2048) - 64.0).abs() < 1e-9);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let mut f = Fixture::new(Setup::<u32>::new(256, 28, 2, 8), SmallSecret::Binary, Form::Cmux);
    for (log, low, bits, digits) in [(56, 31, 5, 6), (62, 31, 5, 5), (56, 0, 5, 5), (56, 31, 0, 5), (56, 31, 5, 0)] {
        assert!(matches!(DigitLayout::try_new(log, low, bits, digits), Err(LatticeError::Parameter(_))));
    }
    assert!(DigitLayout::try_new(56, u32::MAX, u32::MAX, u32::MAX).is_err());
    let layout = DigitLayout::try_new(56, 30, 2, 3).unwrap();
    let input = f.encrypt(1 << 56, 5 << 30);
    let b = &f.bootstrapper;
    let w = &mut f.t.workspace;
    let mismatch = |error: LatticeError| matches!(error, LatticeError::Mismatch(_));
    // Another modulus, another dimension, a digit too many, digits too long for the ring.
    let modulus = |log: u32| Modulus::new(1 << log).unwrap();
    assert!(mismatch(b.digits(&layout, &Lwe::trivial(modulus(55), 256, 0), w).unwrap_err()));
    assert!(mismatch(b.floor(&layout, &Lwe::trivial(modulus(56), 255, 0), 0, w).unwrap_err()));
    assert!(mismatch(b.digit(&layout, &input, 3).unwrap_err()));
    assert!(mismatch(b.bits(&layout, &[Lwe::trivial(modulus(2), 256, 0)], w).unwrap_err()));
    let long = DigitLayout::try_new(56, 30, 9, 2).unwrap();
    assert!(matches!(b.floor(&long, &input, 0, w), Err(LatticeError::Parameter(_))));
    assert!(matches!(b.bits(&long, &[input], w), Err(LatticeError::Parameter(_))));
    // Functions of another ring, tables of bad lengths or mixed parity.
    let other = Setup::<u32>::new(128, 28, 2, 9);
    let small = b.to_small(&[Lwe::trivial(modulus(56), 256, 0)], w).unwrap();
    assert!(mismatch(b.evaluate(&other.ring.zero(), &small, w).unwrap_err()));
    let foreign = Table::new(&other.ring, &[1, 1]).unwrap();
    assert!(mismatch(b.evaluate_tables(1, &[foreign], &small, w).unwrap_err()));
    for values in [&[][..], &[1, 1, 1], &[1, 2], &[0; 512]] {
        assert!(matches!(Table::new(&f.t.ring, values), Err(LatticeError::Parameter(_))));
    }
    let accumulator: Rlwe<u32, Coefficient> = Rlwe::zero(&other.ring);
    let mut accumulators = vec![accumulator];
    assert!(mismatch(b.rotation().rotate_all(&mut accumulators, &small, w).unwrap_err()));
    // A key switch to another dimension than the rotation's.
    let long = LweKey::sample(&Secret::Binary, DIMENSION + 1, &mut f.t.rng).unwrap();
    let rotation = rotation_key(&mut f.t, &f.small, SmallSecret::Binary, Form::Cmux);
    let switcher = switcher(&mut f.t, &long);
    assert!(matches!(Bootstrapper::new(rotation, switcher), Err(LatticeError::Mismatch(_))));
}
