//! The pseudorandom sets: hint `tag` holds the entry of chunk j whose place in it is a lane of AES-128(key, (j / 4, tag)). Blocks of
//! consecutive tags are a piece of the generator's stream.

use std::ops::Range;

use ring::{Prg, Seed};

use super::hints::xor;

/// Chunks whose places one block decides.
pub const LANES: usize = 4;
/// Tags whose blocks are made together.
const TOGETHER: usize = 256;

/// The sets of one window.
pub struct Sets {
    prg: Prg,
    mask: u32,
}

/// The number of the block of a tag and the four chunks `quad`.
fn counter(tag: u32, quad: usize) -> u64 {
    (quad as u64) << 32 | u64::from(tag)
}

impl Sets {
    /// Sets under that key, with places below `chunk`, a power of two.
    pub fn new(key: &Seed, chunk: usize) -> Self {
        Self { prg: key.prg(), mask: chunk as u32 - 1 }
    }

    /// Calls with the number of each of the tags and its places in the four chunks `quad`.
    #[inline]
    pub fn of_tags(&self, tags: Range<u32>, quad: usize, mut visit: impl FnMut(usize, [u32; LANES])) {
        let mut words = [0; LANES * TOGETHER];
        for first in tags.clone().step_by(TOGETHER) {
            let count = TOGETHER.min((tags.end - first) as usize);
            let words = &mut words[..LANES * count];
            self.prg.fill_u32_at(LANES as u64 * counter(first, quad), words);
            let before = (first - tags.start) as usize;
            for (i, lanes) in words.as_chunks().0.iter().enumerate() {
                visit(before + i, lanes.map(|lane: u32| lane & self.mask));
            }
        }
    }

    /// Adds to the sum of each tag the entries of its set in the four chunks `quad`, whose entries of `words` words stand in `data` one after
    /// the other, and calls with the places of each.
    #[inline]
    pub fn add(
        &self,
        tags: Range<u32>,
        quad: usize,
        (data, words): (&[u64], usize),
        sums: &mut [u64],
        mut visit: impl FnMut([u32; LANES]),
    ) {
        let length = (self.mask as usize + 1) * words;
        let chunks: [&[u64]; LANES] = std::array::from_fn(|lane| &data[lane * length..(lane + 1) * length]);
        if words == 1 {
            self.of_tags(tags, quad, |i, lanes| {
                sums[i] ^= chunks.iter().zip(lanes).fold(0, |sum, (chunk, place)| sum ^ chunk[place as usize]);
                visit(lanes);
            });
            return;
        }
        self.of_tags(tags, quad, |i, lanes| {
            let sum = &mut sums[i * words..(i + 1) * words];
            chunks.iter().zip(lanes).for_each(|(chunk, place)| xor(sum, &chunk[place as usize * words..][..words]));
            visit(lanes);
        });
    }

    /// Calls with the number of each input, a tag and four chunks in any order, and the places that it decides.
    fn each(&self, inputs: impl Iterator<Item = (u32, usize)>, mut visit: impl FnMut(usize, [u32; LANES])) {
        let (mut blocks, mut inputs, mut first) = ([[0u8; 16]; TOGETHER], inputs.peekable(), 0);
        while inputs.peek().is_some() {
            let taken = blocks.iter_mut().zip(inputs.by_ref());
            let count = taken.map(|(block, (tag, quad))| *block = u128::from(counter(tag, quad)).to_be_bytes()).count();
            self.prg.permute(&mut blocks[..count]);
            for (i, block) in blocks[..count].iter().enumerate() {
                let lanes = u128::from_le_bytes(*block);
                visit(first + i, std::array::from_fn(|lane| (lanes >> (32 * lane)) as u32 & self.mask));
            }
            first += count;
        }
    }

    /// Calls with the number of each of the tags, in any order, and its place in a chunk.
    pub fn places(&self, tags: &[u32], chunk: usize, mut visit: impl FnMut(usize, u32)) {
        let inputs = tags.iter().map(|&tag| (tag, chunk / LANES));
        self.each(inputs, |i, lanes| visit(i, lanes[chunk % LANES]));
    }

    /// The first of the tags, by number, whose place in `chunk` passes the test.
    pub fn find(&self, tags: &[u32], chunk: usize, is_it: impl Fn(usize, u32) -> bool) -> Option<usize> {
        let mut parts = (0..).step_by(TOGETHER).zip(tags.chunks(TOGETHER));
        parts.find_map(|(start, tags)| {
            let mut found = None;
            self.places(tags, chunk, |i, place| {
                if found.is_none() && is_it(start + i, place) {
                    found = Some(start + i);
                }
            });
            found
        })
    }

    /// The places of a tag in all chunks.
    pub fn set(&self, tag: u32, chunks: usize) -> Vec<u32> {
        let mut places = Vec::with_capacity(chunks);
        self.each((0..chunks / LANES).map(|quad| (tag, quad)), |_, lanes| places.extend(lanes));
        places
    }
}
