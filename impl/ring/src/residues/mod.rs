//! Slices of residues modulo one number, element by element. Each path has one file with the same functions and results.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod combination;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sums;
#[cfg(test)]
mod tests;
mod words;

pub use combination::Combination;
pub use words::Word;

use crate::kernel::{Checked, Kernel, KernelError, dispatch};
use crate::modulus::Modulus;

/// Elements of a tile: see [`Vectors::sum_tiles`].
pub const TILE: usize = 64;

/// Arithmetic of slices on the path of one kernel, which was checked. Inputs and results are residues in
/// [0, q) unless said otherwise; slices of one call have one length.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    kernel: Checked,
    /// Whether the AVX-512 kernel may use the 52-bit multiply-add.
    ifma: bool,
}

impl Vectors {
    /// The arithmetic on that kernel's path.
    pub fn new(kernel: Kernel) -> Result<Self, KernelError> {
        let kernel = Checked::new(kernel)?;
        #[cfg(target_arch = "x86_64")]
        let ifma = kernel.kernel() == Kernel::Avx512 && is_x86_feature_detected!("avx512ifma");
        #[cfg(not(target_arch = "x86_64"))]
        let ifma = false;
        Ok(Self { kernel, ifma })
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel.kernel()
    }

    /// The kernel, for [`dispatch!`].
    pub(crate) fn checked(self) -> Checked {
        self.kernel
    }

    /// a += b.
    pub fn add<W: Word>(self, modulus: &Modulus<W>, a: &mut [W], b: &[W]) {
        assert_eq!(a.len(), b.len());
        dispatch!(self.kernel, add(modulus, a, b));
    }

    /// a -= b.
    pub fn sub<W: Word>(self, modulus: &Modulus<W>, a: &mut [W], b: &[W]) {
        assert_eq!(a.len(), b.len());
        dispatch!(self.kernel, sub(modulus, a, b));
    }

    /// a = -a.
    pub fn neg<W: Word>(self, modulus: &Modulus<W>, a: &mut [W]) {
        dispatch!(self.kernel, neg(modulus, a));
    }

    /// a *= b.
    pub fn mul<W: Word>(self, modulus: &Modulus<W>, a: &mut [W], b: &[W]) {
        assert_eq!(a.len(), b.len());
        W::mul(self, modulus, a, b);
    }

    /// acc += a * b.
    pub fn mul_add<W: Word>(self, modulus: &Modulus<W>, acc: &mut [W], a: &[W], b: &[W]) {
        assert!(acc.len() == a.len() && a.len() == b.len());
        W::mul_add(self, modulus, acc, a, b);
    }

    /// a *= scalar.
    pub fn mul_scalar<W: Word>(self, modulus: &Modulus<W>, a: &mut [W], scalar: W) {
        W::mul_scalar(self, modulus, a, scalar);
    }

    /// Sums of products with a shared left side: `out[c] = sum over t of left[t] * right[t * C + c]` for the C columns of `out`.
    /// This is one limb of a gadget product with `left` the digits and `right` the rows of the key. Any number of terms; sums are
    /// reduced as rarely as the modulus allows. Zero if there are no terms.
    ///
    /// # Panics
    /// If lengths differ or `right` does not hold C vectors for each of `left`.
    pub fn sum_products<W: Word>(self, modulus: &Modulus<W>, left: &[&[W]], right: &[&[W]], out: &mut [&mut [W]]) {
        assert_eq!(left.len() * out.len(), right.len(), "one column of right for each term and output");
        let n = out.first().map_or(0, |column| column.len());
        // Without a branch for each vector: there may be more vectors than products of a short one.
        let differ = |vectors: &[&[W]]| vectors.iter().fold(0, |differ, vector| differ | (vector.len() ^ n));
        assert!(differ(left) | differ(right) == 0 && out.iter().all(|column| column.len() == n));
        if n > 0 {
            W::sum_products(self, modulus, left, right, out);
        }
    }

    /// Like [`Self::sum_products`] for several left sides: for each group of as many vectors of `left` as a sum has terms, the sums for the C
    /// columns `right` are C vectors of `out`. Vectors of n elements are n + [`TILE`] apart in `left` and in `out`, so that they do not share
    /// sets of the caches. A column is stored in tiles of [`TILE`] elements: tile after tile, in it term after term. It is for factors that
    /// are read from memory once: a column is one stream, instead of one for each term, and a tile serves all groups while it is in the
    /// first-level cache.
    ///
    /// # Panics
    /// If n is not a multiple of a tile, if there is no column, or if the numbers of vectors in `left`, `right` and `out` do not fit together.
    pub fn sum_tiles<W: Word>(self, modulus: &Modulus<W>, n: usize, left: &[W], right: &[&[W]], out: &mut [W]) {
        assert!(n.is_multiple_of(TILE) && n > 0 && !right.is_empty(), "columns of whole tiles");
        let (pitch, terms) = (n + TILE, right[0].len() / n);
        assert!(right.iter().all(|column| column.len() == terms * n), "a tile for each term and column");
        let groups = left.len() / (terms * pitch).max(1);
        assert!(
            left.len() == groups * terms * pitch && out.len() == groups * right.len() * pitch,
            "vectors a tile apart"
        );
        W::sum_tiles(self, modulus, n, left, right, out);
    }

