//! What a client keeps for one window of queries: hints, spare hints, replacements, entries that no hint holds, entries it has had.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::RngCore;
use ring::Seed;
use ring::secret::uniform_below;
use zeroize::Zeroizing;

use super::hints::{Entries, Sums, xor};
use super::layout::Layout;
use super::prf::{LANES, Sets};
use crate::core::seed::fresh_seed;
use crate::core::threads::side_by_side;
use crate::core::{Context, Result};

/// No entry was put into a set.
pub(super) const NONE: u32 = u32::MAX;

/// Tags that a thread goes through at a time while the database is read.
const TAGS_TOGETHER: usize = 1 << 14;

/// The state of one window.
pub(super) struct Window {
    pub(super) key: Zeroizing<Seed>,
    pub(super) sets: Sets,
    /// By hint: the tag of its set, and the position of an entry that stands in the set for the one of its chunk.
    pub(super) tags: Vec<u32>,
    pub(super) programmed: Vec<u32>,
    /// Sums of hints, then of the spare hints of each chunk, which lack that chunk.
    pub(super) sums: Sums,
    /// By chunk: places of random entries, and these entries.
    pub(super) replacement_places: Vec<u32>,
    pub(super) replacements: Sums,
    /// Spare hints, and replacements, of each chunk that are used.
    pub(super) used: Vec<u32>,
    /// Entries whose answers were not read yet, each with the renewed hint whose sum lacks it.
    pub(super) lacking: HashMap<u32, usize>,
    /// Entries that are not in any hint's set.
    pub(super) unhit: Entries,
    /// Entries that were asked for.
    pub(super) known: Entries,
    /// Queries so far.
    pub(super) asked: u64,
    /// Messages of the database that were read.
    pub(super) parts: u64,
}

/// A hint whose entry is being asked for.
pub(super) struct Taken {
    /// The places of its set in all chunks.
    pub set: Vec<u32>,
    /// The sum of its set, without the entry that it lacks.
    pub sum: Vec<u64>,
    /// The position of an entry in its set whose own answer was not read yet.
    pub lacks: Option<u32>,
    /// The place and the entry that stand in for the one asked for, where the answer is of a whole set.
    pub replacement: Option<(u32, Vec<u64>)>,
}

impl Window {
    /// A window that has read nothing of the database yet.
    pub fn new(layout: &Layout, rng: &mut impl RngCore) -> Self {
        Self::of_key(layout, fresh_seed(rng))
    }

    /// A window whose sets are those of the key.
    pub fn of_key(layout: &Layout, key: Seed) -> Self {
        Self {
            key: Zeroizing::new(key),
            sets: Sets::new(&key, layout.chunk),
            tags: (0..layout.hints as u32).collect(),
            programmed: vec![NONE; layout.hints],
            sums: Sums::zero(layout.entry_words, layout.tags()),
            replacement_places: vec![0; layout.chunks * layout.replacements],
            replacements: Sums::zero(layout.entry_words, layout.chunks * layout.replacements),
            used: vec![0; layout.chunks],
            lacking: HashMap::new(),
            unhit: Entries::new(layout.entry_words),
            known: Entries::new(layout.entry_words),
            asked: 0,
            parts: 0,
        }
    }

    /// Reads the next four chunks, whose entries stand in `data` one after the other.
    pub fn read(&mut self, layout: &Layout, data: &[u64], context: &mut Context) -> Result<()> {
        let quad = self.parts as usize;
        self.parts += 1;
        let words = layout.entry_words;
        let hit = Hit::none(LANES * layout.chunk);
        let parts = self.sums.words_mut().chunks_mut(TAGS_TOGETHER * words).enumerate();
        let (sets, hints) = (&self.sets, layout.hints);
        side_by_side(parts, context.threads, |(part, sums)| {
            let first = part * TAGS_TOGETHER;
            let last = first + sums.len() / words;
            let marking = if hit.all() { first } else { hints.clamp(first, last) };
            let (marked, others) = sums.split_at_mut((marking - first) * words);
            let mark = |lanes: [u32; LANES]| {
                (0..LANES).for_each(|lane| hit.mark(lane * layout.chunk + lanes[lane] as usize));
            };
            sets.add(first as u32..marking as u32, quad, (data, words), marked, mark);
            sets.add(marking as u32..last as u32, quad, (data, words), others, |_| ());
            Ok(())
        })?;
        for lane in 0..LANES {
            let chunk = quad * LANES + lane;
            let entry = |place: u32| {
                let at = (lane * layout.chunk + place as usize) * words;
                &data[at..at + words]
            };
            // Spare hints of a chunk lack it: what was added is taken off.
            let spares = self.spares(layout, chunk);
            let first = spares.start as usize;
            let sums = &mut self.sums;
            self.sets.of_tags(spares, quad, |i, lanes| xor(sums.get_mut(first + i), entry(lanes[lane])));
            for slot in chunk * layout.replacements..(chunk + 1) * layout.replacements {
                let place = uniform_below(&mut context.rng, layout.chunk as u64) as u32;
                self.replacement_places[slot] = place;
                self.replacements.get_mut(slot).copy_from_slice(entry(place));
            }
            let places = 0..layout.chunk as u32;
            let unhit = places.filter(|&place| !hit.is(lane * layout.chunk + place as usize));
            unhit.for_each(|place| self.unhit.insert(layout.join(chunk, place), entry(place)));
        }
        Ok(())
    }

