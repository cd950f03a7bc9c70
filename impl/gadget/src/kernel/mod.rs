//! Run-time choice of the instruction set, on top of [`ring::Kernel`]. Each path has one file with the same functions and results.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod jobs;
#[cfg(target_arch = "x86_64")]
mod loops;
#[cfg(target_arch = "x86_64")]
mod planar;
mod scalar;

use crate::digit::Digit;
use crate::family::Family;
use crate::plan::Plan;
use crate::residue::Residue;
use crate::tile::{BLOCK, Draws, Rows, TILE, Words};
use ring::Kernel;
use ring::kernel::{Checked, dispatch};
use std::mem::MaybeUninit;

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

/// The digits of the lesser of u and q - u, negated if that is q - u.
fn symmetric<W: Residue, D: Digit>(kernel: Checked, plan: &Plan<W>, input: &[W], mut rows: Rows<'_, D>) {
    let n = input.len();
    let (mut folded, mut signs) = ([const { MaybeUninit::uninit() }; TILE], [0i8; TILE]);
    let (folded, signs) = (&mut folded[..n], &mut signs[..n]);
    dispatch!(kernel, fold(plan.modulus, input, folded, signs));
    // SAFETY: `fold` wrote as many values as the input and `folded` have.
    let folded = unsafe { std::slice::from_raw_parts(folded.as_ptr().cast::<W>(), n) };
    let none = Draws { thresholds: &[], dither: &[] };
    by_path(kernel, plan, folded, &mut Words::Drawn(&[]), none, &mut rows);
    for t in 0..plan.length {
        let digits = rows.row(t, n);
        dispatch!(kernel, negate(signs, digits));
    }
}

/// Decomposes a tile by the kernel for this base and word.
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
    if kernel.kernel() == Kernel::Avx512 {
        // SAFETY: a `Checked` kernel exists only if the processor has its features.
        return unsafe { avx512::decompose(plan, input, words.drawn(words.len()), draws, rows) };
    }
    scalar::decompose(plan, input, words.drawn(words.len()), draws, rows);
}

/// Moves the masked words that are below `bound` together, from the front of `words` on; returns their number.
pub(crate) fn keep_below<W: Residue>(kernel: Checked, words: &mut [W], mask: W, bound: W) -> usize {
    #[cfg(target_arch = "x86_64")]
    if kernel.kernel() == Kernel::Avx512 && W::BITS == u64::BITS {
        // SAFETY: a `Checked` kernel exists only if the processor has its features.
        return unsafe { avx512::keep_below(bytemuck::cast_slice_mut(words), mask.low(), bound.low()) };
    }
    scalar::keep_below(words, mask, bound)
}

/// Writes one value to all of `digits` with the widest stores, with which the deterministic kernels are compared.
pub(crate) fn store<D: Digit>(kernel: Checked, digits: &mut [D]) {
    #[cfg(target_arch = "x86_64")]
    match kernel.kernel() {
        Kernel::Scalar => {}
        // SAFETY: a `Checked` kernel exists only if the processor has its features.
        Kernel::Avx2 => return unsafe { avx2::store(digits) },
        // SAFETY: as above.
        Kernel::Avx512 => return unsafe { avx512::store(digits) },
    }
    digits.fill(D::from_i64(0x0102_0304));
}
