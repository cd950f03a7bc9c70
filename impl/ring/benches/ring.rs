//! Throughput of the kernels: `cargo bench -p pirlab-ring`. Products with matrices of 64 MiB, and of 1 GiB when
//! `PIRLAB_BENCH_LARGE` is 1; compare them with `bandwidth`, which reads memory and does nothing else.

use criterion::{BenchmarkId, Criterion, Throughput};
use ring::bandwidth::Probe;
use ring::matrix::{column, dense, packed};
use ring::{ColumnMatrix, DiscreteGaussian, Kernel, PackedMatrix, Prg, ResidueVector, Ring, StdDev, Vector32};
use std::error::Error;
use std::hint::black_box;

type Outcome = Result<(), Box<dyn Error>>;
type Bench = fn(&mut Criterion) -> Outcome;

fn large() -> bool {
    std::env::var("PIRLAB_BENCH_LARGE").is_ok_and(|value| value == "1")
}

/// A square matrix of 9-bit entries of about that many bytes.
fn matrix(bytes: usize, prg: &Prg) -> Result<PackedMatrix, Box<dyn Error>> {
    let side = (bytes as f64 * 8.0 / 9.0).sqrt() as usize;
    let mut matrix = PackedMatrix::new(side, side, 9)?;
    let mut row = vec![0; side * 9 / 8 + 600];
    prg.fill_at(0, &mut row);
    for mut block in matrix.blocks_mut() {
        (0..block.rows()).try_for_each(|r| block.set_row_from_bits(r, &row, r as u64))?;
    }
    Ok(matrix)
}

fn words(prg: &Prg, offset: u64, len: usize) -> Vec<u32> {
    let mut words = vec![0; len];
    prg.fill_u32_at(offset, &mut words);
    words
}

fn products(c: &mut Criterion) -> Outcome {
    let prg = Prg::new([1; 16]);
    let mut group = c.benchmark_group("matvec");
    for mebibytes in [Some(64), large().then_some(1024)].into_iter().flatten() {
        let matrix = matrix(mebibytes << 20, &prg)?;
        group.throughput(Throughput::Bytes(matrix.stored_bytes()));
        for (kernel, k) in Kernel::available().into_iter().flat_map(|kernel| [1, 2, 4, 8, 29].map(|k| (kernel, k))) {
            if kernel == Kernel::Scalar && (k > 1 || mebibytes > 64) {
                continue;
            }
            let queries: Vec<_> = (0..k).map(|i| Vector32::prepare(&words(&prg, i << 32, matrix.cols()))).collect();
            let mut out = vec![vec![0; matrix.rows()]; queries.len()];
            group.bench_function(BenchmarkId::new(format!("{kernel}, {k} queries"), format!("{mebibytes} MiB")), |b| {
                b.iter(|| {
                    let mut parts: Vec<_> = out.iter_mut().map(Vec::as_mut_slice).collect();
                    packed::matvec(kernel, &matrix, &queries, &mut parts, 1)
                });
            });
        }
    }
    Ok(())
}

/// Columns of 16-bit entries times residues modulo two primes of 28 bits, N = 2048; and the hint's products with ring elements.
fn columns(c: &mut Criterion) -> Outcome {
    const N: usize = 2048;
    const PRIMES: [u64; 2] = [268_369_921, 249_561_089];
    let prg = Prg::new([5; 16]);
    let mut group = c.benchmark_group("columns");
    for mebibytes in [Some(64), large().then_some(1024)].into_iter().flatten() {
        let rows = 1 << 14;
        let mut matrix = ColumnMatrix::new(rows, (mebibytes << 20) / (2 * rows), N)?;
        let mut entries = vec![0u16; 32 * matrix.cols()];
        let mut bytes = vec![0; 2 * entries.len()];
        prg.fill_at(0, &mut bytes);
        entries.iter_mut().zip(bytes.chunks_exact(2)).for_each(|(x, b)| *x = u16::from_le_bytes([b[0], b[1]]));
        let entries: Vec<i16> = entries.iter().map(|x| *x as i16).collect();
        for first_row in (0..rows).step_by(32) {
            matrix.set_rows((first_row, 32), (0, matrix.cols()), &entries, matrix.cols())?;
        }
        for (kernel, k) in Kernel::available().into_iter().flat_map(|kernel| [1, 2, 4, 8, 29].map(|k| (kernel, k))) {
            if kernel == Kernel::Scalar && (k > 1 || mebibytes > 64) {
                continue;
            }
            let ring = Ring::<u32>::new(N, &PRIMES, kernel)?;
            let moduli = ring.rns().moduli();
            let residues = |k: u64| {
                let residues =
                    moduli.iter().flat_map(|q| words(&prg, k << 32, rows).into_iter().map(|x| x % q.value()));
                ResidueVector::new(moduli, &residues.collect::<Vec<_>>())
            };
            let queries: Vec<_> = (0..k).map(residues).collect::<Result<_, _>>()?;
            group.throughput(Throughput::Bytes(matrix.stored_bytes()));
            group.bench_function(BenchmarkId::new(format!("{kernel}, {k} queries"), format!("{mebibytes} MiB")), |b| {
                b.iter(|| column::product(kernel, &matrix, &queries, 1));
            });
            if k == 1 && mebibytes == 64 {
                let factors: Vec<_> = (0..matrix.blocks()).map(|i| ring.expand(&prg, i as u64)).collect();
                let mut out: Vec<_> = (0..64).map(|_| ring.zero()).collect();
                group.throughput(Throughput::Bytes((2 * rows * out.len()) as u64));
                group.bench_function(BenchmarkId::new("hint", kernel), |b| {
                    b.iter(|| column::ring_products(&matrix, &ring, &factors, 0, &mut out));
                });
            }
        }
    }
    Ok(())
}

