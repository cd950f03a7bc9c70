//! The order of a block's bytes.

/// Rows in a group: the rows that share one loaded chunk of a query, and the multiple to which rows are padded.
pub const GROUP_ROWS: usize = 8;
/// Chunks in a strip: few enough to keep a strip of the queries in the first-level cache while data pass through.
pub(crate) const STRIP_CHUNKS: usize = 4;
/// Rows in a block: the rows that share one strip of a query; the unit of parallel work.
pub const BLOCK_ROWS: usize = 64;
/// Bytes after the last chunk, so that a 64-byte load at any entry stays inside the allocation.
pub(crate) const SLACK: usize = 64;

/// The place of each row's share of each chunk in a block: strip by strip, within a strip group by group of eight rows, within
/// those chunk by chunk, and last row by row.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    /// Chunks in a row.
    pub(crate) chunks: usize,
    /// Groups of eight rows in the block.
    pub(crate) groups: usize,
    /// Bytes of a share.
    pub(crate) share: usize,
}

impl Order {
    /// Bytes of the block.
    pub(crate) fn bytes(self) -> usize {
        self.chunks * self.groups * GROUP_ROWS * self.share
    }

    /// Chunks of each of `most` streams, of which the last may have fewer or none.
    fn stream(self, most: usize) -> usize {
        self.chunks.div_ceil(STRIP_CHUNKS).div_ceil(most) * STRIP_CHUNKS
    }

    /// Places that [`Self::strips`] reads side by side: `most`, or fewer if there are fewer strips.
    #[inline(always)]
    pub(crate) fn streams(self, most: usize) -> usize {
        self.chunks.div_ceil(self.stream(most))
    }

    /// Every group of every strip, read in up to `most` places side by side, from each of them on to its end: the strips of a turn, by
    /// their first chunks, and the group.
    #[inline(always)]
    pub(crate) fn turns(self, most: usize) -> impl Iterator<Item = (impl Iterator<Item = usize> + Clone, usize)> {
        let (stream, streams) = (self.stream(most), self.streams(most));
        let steps = (0..stream).step_by(STRIP_CHUNKS);
        let strips = move |step| {
            (0..streams).map(move |number| number * stream + step).filter(move |&first| first < self.chunks)
        };
        steps.flat_map(move |step| (0..self.groups).map(move |group| (strips(step), group)))
    }

    /// Every group of every strip in the order of [`Self::turns`]: the first chunk of the strip, and the group.
    #[inline(always)]
    pub(crate) fn strips(self, most: usize) -> impl Iterator<Item = (usize, usize)> {
        self.turns(most).flat_map(|(strips, group)| strips.map(move |first| (first, group)))
    }

    /// Chunks from the given one to the end of its strip, which follow one another in memory, a group's 8 shares apart.
    #[inline(always)]
    pub(crate) fn run(self, chunk: usize) -> usize {
        STRIP_CHUNKS.min(self.chunks - chunk / STRIP_CHUNKS * STRIP_CHUNKS) - chunk % STRIP_CHUNKS
    }

    /// Offset in the block of the share of row `row` (of the block) in chunk `chunk`.
    #[inline(always)]
    pub(crate) fn at(self, chunk: usize, row: usize) -> usize {
        let strip_start = chunk / STRIP_CHUNKS * STRIP_CHUNKS;
        let strip_chunks = STRIP_CHUNKS.min(self.chunks - strip_start);
        let groups_before = strip_start * self.groups + row / GROUP_ROWS * strip_chunks + chunk % STRIP_CHUNKS;
        (groups_before * GROUP_ROWS + row % GROUP_ROWS) * self.share
    }
}
