//! The ground floor of Pirlab: bit-packed matrices and their products modulo 2^32 (one kernel file per instruction
//! set, chosen at run time, bit-identical), the pseudorandom generator, the samplers of secrets and noise, and the
//! memory-bandwidth probe against which the kernels are judged.
//!
//! All arithmetic modulo 2^32 wraps; residues are `u32`.

pub mod bandwidth;
pub mod bits;
pub mod dense;
pub mod gaussian;
pub mod kernel;
pub mod matmul;
pub mod matrix;
pub mod matvec;
pub mod noise;
pub mod ntt;
pub mod prg;
mod region;
pub mod secret;
pub mod word;
pub mod words;

pub use gaussian::DiscreteGaussian;
pub use kernel::{Kernel, KernelError};
pub use matrix::{MatrixError, PackedMatrix, RowBlockMut};
pub use matvec::{PreparedVector, ProductError, Vector32};
pub use noise::{StdDev, Width};
pub use ntt::{NttError, NttPlan};
pub use prg::{Prg, Seed};
pub use word::Word;
pub use words::Words;
