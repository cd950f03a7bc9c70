//! LWE modulo 2^32 with a block-negacyclic public matrix (YPIR, section 4.2): n consecutive rows of A are the coefficients
//! of the products a_k X^j of one ring element a_k of Z_(2^32)[X]/(X^n + 1), so that transforms compute hints and queries.
//!
//! Row n k + i of A satisfies <A_row, s> = coefficient i of a_k s. For a vector d with an entry for each row of A, cut into blocks d_k
//! of n entries, d A has the coefficients of the sum over k of d_k(X) a_k(1/X). Products are exact: they are computed modulo two primes
//! of 28 bits, whose product exceeds them, and reduced modulo 2^32 afterwards.

use std::sync::Arc;

use ring::matrix::packed::GROUP_ROWS;
use ring::{Automorphism, DiscreteGaussian, Kernel, Ntt, PackedMatrix, Poly, Prg, Ring, RingShape, Seed, Work};
use zeroize::Zeroizing;

use crate::core::plan::count;
use crate::core::{Error, Result};

/// The primes of the exact products, 1 modulo 4096.
const PRIMES: [u64; 2] = [268_369_921, 249_561_089];
/// Largest coefficient of a secret: times 2048 and half a word, it stays within half the primes' product.
const MAX_KEY: u32 = 1 << 12;
/// Widest entries, for which sums of at least 32 blocks are exact.
const MAX_WIDTH: u32 = 8;
/// Blocks of columns that are unpacked and transformed at a time: few enough for the second-level cache.
const PIECE: usize = 8;

/// The shape of the ring in dimension n, on which the cost of products depends.
fn ring_shape(n: usize) -> RingShape {
    RingShape { degree: n, primes: PRIMES.len() }
}

/// The public matrix: a ring element of n uniform words for every n rows, expanded from a seed on demand.
#[derive(Clone)]
pub struct NegacyclicMatrix {
    prg: Prg,
    ring: Arc<Ring<u32>>,
    inverted: Automorphism,
}

impl NegacyclicMatrix {
    /// The matrix of `seed` with rows of `dimension` words, a power of two from 64 to 2048.
    pub fn new(seed: Seed, dimension: usize, kernel: Kernel) -> Result<Self> {
        let ring = Ring::new(dimension, &PRIMES, kernel)?;
        let inverted = Automorphism::new(dimension, 2 * dimension as u64 - 1)?;
        Ok(Self { prg: seed.prg(), ring, inverted })
    }

    /// The LWE dimension n.
    pub fn dimension(&self) -> usize {
        self.ring.n()
    }

    /// The coefficients of a_k.
    pub fn element(&self, block: usize) -> Vec<u32> {
        let mut words = vec![0; self.dimension()];
        self.prg.fill_u32_at((block * self.dimension()) as u64, &mut words);
        words
    }

    /// a_k with centred words, modulo the primes.
    fn transformed(&self, block: usize) -> Poly<u32, Ntt> {
        let centred: Vec<i32> = self.element(block).into_iter().map(|word| word as i32).collect();
        self.ring.forward(self.ring.from_signed_i32(&centred))
    }

    /// The work of [`Self::encrypt_zero`] in dimension n under one key: three transforms a block. The samples of errors are not counted.
    pub fn encrypt_zero_work(samples: u64, n: usize) -> Work {
        ring_shape(n).transforms(3 * samples.div_ceil(n as u64))
    }

    /// Encrypts zero `samples` times under each of `keys`: one body vector a key, b = A s + e.
    pub fn encrypt_zero(
        &self,
        samples: usize,
        keys: &[impl AsRef<[i32]>],
        error: &DiscreteGaussian,
        rng: &mut impl rand::RngCore,
    ) -> Result<Vec<Vec<u32>>> {
        let n = self.dimension();
        let keys = keys.iter().map(AsRef::as_ref);
        if keys.clone().any(|key| key.len() != n || key.iter().any(|s| s.unsigned_abs() > MAX_KEY)) {
            return Err(Error::Workload(format!("a key has {n} coefficients of at most {MAX_KEY}")));
        }
        let transformed = |key: &[i32]| Zeroizing::new(self.ring.forward(self.ring.from_signed_i32(key)));
        let keys: Vec<Zeroizing<Poly<u32, Ntt>>> = keys.map(transformed).collect();
        let mut bodies = vec![Vec::with_capacity(samples.next_multiple_of(n)); keys.len()];
        let mut words = vec![0u64; n];
        for block in 0..samples.div_ceil(n) {
            let element = self.transformed(block);
            for (body, key) in bodies.iter_mut().zip(&keys) {
                let mut product = element.clone();
                self.ring.mul_assign(&mut product, key);
                let product = self.ring.inverse(product);
                self.ring.rns().compose_centred_wrapping(product.as_slice(), &mut words);
                body.extend(words.iter().map(|&word| word as u32));
            }
        }
        for body in &mut bodies {
            body.truncate(samples);
            error.add_to(rng, body);
        }
        Ok(bodies)
    }

