//! Piano's client.

use std::collections::HashMap;

use rand::RngCore;
use ring::Seed;
use ring::secret::uniform_below;

use super::hints::{Entries, xor};
use super::layout::Layout;
use super::server::Server;
use super::set::{Answer, NAME, Set};
use super::window::{Taken, Window};
use crate::core::seed::SEED_BYTES;
use crate::core::{
    Context, Error, FrameBuilder, Group, Messages, Record, Request, Result, Shape, check_change, copy_bits, only,
    protocol,
};
use crate::parts::lwe_matrix::{impossible_change, read_changes};
use crate::parts::permutation::Permutations;
use lattice::wire::Writer;

/// A client with the windows of hints that it has, the requests under way, and what it knows of the database.
pub struct Client {
    pub(super) set: Set,
    pub(super) layout: Layout,
    /// The permutation of the entries and the version of the database, after the server has sent them.
    pub(super) public: Option<Public>,
    /// The window in use.
    pub(super) window: Option<Window>,
    /// The window that follows it, once the database was read again; until then, what was read so far.
    pub(super) next: Option<Window>,
    /// Entries of the window before, for requests that were under way when it ended.
    pub(super) before: Entries,
    /// Requests under way, by number.
    pub(super) under_way: HashMap<u64, UnderWay>,
    pub(super) requests: u64,
    /// Queries whose answers were not read yet, those with random sets too.
    pub(super) unanswered: u64,
    /// Seconds of reading the database.
    seconds: f64,
}

/// What the server publishes.
pub(super) struct Public {
    pub seed: Seed,
    pub permutation: Permutations,
    /// Updates of the database so far, modulo 2^16.
    pub epoch: u16,
}

/// A hint whose entry is being asked for.
pub(super) struct UnderWay {
    pub position: u32,
    pub taken: Taken,
    /// Whether the window that the hint is of has ended since.
    pub ended: bool,
}

/// One index asked for, and how its record is found.
pub struct Query {
    index: u64,
    position: u32,
    /// The request that the answer belongs to, of this entry or of another that covers it; none where a random set was sent.
    request: Option<u64>,
    /// Why the record cannot be had.
    failure: Option<&'static str>,
}

impl Public {
    pub fn new(seed: Seed, layout: &Layout, epoch: u16) -> Self {
        Self { seed, permutation: layout.permutation(&seed), epoch }
    }
}

impl Client {
    /// Takes what the server publishes. Hints serve the places and the version of the database that they were made of.
    fn meet(&mut self, public: Public) -> Result<()> {
        match &self.public {
            Some(known) if known.seed != public.seed => {
                let problem = "its entries are at other places: this client's hints are of another database. Take a fresh client.";
                return Err(Error::message("seed", problem));
            }
            Some(known) if known.epoch == public.epoch => {
                // No answer to an open request comes any more, and hints would lack their entries for ever. Random sets count too: else the
                // server would see from the queries that are left which sets were random.
                if self.unanswered > 0 {
                    self.window = None;
                }
                self.close_requests();
                return Ok(());
            }
            _ => {}
        }
        (self.window, self.next, self.public) = (None, None, Some(public));
        self.before = Entries::new(self.layout.entry_words);
        self.close_requests();
        Ok(())
    }

    fn close_requests(&mut self) {
        self.under_way.clear();
        self.unanswered = 0;
    }

