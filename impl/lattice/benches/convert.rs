//! LWE to RGSW and the selector tree at N = 2048, n = 780 and a modulus of two 28-bit primes, beside the NTTs they cannot do without.
//!
//! Criterion measures extraction, conversion of a rotated table and a small tree for each kernel; the summary times whole operations, each
//! interleaved with exactly as many transforms.

mod timed;

use criterion::{BenchmarkId, Criterion};
use gadget::Family;
use lattice::convert::{ConverterKeys, Extraction, RgswConverter, SelectorTree, selector_tree};
use lattice::lwe::{Lwe, LweKey};
use lattice::{
    BlindRotationKey, Form, Masks, Rgsw, RingGadget, Rlwe, RlweKey, RotationShape, Secret, SeededBlindRotationKey,
    SmallSecret,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{Coefficient, DiscreteGaussian, Kernel, Modulus, Ring, Seed, StdDev};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;
use timed::{Operation, median, seconds, transforms, workspace};

const N: usize = 2048;
const PRIMES: [u64; 2] = [268_369_921, 249_561_089];
/// Dimension of the small key.
const DIMENSION: usize = 780;
const STDDEV: f64 = 20.0;

type Failure = Box<dyn std::error::Error>;

/// Keys, converters of both ways of extraction, an input.
struct Setup {
    ring: Arc<Ring<u32>>,
    output: RingGadget<u32>,
    rotation: BlindRotationKey<u32>,
    tree: RgswConverter<u32>,
    traces: RgswConverter<u32>,
    input: Lwe,
    accumulator: Rlwe<u32, Coefficient>,
    selectors: Vec<Rgsw<u32>>,
}

impl Setup {
    /// Balanced digits: rotation 2^8 x 7, automorphisms and square 2^3 x 19, output the highest 12 digits of base 2^3.
    fn new(kernel: Kernel, form: Form) -> Result<Self, Failure> {
        let ring = Ring::new(N, &PRIMES, kernel)?;
        let gadget = |base, dropped| RingGadget::new(&ring, Family::Balanced, base, dropped);
        let (rotating, fine, output) = (gadget(1 << 8, 0)?, gadget(1 << 3, 0)?, gadget(1 << 3, 7)?);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng)?;
        let small = LweKey::sample(&Secret::Binary, DIMENSION, &mut rng)?;
        let error = DiscreteGaussian::new(StdDev(STDDEV))?;
        let mut masks = Masks::new(Seed([1; 16]));
        let shape = RotationShape { dimension: DIMENSION, secret: SmallSecret::Binary, form };
        let seeded = SeededBlindRotationKey::new(shape, &small, &key, &rotating, &error, &mut masks, &mut rng)?;
        let rotation = BlindRotationKey::new(&rotating, &seeded)?;
        let keys = ConverterKeys::new(&key, &fine, &fine, &error, &mut masks, &mut rng)?;
        let spacing = RgswConverter::<u32>::widest_spacing(N, output.length(), 7);
        let converter = |extraction| RgswConverter::new(&output, spacing, extraction, (&fine, &fine), &keys);
        let (tree, traces) = (converter(Extraction::Tree)?, converter(Extraction::Traces)?);
        let input =
            small.encrypt(Modulus::new(2 * N as u64)?, N as u64, &DiscreteGaussian::new(StdDev(2.0))?, &mut rng);
        let accumulator = key.encrypt(&tree.table(), &error, &mut masks, &mut rng).expand(&ring).inverse(&ring);
        let selectors = vec![tree.rgsw(&accumulator, &mut workspace())?; 11];
        Ok(Self { ring, output, rotation, tree, traces, input, accumulator, selectors })
    }

    /// Name, forward and inverse transforms, and one run of each operation.
    fn operations(&self, bits: usize) -> Vec<Operation<'_>> {
        let rotation = self.rotation.shape().ntts(self.rotation.gadget().length(), PRIMES.len());
        let both = |(f, i): (usize, usize), times: usize| (times * (f + rotation.0), times * (i + rotation.1));
        let length = self.output.length();
        vec![
            Operation::new("rgsw-tree", self.tree.ntts(), |w| {
                assert!(self.tree.rgsw(black_box(&self.accumulator), w).is_ok());
            }),
            Operation::new("rgsw-traces", self.traces.ntts(), |w| {
                assert!(self.traces.rgsw(black_box(&self.accumulator), w).is_ok());
            }),
            Operation::new("lwe-to-rgsw", both(self.tree.ntts(), 1), |w| {
                let input = std::slice::from_ref(black_box(&self.input));
                assert!(self.tree.convert_all(input, &self.rotation, w).is_ok());
            }),
            // The key is read once for all of them.
            Operation::new("lwe-to-rgsw-5", both(self.tree.ntts(), 5), |w| {
                let inputs = vec![black_box(&self.input).clone(); 5];
                assert!(self.tree.convert_all(&inputs, &self.rotation, w).is_ok());
            }),
            Operation::new("selector-tree", SelectorTree::<u32>::ntts(bits, 1, length, PRIMES.len()), move |w| {
                let weight = black_box([1 << 50]);
                assert!(selector_tree(&self.output, &weight, &self.selectors[..bits], std::slice::from_mut(w)).is_ok());
            }),
        ]
    }
}

/// Times every operation interleaved with its transforms and prints the table.
fn summary(setup: &Setup, bits: usize, title: &str) {
    const ROUNDS: usize = 11;
    println!("\n{title}; medians of {ROUNDS} interleaved rounds");
    println!("{:<16} {:>12} {:>16} {:>14} {:>7}", "operation", "measured ms", "NTTs", "NTT bound ms", "ratio");
    for mut operation in setup.operations(bits) {
        let mut bound = transforms(&setup.ring, &setup.accumulator.a, operation.ntts);
        let rounds: Vec<(f64, f64)> =
            (0..ROUNDS).map(|_| (seconds(1, &mut operation.run), seconds(1, &mut bound))).collect();
        let (forward, inverse) = operation.ntts;
        println!(
            "{:<16} {:>12.2} {:>16} {:>14.2} {:>7.3}",
            operation.name,
            median(rounds.iter().map(|r| r.0).collect()) * 1e3,
            format!("{forward} + {inverse}"),
            median(rounds.iter().map(|r| r.1).collect()) * 1e3,
            median(rounds.iter().map(|r| r.0 / r.1).collect()),
        );
    }
}

fn main() -> Result<(), Failure> {
    // Cargo also builds benches as tests, with this flag: then each runs once, and there is nothing to sum up.
    let testing = std::env::args().any(|argument| argument == "--test");
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1200))
        .sample_size(10)
        .configure_from_args();
    for kernel in Kernel::available().into_iter().filter(|kernel| !testing || *kernel == Kernel::best()) {
        for (form, name) in [(Form::Cmux, "one bit a step"), (Form::Joint, "two bits a step")] {
            let setup = Setup::new(kernel, form)?;
            let path = setup.ring.limbs()[0].1.path();
            if form == Form::Cmux {
                for mut operation in setup.operations(6) {
                    let id = BenchmarkId::new(format!("convert/{}", operation.name), format!("{N}/{path}"));
                    criterion.bench_with_input(id, &(), |b, ()| b.iter(&mut operation.run));
                }
            }
            if !testing && kernel == Kernel::best() {
                let title = format!("N = {N}, n = {DIMENSION}, {name}, 12 rows of base 2^3, 11 bits, {path}");
                summary(&setup, 11, &title);
            }
        }
    }
    criterion.final_summary();
    Ok(())
}
