//! Transforms on every path the processor has, and those of `tfhe-ntt` where its feature is on.
//!
//! Ids: `ntt/<bits of the prime>/<N>/<forward|inverse>/<path>`. `tfhe` as an inverse leaves out 1/N, ours do not;
//! `tfhe-normalized` includes it.

use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use ring::Word;
use ring::ntt::{NttPlan, Path};
use std::time::Duration;

/// The largest primes = 1 modulo 2^14 below 2^28, 2^50 and 2^56.
const PRIMES: [(u32, u64); 3] = [(28, 268_369_921), (50, 1_125_899_906_826_241), (56, 72_057_594_037_616_641)];

fn bench<W: Word>(group: &mut BenchmarkGroup<'_, WallTime>, id: &str, n: usize, transform: impl Fn(&mut [W])) {
    let mut data: Vec<W> = (0..n as u64).map(W::from_u64).collect();
    group.bench_function(id, |b| b.iter(|| transform(&mut data)));
}

fn transforms<W: Word>(c: &mut Criterion, bits: u32, prime: u64, n: usize) {
    let prime = W::from_u64(prime);
    let plans: Vec<_> = Path::ALL.into_iter().filter_map(|path| NttPlan::with_path(n, prime, path).ok()).collect();
    for direction in ["forward", "inverse"] {
        let mut group = c.benchmark_group(format!("ntt/{bits}/{n}/{direction}"));
        group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(400));
        for plan in &plans {
            bench(&mut group, plan.path(), n, |data: &mut [W]| match direction {
                "forward" => plan.forward(data),
                _ => plan.inverse(data),
            });
        }
        #[cfg(feature = "tfhe-ntt")]
        if let Ok(theirs) = ring::ntt::TfhePlan::new(n, prime) {
            if direction == "forward" {
                bench(&mut group, "tfhe", n, |data: &mut [W]| theirs.forward(data));
            } else {
                bench(&mut group, "tfhe", n, |data: &mut [W]| theirs.inverse_unscaled(data));
                bench(&mut group, "tfhe-normalized", n, |data: &mut [W]| theirs.inverse(data));
            }
        }
        group.finish();
    }
}

fn main() {
    let mut c = Criterion::default().configure_from_args();
    for n in [1024, 2048, 4096, 8192] {
        for (bits, prime) in PRIMES {
            if bits < 32 {
                transforms::<u32>(&mut c, bits, prime, n)
            } else {
                transforms::<u64>(&mut c, bits, prime, n)
            }
        }
    }
    c.final_summary();
}
