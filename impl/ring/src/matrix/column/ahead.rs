//! Software prefetching of the vector paths. A column of 2048 rows is a page, at whose end the processor's own prefetching
//! stops.

use super::LINE;
use super::part::Part;
use crate::prefetch::ask_for;

/// The lines that are prefetched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ahead<'a> {
    /// The line that is this many lines after the multiplied one; 0 prefetches none.
    Lines(usize),
    /// The same if a part consists of whole columns, which are contiguous: the number of lines after, in the order of memory.
    Following(usize),
    /// A share of the next columns: several queries multiply columns that are in the cache, and prefetch the next ones together. Zen 5
    /// reads 64 MiB to 1 GiB at 13 GiB/s with four queries and 7.8 with eight, but at 7.8 and 4.2 if only the first query prefetches. Intel
    /// was not measured.
    Share(&'a [i16]),
}

impl Ahead<'_> {
    /// Prefetches the share of line `line` of `lines`, while `C` columns from `start` on are multiplied side by side; `SECOND` as for
    /// [`ask_for`].
    #[target_feature(enable = "sse")]
    #[inline]
    pub(super) fn ask<const C: usize, const SECOND: bool>(
        self,
        part: &Part,
        start: *const i16,
        (line, lines): (usize, usize),
    ) {
        match self {
            Ahead::Lines(0) => {}
            Ahead::Lines(ahead) => {
                // The next columns follow directly after these.
                let (columns, next) = (C * (ahead / lines), line + ahead % lines);
                let (columns, next) = if next < lines { (columns, next) } else { (columns + C, next - lines) };
                for c in 0..C {
                    ask_for::<SECOND, _>(start.wrapping_add((c + columns) * part.height + next * LINE));
                }
            }
            Ahead::Following(ahead) => {
                for i in 0..C {
                    ask_for::<SECOND, _>(start.wrapping_add((C * line + i + ahead) * LINE));
                }
            }
            Ahead::Share(share) => {
                let each = share.len().div_ceil(LINE * lines);
                for i in 0..each {
                    ask_for::<SECOND, _>(share.as_ptr().wrapping_add((line * each + i) * LINE));
                }
            }
        }
    }
}
