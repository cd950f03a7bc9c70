//! The negacyclic number-theoretic transform: products modulo X^N + 1 over a word-sized prime become products of values.
//!
//! Slot `j` of a transformed polynomial f is f(psi^(2 bitrev(j) + 1)), psi a primitive 2N-th root of unity
//! (the merged decimation of Longa and Naehrig, 2016). Each instruction set has one file, chosen at run time; all give the same
//! bits, because outputs are always the residues in [0, p).
//!
//! A transform is N/2 log2(N) butterflies. Its time is bounded by their multiplications, of which a Zen 4 core starts one a
//! cycle on 512 bits, and more closely by all their vector instructions, two a cycle. Instructions for one register of
//! butterflies, forward, and the part of the time of N = 2048 on that core (3.7 GHz) that each bound makes up:
//!
//! | arithmetic | primes | lanes | multiplications | all | bound by multiplications | by all |
//! |---|---|---|---|---|---|---|
//! | `Lazy32` | 2^20 to 2^28 | 16 | 4 | 10 | 0.50 | 0.63 |
//! | `Strict32` | others to 2^31 | 16 | 4 | 15 | | |
//! | `Ifma` | to 2^50 | 8 | 3 | 9 | 0.44 | 0.66 |
//! | `Wide64` | 2^34 to 2^58 | 8 | 5 | 13 | 0.57 | 0.74 |
//! | `Narrow64` | others to 2^62 | 8 | 6 | 21 | | |
//!
//! With AVX2 alone, primes below 2^50 take `Fma`: four lanes of doubles, four multiplications and four additions. For N = 2048 and 50 bits a Zen 3
//! guest (2.9 GHz) took 7 to 8 us either way, a quarter of the rate of its multiply-adds, and `Wide64` 10 to 12 us forward and 14 back.
//!
//! The rest goes to the exchanges within registers (two shuffles for each of the last layers), the residues at the end (up to
//! ten instructions a register pair), reductions, and latency.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod field32;
#[cfg(target_arch = "x86_64")]
mod field64;
#[cfg(target_arch = "x86_64")]
mod fma;
#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod passes;
mod path;
mod scalar;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(feature = "tfhe-ntt")]
mod tfhe;
mod transform;
#[cfg(target_arch = "x86_64")]
mod vector;

#[cfg(feature = "tfhe-ntt")]
pub use tfhe::TfhePlan;
pub use transform::{MAX_LOG_N, MIN_LOG_N, NttError, Path};

use crate::kernel::Kernel;
use crate::modulus::Modulus;
use crate::primes::{is_prime, root_of_unity};
use crate::residues::Word;
use std::marker::PhantomData;
use std::sync::Arc;
use transform::Transform;

