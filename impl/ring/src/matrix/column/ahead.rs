//! What the vector paths ask memory for before they multiply it. A column of 2048 rows is a page, where the processor's own
//! prefetching ends.

use super::LINE;
use super::part::Part;
use crate::kernel::ask_for;

/// What is asked for before it is used.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ahead<'a> {
    /// How many lines after the multiplied ones are asked for; 0 asks for none.
    Lines(usize),
    /// The same where a part is whole columns, so that all it reads lies in one piece: the number of lines after, in the order of memory.
    Following(usize),
    /// A share of what comes next: several queries multiply columns that are in the cache, and ask for the next ones together. Zen 5
    /// reads 64 MiB to 1 GiB at 13 GiB/s with four queries and 7.8 with eight; 7.8 and 4.2 where the first query alone asked. Not
    /// measured on Intel.
    Share(&'a [i16]),
}

impl Ahead<'_> {
    /// Asks for what belongs to line `line` of `lines`, where `C` columns from `start` on are multiplied side by side; `SECOND` as for
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
                // Where these columns end, the next ones follow.
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
