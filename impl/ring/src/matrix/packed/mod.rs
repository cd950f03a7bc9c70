//! Matrices of small unsigned entries, packed bit by bit in the order in which the products read them.
//!
//! Rows come in blocks of 64, a block in groups of 8; columns come in chunks of 32, chunks in strips of 4. Memory holds, block
//! after block, strip after strip, group after group, chunk after chunk, the 8 rows' shares of that chunk: 32 entries of
//! `width` bits as a little-endian bit stream of `4 * width` bytes. A product therefore streams memory strictly upwards;
//! one loaded chunk of a query serves eight rows, and a strip of it, once in the first-level cache, all 64. (Read from the
//! second-level cache for every 8 rows, the query took a third of the bandwidth.) Rows and columns that complete the last
//! group and chunk are zero, and 64 further bytes let any wide load stay inside.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod block;
mod error;
mod kernels;
mod matrix;
mod matrix_product;
mod order;
mod scalar;
#[cfg(test)]
mod tests;
mod tile;
mod vector_product;

pub use crate::bits::CHUNK;
pub use block::RowBlockMut;
pub use error::MatrixError;
pub use matrix::PackedMatrix;
pub use matrix_product::{RECOMMENDED_CHUNK_ROWS, matmul_accumulate, matmul_work};
pub use order::{BLOCK_ROWS, GROUP_ROWS};
pub use vector_product::{PreparedVector, QUERIES_TOGETHER, Vector32, matvec, matvec_new, matvec_work, queries_work};
