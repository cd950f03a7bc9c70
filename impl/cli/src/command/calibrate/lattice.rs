//! Costs of ring arithmetic: transforms, sums of products, digits, automorphisms.

use std::hint::black_box;
use std::sync::Arc;

use ::lattice::Rlwe;
use bfv::{Multiplier, PlainModulus, Scheme};
use gadget::{Coins, Decomposer, Family, Gadget};
use ring::matrix::diagonal::{LINE, MAX_BATCH};
use ring::residues::TILE;
use ring::{
    Automorphism, BlockDiagonal, Buffer, ColumnMatrix, Kernel, Kind, Modulus, NttPlan, PolyMatrix, PolyPairs,
    ResidueVector, Ring, Seed, Vectors, Word, primes,
};

use super::calibrator::{Calibrator, Failed, Found, rest};

/// Ring degree of operations that are measured at one size only.
pub(super) const N: usize = 2048;
/// Ring degrees of transforms.
const SIZES: [usize; 4] = [1024, 2048, 4096, 8192];
/// Moduli of masks and bodies of switched ciphertexts, of 28 and 20 bits.
const SWITCHED: (u64, u64) = (268_369_921, 1 << 20);
/// Number of vectors of ciphertexts that share a pass over a matrix of polynomials. With this many, the processor bounds the pass, not memory.
const VECTORS: usize = 8;

/// The largest prime of those bits that all ring degrees have.
fn prime(bits: u32) -> Result<u64, Failed> {
    primes::primes_below(bits, 2 * SIZES[3] as u64).next().ok_or_else(|| format!("no prime of {bits} bits").into())
}

/// A ring modulo two primes of 28 bits.
pub(super) fn ring(n: usize, kernel: Kernel) -> Result<Arc<Ring<u32>>, Failed> {
    let primes: Vec<u64> = primes::primes_below(28, 2 * N as u64).take(2).collect();
    Ok(Ring::new(n, &primes, kernel)?)
}

/// Random words below a bound.
pub(super) fn residues<W: Word>(count: usize, below: u64) -> Vec<W> {
    let mut words = vec![0u32; 2 * count];
    Seed(*b"pirlab calibrate").prg().fill_u32_at(0, &mut words);
    words.chunks_exact(2).map(|two| W::from_u64((u64::from(two[0]) << 32 | u64::from(two[1])) % below)).collect()
}

/// Transforms `ntt_<n>_<bits>`, by the bits of the prime and the width of its words.
pub(super) fn transforms(c: &mut Calibrator) -> Result<(), Failed> {
    for n in SIZES {
        transform::<u32>(c, n, 28)?;
        transform::<u64>(c, n, 50)?;
        transform::<u64>(c, n, 56)?;
    }
    Ok(())
}

/// Half of the transforms are forward, from digits, and half back, with vectors in the second-level cache as in a gadget product.
fn transform<W: Word>(c: &mut Calibrator, n: usize, bits: u32) -> Result<(), Failed> {
    const TOGETHER: usize = 16;
    let prime = prime(bits)?;
    let plan = NttPlan::<W>::new(n, W::from_u64(prime), c.kernel)?;
    let digits: Vec<i32> = residues::<u32>(TOGETHER * n, 1 << 15).into_iter().map(|digit| digit as i32).collect();
    let mut data = residues::<W>(TOGETHER * n, prime);
    c.each(&format!("ntt_{n}_{bits}"), Found::Warm, 2 * TOGETHER, || {
        for (digits, data) in digits.chunks_exact(n).zip(data.chunks_exact_mut(n)) {
            plan.forward_signed(black_box(digits), data);
        }
        data.chunks_exact_mut(n).for_each(|data| plan.inverse(black_box(data)));
    })
}

