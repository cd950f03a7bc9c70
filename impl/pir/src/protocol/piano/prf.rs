//! The pseudorandom sets: hint `tag` holds the entry of chunk j whose place in it is a lane of AES-128(key, (tag, j / 4)).

use ring::{Prg, Seed};

/// Chunks whose places one block decides.
pub const LANES: usize = 4;
/// Blocks that are encrypted together.
const TOGETHER: usize = 64;

/// The sets of one window.
pub struct Sets {
    prg: Prg,
    mask: u32,
}

impl Sets {
    /// Sets under that key, with places below `chunk`, a power of two.
    pub fn new(key: &Seed, chunk: usize) -> Self {
        Self { prg: key.prg(), mask: chunk as u32 - 1 }
    }

    /// Calls with the number of each input and the places of the four chunks that it decides.
    fn each(&self, inputs: impl ExactSizeIterator<Item = (u32, u32)>, mut visit: impl FnMut(usize, [u32; LANES])) {
        let mut blocks = [[0u8; 16]; TOGETHER];
        let (mut first, count, mut inputs) = (0, inputs.len(), inputs);
        while first < count {
            let blocks = &mut blocks[..TOGETHER.min(count - first)];
            for (block, (tag, quad)) in blocks.iter_mut().zip(&mut inputs) {
                *block = (u128::from(quad) << 32 | u128::from(tag)).to_le_bytes();
            }
            self.prg.permute(blocks);
            for (i, block) in blocks.iter().enumerate() {
                let lanes = u128::from_le_bytes(*block);
                visit(first + i, std::array::from_fn(|lane| (lanes >> (32 * lane)) as u32 & self.mask));
            }
            first += blocks.len();
        }
    }

    /// Calls with the number of each of the tags and its places in the four chunks `quad`.
    pub fn of_tags(
        &self,
        tags: impl ExactSizeIterator<Item = u32>,
        quad: usize,
        visit: impl FnMut(usize, [u32; LANES]),
    ) {
        self.each(tags.map(|tag| (tag, quad as u32)), visit);
    }

    /// The first of the tags, by number, whose place in `chunk` passes the test.
    pub fn find(&self, tags: &[u32], chunk: usize, is_it: impl Fn(usize, u32) -> bool) -> Option<usize> {
        for (start, tags) in (0..).step_by(TOGETHER).zip(tags.chunks(TOGETHER)) {
            let mut found = None;
            self.each(tags.iter().map(|&tag| (tag, (chunk / LANES) as u32)), |i, lanes| {
                if found.is_none() && is_it(start + i, lanes[chunk % LANES]) {
                    found = Some(start + i);
                }
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The places of a tag in all chunks.
    pub fn set(&self, tag: u32, chunks: usize) -> Vec<u32> {
        let mut places = Vec::with_capacity(chunks);
        self.each((0..chunks / LANES).map(|quad| (tag, quad as u32)), |_, lanes| places.extend(lanes));
        places
    }
}
