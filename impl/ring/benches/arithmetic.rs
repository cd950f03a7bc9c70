//! Modular arithmetic: `cargo bench -p pirlab-ring --bench arithmetic`. Ids are `arithmetic/<operation>/<N>/<path>`. The sum of
//! products states its throughput in products: the multipliers of a core with AVX-512 make 8 of 32 bits a cycle at most, and
//! `multiply-port` measures how many that is a second, in the same run.

use criterion::{BenchmarkId, Criterion, Throughput};
use ring::poly::{Automorphism, Ntt, Poly, Ring};
use ring::residues::TILE;
use ring::{Buffer, Kernel, Prg, primes};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

type Outcome = Result<(), Box<dyn Error>>;

/// Digits of a gadget decomposition: three of each of two polynomials.
const DIGITS: usize = 6;
/// As many terms as a first-level cache holds for N = 64: the multiplications outweigh the reduction.
const MANY: usize = 32;
const COLUMNS: usize = 2;

fn ring<W: ring::Word>(n: usize, bits: u32, kernel: Kernel) -> Result<Arc<Ring<W>>, Box<dyn Error>> {
    let primes: Vec<u64> = primes::primes_below(bits, 2 * n as u64).take(2).collect();
    Ok(Ring::new(n, &primes, kernel)?)
}

/// A sum of products per limb, with 32-bit or 64-bit residues.
fn sums<W: ring::Word>(
    c: &mut Criterion,
    name: &str,
    bits: u32,
    kernel: Kernel,
    (n, terms): (usize, usize),
) -> Outcome {
    let (ring, prg) = (ring::<W>(n, bits, kernel)?, Prg::new([1; 16]));
    let polys: Vec<Poly<W, Ntt>> = (0..terms + terms * COLUMNS).map(|i| ring.expand(&prg, i as u64)).collect();
    let (left, right) = polys.split_at(terms);
    let left: Vec<&[W]> = left.iter().map(|poly| poly.limb(0)).collect();
    let right: Vec<&[W]> = right.iter().map(|poly| poly.limb(0)).collect();
    let (mut a, mut b) = (ring.zero::<Ntt>(), ring.zero::<Ntt>());
    let (vectors, modulus) = (ring.vectors(), &ring.limbs()[0].0);
    let mut group = c.benchmark_group(format!("arithmetic/{name}"));
    group.throughput(Throughput::Elements((n * terms * COLUMNS) as u64));
    group.bench_function(BenchmarkId::new(n.to_string(), kernel), |bencher| {
        bencher.iter(|| {
            vectors.sum_products(modulus, black_box(&left), black_box(&right), &mut [a.limb_mut(0), b.limb_mut(0)]);
        });
    });
    Ok(())
}

/// The products of a step of blind rotations of four accumulators, a key of four digits and three selectors, in tiles.
fn tiles(c: &mut Criterion, kernel: Kernel, n: usize) -> Outcome {
    const GROUPS: usize = 4;
    let (ring, [terms, columns]) = (ring::<u32>(n, 28, kernel)?, [8, 6]);
    let (vectors, modulus, pitch) = (ring.vectors(), &ring.limbs()[0].0, n + TILE);
    let mut left = Buffer::<u32>::zeroed(GROUPS * terms * pitch)?;
    let mut right = Buffer::<u32>::zeroed(terms * columns * n)?;
    let mut out = Buffer::<u32>::zeroed(GROUPS * columns * pitch)?;
    for words in [&mut left, &mut right] {
        Prg::new([3; 16]).fill_u32_at(0, words);
        words.iter_mut().for_each(|word| *word %= modulus.value());
    }
    let right: Vec<&[u32]> = right.chunks_exact(terms * n).collect();
    let mut group = c.benchmark_group("arithmetic/sum-tiles-28");
    group.throughput(Throughput::Elements((GROUPS * terms * columns * n) as u64));
    group.bench_function(BenchmarkId::new(n.to_string(), kernel), |bencher| {
        bencher.iter(|| vectors.sum_tiles(modulus, n, black_box(&left), black_box(&right), &mut out));
    });
    Ok(())
}

