//! What randomness costs: decompositions of 2048 coefficients (or as many as asked for), log2 q = 60, at every base and width of
//! digits, each sampler against the deterministic one. Medians of rounds in which all take turns, each with buffers of its own.
//!
//! `cargo run --release -p pirlab-gadget --example overhead [rounds [kernel [coefficients]]]`

use gadget::{Coins, Decomposer, Digit, Family, Gadget, GadgetError};
use ring::{Kernel, Seed};
use std::time::Instant;

const Q: u64 = (1 << 60) - 93;
/// Calls of one sample.
const CALLS: u32 = 20;

/// A buffer whose elements from the returned one on start at a page.
fn pages<T: Default + Clone>(len: usize) -> (Vec<T>, usize) {
    let buffer = vec![T::default(); len + 4096 / size_of::<T>()];
    let start = buffer.as_ptr().align_offset(4096).min(4096 / size_of::<T>());
    (buffer, start)
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn line<D: Digit>(kernel: Kernel, base: u64, n: usize, rounds: usize) -> Result<(), GadgetError> {
    let gadget = |family| Decomposer::new(family, Q, base, 0, kernel);
    let [plain, jlp24, zy22] = [gadget(Family::Unsigned)?, gadget(Family::Jlp24)?, gadget(Family::Zy22)?];
    if !jlp24.fits::<D>() {
        return Ok(());
    }
    let mut coins = Coins::from_seed(Seed([1; 16]));
    let (mut input, start) = pages::<u64>(n);
    coins.fill(&mut input);
    input.iter_mut().for_each(|u| *u %= Q);
    let input = &input[start..start + n];
    let drawn = [&jlp24, &zy22].map(|gadget| gadget.precompute(n, &mut coins));
    let digits = n * plain.length();
    let mut buffers: [_; 6] = std::array::from_fn(|_| pages::<D>(digits));
    let mut samples: [Vec<f64>; 6] = Default::default();
    for _ in 0..rounds {
        for (arm, ((buffer, start), samples)) in buffers.iter_mut().zip(&mut samples).enumerate() {
            let out = &mut buffer[*start..*start + digits];
            let mut call = || match arm {
                0 => plain.store_only(out),
                1 => plain.decompose_fresh(input, out, &mut coins),
                2 => jlp24.decompose_fresh(input, out, &mut coins),
                3 => jlp24.decompose_with(input, out, &drawn[0]),
                4 => zy22.decompose_fresh(input, out, &mut coins),
                _ => zy22.decompose_with(input, out, &drawn[1]),
            };
            call();
            let begin = Instant::now();
            (0..CALLS).for_each(|_| call());
            samples.push(begin.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
        }
    }
    let [store, plain, fresh, offline, zy22, zy22_offline] = samples.map(median);
    let percent = |time: f64| 100.0 * (time / plain - 1.0);
    println!(
        "{:4} {base:5} {plain:12.2} us {:4.0} % {fresh:9.2} us {:+4.0} % {offline:9.2} us {:+4.0} % {:9.2} {:9.2}",
        D::BITS,
        100.0 * store / plain,
        percent(fresh),
        percent(offline),
        zy22 / fresh,
        zy22_offline / offline,
    );
    Ok(())
}

fn main() -> Result<(), GadgetError> {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(101);
    let kernel = arguments.next().map_or(Ok(Kernel::best()), |name| name.parse())?;
    let n = arguments.next().and_then(|coefficients| coefficients.parse().ok()).unwrap_or(2048);
    println!("bits  base   unsigned, share of stores   jlp24 fresh          offline     zy22/jlp24 fresh, offline");
    for base in [2, 4, 8, 16, 64, 256] {
        line::<i64>(kernel, base, n, rounds)?;
        line::<i16>(kernel, base, n, rounds)?;
        line::<i8>(kernel, base, n, rounds)?;
    }
    Ok(())
}