    /// A [`NegacyclicHint`] for the first `rows` rows.
    pub fn hint(&self, rows: usize) -> NegacyclicHint {
        let blocks = rows.div_ceil(self.dimension());
        let masks = (0..blocks).map(|k| self.ring.automorphism_ntt(&self.transformed(k), &self.inverted)).collect();
        NegacyclicHint { ring: Arc::clone(&self.ring), masks }
    }
}

/// Computes products of rows of a packed matrix with A.
pub struct NegacyclicHint {
    ring: Arc<Ring<u32>>,
    /// a_k(1/X) for every block of columns.
    masks: Vec<Poly<u32, Ntt>>,
}

/// Buffers of one thread.
struct Scratch {
    entries: Vec<i16>,
    signed: Vec<i32>,
    /// Block after block, row after row, modulo the prime at hand.
    values: Vec<u32>,
    /// Row after row, limb after limb.
    sums: Vec<Poly<u32, Ntt>>,
    partial: Vec<u32>,
    words: Vec<u64>,
}

impl NegacyclicHint {
    /// Bytes of the transformed matrix, and of each thread's buffers.
    pub fn bytes(rows: usize, dimension: usize, threads: usize) -> u64 {
        let (n, group) = (dimension as u64, GROUP_ROWS as u64);
        let thread = PIECE as u64 * group * n * (2 + 4) + 4 * n + 2 * 8 * group * n + 4 * group * n + 8 * n;
        8 * (rows.div_ceil(dimension) * dimension) as u64 + threads as u64 * thread
    }

    /// Bytes of this value.
    pub fn held_bytes(&self) -> usize {
        self.masks.iter().map(Poly::bytes).sum()
    }

    fn scratch(&self) -> Scratch {
        let n = self.ring.n();
        Scratch {
            entries: vec![0; PIECE * GROUP_ROWS * n],
            signed: vec![0; n],
            values: vec![0; PIECE * GROUP_ROWS * n],
            sums: (0..GROUP_ROWS).map(|_| self.ring.zero()).collect(),
            partial: vec![0; GROUP_ROWS * n],
            words: vec![0; n],
        }
    }

    /// The work of [`Self::for_groups`] in dimension n for `rows` rows of `columns` entries. Unpacking the entries is not counted.
    pub fn work(rows: u64, columns: u64, n: usize) -> Work {
        let (ring, blocks) = (ring_shape(n), columns.div_ceil(n as u64));
        ring.transforms(count(&[rows, blocks + 1])) + ring.products(count(&[rows, blocks]))
    }

    /// Hands (M - offset) A modulo 2^32 to `visit(first_row, rows)`, group after group of eight rows of M, for the groups of
    /// `groups`; `rows` is row-major, n words a row, and ends with the matrix.
    pub fn for_groups(
        &self,
        matrix: &PackedMatrix,
        offset: u16,
        groups: std::ops::Range<usize>,
        mut visit: impl FnMut(usize, &[u32]) -> Result<()>,
    ) -> Result<()> {
        if matrix.width() > MAX_WIDTH || u32::from(offset) >> MAX_WIDTH != 0 {
            return Err(Error::Workload(format!("entries and their offset have at most {MAX_WIDTH} bits")));
        }
        let mut scratch = self.scratch();
        let mut out = vec![0; GROUP_ROWS * self.ring.n()];
        for group in groups {
            self.group(matrix, offset, group, &mut scratch, &mut out)?;
            let rows = (matrix.rows() - group * GROUP_ROWS).min(GROUP_ROWS);
            visit(group * GROUP_ROWS, &out[..rows * self.ring.n()])?;
        }
        Ok(())
    }

