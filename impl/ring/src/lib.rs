//! The ground floor of Pirlab. Modulo 2^32: bit-packed matrices and their products. Modulo words, prime or not: slices of
//! residues, residue number systems, the negacyclic transform, and polynomials modulo X^N + 1 with their automorphisms. Beside
//! them the pseudorandom generator, the samplers of secrets and noise, and the memory-bandwidth probe against which kernels are
//! judged. One kernel file per instruction set, chosen at run time, bit-identical.
//!
//! In the matrix modules residues are `u32` and arithmetic wraps modulo 2^32.

pub mod bandwidth;
pub mod bits;
pub mod column_matrix;
pub mod ctr_drbg;
pub mod dense;
pub mod diagonal;
pub mod gaussian;
pub mod kernel;
pub mod matmul;
pub mod matrix;
pub mod matvec;
pub mod modulus;
pub mod noise;
pub mod ntt;
pub mod poly;
pub mod poly_matrix;
pub mod prg;
pub mod primes;
mod region;
pub mod rns;
pub mod sampling;
pub mod secret;
pub mod vector;
pub mod word;
pub mod words;

pub use column_matrix::{ColumnMatrix, ResidueVector};
pub use ctr_drbg::{CtrDrbg, DRBG_SEED_BYTES};
pub use diagonal::{BlockDiagonal, DiagonalError};
pub use gaussian::DiscreteGaussian;
pub use kernel::{Kernel, KernelError};
pub use matrix::{MatrixError, PackedMatrix, RowBlockMut};
pub use matvec::{PreparedVector, ProductError, Vector32};
pub use modulus::{Modulus, ModulusError};
pub use noise::{StdDev, Width};
pub use ntt::{NttError, NttPlan};
pub use poly::{Automorphism, Coefficient, Ntt, Poly, Ring, RingError};
pub use poly_matrix::{PolyMatrix, PolyMatrixError, PolyPairs};
pub use prg::{Prg, Seed};
pub use rns::{Rns, RnsError};
pub use vector::Vectors;
pub use word::Word;
pub use words::{Buffer, Words, WordsError};