#[cfg(feature = "counted")]
std::thread_local! {
    static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Number of transforms of this thread, with which tests compare [`crate::Work`].
#[cfg(feature = "counted")]
pub fn transforms_done() -> u64 {
    DONE.get()
}

/// Counts a transform, if counting is compiled in.
fn count_transform() {
    #[cfg(feature = "counted")]
    DONE.set(DONE.get() + 1);
}

/// Tables for transforms of N points modulo one prime. Cloning shares them.
#[derive(Clone, Debug)]
pub struct NttPlan<W> {
    inner: Arc<Inner>,
    word: PhantomData<W>,
}

#[derive(Debug)]
struct Inner {
    n: usize,
    prime: u64,
    root: u64,
    path: Path,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Word32(Box<dyn Transform<u32>>),
    Word64(Box<dyn Transform<u64>>),
}

impl<W: Word> NttPlan<W> {
    /// The plan for `n` = 2^6 to 2^16 points modulo `prime` = 1 mod 2n, on the fastest path that `kernel` allows.
    ///
    /// # Errors
    /// Another size, a modulus that is composite, too large or not 1 modulo 2n, a kernel the processor lacks.
    pub fn new(n: usize, prime: W, kernel: Kernel) -> Result<Self, NttError> {
        Self::with_path(n, prime, Path::best::<W>(kernel.check()?, prime.to_u64()))
    }

    /// As [`Self::new`] on a given path, to compare paths.
    pub fn with_path(n: usize, prime: W, path: Path) -> Result<Self, NttError> {
        if !n.is_power_of_two() || !(MIN_LOG_N..=MAX_LOG_N).contains(&n.trailing_zeros()) {
            return Err(NttError::Size(n));
        }
        let p = prime.to_u64();
        if p >> W::MAX_MODULUS_BITS != 0 {
            return Err(NttError::TooLarge { prime: p, bits: W::MAX_MODULUS_BITS });
        }
        let modulus = Modulus::new(p).ok().filter(|_| is_prime(p)).ok_or(NttError::Composite(p))?;
        let root = root_of_unity(p, 2 * n as u64).ok_or(NttError::NoRoot { prime: p, n })?;
        let factors = tables::Factors::new(root, n, &modulus);
        let engine = if W::BITS == 32 {
            Engine::Word32(path.engine32(p as u32, &factors)?)
        } else {
            Engine::Word64(path.engine64(p, &factors)?)
        };
        let inner = Inner { n, prime: p, root, path, engine };
        Ok(Self { inner: Arc::new(inner), word: PhantomData })
    }

    /// Bytes of the tables.
    pub fn bytes(&self) -> usize {
        match &self.inner.engine {
            Engine::Word32(transform) => transform.bytes(),
            Engine::Word64(transform) => transform.bytes(),
        }
    }

    /// Bytes of the tables for `n` points on the path that has the most, whose registers have 64 bytes: a factor and its quotient for each
    /// pair of lanes in each layer within a register, one for every block in the others.
    pub fn bytes_for(n: usize) -> u64 {
        let lanes = 64 / size_of::<W>();
        let words = 2 * (lanes.ilog2() as usize * n + 2 * n / lanes + lanes);
        (words * size_of::<W>()) as u64
    }

    /// Number of points N.
    pub fn n(&self) -> usize {
        self.inner.n
    }

    /// The prime p.
    pub fn prime(&self) -> W {
        W::from_u64(self.inner.prime)
    }

    /// psi, of order 2N.
    pub fn root(&self) -> W {
        W::from_u64(self.inner.root)
    }

    /// The name of the path taken: "scalar", "avx2", "avx512" or "ifma".
    pub fn path(&self) -> &'static str {
        self.inner.path.name()
    }

    /// The odd exponent e below 2N such that slot `slot` (below N) holds f(psi^e).
    pub fn slot_exponent(&self, slot: usize) -> usize {
        assert!(slot < self.n(), "slots are below N");
        2 * self.reverse(slot) + 1
    }

    /// The slot that holds f(psi^`exponent`), for any odd exponent (modulo 2N).
    pub fn slot_of(&self, exponent: usize) -> usize {
        assert!(exponent % 2 == 1, "exponents of slots are odd");
        self.reverse(exponent / 2 % self.n())
    }

    fn reverse(&self, index: usize) -> usize {
        index.reverse_bits() >> (usize::BITS - self.n().trailing_zeros())
    }

    /// Coefficients, in natural order and below 2p, to values in [0, p) in the order of the slots, in place.
    pub fn forward(&self, data: &mut [W]) {
        count_transform();
        assert_eq!(data.len(), self.n(), "a transform of N points");
        match &self.inner.engine {
            Engine::Word32(transform) => transform.forward(bytemuck::cast_slice_mut(data)),
            Engine::Word64(transform) => transform.forward(bytemuck::cast_slice_mut(data)),
        }
    }

    /// The same for signed coefficients, all above -p and below p, read from another slice, so that digits need no reduction first.
    pub fn forward_signed(&self, signed: &[i32], data: &mut [W]) {
        count_transform();
        assert!(data.len() == self.n() && signed.len() == self.n(), "a transform of N points");
        match &self.inner.engine {
            Engine::Word32(transform) => transform.forward_signed(signed, bytemuck::cast_slice_mut(data)),
            Engine::Word64(transform) => transform.forward_signed(signed, bytemuck::cast_slice_mut(data)),
        }
    }

    /// The exact inverse of [`Self::forward`]: values in [0, p) to coefficients in [0, p), in place.
    pub fn inverse(&self, data: &mut [W]) {
        self.backward(data, true);
    }

    /// N times [`Self::inverse`]: for callers that multiply by 1/N elsewhere.
    pub fn inverse_unscaled(&self, data: &mut [W]) {
        self.backward(data, false);
    }

    fn backward(&self, data: &mut [W], scaled: bool) {
        count_transform();
        assert_eq!(data.len(), self.n(), "a transform of N points");
        match &self.inner.engine {
            Engine::Word32(transform) => transform.inverse(bytemuck::cast_slice_mut(data), scaled),
            Engine::Word64(transform) => transform.inverse(bytemuck::cast_slice_mut(data), scaled),
        }
    }
}