    /// One group of rows. Sums of blocks stay within half the primes' product, beyond which they are reduced modulo 2^32.
    fn group(
        &self,
        matrix: &PackedMatrix,
        offset: u16,
        group: usize,
        scratch: &mut Scratch,
        out: &mut [u32],
    ) -> Result<()> {
        out.fill(0);
        let n = self.ring.n() as u64;
        let largest = u64::from(offset).max((1u64 << matrix.width()).saturating_sub(offset.into()));
        let exact = PRIMES[0] * PRIMES[1] / 2 / (n * largest * (1 << 31));
        let exact = exact as usize / PIECE * PIECE;
        let mut since = 0;
        for first in (0..self.masks.len()).step_by(PIECE) {
            self.add_piece(matrix, offset, group, first, since == 0, scratch)?;
            since += PIECE;
            if since >= exact || first + PIECE >= self.masks.len() {
                self.flush(scratch, out);
                since = 0;
            }
        }
        Ok(())
    }

    /// Adds the products of up to [`PIECE`] blocks of columns, from block `first` on; sets them if `fresh`.
    fn add_piece(
        &self,
        matrix: &PackedMatrix,
        offset: u16,
        group: usize,
        first: usize,
        fresh: bool,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let n = self.ring.n();
        let blocks = PIECE.min(self.masks.len() - first);
        // Columns past the last chunk are empty: they are not read, and count as zero.
        let stored = (matrix.chunks() * ring::matrix::packed::CHUNK - first * n).min(blocks * n);
        let present = matrix.cols().saturating_sub(first * n);
        let Scratch { entries, signed, values, sums, partial, .. } = scratch;
        let entries = &mut entries[..GROUP_ROWS * stored];
        matrix.unpack_group_on(self.ring.kernel(), group, first * n, entries)?;
        let offset = i32::from(offset);
        for (limb, (modulus, plan)) in self.ring.limbs().iter().enumerate() {
            for (row, entries) in entries.chunks_exact(stored).enumerate() {
                for block in 0..blocks {
                    let range = (block * n).min(stored)..((block + 1) * n).min(stored);
                    let here = present.saturating_sub(block * n).min(range.len());
                    let (inside, outside) = signed.split_at_mut(here);
                    inside.iter_mut().zip(&entries[range]).for_each(|(s, &e)| *s = i32::from(e) - offset);
                    outside.fill(0);
                    plan.forward_signed(signed, &mut values[(block * GROUP_ROWS + row) * n..][..n]);
                }
            }
            let left: Vec<&[u32]> = self.masks[first..first + blocks].iter().map(|mask| mask.limb(limb)).collect();
            let right: Vec<&[u32]> = values[..blocks * GROUP_ROWS * n].chunks_exact(n).collect();
            if fresh {
                let mut to: Vec<&mut [u32]> = sums.iter_mut().map(|sum| sum.limb_mut(limb)).collect();
                self.ring.vectors().sum_products(modulus, &left, &right, &mut to);
            } else {
                let mut to: Vec<&mut [u32]> = partial.chunks_exact_mut(n).collect();
                self.ring.vectors().sum_products(modulus, &left, &right, &mut to);
                for (sum, partial) in sums.iter_mut().zip(partial.chunks_exact(n)) {
                    self.ring.vectors().add(modulus, sum.limb_mut(limb), partial);
                }
            }
        }
        Ok(())
    }

    /// Adds the sums, reduced modulo 2^32, to `out`.
    fn flush(&self, scratch: &mut Scratch, out: &mut [u32]) {
        let n = self.ring.n();
        let Scratch { sums, words, .. } = scratch;
        for (sum, out) in sums.iter_mut().zip(out.chunks_exact_mut(n)) {
            let product = self.ring.inverse(std::mem::replace(sum, self.ring.zero()));
            self.ring.rns().compose_centred_wrapping(product.as_slice(), words);
            out.iter_mut().zip(words.iter()).for_each(|(out, &word)| *out = out.wrapping_add(word as u32));
        }
    }
}

#[cfg(test)]
mod tests;
