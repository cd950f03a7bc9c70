//! The AVX2 path.

use std::arch::x86_64::*;

#[target_feature(enable = "avx2")]
pub(super) fn read_sum<const S: usize>(bytes: &[u8], ahead: usize) -> u64 {
    let part = bytes.len() / S;
    let mut acc = [[_mm256_setzero_si256(); 4]; S];
    for at in (0..part).step_by(256) {
        for (stream, acc) in acc.iter_mut().enumerate() {
            // SAFETY: at + 256 <= part, since the length of a part is a multiple of 1024; prefetches cannot fault.
            unsafe {
                let base = bytes.as_ptr().add(stream * part + at);
                for (i, acc) in acc.iter_mut().enumerate() {
                    if ahead != 0 {
                        _mm_prefetch::<_MM_HINT_T0>(base.wrapping_add(ahead + 64 * i).cast());
                    }
                    *acc = _mm256_add_epi64(*acc, _mm256_loadu_si256(base.add(64 * i).cast()));
                    *acc = _mm256_add_epi64(*acc, _mm256_loadu_si256(base.add(64 * i + 32).cast()));
                }
            }
        }
    }
    let mut sum = 0u64;
    for vector in acc.iter().flatten() {
        let mut words = [0u64; 4];
        // SAFETY: the array has the vector's 32 bytes.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), *vector) };
        sum = words.iter().fold(sum, |sum, word| sum.wrapping_add(*word));
    }
    sum
}
