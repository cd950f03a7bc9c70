//! The AVX2 path: the plain loops of [`super::scalar`] compiled with its vectors. Every function enables
//! the features of that kernel and is called only through [`super::Vectors`], which exist only where they were found.

use super::scalar::{self, recompile};
use crate::modulus::Modulus;
use crate::word::Residue;
use std::arch::x86_64::*;

pub(super) use super::sums::avx2::{combine, sum_products_u32, sum_tiles_u32, tensor};

recompile!("avx2");

/// Each aligned block of a register's slots comes from one such block.
#[target_feature(enable = "avx2")]
pub(super) fn permute<W: Residue>(slots: &[u32], a: &[W], out: &mut [W]) {
    let lanes = 256 / W::BITS as usize;
    for (slots, out) in slots.chunks_exact(lanes).zip(out.chunks_exact_mut(lanes)) {
        let block = slots[0] as usize & !(lanes - 1);
        let source = &a[block..block + lanes];
        // SAFETY: slots, source and out are `lanes` elements each; the permutation takes places modulo 8.
        unsafe {
            let places = if W::BITS == 32 {
                _mm256_loadu_si256(slots.as_ptr().cast())
            } else {
                // Both halves of each element.
                let low = _mm256_slli_epi64::<1>(_mm256_cvtepu32_epi64(_mm_loadu_si128(slots.as_ptr().cast())));
                _mm256_or_si256(low, _mm256_slli_epi64::<32>(_mm256_or_si256(low, _mm256_set1_epi64x(1))))
            };
            let permuted = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(source.as_ptr().cast()), places);
            _mm256_storeu_si256(out.as_mut_ptr().cast(), permuted);
        }
    }
}
