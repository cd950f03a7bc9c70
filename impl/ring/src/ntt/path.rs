//! The choice of the instructions and the arithmetic of a transform.

use super::scalar::Tables;
use super::tables::Factors;
use super::transform::{NttError, Path, Transform};
use crate::kernel::Kernel;
use crate::residues::Word;

#[cfg(target_arch = "x86_64")]
use super::{
    avx2::{Avx2x32, Avx2x64},
    avx512::{Avx512x32, Avx512x64},
    field32::{Isa32, Lazy32, Strict32, lazy32},
    field64::{Isa64, Narrow64, Wide64, wide64},
    fma::Fma,
    ifma::Ifma,
    vector::Vectorised,
};

impl Path {
    /// The fastest path of `kernel`, which the processor has, for a prime in words `W`.
    pub(super) fn best<W: Word>(kernel: Kernel, prime: u64) -> Self {
        match kernel {
            Kernel::Scalar => Self::Scalar,
            Kernel::Avx2 if Self::Fma.check(W::BITS, prime).is_ok() => Self::Fma,
            Kernel::Avx2 => Self::Avx2,
            Kernel::Avx512 if Self::Ifma.check(W::BITS, prime).is_ok() => Self::Ifma,
            Kernel::Avx512 => Self::Avx512,
        }
    }

    fn check(self, word_bits: u32, prime: u64) -> Result<(), NttError> {
        let narrow = word_bits == 64 && prime >> 50 == 0;
        let (kernel, fits) = match self {
            Self::Scalar => (Kernel::Scalar, true),
            Self::Avx2 => (Kernel::Avx2, true),
            Self::Avx512 => (Kernel::Avx512, true),
            Self::Fma => (Kernel::Avx2, narrow),
            Self::Ifma => (Kernel::Avx512, has_ifma() && narrow),
        };
        kernel.check()?;
        if fits {
            return Ok(());
        }
        Err(NttError::Path {
            path: self,
            needs: "a processor with that multiply-add, 64-bit words and a prime below 2^50",
        })
    }

    pub(super) fn engine32(self, prime: u32, factors: &Factors) -> Result<Box<dyn Transform<u32>>, NttError> {
        self.check(32, prime.into())?;
        Ok(match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => vector32::<Avx2x32>(prime, factors),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => vector32::<Avx512x32>(prime, factors),
            _ => Box::new(Tables::new(prime, factors)),
        })
    }

    pub(super) fn engine64(self, prime: u64, factors: &Factors) -> Result<Box<dyn Transform<u64>>, NttError> {
        self.check(64, prime)?;
        Ok(match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => vector64::<Avx2x64>(prime, factors),
            #[cfg(target_arch = "x86_64")]
            Self::Fma => Box::new(Vectorised::<Fma>::new(prime, factors)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => vector64::<Avx512x64<false>>(prime, factors),
            #[cfg(target_arch = "x86_64")]
            Self::Ifma => Box::new(Vectorised::<Ifma>::new(prime, factors)),
            _ => Box::new(Tables::new(prime, factors)),
        })
    }
}

#[cfg(target_arch = "x86_64")]
fn has_ifma() -> bool {
    is_x86_feature_detected!("avx512ifma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_ifma() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
fn vector32<I: Isa32>(prime: u32, factors: &Factors) -> Box<dyn Transform<u32>> {
    if lazy32(prime) {
        Box::new(Vectorised::<Lazy32<I>>::new(prime, factors))
    } else {
        Box::new(Vectorised::<Strict32<I>>::new(prime, factors))
    }
}

#[cfg(target_arch = "x86_64")]
fn vector64<I: Isa64>(prime: u64, factors: &Factors) -> Box<dyn Transform<u64>> {
    if wide64(prime) {
        Box::new(Vectorised::<Wide64<I>>::new(prime, factors))
    } else {
        Box::new(Vectorised::<Narrow64<I>>::new(prime, factors))
    }
}
