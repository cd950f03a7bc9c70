//! LWE modulo 2^32 under a parameterised secret and error.
//!
//! A sample is (a, b = <a, s> + e + scale * message). The vectors a are rows of a public matrix that both sides expand
//! from a seed, row by row, so that the whole matrix is never in memory.

use super::LweError;
use rand::RngCore;
use ring::matrix::dense;
use ring::work::{Kind, Work, count};
use ring::{DiscreteGaussian, Kernel, Prg, Seed};

/// The public matrix A: `rows` of `dimension` uniform residues modulo 2^32, expanded from a seed on demand.
#[derive(Clone)]
pub struct PublicMatrix {
    prg: Prg,
    dimension: usize,
}

/// Rows expanded at a time for one query: a multiple of 32 that keeps a chunk of A in the second-level cache.
pub const QUERY_CHUNK_ROWS: usize = 256;

impl PublicMatrix {
    /// The matrix of `seed` with rows of `dimension` residues.
    pub fn new(seed: Seed, dimension: usize) -> Self {
        Self { prg: seed.prg(), dimension }
    }

    /// The LWE dimension n.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Writes the rows from `first` on into `out`, row-major; `out.len()` is a multiple of the dimension.
    pub fn fill_rows(&self, first: usize, out: &mut [u32]) {
        debug_assert_eq!(out.len() % self.dimension, 0);
        self.prg.fill_u32_at(first as u64 * self.dimension as u64, out);
    }

    /// Row `index`.
    pub fn row(&self, index: usize) -> Vec<u32> {
        let mut row = vec![0; self.dimension];
        self.fill_rows(index, &mut row);
        row
    }

    /// Hands the first `rows` rows to `visit(first, chunk)` in chunks of at most `chunk_rows`.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn for_chunks<E>(
        &self,
        rows: usize,
        chunk_rows: usize,
        mut visit: impl FnMut(usize, &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut chunk = vec![0u32; chunk_rows.min(rows) * self.dimension];
        for first in (0..rows).step_by(chunk_rows) {
            let count = chunk_rows.min(rows - first);
            let chunk = &mut chunk[..count * self.dimension];
            self.fill_rows(first, chunk);
            visit(first, chunk)?;
        }
        Ok(())
    }
}

/// The work of [`encrypt_zero`] with a matrix of `dimension` words a row, under `keys` keys.
pub fn encrypt_zero_work(samples: u64, dimension: u64, keys: u64) -> Work {
    Work::from([
        (Kind::PrgBytes, count(&[size_of::<u32>() as u64, samples, dimension])),
        (Kind::MultiplyAddsU32, count(&[samples, dimension, keys])),
        (Kind::GaussianSamples, count(&[samples, keys])),
    ])
}

/// Encrypts zero `samples` times under each of `keys`, in one pass over A: one body vector b = A s + e for each key.
///
/// # Errors
/// A key whose length is not the matrix's dimension.
pub fn encrypt_zero(
    matrix: &PublicMatrix,
    samples: usize,
    keys: &[impl AsRef<[u32]>],
    error: &DiscreteGaussian,
    kernel: Kernel,
    rng: &mut impl RngCore,
) -> Result<Vec<Vec<u32>>, LweError> {
    let mut bodies = vec![vec![0u32; samples]; keys.len()];
    matrix.for_chunks(samples, QUERY_CHUNK_ROWS, |first, chunk| {
        let count = chunk.len() / matrix.dimension;
        for (body, key) in bodies.iter_mut().zip(keys) {
            dense::matvec_u32(kernel, chunk, key.as_ref(), &mut body[first..first + count], 1)?;
        }
        Ok::<_, LweError>(())
    })?;
    for body in &mut bodies {
        error.add_to(rng, body);
    }
    Ok(bodies)
}

/// The message modulo p (-floor(p / 2) <= message < p / 2) whose multiple of `scale` = floor(2^32 / p) is nearest to a phase modulo
/// 2^32, and the error.
///
/// p `scale` is a little less than 2^32, so that p/2 and -p/2, which are equal modulo p, have two different multiples; a phase of -p/2 with
/// a negative error is nearer to the other one. The error is relative to the returned message.
pub fn round(phase: u32, scale: u32, plain_modulus: u32) -> (i32, i32) {
    let (value, wide) = (i64::from(phase as i32), i64::from(scale));
    let (modulus, half) = (i64::from(plain_modulus), i64::from(plain_modulus / 2));
    let nearest = (value + wide / 2).div_euclid(wide);
    let message = ((nearest + half).rem_euclid(modulus) - half) as i32;
    (message, residual(phase, scale, message))
}

/// The error of a phase modulo 2^32 with a known message times `scale`.
pub fn residual(phase: u32, scale: u32, message: i32) -> i32 {
    phase.wrapping_sub((message as u32).wrapping_mul(scale)) as i32
}

#[cfg(test)]
mod tests;