    fn public(&self) -> Result<&Public> {
        self.public.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))
    }

    /// The window in use. One that has served all its queries gives way to the next.
    fn window(&mut self) -> Result<&mut Window> {
        let (layout, most) = (self.layout, self.layout.window);
        let is_used = self.window.as_ref().is_none_or(|window| window.asked == most);
        if is_used && self.next.as_ref().is_some_and(|window| window.parts == layout.parts()) {
            self.under_way.values_mut().for_each(|request| request.ended = true);
            let ended = std::mem::replace(&mut self.window, self.next.take());
            self.before = ended.map_or_else(|| Entries::new(layout.entry_words), |window| window.known);
        }
        match &mut self.window {
            Some(window) if window.asked < most => Ok(window),
            Some(_) => Err(Error::message(
                "query",
                format!("the {most} queries of a window were made: read the database again before the next."),
            )),
            None => Err(Error::message("database", "it must be read before a query.")),
        }
    }

    /// An entry that was asked for in this window or the one before, or that no hint holds.
    fn entry(&self, position: u32) -> Option<&[u64]> {
        let window = self.window.as_ref();
        let known = window.and_then(|window| window.known.get(position).or_else(|| window.unhit.get(position)));
        known.or_else(|| self.before.get(position))
    }

    /// Whether a query for an entry would be the second one for it in the window.
    fn is_asked(&self, position: u32) -> bool {
        let known = self.window.as_ref().is_some_and(|window| window.known.has(position));
        known || self.under_way.values().any(|request| !request.ended && request.position == position)
    }

    /// The position of an entry that was not asked for yet, if any is left.
    fn fresh_position(&self, rng: &mut impl RngCore) -> Result<Option<u32>> {
        let permutation = &self.public()?.permutation;
        let entries = self.layout.entries;
        let asked = self.window.as_ref().map_or(0, |window| window.known.len()) + self.under_way.len();
        // Where few are left, they are listed, so that the draw ends.
        if 2 * asked as u64 > entries {
            let left: Vec<u32> = (0..entries)
                .map(|entry| permutation.apply(0, entry) as u32)
                .filter(|&position| !self.is_asked(position))
                .collect();
            let drawn = uniform_below(rng, left.len() as u64) as usize;
            return Ok(left.get(drawn).copied());
        }
        loop {
            let position = permutation.apply(0, uniform_below(rng, entries)) as u32;
            if !self.is_asked(position) {
                return Ok(Some(position));
            }
        }
    }

    /// The set that is sent for one index, the chunk of its entry, and how the record is found. Whatever happens, both look random.
    fn ask(&mut self, index: u64, rng: &mut impl RngCore) -> Result<(Query, Vec<u32>, usize)> {
        let layout = self.layout;
        self.window()?.asked += 1;
        self.unanswered += 1;
        let position = self.public()?.permutation.apply(0, layout.place(index).0) as u32;
        // An entry that was asked for before, or that is known without, is covered by a query for another.
        let is_known = self.is_asked(position);
        let target = if is_known { self.fresh_position(rng)? } else { Some(position) };
        let window = self.window.as_mut().ok_or_else(|| Error::message("database", "it must be read first."))?;
        let unhit = target.is_some_and(|target| window.unhit.has(target));
        let taken = match target {
            Some(target) if !unhit => window.take(&layout, target).map(|taken| Some((target, taken))),
            _ => Ok(None),
        };
        let (taken, failure) = match taken {
            Ok(taken) => (taken, None),
            Err(why) => (None, (!is_known).then_some(why)),
        };
        let Some((target, taken)) = taken else {
            if let Some(entry) = window.unhit.get(position) {
                window.known.insert(position, entry);
            }
            let random = (0..layout.chunks).map(|_| uniform_below(rng, layout.chunk as u64) as u32).collect();
            let chunk = uniform_below(rng, layout.chunks as u64) as usize;
            return Ok((Query { index, position, request: None, failure }, random, chunk));
        };
        let (mut set, (chunk, _)) = (taken.set.clone(), layout.split(target));
        if let Some((place, _)) = taken.replacement {
            set[chunk] = place;
        }
        let request = self.requests;
        self.requests += 1;
        self.under_way.insert(request, UnderWay { position: target, taken, ended: false });
        Ok((Query { index, position, request: Some(request), failure }, set, chunk))
    }

    /// Reads one answer: the entry becomes known, and is added to the hint, or the sum of a later request, that lacks it.
    fn read(&mut self, request: u64, sums: &[u64]) -> Result<()> {
        let Some(UnderWay { position, taken, ended }) = self.under_way.remove(&request) else {
            return Err(Error::message("answer", format!("request {request} is not under way.")));
        };
        if taken.lacks.is_some() {
            return Err(Error::message("answer", "the answer of an earlier request must be read first."));
        }
        let (layout, words) = (self.layout, self.layout.entry_words);
        let mut entry = taken.sum.clone();
        match &taken.replacement {
            Some((_, replacement)) => {
                xor(&mut entry, sums);
                xor(&mut entry, replacement);
            }
            None => {
                let (chunk, _) = layout.split(position);
                xor(&mut entry, &sums[chunk * words..(chunk + 1) * words]);
            }
        }
        let of_the_window = self.under_way.values_mut().filter(|other| other.ended == ended);
        if let Some(other) = of_the_window.map(|other| &mut other.taken).find(|other| other.lacks == Some(position)) {
            xor(&mut other.sum, &entry);
            other.lacks = None;
        }
        if ended {
            self.before.insert(position, &entry);
        } else if let Some(window) = &mut self.window {
            window.learn(position, &entry);
        }
        Ok(())
    }

    /// The set as a query has it: without the chunk of the entry asked for, where an answer has a sum for each chunk.
    fn write(&self, (set, chunk): (&[u32], usize), writer: &mut Writer) {
        let (layout, bits) = (&self.layout, self.layout.written_bits());
        for (at, &place) in set.iter().enumerate() {
            match layout.answer() {
                Answer::SumOfEachChunk if at == chunk => {}
                // Eight bytes have room for the number of the entry, fewer bits for its place in the chunk.
                Answer::Sum if bits == u64::BITS => writer.write(layout.join(at, place).into(), bits),
                _ => writer.write(place.into(), bits),
            }
        }
    }

    /// The record of an entry.
    fn record(&self, index: u64, entry: &[u64]) -> Record {
        let (_, first_bit) = self.layout.place(index);
        let bytes: Vec<u8> = entry.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut record = vec![0; self.layout.shape.record_bytes()];
        let bits = self.layout.shape.record_bits as usize;
        copy_bits(&bytes[(first_bit / 8) as usize..], (first_bit % 8) as u32, bits, &mut record);
        record
    }
}

