//! Times of our transforms as ratios to those of `tfhe-ntt` 0.7: both in turn, the ratio of medians with its 95 % bootstrap
//! interval. `cargo run --release -p pirlab-ring --features tfhe-ntt --example ntt_ratio [kernel [rounds]]`.

use rand::{Rng, SeedableRng, rngs::StdRng};
use ring::Kernel;
use ring::Word;
use ring::ntt::{NttPlan, TfhePlan};
use std::time::Instant;

/// The largest primes = 1 modulo 2^14 below 2^28, 2^50 and 2^56.
const PRIME_28: u64 = 268_369_921;
const PRIME_50: u64 = 1_125_899_906_826_241;
const PRIME_56: u64 = 72_057_594_037_616_641;

/// Calls of a transform per sample: some 30 microseconds' worth.
const NANOSECONDS_PER_SAMPLE: f64 = 30_000.0;

/// Median nanoseconds per call of each function over `rounds` interleaved samples, and all samples.
fn interleaved(rounds: usize, functions: &mut [&mut dyn FnMut()]) -> Vec<Vec<f64>> {
    let calls: Vec<usize> = functions
        .iter_mut()
        .map(|function| {
            let start = Instant::now();
            (0..32).for_each(|_| function());
            (NANOSECONDS_PER_SAMPLE * 32.0 / start.elapsed().as_nanos() as f64).ceil() as usize
        })
        .collect();
    let mut samples = vec![Vec::with_capacity(rounds); functions.len()];
    for _ in 0..rounds {
        for ((function, calls), samples) in functions.iter_mut().zip(&calls).zip(&mut samples) {
            function();
            let start = Instant::now();
            (0..*calls).for_each(|_| function());
            samples.push(start.elapsed().as_nanos() as f64 / *calls as f64);
        }
    }
    samples
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// The ratio of medians and its 95 % bootstrap interval.
fn ratio(ours: &[f64], theirs: &[f64]) -> [f64; 3] {
    let mut rng = StdRng::seed_from_u64(1);
    let mut resampled = |samples: &[f64]| {
        let mut draw: Vec<f64> = samples.iter().map(|_| samples[rng.random_range(0..samples.len())]).collect();
        median(&mut draw)
    };
    let mut ratios: Vec<f64> = (0..1000).map(|_| resampled(ours) / resampled(theirs)).collect();
    ratios.sort_by(f64::total_cmp);
    [median(&mut ours.to_vec()) / median(&mut theirs.to_vec()), ratios[25], ratios[974]]
}

fn report<W: Word>(
    bits: u32,
    prime: u64,
    n: usize,
    kernel: Kernel,
    rounds: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let ours = NttPlan::new(n, W::from_u64(prime), kernel)?;
    let theirs = TfhePlan::new(n, W::from_u64(prime))?;
    let mut rng = StdRng::seed_from_u64(0);
    let mut data: Vec<Vec<W>> =
        (0..6).map(|_| (0..n).map(|_| W::from_u64(rng.random_range(0..prime))).collect()).collect();
    let [a, b, c, d, e, f] = &mut data[..] else { unreachable!("six buffers") };
    let samples = interleaved(
        rounds,
        &mut [
            &mut || ours.forward(a),
            &mut || theirs.forward(b),
            &mut || ours.inverse_unscaled(c),
            &mut || ours.inverse(d),
            &mut || theirs.inverse_unscaled(e),
            &mut || theirs.inverse(f),
        ],
    );
    let pairs = [
        ("forward", 0, 1),
        ("inverse_unscaled vs inv", 2, 4),
        ("inverse vs inv", 3, 4),
        ("inverse vs inv+normalize", 3, 5),
    ];
    for (name, x, y) in pairs {
        let [ratio, low, high] = ratio(&samples[x], &samples[y]);
        let [x, y] = [x, y].map(|k| median(&mut samples[k].clone()) / 1000.0);
        println!("{bits:>4} {n:>6} {:<8} {name:<26} {x:>8.3} {y:>8.3} {ratio:>7.3} [{low:.3}, {high:.3}]", ours.path());
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let kernel = arguments.next().map_or(Ok(Kernel::best()), |name| name.parse())?;
    let rounds = arguments.next().map_or(Ok(101), |rounds| rounds.parse())?;
    println!("bits      n path     transform                   ours/us tfhe/us   ratio 95 % interval");
    for n in [1024, 2048, 4096, 8192] {
        report::<u32>(28, PRIME_28, n, kernel, rounds)?;
        report::<u64>(50, PRIME_50, n, kernel, rounds)?;
        report::<u64>(56, PRIME_56, n, kernel, rounds)?;
    }
    Ok(())
}
