//! The interface of a transform, its paths, and the reasons to refuse one.

use crate::kernel::KernelError;
use std::fmt;

/// Base-two logarithms of the smallest and largest supported N.
pub const MIN_LOG_N: u32 = 6;
/// See [`MIN_LOG_N`].
pub const MAX_LOG_N: u32 = 16;

/// Reasons to refuse a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NttError {
    /// N is not a power of two from 2^6 to 2^16.
    #[error("a transform has 2^{MIN_LOG_N} to 2^{MAX_LOG_N} points, a power of two, not {0}")]
    Size(usize),
    /// The modulus is too large for its word.
    #[error("modulus {prime} does not fit: it must be below 2^{bits}")]
    TooLarge {
        /// The modulus asked for.
        prime: u64,
        /// Moduli are below two to this power.
        bits: u32,
    },
    /// The modulus is composite.
    #[error("modulus {0} is not prime")]
    Composite(u64),
    /// There is no 2N-th root of unity.
    #[error("prime {prime} is not 1 modulo 2N = {}: there is no root of unity of that order", 2 * n)]
    NoRoot {
        /// The prime.
        prime: u64,
        /// The number of points.
        n: usize,
    },
    /// The processor lacks the kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The path does not support this prime or this processor.
    #[error("path {path} takes {needs}")]
    Path {
        /// The requested path.
        path: Path,
        /// Its requirements.
        needs: &'static str,
    },
}

/// The instructions a transform runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// Portable Rust.
    Scalar,
    /// AVX2.
    Avx2,
    /// AVX2 with multiply-add of doubles; `u64` and primes below 2^50 only.
    Fma,
    /// AVX-512, as [`Kernel::Avx512`].
    Avx512,
    /// AVX-512 with 52-bit multiply-add; `u64` and primes below 2^50 only.
    Ifma,
}

impl Path {
    /// All paths, from the slowest to the fastest.
    pub const ALL: [Self; 5] = [Self::Scalar, Self::Avx2, Self::Fma, Self::Avx512, Self::Ifma];

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Fma => "fma",
            Self::Avx512 => "avx512",
            Self::Ifma => "ifma",
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A transform and its inverse on one path, with the plan's number of points.
pub(super) trait Transform<W>: std::fmt::Debug + Send + Sync {
    fn forward(&self, data: &mut [W]);
    /// From signed numbers above -p and below p.
    fn forward_signed(&self, signed: &[i32], data: &mut [W]);
    /// With the product by 1/N where `scaled`.
    fn inverse(&self, data: &mut [W], scaled: bool);
    /// Bytes of its tables.
    fn bytes(&self) -> usize;
}