impl protocol::Client for Client {
    type Server = Server;
    type Query = Query;

    fn new(params: &Set, shape: Shape, _: &mut Context) -> Result<Self> {
        let layout = Layout::new(params, shape)?;
        Ok(Self {
            set: params.clone(),
            layout,
            public: None,
            window: None,
            next: None,
            before: Entries::new(layout.entry_words),
            under_way: HashMap::new(),
            requests: 0,
            unanswered: 0,
            seconds: 0.0,
        })
    }

    /// The seed of the permutation, then four chunks of the database with each message: hints are made of them for a window of queries,
    /// the first or the one that follows it.
    fn receive(&mut self, messages: Messages, context: &mut Context) -> Result<()> {
        if let [("seed", message)] = &messages[..] {
            let message = message.clone().check(NAME, "seed", SEED_BYTES as u64)?;
            let mut seed = Seed([0; SEED_BYTES]);
            seed.0.copy_from_slice(message.payload());
            return self.meet(Public::new(seed, &self.layout, message.epoch()));
        }
        let message = only("database", &messages)?.clone().check(NAME, "database", self.layout.part_bytes() as u64)?;
        message.check_epoch("database", self.public()?.epoch)?;
        let (layout, part) = (self.layout, u64::from(message.number()));
        if part == 0 {
            self.next = Some(Window::new(&layout, &mut context.rng));
            self.seconds = 0.0;
        }
        let window = self.next.as_mut().filter(|window| window.parts == part && part < layout.parts());
        let window = window.ok_or_else(|| Error::message("database", format!("part {part} came out of its order.")))?;
        let clock = context.clock.clone();
        let (read, seconds) = clock.measure(|| window.read(&layout, &words(message.payload()), context));
        self.seconds += seconds;
        if window.parts == layout.parts() {
            clock.add("read_database", Group::Offline, self.seconds);
        }
        read
    }