    /// `sums[j] += sum over t of digits[t] * rows[t * sums.len() + j]`, modulo 2^32: rows of a key switch modulo a power of two.
    ///
    /// # Panics
    /// If the numbers of rows and digits differ.
    pub fn add_multiples(self, digits: &[i32], rows: &[u32], sums: &mut [u32]) {
        assert_eq!(digits.len() * sums.len(), rows.len(), "a row for each digit");
        dispatch!(self.kernel, add_multiples(digits, rows, sums));
    }

    /// Like [`Self::add_multiples`] for elements below 2^31, in 64 bits that must not overflow.
    ///
    /// # Panics
    /// If the numbers of rows and digits differ.
    pub fn add_wide_multiples(self, digits: &[i32], rows: &[u32], sums: &mut [i64]) {
        assert_eq!(digits.len() * sums.len(), rows.len(), "a row for each digit");
        dispatch!(self.kernel, add_wide_multiples(digits, rows, sums));
    }

    /// out = x mod q for any 64-bit x.
    pub fn reduce<W: Word>(self, modulus: &Modulus<W>, x: &[u64], out: &mut [W]) {
        assert_eq!(x.len(), out.len());
        W::reduce(self, modulus, x, out);
    }

    /// out = x mod q for signed x; fastest if all are below q in magnitude.
    pub fn reduce_signed<W: Word>(self, modulus: &Modulus<W>, x: &[i32], out: &mut [W]) {
        assert_eq!(x.len(), out.len());
        dispatch!(self.kernel, reduce_signed(modulus, x, out));
    }

    /// The parts of the product of two linear polynomials, each times a factor and over 2^2BITS, modulo an odd q: out = [a c, a d + b c,
    /// b d] times `factor` for [a, b] of `left` and [c, d] of `right`.
    pub fn tensor<W: Word>(
        self,
        modulus: &Modulus<W>,
        left: [&[W]; 2],
        right: [&[W]; 2],
        factor: &[W],
        out: [&mut [W]; 3],
    ) {
        let n = factor.len();
        assert!(left.iter().chain(&right).all(|part| part.len() == n) && out.iter().all(|part| part.len() == n));
        W::tensor(self, modulus, left, right, factor, out);
    }

    /// Rows combined modulo each of the combination's moduli, in vectors of `n`, of which there is one a row and one a modulus; added to
    /// residues, if `add`.
    ///
    /// # Panics
    /// If there are not as many vectors.
    pub fn combine<W: Word>(self, combination: &Combination<W>, n: usize, rows: &[W], out: &mut [W], add: bool) {
        assert_eq!(rows.len(), combination.reciprocals.len() * n, "a vector a row");
        assert_eq!(out.len(), combination.targets.len() * n, "a vector a modulus");
        W::combine(self, combination, n, rows, out, add);
    }

    /// Balanced digits of centred residues, digit by digit: all but the last in [-base/2, base/2), the last what is left, which fits 32 bits.
    ///
    /// # Panics
    /// If the number of digits is not a multiple of the number of residues.
    pub fn balanced_digits<W: Word>(self, modulus: &Modulus<W>, x: &[W], base_log2: u32, digits: &mut [i32]) {
        assert!(digits.len().is_multiple_of(x.len().max(1)));
        dispatch!(self.kernel, balanced_digits(modulus, x, base_log2, digits));
    }

    /// The representative of x in [-p/2, p/2), modulo q, for residues x modulo p.
    pub fn centred_residues<W: Word>(self, p: &Modulus<W>, x: &[W], modulus: &Modulus<W>, out: &mut [W]) {
        assert_eq!(x.len(), out.len());
        dispatch!(self.kernel, centred_residues(p, x, modulus, out));
    }

    /// out[j] = a[slots[j]], for the slot permutations of automorphisms: each aligned block of 16 is a permutation of an
    /// aligned block of 16.
    ///
    /// # Panics
    /// If lengths differ or are not multiples of 16, or a slot is out of range.
    pub(crate) fn permute<W: Word>(self, slots: &[u32], a: &[W], out: &mut [W]) {
        assert!(slots.len() == a.len() && a.len() == out.len() && a.len().is_multiple_of(16));
        W::permute(self, slots, a, out);
    }
}
