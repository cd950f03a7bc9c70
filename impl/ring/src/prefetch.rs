//! Prefetching by software: a processor by itself fetches ahead no further than to the end of a page.

use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};

/// Distances in bytes at which memory is prefetched into the first- and into the second-level cache; 0 for not at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    pub(crate) first: usize,
    pub(crate) second: usize,
}

impl Ahead {
    /// No prefetching.
    pub(crate) const NOTHING: Self = Self { first: 0, second: 0 };

    /// Prefetches what lies ahead of that many cache lines.
    #[target_feature(enable = "sse")]
    #[inline]
    pub(crate) fn ask<T>(self, at: *const T, lines: usize) {
        let at = at.cast::<u8>();
        if self.first > 0 {
            (0..lines).for_each(|line| ask_for::<false, _>(at.wrapping_add(self.first + 64 * line)));
        }
        if self.second > 0 {
            (0..lines).for_each(|line| ask_for::<true, _>(at.wrapping_add(self.second + 64 * line)));
        }
    }
}

/// Prefetches the line at any address, which cannot fault, into the second-level cache with `SECOND`, else into the first.
#[target_feature(enable = "sse")]
#[inline]
pub(crate) fn ask_for<const SECOND: bool, T>(at: *const T) {
    if SECOND { _mm_prefetch::<_MM_HINT_T1>(at.cast()) } else { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}
