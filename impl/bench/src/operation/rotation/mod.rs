//! `rotation`: times and noise of blind rotations, of switches to the small key, and of the floors and bits made of them.

mod functional;
mod settings;

use lattice::lwe::{Lwe, LweKey};
use lattice::{BlindRotationKey, Rlwe, SeededBlindRotationKey};
use ring::{Modulus, Word};

use crate::in_ring::{Bench, InRing, Shared, seconds_per_polynomial};
use crate::lab::{CALLS, Lab, Tally};
use crate::primitive::{About, Described, Failed};
use crate::settings::{Refusal, Settings};
pub use settings::Rotation;

pub const ABOUT: About =
    ("rotation", "blind rotations, switches to the small key, floors and bits: seconds, transforms, key bytes, noise");

impl InRing for Rotation {
    fn read(rest: &Settings, shared: &Shared) -> Result<Self, Refusal> {
        let own = Rotation::read_own(rest)?;
        functional::check(&own, shared)?;
        Ok(own)
    }

    fn describe<W: Word>(&self, bench: &Bench<W>, described: &mut Described) -> Result<(), Refusal> {
        let Bench { shared, ring, .. } = bench;
        let length = bench.length();
        let (shape, primes) = (self.shape(), ring.primes().len());
        let rotations = functional::rotations(self)?;
        let (forward, inverse) = shape.ntts(length, primes);
        let expanded = BlindRotationKey::expanded_bytes(ring, shape, length);
        described.counts([
            ("rotations", rotations),
            ("forward_ntts", rotations * forward),
            ("inverse_ntts", rotations * inverse),
            ("key_bytes", SeededBlindRotationKey::wire_bytes(ring, shape, length)),
            ("expanded_key_bytes", expanded),
        ]);
        let switch_bytes = functional::describe(self, shared, described)?;
        // A row of a key is made at twelve polynomials a prime; a rotation's transforms, those of the timed call too. The switch's key is
        // made, and read by each call.
        let groups = self.groups(shared) as usize;
        let made = 12 * shape.selectors() * 2 * length * primes;
        let used = rotations * (forward + inverse) * (groups + 1) * self.common.together;
        let polynomials = (made + used) as f64 / primes as f64;
        let calls = if rotations == 0 { groups + CALLS as usize } else { groups + 1 };
        let switch = switch_bytes as f64 * (3e-9 + 5e-11 * calls as f64);
        described.predicted_seconds = polynomials * seconds_per_polynomial(ring) + switch;
        // The seeded key's bodies beside the expanded key.
        described.peak_bytes =
            (expanded + expanded / 2 + 2 * switch_bytes + 64 * ring.n() * primes * self.common.together * 8) as u64;
        Ok(())
    }

    fn run<W: Word>(&self, bench: &Bench<W>, lab: &mut Lab<W>) -> Result<Tally, Failed> {
        let keys = lab.rotation_keys(self.shape(), bench.gadget()?)?;
        match self.operation.switch() {
            None => rotate(self, self.groups(&bench.shared), lab, &keys),
            Some(switch) => functional::run(self, switch, &bench.shared, lab, keys),
        }
    }
}

/// Rotates uniform pairs by uniform ciphertexts; the phases before are known.
fn rotate<W: Word>(
    own: &Rotation,
    groups: u64,
    lab: &mut Lab<W>,
    (small, key): &(LweKey, BlindRotationKey<W>),
) -> Result<Tally, Failed> {
    let order = 2 * lab.ring.n();
    let modulus = Modulus::new(order as u64)?;
    let mut tally = Tally::default();
    for _ in 0..groups {
        let mut inputs = vec![Lwe::trivial(modulus, own.common.dimension, 0); own.common.together];
        for input in &mut inputs {
            input.a.fill_with(|| lab.below(order) as u64);
            input.b = lab.below(order) as u64;
        }
        let before: Vec<_> = inputs.iter().map(|_| Rlwe { a: lab.uniform(), b: lab.uniform() }).collect();
        let mut after = before.clone();
        let workspace = &mut lab.workspace;
        tally.operate_calls(1, || {
            after.clone_from(&before);
            key.rotate_all(&mut after, &inputs, workspace)
        })?;
        for ((input, before), after) in inputs.iter().zip(&before).zip(&after) {
            let phase = small.phase(input)? as usize;
            let known = lab.ring.mul_monomial(&lab.key.phase_coefficient(before), order - phase);
            tally.add("added", &lab.errors(&lab.key.phase_coefficient(after), &known)?);
        }
    }
    Ok(tally)
}
