//! How records become entries, entries chunks, and how many hints a window of queries takes.

use ring::Seed;

use super::set::{Answer, Backups, Offsets, Set, too_many};
use crate::core::{Result, Shape};
use crate::parts::permutation::Permutations;

/// Bits of a word of an entry.
const WORD_BITS: u64 = 64;
/// Queries of a window, at least: databases of a few entries have windows too.
const LEAST_WINDOW: u64 = 1024;
/// Entries of a chunk, at least.
const LEAST_CHUNK: u64 = 16;

/// A database as chunks of entries, and a client's counts for one window. The letters of the paper in brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// The database.
    pub shape: Shape,
    /// Records of one entry: as many as 64 bits hold, or one.
    pub records_per_entry: u64,
    /// Words of 64 bits of an entry.
    pub entry_words: usize,
    /// Entries that hold records (N).
    pub entries: u64,
    /// Entries of a chunk, a power of two: at least `chunk_factor` sqrt(N) (2 sqrt(N) as published).
    pub chunk: usize,
    /// Chunks, a multiple of four (S).
    pub chunks: usize,
    /// Queries of a window: sqrt(N) ln N (Q).
    pub window: u64,
    /// Hints of a window (M1).
    pub hints: usize,
    /// Spare hints of each chunk (M2).
    pub backups: usize,
    /// Replacements of each chunk: as many, or none where an answer takes none.
    pub replacements: usize,
    /// Bits of a place in a chunk.
    pub offset_bits: u32,
    answer: Answer,
    offsets: Offsets,
}

impl Layout {
    /// The layout of a database.
    pub fn new(params: &Set, shape: Shape) -> Result<Self> {
        let records_per_entry = (WORD_BITS / shape.record_bits).max(1);
        let entries = shape.records.div_ceil(records_per_entry);
        let root = (entries as f64).sqrt();
        let chunk = ((params.chunk_factor as f64 * root).ceil() as u64).next_power_of_two().max(LEAST_CHUNK);
        let chunks = entries.div_ceil(chunk).next_multiple_of(4);
        if u128::from(chunk) * u128::from(chunks) >= 1 << 32 {
            return Err(too_many(u128::from(chunk) * u128::from(chunks)));
        }
        let window = ((root * (entries as f64).ln()) as u64).max(LEAST_WINDOW);
        let hints_per_entry = (params.hint_failure_bits * std::f64::consts::LN_2 + (window as f64).ln()).ceil();
        // No entry is asked for twice in a window, so that a chunk needs no more spare hints than it has entries.
        let backups = match params.backups {
            Backups::Times(times) => times * (window / chunks).max(1),
            Backups::FailureBits(bits) => fewest_backups(window, chunks, bits),
        }
        .min(chunk) as usize;
        Ok(Self {
            shape,
            records_per_entry,
            entry_words: (shape.record_bits.div_ceil(WORD_BITS)) as usize,
            entries,
            chunk: chunk as usize,
            chunks: chunks as usize,
            window,
            hints: hints_per_entry as usize * chunk as usize,
            backups,
            replacements: if params.answer == Answer::Sum { backups } else { 0 },
            offset_bits: chunk.ilog2(),
            answer: params.answer,
            offsets: params.offsets,
        })
    }

    /// Places of entries, with those that hold none.
    pub fn positions(&self) -> u64 {
        (self.chunk * self.chunks) as u64
    }

    /// The public permutation under which entries are stored, the first of its family: queries for any records then fall into chunks as
    /// random ones do.
    pub fn permutation(&self, seed: &Seed) -> Permutations {
        Permutations::new(&seed.derive("piano permutation"), self.positions())
    }

    /// Bytes of an entry.
    pub fn entry_bytes(&self) -> usize {
        8 * self.entry_words
    }

    /// Hints and spare hints, numbered one after the other: the hints, then the spare ones of each chunk.
    pub fn tags(&self) -> usize {
        self.hints + self.chunks * self.backups
    }

    /// Messages in which the database is read: four chunks each.
    pub fn parts(&self) -> u64 {
        (self.chunks / 4) as u64
    }

    /// Payload bytes of one of them.
    pub fn part_bytes(&self) -> usize {
        4 * self.chunk * self.entry_bytes()
    }

    /// Bits of an entry of the set in a query.
    pub fn written_bits(&self) -> u32 {
        match self.offsets {
            Offsets::Words => u64::BITS,
            Offsets::Packed => self.offset_bits,
        }
    }

    /// What an answer is.
    pub fn answer(&self) -> Answer {
        self.answer
    }

    /// Payload bytes of a query.
    pub fn query_bytes(&self) -> usize {
        (self.answer.named(self.chunks) * self.written_bits() as usize).div_ceil(8)
    }

    /// Payload bytes of an answer.
    pub fn answer_bytes(&self) -> usize {
        self.answer.sums(self.chunks) * self.entry_bytes()
    }

    /// Where a record stands in its entry: the entry, and the first bit.
    pub fn place(&self, index: u64) -> (u64, u64) {
        (index / self.records_per_entry, index % self.records_per_entry * self.shape.record_bits)
    }

    /// The bytes of a record in the words of its entry, all other bits zero.
    pub fn in_entry(&self, index: u64, record: &[u8]) -> Vec<u64> {
        let (_, first_bit) = self.place(index);
        let mut entry = vec![0u64; self.entry_words];
        for (word, bytes) in entry.iter_mut().zip(record.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(padded) << first_bit;
        }
        entry
    }

    /// Chunk and place in it of a position.
    pub fn split(&self, position: u32) -> (usize, u32) {
        (position as usize >> self.offset_bits, position & (self.chunk as u32 - 1))
    }

    /// The position of a place in a chunk.
    pub fn join(&self, chunk: usize, offset: u32) -> u32 {
        ((chunk as u32) << self.offset_bits) | offset
    }
}

/// The fewest spare hints of each chunk of which those of some chunk run out with probability at most 2^-bits, when the queries of a window
/// fall into chunks at random: Chernoff's bound, which holds for places drawn without repetition too (Hoeffding 1963, section 6),
/// P[X >= k] <= exp(k - mean - k ln(k / mean)) for k above the mean, times the chunks.
fn fewest_backups(window: u64, chunks: u64, bits: f64) -> u64 {
    let (mean, most) = (window as f64 / chunks as f64, -bits * std::f64::consts::LN_2);
    let suffices = |&backups: &u64| {
        let k = (backups + 1) as f64;
        k > mean && (chunks as f64).ln() + k - mean - k * (k / mean).ln() <= most
    };
    (1..window).find(suffices).unwrap_or(window)
}
