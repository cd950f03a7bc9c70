//! The lattice operations at N = 2048 and a modulus of two 28-bit primes, beside the NTTs they cannot do without.
//!
//! Criterion measures every operation by itself; at the end each is timed interleaved with exactly the transforms it makes, which
//! is its NTT-count lower bound.

mod timed;

use criterion::{BenchmarkId, Criterion};
use gadget::Family;
use lattice::{
    AutomorphismKey, Masks, Rgsw, RingGadget, Rlwe, RlweKey, RlwePrime, Secret, SeededRgsw, TraceKeys,
    automorphism_key, product_ntts, switching_key, trace_keys,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::primes::primes_below;
use ring::{Coefficient, DiscreteGaussian, Kernel, Ring, Seed, StdDev};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;
use timed::{Operation, median, seconds, transforms};

const N: usize = 2048;
const EXPANSION_DEPTH: u32 = 4;

/// Keys and inputs of every operation.
struct Setup {
    ring: Arc<Ring<u32>>,
    gadget: RingGadget<u32>,
    rgsw: Rgsw<u32>,
    switch: RlwePrime<u32>,
    automorphism: AutomorphismKey<u32>,
    trace: TraceKeys<u32>,
    inputs: [Rlwe<u32, Coefficient>; 2],
}

type Failure = Box<dyn std::error::Error>;

impl Setup {
    /// Balanced digits in base 2^19: three of them.
    fn new(kernel: Kernel) -> Result<Self, Failure> {
        let primes: Vec<u64> = primes_below(28, 2 * N as u64).take(2).collect();
        let ring = Ring::new(N, &primes, kernel)?;
        let gadget = RingGadget::new(&ring, Family::Balanced, 1 << 19, 0)?;
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng)?;
        let error = DiscreteGaussian::new(StdDev(3.2))?;
        let mut masks = Masks::new(Seed([1; 16]));
        let one = ring.forward(ring.mul_monomial(&ring.from_signed(&[vec![1], vec![0; N - 1]].concat()), 5));
        let rgsw = SeededRgsw::new(&key, &one, &gadget, &error, &mut masks, &mut rng)?.expand(&ring);
        let other = RlweKey::sample(&ring, &Secret::Ternary, &mut rng)?;
        let switch = switching_key(other.ntt(), &key, &gadget, &error, &mut masks, &mut rng)?;
        let automorphism = automorphism_key(&key, 5, &gadget, &error, &mut masks, &mut rng)?;
        let trace = trace_keys(&key, 1..=N.ilog2(), &gadget, &error, &mut masks, &mut rng)?;
        let mut fresh = || {
            let message = ring.uniform(&mut rng);
            key.encrypt(&message, &error, &mut masks, &mut rng).expand(&ring).inverse(&ring)
        };
        Ok(Self {
            inputs: [fresh(), fresh()],
            switch: switch.expand(&ring),
            automorphism: AutomorphismKey::new(&ring, 5, &automorphism)?,
            trace: TraceKeys::new(&ring, 1, &trace)?,
            ring,
            gadget,
            rgsw,
        })
    }

    /// Name, forward and inverse transforms, and one run of each operation.
    fn operations(&self) -> Vec<Operation<'_>> {
        let product = |parts| product_ntts(parts, self.gadget.length(), self.ring.primes().len());
        let times = |(forward, inverse): (usize, usize), count: usize| (forward * count, inverse * count);
        let [x, y] = &self.inputs;
        let gadget = &self.gadget;
        let new = || Rlwe::zero(&self.ring);
        let (mut product_out, mut cmux_out, mut switch_out, mut mapped_out) = (new(), new(), new(), new());
        let positions: Vec<usize> = (0..1 << EXPANSION_DEPTH).collect();
        vec![
            Operation::new("external-product", product(2), move |w| {
                assert!(gadget.external_product(black_box(x), &self.rgsw, w, &mut product_out).is_ok());
            }),
            Operation::new("cmux", product(2), move |w| {
                assert!(gadget.cmux(&self.rgsw, black_box(x), y, w, &mut cmux_out).is_ok());
            }),
            Operation::new("key-switch", product(1), move |w| {
                assert!(gadget.key_switch(black_box(x), &self.switch, w, &mut switch_out).is_ok());
            }),
            Operation::new("automorphism", product(1), move |w| {
                assert!(gadget.automorphism(black_box(x), &self.automorphism, w, &mut mapped_out).is_ok());
            }),
            Operation::new("trace", times(product(1), N.ilog2() as usize), move |w| {
                assert!(gadget.trace(black_box(x), 1, &self.trace, w).is_ok());
            }),
            Operation::new("expansion-16", times(product(1), positions.len() - 1), move |w| {
                let tree = gadget.coefficient_tree(black_box(x), EXPANSION_DEPTH, &positions, &self.trace, w);
                assert!(tree.is_ok_and(|mut tree| tree.all(|found| black_box(found).is_ok())));
            }),
        ]
    }
}

/// Times every operation interleaved with its transforms and prints the table.
fn summary(setup: &Setup, path: &str) {
    const ROUNDS: usize = 101;
    println!(
        "\nN = {N}, two primes of 28 bits, base 2^19, 3 balanced digits, {path}; medians of {ROUNDS} interleaved rounds"
    );
    println!("{:<18} {:>12} {:>14} {:>14} {:>7}", "operation", "measured us", "NTTs", "NTT bound us", "ratio");
    for mut operation in setup.operations() {
        let mut bound = transforms(&setup.ring, &setup.inputs[0].a, operation.ntts);
        // The calls of a round take about a millisecond together.
        let once = seconds(3, &mut operation.run).max(1e-7);
        let calls = (1e-3 / once).ceil().clamp(1.0, 1000.0) as u32;
        let rounds: Vec<(f64, f64)> =
            (0..ROUNDS).map(|_| (seconds(calls, &mut operation.run), seconds(calls, &mut bound))).collect();
        let measured = median(rounds.iter().map(|r| r.0).collect());
        let transforms = median(rounds.iter().map(|r| r.1).collect());
        let ratio = median(rounds.iter().map(|r| r.0 / r.1).collect());
        let (forward, inverse) = operation.ntts;
        println!(
            "{:<18} {:>12.2} {:>14} {:>14.2} {:>7.3}",
            operation.name,
            measured * 1e6,
            format!("{forward} + {inverse}"),
            transforms * 1e6,
            ratio
        );
    }
}

fn main() -> Result<(), Failure> {
    // Cargo also builds benches as tests, with this flag: then each runs once, and there is nothing to sum up.
    let testing = std::env::args().any(|argument| argument == "--test");
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1200))
        .sample_size(40)
        .configure_from_args();
    for kernel in Kernel::available() {
        let setup = Setup::new(kernel)?;
        let path = setup.ring.limbs()[0].1.path();
        for mut operation in setup.operations() {
            let id = BenchmarkId::new(format!("lattice/{}", operation.name), format!("{N}/{path}"));
            criterion.bench_with_input(id, &(), |b, ()| b.iter(&mut operation.run));
        }
        if !testing {
            summary(&setup, path);
        }
    }
    criterion.final_summary();
    Ok(())
}