/// The other operations on one limb or polynomial.
fn operations<W: ring::Word>(c: &mut Criterion, bits: u32, kernel: Kernel, n: usize) -> Outcome {
    let (ring, prg) = (ring::<W>(n, bits, kernel)?, Prg::new([2; 16]));
    let (vectors, modulus) = (ring.vectors(), &ring.limbs()[0].0);
    let (mut a, b, x): (Poly<W, Ntt>, Poly<W, Ntt>, Poly<W, Ntt>) =
        (ring.expand(&prg, 0), ring.expand(&prg, 1), ring.expand(&prg, 2));
    let coefficients: Poly<W, ring::Coefficient> = ring.expand(&prg, 3);
    let digits: Vec<i32> = (0..n as i32).map(|i| i * 509 % (1 << 19) - (1 << 18)).collect();
    let (table, to) = (Automorphism::new(n, 5)?, ring.prefix(1).ok_or("a ring of one prime")?);
    let mut signed = ring.zero();
    let path = format!("{kernel}-{bits}");
    let mut run = |name: &str, operation: &mut dyn FnMut()| {
        let mut group = c.benchmark_group(format!("arithmetic/{name}"));
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new(n.to_string(), &path), |bencher| bencher.iter(&mut *operation));
    };
    run("add", &mut || vectors.add(modulus, a.limb_mut(0), b.limb(0)));
    run("mul", &mut || vectors.mul(modulus, a.limb_mut(0), b.limb(0)));
    run("mul-add", &mut || vectors.mul_add(modulus, a.limb_mut(0), b.limb(0), x.limb(0)));
    run("mul-scalar", &mut || vectors.mul_scalar(modulus, a.limb_mut(0), b.limb(0)[0]));
    run("from-signed", &mut || ring.set_signed_i32(&mut signed, &digits));
    run("automorphism-ntt", &mut || drop(black_box(ring.automorphism_ntt(&b, &table))));
    run("automorphism-coefficient", &mut || drop(black_box(ring.automorphism_coefficient(&coefficients, &table))));
    run("monomial-ntt", &mut || drop(black_box(ring.monomial_ntt(n + 3))));
    run("rescale", &mut || drop(black_box(ring.rescale(&coefficients, &to))));
    run("switch", &mut || drop(black_box(ring.switch_to(&coefficients, 1 << 32))));
    run("expand", &mut || drop(black_box(ring.expand::<Ntt>(&prg, 7))));
    if ring.modulus_u128().is_some_and(|q| q < 1 << 63) {
        let mut words = vec![0; n];
        run("compose", &mut || ring.compose_u64(&coefficients, &mut words));
        run("from-u64", &mut || drop(black_box(ring.from_u64(&words))));
    } else {
        let mut words = vec![0; n];
        run("compose", &mut || ring.compose_u128(&coefficients, &mut words));
    }
    Ok(())
}

/// The bound of the sums with 32-bit residues: products of eight lanes that wait for nothing.
#[cfg(target_arch = "x86_64")]
fn multiply_port(c: &mut Criterion) {
    use std::arch::x86_64::_mm512_set1_epi64;
    const PRODUCTS: usize = 1 << 14;

    #[target_feature(enable = "avx512f")]
    fn products() {
        let a = _mm512_set1_epi64(5);
        for _ in 0..PRODUCTS / 128 {
            // SAFETY: the processor has AVX-512, as the feature says; nothing but registers is touched.
            unsafe {
                std::arch::asm!(
                    ".rept 16", "vpmuludq {0}, {1}, {1}", ".endr",
                    out(zmm_reg) _, in(zmm_reg) a, options(nomem, nostack)
                );
            }
        }
    }
    if Kernel::available().contains(&Kernel::Avx512) {
        let mut group = c.benchmark_group("arithmetic/multiply-port");
        group.throughput(Throughput::Elements(PRODUCTS as u64));
        // SAFETY: the kernel was found available.
        group.bench_function(BenchmarkId::new("0", Kernel::Avx512), |bencher| bencher.iter(|| unsafe { products() }));
    }
}

fn main() -> Outcome {
    let mut c = Criterion::default().sample_size(20).configure_from_args();
    #[cfg(target_arch = "x86_64")]
    multiply_port(&mut c);
    for kernel in Kernel::available() {
        for (n, terms) in [(64, MANY), (256, DIGITS), (2048, DIGITS)] {
            sums::<u32>(&mut c, "sum-products-28", 28, kernel, (n, terms))?;
            sums::<u64>(&mut c, "sum-products-50", 50, kernel, (n, terms))?;
            sums::<u64>(&mut c, "sum-products-60", 60, kernel, (n, terms))?;
        }
        tiles(&mut c, kernel, 64)?;
        tiles(&mut c, kernel, 2048)?;
        operations::<u32>(&mut c, 28, kernel, 2048)?;
        operations::<u64>(&mut c, 50, kernel, 2048)?;
    }
    c.final_summary();
    Ok(())
}