    /// Tags of the spare hints of a chunk.
    fn spares(&self, layout: &Layout, chunk: usize) -> Range<u32> {
        let first = (layout.hints + chunk * layout.backups) as u32;
        first..first + layout.backups as u32
    }

    /// Takes the first hint whose set holds that entry, or says what is missing. A spare hint with the entry in its set stands in its place
    /// at once: if the hint were missing until the answer comes, the sets of further requests would hold the entry too rarely, and the
    /// server would see that.
    pub fn take(&mut self, layout: &Layout, position: u32) -> std::result::Result<Taken, &'static str> {
        let (chunk, _) = layout.split(position);
        let is_it = |hint: usize, found| holds(layout, self.programmed[hint], found, position);
        let hint = self.sets.find(&self.tags, chunk, is_it).ok_or("no hint holds the entry")?;
        let used = self.used[chunk];
        if used as usize >= layout.backups {
            return Err("the spare hints of its chunk are used up");
        }
        self.used[chunk] += 1;
        let slot = chunk * layout.backups + used as usize;
        let spare = layout.hints + slot;
        let tag = std::mem::replace(&mut self.tags[hint], spare as u32);
        let programmed = std::mem::replace(&mut self.programmed[hint], position);
        let mut set = self.sets.set(tag, layout.chunks);
        if programmed != NONE {
            let (chunk, place) = layout.split(programmed);
            set[chunk] = place;
        }
        let sum = self.sums.get(hint).to_vec();
        let renewed = self.sums.get(spare).to_vec();
        self.sums.get_mut(hint).copy_from_slice(&renewed);
        let lacks = self.lacking.remove(&programmed).map(|_| programmed);
        self.lacking.insert(position, hint);
        let replacement =
            (layout.replacements > 0).then(|| (self.replacement_places[slot], self.replacements.get(slot).to_vec()));
        Ok(Taken { set, sum, lacks, replacement })
    }

    /// Takes note of an entry that an answer gave, and adds it to the hint that lacks it, unless a later request took that one.
    pub fn learn(&mut self, position: u32, entry: &[u64]) {
        if let Some(hint) = self.lacking.remove(&position) {
            xor(self.sums.get_mut(hint), entry);
        }
        self.known.insert(position, entry);
    }

    /// Follows the change of an entry of a chunk that was read.
    pub fn change(&mut self, layout: &Layout, position: u32, delta: &[u64]) {
        let (chunk, place) = layout.split(position);
        let (quad, lane) = (chunk / LANES, chunk % LANES);
        if quad as u64 >= self.parts {
            return;
        }
        let Self { sums, programmed, tags, lacking, .. } = self;
        let lacks = lacking.get(&position).copied();
        self.sets.places(tags, chunk, |hint, found| {
            if lacks != Some(hint) && holds(layout, programmed[hint], found, position) {
                xor(sums.get_mut(hint), delta);
            }
        });
        let own = layout.hints + chunk * layout.backups..layout.hints + (chunk + 1) * layout.backups;
        self.sets.of_tags(layout.hints as u32..layout.tags() as u32, quad, |i, lanes| {
            let tag = layout.hints + i;
            if lanes[lane] == place && !own.contains(&tag) {
                xor(sums.get_mut(tag), delta);
            }
        });
        let slots = chunk * layout.replacements..(chunk + 1) * layout.replacements;
        for slot in slots.filter(|&slot| self.replacement_places[slot] == place) {
            xor(self.replacements.get_mut(slot), delta);
        }
        for entry in [self.unhit.get_mut(position), self.known.get_mut(position)].into_iter().flatten() {
            xor(entry, delta);
        }
    }
}

/// Which of the entries that are read are in a hint's set. Nearly always all are after a third of the hints, which ends the marking.
struct Hit {
    entries: Vec<AtomicBool>,
    all: AtomicBool,
}

impl Hit {
    fn none(entries: usize) -> Self {
        Self { entries: (0..entries).map(|_| AtomicBool::new(false)).collect(), all: AtomicBool::new(false) }
    }

    fn is(&self, entry: usize) -> bool {
        self.entries[entry].load(Ordering::Relaxed)
    }

    fn mark(&self, entry: usize) {
        self.entries[entry].store(true, Ordering::Relaxed);
    }

    fn all(&self) -> bool {
        let all = self.all.load(Ordering::Relaxed) || self.entries.iter().all(|entry| entry.load(Ordering::Relaxed));
        self.all.store(all, Ordering::Relaxed);
        all
    }
}

/// Whether a set holds the entry at that position: of the position's chunk it has the entry that was put into it, if any, or else the one at
/// the place `found`.
fn holds(layout: &Layout, programmed: u32, found: u32, position: u32) -> bool {
    let (chunk, place) = layout.split(position);
    if programmed != NONE && layout.split(programmed).0 == chunk { programmed == position } else { found == place }
}
