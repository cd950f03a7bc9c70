//! Blind rotation at N = 2048, the modulus of Respire and a binary key of dimension 780, beside the NTTs it cannot do without.
//!
//! Criterion measures one rotation and five side by side; at the end each is timed interleaved with exactly the transforms it makes,
//! which is its NTT-count lower bound.

use criterion::{BenchmarkId, Criterion};
use gadget::{Coins, Family};
use lattice::lwe::{Lwe, LweKey};
use lattice::{
    BlindRotationKey, Form, Masks, RingGadget, Rlwe, RlweKey, RotationShape, Secret, SeededBlindRotationKey,
    SmallSecret, Workspace,
};
use rand::RngCore;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{Coefficient, DiscreteGaussian, Kernel, Modulus, Ring, Seed, StdDev};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const N: usize = 2048;
const PRIMES: [u64; 2] = [268_369_921, 249_561_089];
const DIMENSION: usize = 780;
/// Base two logarithms of the bases: seven digits, and four.
const BASES: [u32; 2] = [8, 14];
/// Rotations side by side: one, and as many as a digit has bits.
const TOGETHER: [usize; 2] = [1, 5];

type Failure = Box<dyn std::error::Error>;

/// A key with inputs.
struct Setup {
    ring: Arc<Ring<u32>>,
    key: BlindRotationKey<u32>,
    inputs: Vec<Lwe>,
    accumulators: Vec<Rlwe<u32, Coefficient>>,
    workspace: Workspace<u32>,
}

impl Setup {
    fn new(log_base: u32, form: Form) -> Result<Self, Failure> {
        let ring = Ring::new(N, &PRIMES, Kernel::best())?;
        let gadget = RingGadget::new(&ring, Family::Balanced, 1 << log_base, 0)?;
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng)?;
        let small = LweKey::sample(&Secret::Binary, DIMENSION, &mut rng)?;
        let error = DiscreteGaussian::new(StdDev(3.2))?;
        let shape = RotationShape { dimension: DIMENSION, secret: SmallSecret::Binary, form };
        let mut masks = Masks::new(Seed([1; 16]));
        let seeded = SeededBlindRotationKey::new(shape, &small, &key, &gadget, &error, &mut masks, &mut rng)?;
        let modulus = Modulus::new(2 * N as u64)?;
        let most = TOGETHER[TOGETHER.len() - 1];
        let inputs = (0..most)
            .map(|_| {
                let mut residue = || rng.next_u64() % (2 * N as u64);
                Lwe { modulus, a: (0..DIMENSION).map(|_| residue()).collect(), b: residue() }
            })
            .collect();
        Ok(Self {
            key: BlindRotationKey::new(&gadget, &seeded)?,
            accumulators: (0..most).map(|_| Rlwe { a: ring.uniform(&mut rng), b: ring.uniform(&mut rng) }).collect(),
            ring,
            inputs,
            workspace: Workspace::new(Coins::from_seed(Seed([2; 16]))),
        })
    }

    fn rotate(&mut self, together: usize) {
        let accumulators = &mut self.accumulators[..together];
        let rotated = self.key.rotate_all(accumulators, black_box(&self.inputs[..together]), &mut self.workspace);
        assert!(rotated.is_ok());
    }

    /// Makes the transforms of `together` rotations, in buffers of their own.
    fn transforms(&mut self, together: usize) {
        let (forward, inverse) = self.ntts();
        let limbs = self.ring.limbs();
        for (limb, (_, plan)) in limbs.iter().enumerate() {
            for i in 0..together * forward / limbs.len() {
                plan.forward(black_box(self.accumulators[i % 4].a.limb_mut(limb)));
            }
            for i in 0..together * inverse / limbs.len() {
                plan.inverse(black_box(self.accumulators[i % 4].a.limb_mut(limb)));
            }
        }
    }

    fn ntts(&self) -> (usize, usize) {
        self.key.shape().ntts(self.key.gadget().length(), PRIMES.len())
    }
}

fn seconds(call: impl FnOnce()) -> f64 {
    let start = Instant::now();
    call();
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Times rotations interleaved with their transforms and prints a line each.
fn summary(setup: &mut Setup, name: &str) {
    const ROUNDS: usize = 9;
    for together in TOGETHER {
        let rounds: Vec<(f64, f64)> =
            (0..ROUNDS).map(|_| (seconds(|| setup.rotate(together)), seconds(|| setup.transforms(together)))).collect();
        let one = 1.0 / together as f64;
        let measured = median(rounds.iter().map(|r| r.0 * one).collect());
        let bound = median(rounds.iter().map(|r| r.1 * one).collect());
        let ratio = median(rounds.iter().map(|r| r.0 / r.1).collect());
        let (forward, inverse) = setup.ntts();
        println!(
            "{name:<16} {together} together: {:.1} ms each, {:.1} us a bit; {forward} + {inverse} NTTs take {:.1} ms; ratio {ratio:.2}",
            measured * 1e3,
            measured * 1e6 / DIMENSION as f64,
            bound * 1e3,
        );
    }
}

fn main() -> Result<(), Failure> {
    // Cargo also builds benches as tests, with this flag: then each runs once, and there is nothing to sum up.
    let testing = std::env::args().any(|argument| argument == "--test");
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(2000))
        .sample_size(10)
        .configure_from_args();
    for (log_base, form) in BASES.into_iter().flat_map(|base| [(base, Form::Cmux), (base, Form::Joint)]) {
        let mut setup = Setup::new(log_base, form)?;
        let name = format!("2^{log_base}-{form:?}").to_lowercase();
        for together in TOGETHER {
            let id = BenchmarkId::new(format!("rotate/{name}"), together);
            criterion.bench_with_input(id, &(), |b, ()| b.iter(|| setup.rotate(together)));
        }
        if !testing {
            summary(&mut setup, &name);
        }
    }
    criterion.final_summary();
    Ok(())
}
