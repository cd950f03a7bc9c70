//! Piano's server.

use lattice::wire::Reader;
use ring::{Buffer, Seed};

use super::hints::xor;
use super::layout::Layout;
use super::prf::LANES;
use super::set::{Answer, NAME, Set};
use crate::core::seed::fresh_seed;
use crate::core::threads::side_by_side;
use crate::core::{
    Change, Context, Database, Error, Frame, FrameBuilder, Group, Messages, Request, Result, TableBytes, answers,
    check_change, copy_bits, for_each_query, protocol,
};
use crate::parts::permutation::Permutations;

/// Entries that are read from the database at a time.
const ENTRIES_TOGETHER: u64 = 1 << 14;

/// The entries at their places.
pub struct Server {
    layout: Layout,
    seed: Seed,
    permutation: Permutations,
    /// On huge pages: reads at random places would else miss the cache of addresses too.
    entries: Buffer<u64>,
    /// Updates so far, modulo 2^16.
    epoch: u16,
}

impl Server {
    fn encode(&mut self, database: &Database, context: &Context) -> Result<()> {
        let Layout { entries, records_per_entry, entry_words, .. } = self.layout;
        let entry_bits = records_per_entry * self.layout.shape.record_bits;
        context.progress.begin("encode", entries);
        for first in (0..entries).step_by(ENTRIES_TOGETHER as usize) {
            let count = ENTRIES_TOGETHER.min(entries - first);
            let shift = first * entry_bits % 8;
            let mut bytes = vec![0; (shift + count * entry_bits).div_ceil(8) as usize];
            database.read_bytes(first * entry_bits / 8, &mut bytes)?;
            let mut entry = vec![0; 8 * entry_words];
            let mut positions: Vec<u64> = (first..first + count).collect();
            self.permutation.apply_each(0, &mut positions);
            for (i, position) in (0..).zip(positions) {
                let bit = shift + i * entry_bits;
                copy_bits(&bytes[(bit / 8) as usize..], (bit % 8) as u32, entry_bits as usize, &mut entry);
                let at = position as usize * entry_words;
                let words = self.entries[at..at + entry_words].iter_mut().zip(entry.as_chunks().0);
                words.for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
            }
            context.progress.advance(count);
        }
        context.progress.end();
        Ok(())
    }

    /// The entry at a place of a chunk.
    fn entry(&self, chunk: usize, place: u32) -> &[u64] {
        let words = self.layout.entry_words;
        &self.entries[self.layout.join(chunk, place) as usize * words..][..words]
    }

    /// The entry at a place of a chunk, where entries have one word.
    fn word(&self, chunk: usize, place: u32) -> u64 {
        self.entries[self.layout.join(chunk, place) as usize]
    }

    /// The places that a query names.
    fn places(&self, query: &[u8]) -> Result<Vec<u32>> {
        let (layout, bits, mut reader) = (&self.layout, self.layout.written_bits(), Reader::of(query));
        // Eight bytes have the number of an entry, fewer bits its place in the chunk.
        let numbers = layout.answer() == Answer::Sum && bits == u64::BITS;
        let mut wrong = None;
        let place = |chunk: usize| {
            let found = reader.bits(bits);
            let place = found.wrapping_sub(if numbers { layout.join(chunk, 0).into() } else { 0 });
            if place >= layout.chunk as u64 {
                wrong = Some((chunk, found));
            }
            place as u32
        };
        let places = (0..layout.answer().named(layout.chunks)).map(place).collect();
        match wrong {
            Some((chunk, found)) => {
                Err(Error::message("query", format!("{found} in the place of an entry of chunk {chunk}.")))
            }
            None => Ok(places),
        }
    }

