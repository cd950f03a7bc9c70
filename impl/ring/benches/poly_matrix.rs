//! The first dimension's product with one vector of pairs, and what it could be instead: `cargo bench -p pirlab-ring --bench poly_matrix`.
//!
//! Matrices of polynomials of 2048 slots. `two primes` of 28 bits are eight bytes a slot; `one prime` of 28 bits is four; `ifma` is one
//! prime of 50 bits in eight bytes, its products' halves of 52 bits added apart (VPMADD52). In the cache the multiplier bounds them,
//! beyond it memory: compare with `bandwidth`, which reads and does nothing else.

use criterion::{BenchmarkId, Criterion, Throughput};
use ring::bandwidth::Probe;
use ring::{Kernel, Ntt, Poly, PolyMatrix, PolyPairs, Prg, Ring};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

const N: usize = 2048;
const PRIMES: [u64; 2] = [268_369_921, 249_561_089];
/// Rows and columns of the matrices: 512 rows are those of Respire at 2^20 records of 256 bytes, 128 those of KSPIR.
const SHAPES: [(usize, usize); 3] = [(512, 4), (512, 256), (128, 1024)];

fn random(ring: &Arc<Ring<u32>>, prg: &Prg, stream: u64) -> Poly<u32, Ntt> {
    ring.expand(prg, stream)
}

fn products(c: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let prg = Prg::new([3; 16]);
    bandwidth(c)?;
    for (rows, columns) in SHAPES {
        for primes in [2, 1] {
            let ring = Ring::new(N, &PRIMES[..primes], Kernel::best())?;
            let mut matrix = PolyMatrix::zero(&ring, rows, columns)?;
            let polys: Vec<_> = (0..8).map(|i| random(&ring, &prg, i)).collect();
            for row in 0..rows {
                let entries: Vec<_> = (0..columns).map(|j| ((row, j), polys[(row + j) % 8].clone())).collect();
                matrix.set(&entries, 1)?;
            }
            let pairs = PolyPairs::new(&ring, (0..rows).map(|i| [&polys[i % 8], &polys[(i + 1) % 8]]))?;
            let mut group = c.benchmark_group("first dimension");
            group.throughput(Throughput::Bytes(matrix.bytes())).sample_size(20);
            let name = format!("{primes} primes of 28 bits");
            group.bench_function(BenchmarkId::new(name, format!("{rows} rows, {} MiB", matrix.bytes() >> 20)), |b| {
                b.iter(|| black_box(matrix.multiply(&[&pairs], 1)));
            });
        }
        #[cfg(target_arch = "x86_64")]
        ifma::bench(c, rows, columns);
    }
    Ok(())
}

/// Reads 2 GiB.
fn bandwidth(c: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let probe = Probe::new(Kernel::best(), 2 << 30)?;
    let mut group = c.benchmark_group("bandwidth");
    group.throughput(Throughput::Bytes(2 << 30)).sample_size(10);
    for streams in [1, 4] {
        group.bench_function(format!("{streams} streams"), |b| b.iter(|| probe.once(streams, 0)));
    }
    Ok(())
}

/// One prime of 50 bits: eight slots of eight bytes are a line; rows and columns lie as in [`PolyMatrix`].
#[cfg(target_arch = "x86_64")]
mod ifma {
    use super::*;
    use std::arch::x86_64::*;

    /// Slots of a line, columns side by side.
    const LINE: usize = 8;
    const GROUP: usize = 4;

    pub fn bench(c: &mut Criterion, rows: usize, columns: usize) {
        if !is_x86_feature_detected!("avx512ifma") || !is_x86_feature_detected!("avx512f") {
            eprintln!("ifma: skipped, this machine lacks AVX-512 IFMA");
            return;
        }
        let lines = vec![[0x3_1234_5678_9abcu64; LINE]; rows * columns * N / LINE];
        let pairs = vec![[[0x2_fedc_ba98_7654u64; LINE]; 2]; rows * N / LINE];
        let mut sums = vec![[[0u64; 4 * LINE]; GROUP]; columns / GROUP * N / LINE];
        let bytes = size_of_val(&lines[..]) as u64;
        let mut group = c.benchmark_group("first dimension");
        group.throughput(Throughput::Bytes(bytes)).sample_size(20);
        group.bench_function(
            BenchmarkId::new("ifma, 1 prime of 50 bits", format!("{rows} rows, {} MiB", bytes >> 20)),
            |b| {
                b.iter(|| {
                    let groups = columns / GROUP;
                    for (i, (lines, sums)) in lines.chunks_exact(rows * GROUP).zip(&mut sums).enumerate() {
                        let pairs = &pairs[i / groups * rows..][..rows];
                        // SAFETY: the features were found above; there are GROUP lines for each pair.
                        unsafe { add_products(lines, pairs, sums) };
                    }
                    black_box(&sums);
                });
            },
        );
    }

    /// # Safety
    /// `lines` holds GROUP lines for each pair.
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn add_products(lines: &[[u64; LINE]], pairs: &[[[u64; LINE]; 2]], sums: &mut [[u64; 4 * LINE]; GROUP]) {
        // By column: low and high halves of the masks' products, then of the bodies'.
        let mut totals = [[_mm512_setzero_si512(); 4]; GROUP];
        for (row, pair) in pairs.iter().enumerate() {
            // SAFETY: a line is a register.
            let pair = pair.each_ref().map(|line| unsafe { _mm512_loadu_si512(line.as_ptr().cast()) });
            for (c, total) in totals.iter_mut().enumerate() {
                // SAFETY: the caller's promise; a prefetch may have any address.
                let line = unsafe {
                    let at = lines.as_ptr().add(row * GROUP + c);
                    _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(64).cast());
                    _mm512_loadu_si512(at.cast())
                };
                for part in 0..2 {
                    total[2 * part] = _mm512_madd52lo_epu64(total[2 * part], line, pair[part]);
                    total[2 * part + 1] = _mm512_madd52hi_epu64(total[2 * part + 1], line, pair[part]);
                }
            }
        }
        for (sums, total) in sums.iter_mut().zip(totals) {
            for (i, total) in total.into_iter().enumerate() {
                // SAFETY: sums of a column are four registers.
                unsafe { _mm512_storeu_si512(sums.as_mut_ptr().add(LINE * i).cast(), total) };
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    products(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}
