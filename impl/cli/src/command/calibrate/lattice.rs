//! Costs of ring arithmetic: transforms, sums of products, digits, automorphisms.

use std::hint::black_box;
use std::sync::Arc;

use ::lattice::Rlwe;
use gadget::{Coins, Decomposer, Family};
use ring::matrix::diagonal::{LINE, MAX_BATCH};
use ring::residues::{TILE, Tiles};
use ring::{
    Automorphism, BlockDiagonal, Buffer, ColumnMatrix, Kernel, Modulus, NttPlan, PolyMatrix, PolyPairs, ResidueVector,
    Ring, Seed, Vectors, Word, primes,
};

use super::costs::{Scale, UnitCosts};
use super::timing::{Failed, Timer};

/// Transforms measured: sizes, and bits of the prime with the width of its words.
const SIZES: [usize; 4] = [1024, 2048, 4096, 8192];
const PRIME_BITS: [u32; 3] = [28, 50, 56];

/// Ring degree of what is measured at one size only.
const N: usize = 2048;

/// Moduli of masks and bodies of switched ciphertexts, of 28 and 20 bits.
const SWITCHED: (u64, u64) = (268_369_921, 1 << 20);

fn prime(bits: u32) -> Result<u64, Failed> {
    let two_n = 2 * *SIZES.last().unwrap_or(&N) as u64;
    primes::primes_below(bits, two_n).next().ok_or_else(|| format!("no prime of {bits} bits").into())
}

fn residues<W: Word>(count: usize, below: u64) -> Vec<W> {
    let mut words = vec![0u32; 2 * count];
    Seed(*b"pirlab calibrate").prg().fill_u32_at(0, &mut words);
    words.chunks_exact(2).map(|two| W::from_u64((u64::from(two[0]) << 32 | u64::from(two[1])) % below)).collect()
}

/// Transforms `ntt_<n>_<bits>`.
pub(super) fn transforms(kernel: Kernel, timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    for bits in PRIME_BITS {
        for n in SIZES {
            let call = if bits <= 30 {
                transform::<u32>(kernel, n, bits, timer)?
            } else {
                transform::<u64>(kernel, n, bits, timer)?
            };
            costs.one(&format!("ntt_{n}_{bits}"), call);
        }
    }
    Ok(())
}

/// Half from digits, half back, of vectors that lie in the second-level cache as those of a gadget product do.
fn transform<W: Word>(kernel: Kernel, n: usize, bits: u32, timer: &Timer) -> Result<f64, Failed> {
    const TOGETHER: usize = 16;
    let prime = prime(bits)?;
    let plan = NttPlan::<W>::new(n, W::from_u64(prime), kernel)?;
    let digits: Vec<i32> = residues::<u32>(TOGETHER * n, 1 << 15).into_iter().map(|digit| digit as i32).collect();
    let mut data = residues::<W>(TOGETHER * n, prime);
    let call = timer.warm(|| {
        for (digits, data) in digits.chunks_exact(n).zip(data.chunks_exact_mut(n)) {
            plan.forward_signed(black_box(digits), data);
        }
        data.chunks_exact_mut(n).for_each(|data| plan.inverse(black_box(data)));
    })?;
    Ok(call / (2 * TOGETHER) as f64)
}

/// Sums of products in the transformed domain, and tables of residues streamed from memory.
pub(super) fn products(kernel: Kernel, scale: &Scale, timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    const TERMS: usize = 12;
    let prime = prime(28)?;
    let (vectors, modulus) = (Vectors::new(kernel)?, Modulus::<u32>::new(prime as u32)?);
    let mut sum = vec![0u32; N];
    let (left, right) = (residues::<u32>(TERMS * N, prime), residues::<u32>(TERMS * N, prime));
    let left: Vec<&[u32]> = left.chunks_exact(N).collect();
    let right: Vec<&[u32]> = right.chunks_exact(N).collect();
    let call = timer.warm(|| {
        vectors.sum_products(&modulus, &left, &right, &mut [&mut sum[..]]);
    })?;
    costs.one("residue_multiply_adds", call / (TERMS * N) as f64);

    let bands = scale.pick(4, 1);
    let mut table = BlockDiagonal::zero(&modulus, N, &vec![N; bands])?;
    // Memory that was never written may all be one page.
    let lines = (0..N / LINE).flat_map(|strip| (0..bands).map(move |band| (strip, band)));
    lines.for_each(|(strip, band)| table.columns_mut(strip, band).fill([prime as u32 - 1; LINE]));
    let input = vec![left[..bands].to_vec()];
    let call = timer.cold(|| {
        table.multiply(vectors, &input, &mut [&mut sum[..]]);
    })?;
    costs.one("table_bytes", call / table.bytes() as f64);
    let (inputs, mut sums) = (vec![input[0].clone(); MAX_BATCH], vec![0u32; MAX_BATCH * N]);
    let call = timer.cold(|| {
        table.multiply(vectors, &inputs, &mut sums.chunks_exact_mut(N).collect::<Vec<_>>());
    })?;
    costs.one("table_multiply_adds", call / (MAX_BATCH * table.bytes() / 4) as f64);
    Ok(())
}