    /// The sums of a set.
    fn sums(&self, places: &[u32]) -> Vec<u64> {
        let (chunks, words) = (self.layout.chunks, self.layout.entry_words);
        match self.layout.answer() {
            Answer::Sum => {
                let mut sum = vec![0; words];
                if words == 1 {
                    sum[0] = places.iter().enumerate().fold(0, |sum, (chunk, &place)| sum ^ self.word(chunk, place));
                } else {
                    places.iter().enumerate().for_each(|(chunk, &place)| xor(&mut sum, self.entry(chunk, place)));
                }
                sum
            }
            Answer::SumOfEachChunk => {
                // The first sum lacks chunk 0; each next one lacks a chunk later, so that the place before it is of the chunk before.
                // First the differences of neighbours, whose reads do not wait for one another, then the sums of these.
                let mut sums = vec![0; chunks * words];
                if words == 1 {
                    let mut first = 0;
                    for (i, (&place, difference)) in places.iter().zip(&mut sums[1..]).enumerate() {
                        let [before, after] = [i, i + 1].map(|chunk| self.word(chunk, place));
                        *difference = before ^ after;
                        first ^= after;
                    }
                    sums[0] = first;
                    sums.iter_mut().fold(0, |sum, each| {
                        *each ^= sum;
                        *each
                    });
                    return sums;
                }
                let (first, differences) = sums.split_at_mut(words);
                for (i, (&place, difference)) in places.iter().zip(differences.chunks_exact_mut(words)).enumerate() {
                    let [before, after] = [i, i + 1].map(|chunk| self.entry(chunk, place));
                    difference.copy_from_slice(before);
                    xor(difference, after);
                    xor(first, after);
                }
                for chunk in 1..chunks {
                    let (before, sum) = sums[(chunk - 1) * words..(chunk + 1) * words].split_at_mut(words);
                    xor(sum, before);
                }
                sums
            }
        }
    }
}

impl protocol::Server for Server {
    type Set = Set;

    /// Puts entries at their places (phase `encode`).
    fn new(params: &Set, database: &Database, context: &mut Context) -> Result<Self> {
        let layout = Layout::new(params, database.shape())?;
        let seed = fresh_seed(&mut context.rng);
        let permutation = layout.permutation(&seed);
        let entries = Buffer::zeroed(layout.positions() as usize * layout.entry_words)?;
        let mut server = Self { layout, seed, permutation, entries, epoch: 0 };
        let clock = context.clock.clone();
        clock.time("encode", Group::Offline, || server.encode(database, context))?;
        Ok(server)
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![TableBytes::new("database", 8 * self.entries.len() as u64)]
    }

    fn touch(&self) {
        self.entries.touch();
    }

    fn publish(&self) -> Messages {
        vec![("seed", Frame::of(NAME, "seed", &self.seed.0).at_epoch(self.epoch))]
    }

    /// Four chunks.
    fn stream(&self, part: u64) -> Option<(Messages, u64)> {
        let words = LANES * self.layout.chunk * self.layout.entry_words;
        let entries = self.entries.chunks_exact(words).nth(part as usize)?;
        let mut builder = FrameBuilder::new(self.layout.part_bytes());
        for (bytes, word) in builder.payload_mut().chunks_exact_mut(8).zip(entries) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let message = builder.finish(NAME, "database").at_epoch(self.epoch).numbered(part as u16);
        Some((vec![("database", message)], self.layout.window))
    }

    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let mut queries = Vec::new();
        for_each_query(NAME, requests, &[("query", self.layout.query_bytes())], |parts| {
            queries.push(self.places(parts[0])?);
            Ok(())
        })?;
        let sums = side_by_side(queries.iter(), context.threads, |places| Ok(self.sums(places)))?;
        answers(NAME, requests, self.layout.answer_bytes(), |query, out| {
            out.chunks_exact_mut(8).zip(&sums[query]).for_each(|(out, word)| out.copy_from_slice(&word.to_le_bytes()));
            Ok(())
        })
    }

    /// Changes records. The message says of each what is added to it.
    fn update(&mut self, changes: &[Change], _: &mut Context) -> Result<Messages> {
        let layout = self.layout;
        changes.iter().try_for_each(|(index, record)| check_change(layout.shape, *index, record))?;
        let each = 8 + layout.shape.record_bytes();
        let mut builder = FrameBuilder::new(changes.len() * each);
        for ((index, record), out) in changes.iter().zip(builder.payload_mut().chunks_exact_mut(each)) {
            let (entry, first_bit) = layout.place(*index);
            let at = self.permutation.apply(0, entry) as usize * layout.entry_words;
            let entry = &mut self.entries[at..at + layout.entry_words];
            let bytes: Vec<u8> = entry.iter().flat_map(|word| word.to_le_bytes()).collect();
            let (number, delta) = out.split_at_mut(8);
            number.copy_from_slice(&index.to_le_bytes());
            let bits = layout.shape.record_bits as usize;
            copy_bits(&bytes[(first_bit / 8) as usize..], (first_bit % 8) as u32, bits, delta);
            delta.iter_mut().zip(record).for_each(|(old, new)| *old ^= new);
            xor(entry, &layout.in_entry(*index, delta));
        }
        self.epoch = self.epoch.wrapping_add(1);
        Ok(vec![("hint_delta", builder.finish(NAME, "hint_delta").at_epoch(self.epoch))])
    }
}
