//! Work that threads share.

use rayon::prelude::*;

use crate::core::error::Result;

/// Runs `work` for each item on `threads` threads.
pub(crate) fn side_by_side<T: Send, R: Send>(
    items: impl Iterator<Item = T>,
    threads: usize,
    work: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if threads > 1 { items.collect::<Vec<_>>().into_par_iter().map(&work).collect() } else { items.map(work).collect() }
}