/// Rows of keys that a product reads from memory: what they take beyond those that lie in the cache.
pub(super) fn keys(kernel: Kernel, scale: &Scale, timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    let (tiles, prime) = (Tiles { n: N, terms: 8, columns: 6 }, prime(28)?);
    let (vectors, modulus) = (Vectors::new(kernel)?, Modulus::<u32>::new(prime as u32)?);
    let (pitch, step) = (N + TILE, tiles.terms * tiles.columns * N);
    let left = residues::<u32>(tiles.terms * pitch, prime);
    let mut sums = vec![0; tiles.columns * pitch];
    let mut rows: Buffer<u32> = Buffer::zeroed(scale.pick(256, 16) * step)?;
    let values = residues(rows.len(), prime);
    rows.copy_from_slice(&values);
    let steps = rows.len() / step;
    let mut multiply = |rows: &[u32]| vectors.sum_tiles(&modulus, tiles, &left, black_box(rows), &mut sums);
    let cold = timer.cold(|| {
        rows.chunks_exact(step).for_each(&mut multiply);
    })?;
    let warm = timer.warm(|| {
        (0..steps).for_each(|_| multiply(&rows[..step]));
    })?;
    costs.one("key_bytes", (cold - warm).max(0.1 * cold) / (4 * rows.len()) as f64);
    Ok(())
}

/// Vectors of ciphertexts that share a pass over a matrix of polynomials: more than memory keeps the processor waiting for.
const VECTORS: usize = 8;

/// A matrix of polynomials modulo one prime streamed through the product with one vector of ciphertexts, and with several.
pub(super) fn poly_matrix(kernel: Kernel, scale: &Scale, timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    let ring = Arc::new(Ring::<u32>::new(N, &[prime(28)?], kernel)?);
    let (rows, columns) = (256, scale.pick(64, 8));
    let poly = ring.expand(&Seed([9; 16]).prg(), 0);
    let mut matrix = PolyMatrix::zero(&ring, rows, columns)?;
    for row in 0..rows {
        let entries: Vec<_> = (0..columns).map(|column| ((row, column), poly.clone())).collect();
        matrix.set(&entries, 1)?;
    }
    let vector = PolyPairs::new(&ring, (0..rows).map(|_| [&poly, &poly]))?;
    let call = timer.cold(|| matrix.multiply(&[&vector], 1))?;
    costs.one("poly_matrix_bytes", call / matrix.bytes() as f64);
    let together = vec![&vector; VECTORS];
    let call = timer.cold(|| matrix.multiply(&together, 1))?;
    costs.one("poly_matrix_multiply_adds", call / (2 * VECTORS * rows * columns * N) as f64);
    Ok(())
}

/// Products of a matrix of 16-bit entries with vectors modulo two primes.
pub(super) fn columns(kernel: Kernel, scale: &Scale, timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    let primes: Vec<u64> = primes::primes_below(28, 2 * N as u64).take(2).collect();
    let moduli = primes.iter().map(|&p| Modulus::new(p as u32)).collect::<Result<Vec<Modulus<u32>>, _>>()?;
    let vector = |rows: usize| ResidueVector::new(&moduli, &residues::<u32>(2 * rows, primes[1].min(primes[0])));
    let together = 8;
    let (small, queries) = (matrix(128)?, (0..together).map(|_| vector(N)).collect::<Result<Vec<_>, _>>()?);
    let call = timer.warm(|| ring::matrix::column::product(kernel, &small, &queries, 1))?;
    costs.one("multiply_adds_u16", call / (2 * together * N * 128) as f64);
    let query = [vector(N)?];
    for cols in [32, 512, 4096, scale.pick(1 << 16, 1 << 13)] {
        let matrix = matrix(cols)?;
        let call = timer.cold(|| ring::matrix::column::product(kernel, &matrix, &query, 1))?;
        costs.at("matvec_u16_bytes", matrix.stored_bytes(), call / matrix.stored_bytes() as f64);
    }
    Ok(())
}

/// A column matrix of N rows, written.
fn matrix(cols: usize) -> Result<ColumnMatrix, Failed> {
    let mut matrix = ColumnMatrix::new(N, cols, N)?;
    let entries = [-12345; N];
    (0..cols).try_for_each(|col| matrix.set_column(0, col, &entries))?;
    Ok(matrix)
}

/// Gadget digits of residues modulo a product of two 28-bit primes, slots that an automorphism moves, coefficients that are switched
/// to a smaller modulus.
pub(super) fn digits(kernel: Kernel, timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    let both: Vec<u64> = primes::primes_below(28, 2 * N as u64).take(2).collect();
    let modulus = both.iter().product();
    let input = residues::<u64>(N, modulus);
    for (name, base) in [("digits", 1 << 19), ("divided_digits", 127)] {
        let gadget = Decomposer::<u64>::new(Family::Balanced, modulus, base, 0, kernel)?;
        let length = gadget::Gadget::length(&gadget);
        let mut out = vec![0i32; length * N];
        let mut coins = Coins::from_seed(Seed([7; 16]));
        let call = timer.warm(|| {
            gadget.decompose_fresh(&input, &mut out, &mut coins);
            black_box(&out);
        })?;
        costs.one(name, call / (length * N) as f64);
    }

    let ring = Ring::<u32>::new(N, &both, kernel)?;
    let (table, a) = (Automorphism::new(N, 5)?, ring.inverse(ring.expand(&Seed([8; 16]).prg(), 0)));
    let mut mapped = ring.zero();
    let call = timer.warm(|| {
        ring.automorphism_coefficient_into(black_box(&a), &table, &mut mapped);
    })?;
    costs.one("automorphism_slots", call / (both.len() * N) as f64);

    let ciphertext = Rlwe { b: a.clone(), a };
    let call = timer.warm(|| -> Result<(), Failed> {
        black_box(black_box(&ciphertext).split_switch(&ring, SWITCHED.0, SWITCHED.1)?.to_bytes());
        Ok(())
    })?;
    costs.one("coefficients_switched", call / (2 * N) as f64);
    Ok(())
}