fn hint(c: &mut Criterion) -> Outcome {
    let prg = Prg::new([2; 16]);
    let (rows, cols, n) = (512, 512, 1024);
    let mut matrix = PackedMatrix::new(rows, cols, 9)?;
    for row in 0..rows {
        matrix.set_row(row, &vec![(row % 512) as u16; cols])?;
    }
    let a = words(&prg, 0, cols * n);
    let mut out = vec![0; rows * n];
    let mut group = c.benchmark_group("matmul");
    group.throughput(Throughput::Elements((rows * cols * n) as u64));
    for kernel in Kernel::available().into_iter().filter(|kernel| *kernel != Kernel::Scalar) {
        group.bench_function(kernel.to_string(), |b| {
            b.iter(|| packed::matmul_accumulate(kernel, &matrix, 0, &a, n, &mut out, 1));
        });
    }
    Ok(())
}

fn dense_products(c: &mut Criterion) {
    let prg = Prg::new([3; 16]);
    let (l, n, delta) = (16384, 1024, 4);
    let (a, x) = (words(&prg, 0, l * n), words(&prg, 1 << 32, n));
    let digits: Vec<i16> = (0..delta * l).map(|i| (i % 999) as i16 - 500).collect();
    let (mut long, mut short) = (vec![0; l], vec![0; delta * n]);
    let mut group = c.benchmark_group("dense");
    group.throughput(Throughput::Bytes(4 * a.len() as u64));
    for kernel in Kernel::available() {
        group.bench_function(format!("A * x, {kernel}"), |b| {
            b.iter(|| dense::matvec_u32(kernel, &a, &x, &mut long, 1));
        });
        group.bench_function(format!("digits * A, 4 rows, {kernel}"), |b| {
            b.iter(|| dense::digits_accumulate(kernel, &digits, l, &a, n, &mut short));
        });
    }
}

fn randomness(c: &mut Criterion) -> Outcome {
    let prg = Prg::new([4; 16]);
    let mut bytes = vec![0; 1 << 20];
    let mut group = c.benchmark_group("prg");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("fill_at", |b| b.iter(|| prg.fill_at(0, black_box(&mut bytes))));
    let mut words = vec![0; bytes.len() / 4];
    group.bench_function("fill_u32_at", |b| b.iter(|| prg.fill_u32_at(0, black_box(&mut words))));
    group.finish();
    let mut group = c.benchmark_group("gaussian");
    let mut samples = vec![0; 1 << 14];
    group.throughput(Throughput::Elements(samples.len() as u64));
    for stddev in [3.2, 6.4, 81.4, 16384.0] {
        let gaussian = DiscreteGaussian::new(StdDev(stddev))?;
        let mut rng = prg.rng();
        group.bench_function(format!("stddev {stddev}"), |b| b.iter(|| gaussian.fill(&mut rng, &mut samples)));
    }
    Ok(())
}

fn bandwidth(c: &mut Criterion) -> Outcome {
    let bytes = if large() { 2 << 30 } else { 64 << 20 };
    let probe = Probe::new(Kernel::best(), bytes)?;
    let mut group = c.benchmark_group("bandwidth");
    group.throughput(Throughput::Bytes(bytes as u64));
    for streams in [1, 2, 4, 8] {
        group.bench_function(format!("{streams} streams"), |b| b.iter(|| probe.once(streams, 0)));
    }
    Ok(())
}

fn main() {
    let mut c = Criterion::default().sample_size(10).configure_from_args();
    dense_products(&mut c);
    let fallible: [(&str, Bench); 5] =
        [("matvec", products), ("columns", columns), ("matmul", hint), ("prg", randomness), ("bandwidth", bandwidth)];
    for (name, run) in fallible {
        if let Err(error) = run(&mut c) {
            eprintln!("{name} not measured: {error}");
        }
    }
    c.final_summary();
}
