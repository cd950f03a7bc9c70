//! The AVX-512 path.

use std::arch::x86_64::*;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")]
pub(super) fn read_sum<const S: usize>(bytes: &[u8], ahead: usize) -> u64 {
    let part = bytes.len() / S;
    let zero = _mm512_setzero_si512();
    // Eight accumulators at least: two additions a cycle with a latency of one never wait.
    let mut acc = [[zero; 8]; S];
    for at in (0..part).step_by(512) {
        for (stream, acc) in acc.iter_mut().enumerate() {
            // SAFETY: at + 512 <= part, since the length of a part is a multiple of 1024; prefetches cannot fault.
            unsafe {
                let base = bytes.as_ptr().add(stream * part + at);
                for (i, acc) in acc.iter_mut().enumerate() {
                    if ahead != 0 {
                        _mm_prefetch::<_MM_HINT_T0>(base.wrapping_add(ahead + 64 * i).cast());
                    }
                    *acc = _mm512_add_epi64(*acc, _mm512_loadu_si512(base.add(64 * i).cast()));
                }
            }
        }
    }
    let mut sum = 0u64;
    for vector in acc.iter().flatten() {
        sum = sum.wrapping_add(_mm512_reduce_add_epi64(*vector) as u64);
    }
    sum
}
