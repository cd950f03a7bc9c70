//! The AVX-512 path: the plain loops of [`super::scalar`] compiled with its vectors. Every function enables
//! the features of that kernel and is called only through [`super::Vectors`], which exist only where they were found.

use super::scalar::{self, recompile};
use crate::modulus::Modulus;
use crate::word::Residue;
use std::arch::x86_64::*;

pub(super) use super::sums::avx512::{combine, sum_products_u32, sum_tiles_u32, tensor};

/// Residues in a register.
const LANES: usize = 16;

recompile!("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni");

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn permute<W: Residue>(slots: &[u32], a: &[W], out: &mut [W]) {
    for (slots, out) in slots.chunks_exact(LANES).zip(out.chunks_exact_mut(LANES)) {
        let block = slots[0] as usize & !(LANES - 1);
        let source = &a[block..block + LANES];
        // SAFETY: slots, source and out are 16 elements each; the permutations take the slots modulo 16 or 8.
        unsafe {
            let slots = _mm512_loadu_si512(slots.as_ptr().cast());
            if W::BITS == 32 {
                let source = _mm512_loadu_si512(source.as_ptr().cast());
                _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_permutexvar_epi32(slots, source));
            } else {
                let low = _mm512_loadu_si512(source.as_ptr().cast());
                let high = _mm512_loadu_si512(source.as_ptr().add(8).cast());
                let halves = [_mm512_castsi512_si256(slots), _mm512_extracti64x4_epi64::<1>(slots)];
                for (half, slots) in halves.into_iter().enumerate() {
                    let permuted = _mm512_permutex2var_epi64(low, _mm512_cvtepu32_epi64(slots), high);
                    _mm512_storeu_si512(out.as_mut_ptr().add(8 * half).cast(), permuted);
                }
            }
        }
    }
}
