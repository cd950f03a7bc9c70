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
pub mod modulus;
pub mod noise;
pub mod ntt;
pub mod poly;
pub mod prg;
pub mod primes;
mod region;
pub mod rns;
pub mod sampling;
pub mod secret;
pub mod vector;
pub mod word;
pub mod words;

pub use gaussian::DiscreteGaussian;
pub use kernel::{Kernel, KernelError};
pub use matrix::{MatrixError, PackedMatrix, RowBlockMut};
pub use matvec::{PreparedVector, ProductError, Vector32};
pub use modulus::{Modulus, ModulusError};
pub use noise::{StdDev, Width};
pub use ntt::{NttError, NttPlan};
pub use poly::{Automorphism, Coefficient, Ntt, Poly, Ring, RingError};
pub use prg::{Prg, Seed};
pub use rns::{Rns, RnsError};
pub use vector::Vectors;
pub use word::Word;
pub use words::Words;
