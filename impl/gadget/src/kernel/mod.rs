//! Run-time choice of the instruction set, on top of [`ring::Kernel`]. One file per path, same functions, same bits.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod loops;
#[cfg(target_arch = "x86_64")]
mod planar;
mod scalar;

use crate::digit::Digit;
use crate::draws::{BLOCK, Draws, TILE, Words};
use crate::family::Family;
use crate::plan::Plan;
use crate::residue::Residue;
use ring::{Kernel, KernelError};
use std::mem::MaybeUninit;

/// A kernel the processor was seen to support.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked(Kernel);

impl Checked {
    pub(crate) fn new(kernel: Kernel) -> Result<Self, KernelError> {
        kernel.check().map(Self)
    }

    pub(crate) fn kernel(self) -> Kernel {
        self.0
    }
}

/// The digits of a tile: digit t of coefficient j goes to `digits[t * stride + start + j]`.
pub(crate) struct Rows<'a, D> {
    pub(crate) digits: &'a mut [D],
    pub(crate) stride: usize,
    pub(crate) start: usize,
}

impl<D> Rows<'_, D> {
    /// The digits from the tile's first on, rows `stride` apart.
    #[cfg(target_arch = "x86_64")]
    fn tile_rows(&mut self) -> &mut [D] {
        &mut self.digits[self.start..]
    }

    /// The part of row `t` that `coefficients` of the tile take.
    fn row(&mut self, t: usize, coefficients: usize) -> &mut [D] {
        let start = t * self.stride + self.start;
        &mut self.digits[start..start + coefficients]
    }
}

/// Decomposes at most a tile of residues below q.
pub(crate) fn decompose<W: Residue, D: Digit>(
    kernel: Checked,
    plan: &Plan<W>,
    input: &[W],
    (mut words, draws): (Words<'_>, Draws<'_, W>),
    mut rows: Rows<'_, D>,
) {
    let n = input.len();
    let blocks = n.div_ceil(BLOCK);
    let (carries, thresholds, dither) = match plan.family {
        Family::Unsigned | Family::Balanced | Family::Symmetric => (0, 0, 0),
        Family::Jlp21 | Family::Jlp24 => (blocks * plan.length, 0, 0),
        Family::Zy22 => (0, n, n),
        Family::DitherQ => (0, 0, n),
        Family::Gmp19 => (0, n, blocks * BLOCK * (plan.length - 1)),
    };
    assert!(n <= TILE && rows.start + n <= rows.stride && rows.digits.len() == plan.length * rows.stride);
    assert!(words.len() >= carries && draws.thresholds.len() >= thresholds && draws.dither.len() >= dither);
    if plan.family == Family::Symmetric {
        return symmetric(kernel, plan, input, rows);
    }
    by_path(kernel, plan, input, &mut words, draws, &mut rows);
}

/// The digits of the lesser of u and q - u, negated where that is q - u.
fn symmetric<W: Residue, D: Digit>(kernel: Checked, plan: &Plan<W>, input: &[W], mut rows: Rows<'_, D>) {
    let n = input.len();
    let (mut folded, mut signs) = ([const { MaybeUninit::uninit() }; TILE], [0i8; TILE]);
    let (folded, signs) = (&mut folded[..n], &mut signs[..n]);
    match kernel.0 {
        // SAFETY: a `Checked` kernel exists only if the processor has its features.
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 => unsafe { avx512::fold(plan.modulus, input, folded, signs) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 => unsafe { avx2::fold(plan.modulus, input, folded, signs) },
        _ => scalar::fold(plan.modulus, input, folded, signs),
    }
    // SAFETY: `fold` wrote as many values as the input and `folded` have.
    let folded = unsafe { std::slice::from_raw_parts(folded.as_ptr().cast::<W>(), n) };
    let none = Draws { thresholds: &[], dither: &[] };
    by_path(kernel, plan, folded, &mut Words::Drawn(&[]), none, &mut rows);
    for t in 0..plan.length {
        let digits = rows.row(t, n);
        match kernel.0 {
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => unsafe { avx512::negate(signs, digits) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { avx2::negate(signs, digits) },
            _ => scalar::negate(signs, digits),
        }
    }
}

/// Decomposes a tile by the kernel of bases and words like these.
fn by_path<W: Residue, D: Digit>(
    kernel: Checked,
    plan: &Plan<W>,
    input: &[W],
    words: &mut Words<'_>,
    draws: Draws<'_, W>,
    rows: &mut Rows<'_, D>,
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(k) = planar::Vectorised::new(kernel)
        && let Some(bits) = plan.base_bits
        && let (Some(input), Some(thresholds), Some(dither)) =
            (W::as_u64(input), W::as_u64(draws.thresholds), W::as_u64(draws.dither))
    {
        return planar::decompose(k, plan, bits, input, words, Draws { thresholds, dither }, rows);
    }
    #[cfg(target_arch = "x86_64")]
    if kernel.0 == Kernel::Avx512 {
        // SAFETY: a `Checked` kernel exists only if the processor has its features.
        return unsafe { avx512::decompose(plan, input, words.drawn(words.len()), draws, rows) };
    }
    scalar::decompose(plan, input, words.drawn(words.len()), draws, rows);
}

/// Moves the masked words that are below `bound` together, from the front of `words` on; returns their number.
pub(crate) fn keep_below<W: Residue>(kernel: Checked, words: &mut [W], mask: W, bound: W) -> usize {
    #[cfg(target_arch = "x86_64")]
    if kernel.0 == Kernel::Avx512 && W::BITS == u64::BITS {
        // SAFETY: a `Checked` kernel exists only if the processor has its features.
        return unsafe { avx512::keep_below(bytemuck::cast_slice_mut(words), mask.low(), bound.low()) };
    }
    scalar::keep_below(words, mask, bound)
}

/// Writes one value to all of `digits` with the widest stores: what the deterministic kernels are held against.
pub(crate) fn store<D: Digit>(kernel: Checked, digits: &mut [D]) {
    #[cfg(target_arch = "x86_64")]
    match kernel.0 {
        Kernel::Scalar => {}
        // SAFETY: a `Checked` kernel exists only if the processor has its features.
        Kernel::Avx2 => return unsafe { avx2::store(digits) },
        // SAFETY: as above.
        Kernel::Avx512 => return unsafe { avx512::store(digits) },
    }
    digits.fill(D::from_i64(0x0102_0304));
}
