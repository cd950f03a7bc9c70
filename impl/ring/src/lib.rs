//! The ground floor of Pirlab. Modulo 2^32: bit-packed matrices and their products. Modulo words, prime or not: slices of
//! residues, residue number systems, the negacyclic transform, and polynomials modulo X^N + 1 with their automorphisms. Beside
//! them the pseudorandom generator, the samplers of secrets and noise, and the memory-bandwidth probe against which kernels are
//! judged. Each instruction set has one kernel file; they are chosen at run time and give identical bits.
//!
//! In the matrix modules residues are `u32` and arithmetic wraps modulo 2^32.

pub mod bandwidth;
pub mod bits;
pub mod ctr_drbg;
pub mod gaussian;
pub mod kernel;
pub mod lookup;
pub mod matrix;
pub mod modulus;
pub mod noise;
pub mod ntt;
mod pages;
pub mod poly;
#[cfg(target_arch = "x86_64")]
mod prefetch;
pub mod prg;
pub mod primes;
mod region;
pub mod residues;
pub mod rns;
pub mod sampling;
pub mod secret;
pub mod word;
pub mod words;
pub mod work;

pub use ctr_drbg::{CtrDrbg, DRBG_SEED_BYTES};
pub use gaussian::DiscreteGaussian;
pub use kernel::{Kernel, KernelError};
pub use lookup::{Lookups, Small};
pub use matrix::column::{ColumnMatrix, ResidueVector};
pub use matrix::diagonal::{BlockDiagonal, DiagonalError};
pub use matrix::operands::ProductError;
pub use matrix::packed::{MatrixError, PackedMatrix, PreparedVector, RowBlockMut, Vector32};
pub use matrix::poly::{PolyMatrix, PolyMatrixError, PolyPairs, PolyVector};
pub use modulus::{Modulus, ModulusError};
pub use noise::{StdDev, Width};
pub use ntt::{NttError, NttPlan};
pub use pages::read_pages;
pub use poly::{Automorphism, Coefficient, Ntt, Poly, Ring, RingError, RingShape};
pub use prg::{Prg, Seed};
pub use residues::{Combination, Vectors, Word};
pub use rns::{Rns, RnsError};
pub use word::Residue;
pub use words::{Buffer, Words, WordsError};
pub use work::{Kind, Work};