    fn queries_left(&self) -> u64 {
        let now = self.window.as_ref().map_or(0, |window| self.layout.window - window.asked);
        let next = self.next.as_ref().filter(|next| next.parts == self.layout.parts());
        now + next.map_or(0, |_| self.layout.window)
    }

    /// One set for each index.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Query>, Messages)> {
        indices.iter().try_for_each(|&index| self.layout.shape.check_index(index))?;
        let bytes = self.layout.query_bytes();
        let mut builder = FrameBuilder::new(bytes * indices.len());
        let mut asked = Vec::with_capacity(indices.len());
        for (&index, out) in indices.iter().zip(builder.payload_mut().chunks_exact_mut(bytes)) {
            let (query, set, chunk) = self.ask(index, &mut context.rng)?;
            let mut writer = Writer::with_capacity(bytes);
            self.write((&set, chunk), &mut writer);
            out.copy_from_slice(&writer.finish());
            asked.push(query);
        }
        Ok((asked, vec![("query", builder.finish(NAME, "query"))]))
    }

    fn extract(&mut self, asked: &[Query], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let bytes = self.layout.answer_bytes();
        let message = only("answer", answer)?.clone().check(NAME, "answer", (bytes * asked.len()) as u64)?;
        message.check_epoch("answer", self.public()?.epoch)?;
        for (query, sums) in asked.iter().zip(message.payload().chunks_exact(bytes)) {
            if let Some(request) = query.request {
                self.read(request, &words(sums))?;
            }
        }
        self.unanswered = self.unanswered.saturating_sub(asked.len() as u64);
        let record = |query: &Query| {
            let entry = self.entry(query.position).filter(|_| query.failure.is_none());
            let entry = entry.ok_or_else(|| {
                let why = query.failure.unwrap_or("its entry was not asked for");
                Error::Record { index: query.index, problem: format!("{why}. Ask in the next window.") }
            })?;
            Ok(self.record(query.index, entry))
        };
        asked.iter().map(record).collect()
    }

    /// Sums of bits modulo 2 have no errors.
    fn log_errors(&self, _: &[Query], _: &Server, _: (&Request, &Messages), _: &mut Context) -> Result<()> {
        Ok(())
    }

    fn update(&mut self, messages: &Messages, _: &mut Context) -> Result<()> {
        let (layout, message) = (self.layout, only("hint_delta", messages)?);
        let changes = read_changes(NAME, message, 8 + layout.shape.record_bytes(), layout.shape)?;
        let public = self.public.as_mut().ok_or_else(|| Error::message("seed", "it must be fetched first."))?;
        let epoch = public.epoch.wrapping_add(1);
        message.check_epoch("hint_delta", epoch)?;
        if let Some((index, _)) =
            changes.iter().find(|(index, bytes)| check_change(layout.shape, *index, bytes).is_err())
        {
            return Err(impossible_change(*index));
        }
        for (index, bytes) in changes {
            let position = public.permutation.apply(0, layout.place(index).0) as u32;
            let delta = layout.in_entry(index, bytes);
            for window in [&mut self.window, &mut self.next].into_iter().flatten() {
                window.change(&layout, position, &delta);
            }
            if let Some(entry) = self.before.get_mut(position) {
                xor(entry, &delta);
            }
            let (chunk, place) = layout.split(position);
            for UnderWay { position: asked, taken, .. } in self.under_way.values_mut() {
                if taken.set[chunk] == place && taken.lacks != Some(position) {
                    xor(&mut taken.sum, &delta);
                }
                if let Some((at, entry)) = &mut taken.replacement
                    && (layout.split(*asked).0, *at) == (chunk, place)
                {
                    xor(entry, &delta);
                }
            }
        }
        public.epoch = epoch;
        Ok(())
    }
}

/// Words of little-endian bytes.
pub(super) fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    bytes.as_chunks().0.iter().map(word).collect()
}