/// Sums of products in the transformed domain, and tables of residues streamed from memory.
pub(super) fn products(c: &mut Calibrator) -> Result<(), Failed> {
    const TERMS: usize = 12;
    let prime = prime(28)?;
    let (vectors, modulus) = (Vectors::new(c.kernel)?, Modulus::<u32>::new(prime as u32)?);
    let mut sum = vec![0u32; N];
    let (left, right) = (residues::<u32>(TERMS * N, prime), residues::<u32>(TERMS * N, prime));
    let left: Vec<&[u32]> = left.chunks_exact(N).collect();
    let right: Vec<&[u32]> = right.chunks_exact(N).collect();
    c.each("residue_multiply_adds", Found::Warm, TERMS * N, || {
        vectors.sum_products(&modulus, &left, &right, &mut [&mut sum[..]]);
    })?;

    let bands = c.pick(4, 1);
    let mut table = BlockDiagonal::zero(&modulus, N, &vec![N; bands])?;
    // The memory is written, because untouched pages may all be one page.
    let lines = (0..N / LINE).flat_map(|strip| (0..bands).map(move |band| (strip, band)));
    lines.for_each(|(strip, band)| table.columns_mut(strip, band).fill([prime as u32 - 1; LINE]));
    for (name, inputs, of) in
        [("table_bytes", 1, table.bytes()), ("table_multiply_adds", MAX_BATCH, MAX_BATCH * table.bytes() / 4)]
    {
        let (inputs, mut sums) = (vec![left[..bands].to_vec(); inputs], vec![0u32; inputs * N]);
        c.each(name, Found::Cold, of, || {
            table.multiply(vectors, &inputs, &mut sums.chunks_exact_mut(N).collect::<Vec<_>>());
        })?;
    }
    Ok(())
}

/// Rows of keys that a product reads from memory: their seconds beyond those of rows in the cache.
pub(super) fn keys(c: &mut Calibrator) -> Result<(), Failed> {
    let ([terms, columns], prime) = ([8, 6], prime(28)?);
    let (vectors, modulus) = (Vectors::new(c.kernel)?, Modulus::<u32>::new(prime as u32)?);
    let (pitch, step) = (N + TILE, terms * columns * N);
    let left = residues::<u32>(terms * pitch, prime);
    let mut sums = vec![0; columns * pitch];
    let mut rows: Buffer<u32> = Buffer::zeroed(c.pick(256, 16) * step)?;
    let values = residues(rows.len(), prime);
    rows.copy_from_slice(&values);
    let mut multiply = |rows: &[u32]| {
        let rows: Vec<&[u32]> = rows.chunks_exact(terms * N).collect();
        vectors.sum_tiles(&modulus, N, &left, black_box(&rows), &mut sums);
    };
    let cold = c.seconds(Found::Cold, || {
        rows.chunks_exact(step).for_each(&mut multiply);
    })?;
    let warm = c.seconds(Found::Warm, || {
        (0..rows.len() / step).for_each(|_| multiply(&rows[..step]));
    })?;
    c.set("key_bytes", rest(cold, warm) / (4 * rows.len()) as f64);
    Ok(())
}

/// A matrix of polynomials modulo one prime streamed through the product with one vector of ciphertexts, and with several.
pub(super) fn poly_matrix(c: &mut Calibrator) -> Result<(), Failed> {
    let ring = Arc::new(Ring::<u32>::new(N, &[prime(28)?], c.kernel)?);
    let (rows, columns) = (256, c.pick(64, 8));
    let poly = ring.expand(&Seed([9; 16]).prg(), 0);
    let mut matrix = PolyMatrix::zero(&ring, rows, columns)?;
    for row in 0..rows {
        let entries: Vec<_> = (0..columns).map(|column| ((row, column), poly.clone())).collect();
        matrix.set(&entries, 1)?;
    }
    let vector = PolyPairs::new(&ring, (0..rows).map(|_| [&poly, &poly]))?;
    c.each("poly_matrix_bytes", Found::Cold, matrix.bytes() as usize, || matrix.multiply(&[&vector], 1))?;
    let (together, adds) = (vec![&vector; VECTORS], 2 * VECTORS * rows * columns * N);
    c.each("poly_matrix_multiply_adds", Found::Cold, adds, || matrix.multiply(&together, 1))
}

