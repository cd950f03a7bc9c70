//! Twiddle factors.

use crate::modulus::Modulus;
use crate::residues::Word;

/// Word arithmetic of the transforms; sums, differences and products wrap.
pub(super) trait Residue: Word {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul_low(self, other: Self) -> Self;
    fn mul_high(self, other: Self) -> Self;

    /// From [0, 2 * bound) to [0, bound).
    fn below(self, bound: Self) -> Self {
        self.min(self.sub(bound))
    }
}

macro_rules! residue {
    ($word:ty, $wide:ty) => {
        impl Residue for $word {
            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn mul_low(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn mul_high(self, other: Self) -> Self {
                ((<$wide>::from(self) * <$wide>::from(other)) >> <$word>::BITS) as Self
            }
        }
    };
}
residue!(u32, u64);
residue!(u64, u128);

/// A factor w in [0, p) with floor(w * 2^BITS / p).
#[derive(Clone, Copy, Debug)]
pub(super) struct Twiddle<W> {
    value: W,
    quotient: W,
}

impl<W: Residue> Twiddle<W> {
    pub(super) fn new(value: u64, prime: W) -> Self {
        let quotient = (u128::from(value) << W::BITS) / u128::from(prime.to_u64());
        Self { value: W::from_u64(value), quotient: W::from_u64(quotient as u64) }
    }

    /// x * w modulo p in [0, 2p), for any word x.
    #[inline]
    pub(super) fn mul(&self, x: W, prime: W) -> W {
        x.mul_low(self.value).sub(x.mul_high(self.quotient).mul_low(prime))
    }
}

/// What a transform is made of, modulo the prime.
pub(super) struct Factors {
    /// psi^bitrev(k) for k below N, where bitrev reverses log2(N) bits: the twiddle of block i of the layer of m blocks is at m + i.
    pub(super) powers: Vec<u64>,
    /// Their inverses.
    pub(super) inverses: Vec<u64>,
    /// 1/N, and 1/N times the twiddle of the last inverse layer.
    pub(super) scale: [u64; 2],
}

impl Factors {
    /// `psi`: of order 2n.
    pub(super) fn new(psi: u64, n: usize, modulus: &Modulus<u64>) -> Self {
        let inverse = modulus.neg(modulus.pow(psi, n as u64 - 1));
        let inverses = bit_reversed_powers(inverse, n, modulus);
        // psi^n is -1; 1/N is the power p - 2 of N.
        let scale = modulus.pow(n as u64, modulus.value() - 2);
        let last = modulus.mul(scale, inverses[1]);
        Self { powers: bit_reversed_powers(psi, n, modulus), inverses, scale: [scale, last] }
    }
}

fn bit_reversed_powers(root: u64, n: usize, modulus: &Modulus<u64>) -> Vec<u64> {
    let mut powers = vec![1];
    // Appending the block of k in [m, 2m) multiplies by root^(n / 2m).
    while powers.len() < n {
        let factor = modulus.pow(root, (n / 2 / powers.len()) as u64);
        powers.extend_from_within(..);
        let half = powers.len() / 2;
        powers[half..].iter_mut().for_each(|power| *power = modulus.mul(*power, factor));
    }
    powers
}

/// The factors of one direction.
#[derive(Debug)]
pub(super) struct Table<W> {
    /// Factors of whole registers, with their quotients.
    pub(super) common: Vec<W>,
    /// A register of factors, a register of quotients, and so on, from the first cache line on that begins within.
    lanes: Vec<W>,
    first: usize,
}

const LINE_BYTES: usize = 64;

impl<W: Copy + Default> Table<W> {
    pub(super) fn new(mut common: Vec<W>, factors: &[W]) -> Self {
        common.shrink_to_fit();
        let mut lanes = vec![W::default(); factors.len() + LINE_BYTES / size_of::<W>()];
        let first = lanes.as_ptr().align_offset(LINE_BYTES).min(LINE_BYTES / size_of::<W>());
        lanes[first..first + factors.len()].copy_from_slice(factors);
        Self { common, lanes, first }
    }
}

impl<W> Table<W> {
    pub(super) fn lanes(&self) -> &[W] {
        &self.lanes[self.first..]
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.common[..]) + size_of_val(&self.lanes[..])
    }
}
