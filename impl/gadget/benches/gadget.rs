//! Whole polynomials of 2048 coefficients, log2 q = 60: gadget/<family>/<base>/<digit bits>/<coins>/<path>.

#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gadget::{Coins, Decomposer, Digit, Family, Gadget};
use ring::{Kernel, Seed};
use std::hint::black_box;

const N: usize = 2048;
const Q: u64 = (1 << 60) - 93;

fn width<D: Digit>(c: &mut Criterion, base: u64, kernel: Kernel) {
    for family in Family::ALL {
        let Ok(gadget) = Decomposer::new(family, Q, base, 0, kernel) else { continue };
        if !gadget.fits::<D>() {
            continue;
        }
        let mut coins = Coins::from_seed(Seed([1; 16]));
        let mut input = vec![0u64; N];
        coins.fill(&mut input);
        input.iter_mut().for_each(|u| *u %= Q);
        let mut digits = vec![D::default(); N * gadget.length()];
        let drawn = gadget.precompute(N, &mut coins);
        let mut group = c.benchmark_group(format!("gadget/{family}/{base}/{}", D::BITS));
        group.throughput(Throughput::Bytes(size_of_val(&*digits) as u64));
        if !family.randomised() {
            group.bench_function(BenchmarkId::new("det", kernel), |b| {
                b.iter(|| gadget.decompose_with(black_box(&input), &mut digits, &drawn));
            });
            continue;
        }
        group.bench_function(BenchmarkId::new("fresh", kernel), |b| {
            b.iter(|| gadget.decompose_fresh(black_box(&input), &mut digits, &mut coins));
        });
        group.bench_function(BenchmarkId::new("offline", kernel), |b| {
            b.iter(|| gadget.decompose_with(black_box(&input), &mut digits, &drawn));
        });
    }
}

fn decompositions(c: &mut Criterion) {
    for kernel in Kernel::available() {
        for base in [2, 4, 8, 16, 64, 256] {
            width::<i64>(c, base, kernel);
            width::<i16>(c, base, kernel);
            width::<i8>(c, base, kernel);
        }
        width::<i32>(c, 1 << 19, kernel);
    }
}

criterion_group!(benches, decompositions);
criterion_main!(benches);