/// Products of a matrix of 16-bit entries with vectors modulo two primes.
pub(super) fn columns(c: &mut Calibrator) -> Result<(), Failed> {
    let kernel = c.kernel;
    let primes: Vec<u64> = primes::primes_below(28, 2 * N as u64).take(2).collect();
    let moduli = primes.iter().map(|&p| Modulus::new(p as u32)).collect::<Result<Vec<Modulus<u32>>, _>>()?;
    let vector = || ResidueVector::new(&moduli, &residues::<u32>(2 * N, primes[1].min(primes[0])));
    let queries = (0..8).map(|_| vector()).collect::<Result<Vec<_>, _>>()?;
    let small = matrix(128)?;
    c.each("multiply_adds_u16", Found::Warm, 2 * queries.len() * N * 128, || {
        ring::matrix::column::product(kernel, &small, &queries, 1)
    })?;
    for cols in [32, 512, 4096, c.pick(1 << 16, 1 << 13)] {
        let matrix = matrix(cols)?;
        let product = || ring::matrix::column::product(kernel, &matrix, &queries[..1], 1);
        let (call, bytes) = (c.seconds(Found::Cold, product)?, matrix.stored_bytes());
        c.at("matvec_u16_bytes", bytes, call / bytes as f64);
    }
    Ok(())
}

/// A column matrix of N rows, written.
fn matrix(cols: usize) -> Result<ColumnMatrix, Failed> {
    let mut matrix = ColumnMatrix::new(N, cols, N)?;
    (0..cols).try_for_each(|col| matrix.set_column(0, col, &[-12345; N]))?;
    Ok(matrix)
}

/// Gadget digits of residues modulo a product of two 28-bit primes, slots that an automorphism moves, coefficients that are switched
/// to a smaller modulus.
pub(super) fn digits(c: &mut Calibrator) -> Result<(), Failed> {
    let ring = ring(N, c.kernel)?;
    let modulus = ring.primes().iter().product();
    let input = residues::<u64>(N, modulus);
    for (name, base) in [("digits", 1 << 19), ("divided_digits", 127)] {
        let gadget = Decomposer::<u64>::new(Family::Balanced, modulus, base, 0, c.kernel)?;
        let mut out = vec![0i32; gadget.length() * N];
        let mut coins = Coins::from_seed(Seed([7; 16]));
        c.each(name, Found::Warm, out.len(), || {
            gadget.decompose_fresh(&input, &mut out, &mut coins);
            black_box(&out);
        })?;
    }

    let (table, a) = (Automorphism::new(N, 5)?, ring.inverse(ring.expand(&Seed([8; 16]).prg(), 0)));
    let mut mapped = ring.zero();
    c.each("automorphism_slots", Found::Warm, ring.primes().len() * N, || {
        ring.automorphism_coefficient_into(black_box(&a), &table, &mut mapped);
    })?;

    let ciphertext = Rlwe { b: a.clone(), a };
    c.each("coefficients_switched", Found::Warm, 2 * N, || -> Result<(), Failed> {
        black_box(black_box(&ciphertext).split_switch(&ring, SWITCHED.0, SWITCHED.1)?.to_bytes());
        Ok(())
    })
}

/// Products in taking residues modulo three primes to those of the second ring of products of ciphertexts, beside the transforms there.
pub(super) fn conversions(c: &mut Calibrator) -> Result<(), Failed> {
    let primes: Vec<u64> = primes::primes_below(28, 2 * N as u64).take(3).collect();
    let ring = Ring::<u32>::new(N, &primes, c.kernel)?;
    let scheme = Scheme::new(&ring, &PlainModulus::new(bfv::Family::Integer { t: 65_537 }, N)?)?;
    let multiplier = Multiplier::new(&scheme)?;
    let a = ring.expand(&Seed([6; 16]).prg(), 0);
    let ciphertext = Rlwe { b: a.clone(), a };
    c.beside(Kind::ConvertedResidues, Found::Warm, &multiplier.shape().lift_work(), || -> Result<(), Failed> {
        black_box(multiplier.lift(black_box(ciphertext.clone()))?);
        Ok(())
    })
}
