//! Drives any protocol the same way: offline exchange, repetitions, updates; times, counts and checks everything.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use rand::RngCore;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::Kernel;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::core::clock::{Group, Phase};
use crate::core::database::{Database, Record};
use crate::core::description::{Direction, TableBytes};
use crate::core::enough::Enough;
use crate::core::error::{Error, Result};
use crate::core::noise::{NoiseLog, StageNoise};
use crate::core::progress::Progress;
use crate::core::protocol::{Context, Protocol, Request};
use crate::core::record::Correct;
use crate::core::session::{ClientSession, ServerSession};
use crate::core::streams::{Stream, choices};
use crate::core::transcript::{Entry, Link};
use crate::core::workload::Workload;

/// Memory of the program itself, of which 9.0 to 9.8 MiB are resident, and of its stacks.
pub const PROGRAM_BYTES: u64 = 10 << 20;

/// Memory of a run beside a protocol's tables: the program, and the four megabytes of small blocks that its allocator keeps.
pub const PROCESS_BYTES: u64 = PROGRAM_BYTES + (4 << 20);

/// Preprocessing and updates are repeated until each repetition has a sample, but no more after this many seconds.
const LONG_PHASE_SECONDS: f64 = 0.5;

/// Most exchanges before the first of several timed ones; who asks for one repetition wants one exchange, not two. One warm-up is too few:
/// the allocator then still requests pages that later exchanges reuse.
const WARM_UPS: u64 = 10;
/// No further exchange of the warm-up starts after this many seconds.
const WARM_UP_SECONDS: f64 = 0.2;
/// An exchange that takes longer is not made twice for each sample.
const LONG_EXCHANGE_SECONDS: f64 = 5.0;

/// Most changed records that are retrieved after an update.
const CHANGES_ASKED: usize = 16;

/// How a run is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// Kernel path of every matrix product.
    pub kernel: Kernel,
    /// Threads of the server.
    pub threads: usize,
    /// Samples of every phase.
    pub repetitions: u64,
    /// Seed of all randomness; with a seed, keys are not secret.
    pub seed: Option<[u8; 32]>,
    /// Overrides the least seconds for which noise is measured if a stage has few values.
    pub noise_seconds: Option<f64>,
}

/// What a finished session measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Seconds of every phase and repetition.
    pub phases: Vec<Phase>,
    /// Every message of the offline phase, of one repetition and of one update.
    pub transcript: Vec<Entry>,
    /// SHA-256 of the transcript's payloads, if the run has a seed.
    pub payload_sha256: Option<String>,
    /// Errors at each decryption.
    pub noise: Vec<StageNoise>,
    /// Retrieved records against the database.
    pub correct: Correct,
    /// What the server kept after the offline exchange; see [`Server::tables`](crate::core::protocol::Server::tables).
    pub held: Vec<TableBytes>,
}

/// One protocol at one workload, driven step by step so that several can take turns.
pub trait Session {
    /// Preprocessing and offline exchange.
    fn prepare(&mut self) -> Result<()>;
    /// Exchanges outside the clock before a repetition, unless there is only one: several before the first. One before each other is for rows
    /// that take turns. A server returns the memory of an answer's vectors to the system, and within seconds the host of a virtual machine
    /// takes it back: an answer after a pause would wait for it. That one is left out if the last exchange took long, and where a client
    /// has a limited number of queries. Tables of which answers read a few places are touched before each: see [`ServerSession::touch`].
    fn warm_up(&mut self) -> Result<()>;
    /// One query, answer, extraction; every record is compared with the database.
    fn repetition(&mut self) -> Result<()>;
    /// Makes exchanges outside the clock until the noise is measured over enough keys and values. This replaces the client.
    fn measure_noise(&mut self) -> Result<()>;
    /// One update of the workload's number of records, then queries for changed ones. Does nothing if the workload has no updates.
    fn update(&mut self) -> Result<()>;
    /// The measurements.
    fn finish(self: Box<Self>) -> Measured;
}

/// A session of protocol `P`.
pub struct Run<'a, P: Protocol> {
    params: Cow<'a, P::Set>,
    database: Database,
    workload: Workload,
    repetitions: u64,
    noise_seconds: Option<f64>,
    context: Context<'a>,
    /// The generator from which each part of the session derives its own stream; see [`Self::draw_from`].
    seed: Zeroizing<[u8; 32]>,
    parties: Option<(ServerSession<P>, ClientSession<P>)>,
    link: Link,
    choices: ChaCha20Rng,
    done: u64,
    /// Seconds that the repetitions took.
    spent: f64,
    /// Seconds that the last exchange took.
    took: Option<f64>,
    /// The request of the last repetition, until its noise is measured.
    last: Option<Request>,
    correct: Correct,
    held: Vec<TableBytes>,
}

impl<'a, P: Protocol> Run<'a, P> {
    /// A session that has not yet done anything.
    pub fn new(
        params: Cow<'a, P::Set>,
        database: Database,
        workload: Workload,
        options: &Options,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        if workload.streamed && !P::STREAMS {
            return Err(Error::cannot_stream(P::NAME));
        }
        if database.keys().is_some() && !P::KEYS {
            let problem = format!("{} asks for records by their numbers. Leave --keys out, or take cwpir.", P::NAME);
            return Err(Error::Workload(problem));
        }
        let kernel = options.kernel.check()?;
        let seed = match options.seed {
            Some(seed) => seed,
            None => {
                let mut seed = [0; 32];
                for half in seed.chunks_exact_mut(16) {
                    half.copy_from_slice(&ring::Seed::from_os().map_err(|e| Error::Workload(e.to_string()))?.0);
                }
                seed
            }
        };
        Ok(Self {
            params,
            database,
            workload,
            repetitions: options.repetitions.max(1),
            noise_seconds: options.noise_seconds,
            context: Context {
                kernel,
                threads: options.threads.max(1),
                streamed: workload.streamed,
                rng: ChaCha20Rng::from_seed(seed),
                clock: Arc::default(),
                noise: NoiseLog::default(),
                progress,
            },
            seed: Zeroizing::new(seed),
            parties: None,
            link: if options.seed.is_some() { Link::digesting(P::NAME) } else { Link::new(P::NAME) },
            choices: choices(options.seed),
            done: 0,
            spent: 0.0,
            took: None,
            last: None,
            correct: Correct::default(),
            held: Vec::new(),
        })
    }

    /// Continues with a stream of randomness that belongs to this part alone. How often earlier parts were repeated depends on how long
    /// they took, and a seeded run must still send the same bytes on every machine.
    fn draw_from(&mut self, stream: Stream) {
        self.context.rng = ChaCha20Rng::from_seed(*self.seed);
        self.context.rng.set_stream(stream.number());
        self.choices.set_stream(self.context.rng.get_stream());
        self.choices.set_word_pos(0);
    }

    /// First record, last record, then random ones. Where records have keys, every other one is a key that few records have.
    fn names(&mut self, turn: u64) -> Vec<u64> {
        let records = self.workload.shape.records;
        let spare = self.database.keys().map(|keys| keys.spare_bits());
        (0..self.workload.queries)
            .map(|k| match (turn * self.workload.queries + k, spare) {
                (0, _) => self.database.name(0),
                (1, _) => self.database.name(records - 1),
                (number, Some(spare)) if number % 2 == 0 => self.choices.next_u64() >> spare,
                _ => self.database.name(self.choices.next_u64() % records),
            })
            .collect()
    }

    /// Replaces the client by one with fresh keys. The old one and its keys with the server are dropped first, so that both are never in
    /// memory together.
    fn renew_client(&mut self) -> Result<()> {
        let Some((mut server, old)) = self.parties.take() else { return Ok(()) };
        drop(old);
        server.forget();
        let mut client = ClientSession::<P>::new(&self.params, self.workload.shape, &mut self.context)?;
        client.connect(&mut server, &mut Link::new(P::NAME), &mut self.context)?;
        self.parties = Some((server, client));
        Ok(())
    }

    /// Whether a client can make any number of queries. One that keeps a window of hints changes with its queries, and must make as many
    /// on every machine.
    fn any_number(&self) -> bool {
        self.parties.as_ref().is_some_and(|(_, client)| client.queries_left() == u64::MAX)
    }

    /// One full exchange about records of these names. Returns whether all records were right.
    fn exchange(&mut self, names: &[u64], purpose: Purpose) -> Result<bool> {
        let start = Instant::now();
        let Self { context, parties, link, workload, last, .. } = self;
        *last = None;
        let (server, client) = parties.as_mut().ok_or_else(|| Error::Workload("prepare the session first.".into()))?;
        let clock = Arc::clone(&context.clock);
        let mut scratch = Link::new(P::NAME);
        let link = if purpose == Purpose::Transcript { link } else { &mut scratch };
        let served = Some(workload.queries);

        if client.queries_left() < names.len() as u64 {
            client.connect(server, &mut Link::new(P::NAME), context)?;
        }
        if P::AHEAD {
            clock.time("precompute", Group::Offline, || client.precompute(names.len() as u64, context))?;
        }
        let request = clock.time("query", Group::Online, || client.query(names, context))?;
        let messages = link.carry_all(request.messages, Direction::Upload, "query", served)?;
        let requests = [Request { messages, ..request }];
        let answers = clock.time("answer", Group::Online, || server.answer(&requests, context))?;
        let answer = answers.into_iter().next().ok_or_else(|| Error::message("answer", "the server gave none."))?;
        let answer = link.carry_all(answer, Direction::Download, "answer", served)?;
        let records = clock.time("extract", Group::Online, || client.extract(&answer, context))?;
        client.log_errors(server, (&requests[0], &answer), context)?;
        if purpose == Purpose::Diagnosis {
            client.diagnose(server, &requests[0], context)?;
        } else {
            *last = requests.into_iter().next();
        }
        self.took = Some(start.elapsed().as_secs_f64());
        self.compare(names, &records)
    }

    fn compare(&mut self, names: &[u64], records: &[Record]) -> Result<bool> {
        let mut right = 0;
        for (&name, record) in names.iter().zip(records) {
            let known = self.database.find(name).map(|index| self.database.record(index)).transpose()?;
            right += u64::from(known.unwrap_or_default() == *record);
        }
        self.correct.compared += names.len() as u64;
        self.correct.right += right;
        Ok(right == names.len() as u64)
    }
}

/// The purpose of an exchange, beside the comparison of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Its messages are written down.
    Transcript,
    /// Its records are compared, nothing more.
    Comparison,
    /// The noise of every stage is measured.
    Diagnosis,
}

impl<P: Protocol> Session for Run<'_, P> {
    fn prepare(&mut self) -> Result<()> {
        let mut spent = 0.0;
        for _ in 0..self.repetitions {
            // The previous tables must be freed before new ones are built. Their keys protected no query, so new ones may replace them.
            self.parties = None;
            self.draw_from(Stream::Parties);
            let start = Instant::now();
            let server = ServerSession::<P>::new(&self.params, &self.database, &mut self.context)?;
            let client = ClientSession::<P>::new(&self.params, self.workload.shape, &mut self.context)?;
            self.parties = Some((server, client));
            spent += start.elapsed().as_secs_f64();
            if spent > LONG_PHASE_SECONDS {
                break;
            }
        }
        let Self { parties, context, link, .. } = self;
        if let Some((server, client)) = parties {
            let clock = Arc::clone(&context.clock);
            clock.time("offline_exchange", Group::Offline, || client.connect(server, link, context))?;
            self.held = server.tables();
        }
        Ok(())
    }

    fn warm_up(&mut self) -> Result<()> {
        let any = self.any_number();
        let most = match self.took {
            _ if self.repetitions == 1 => 0,
            None => WARM_UPS,
            Some(took) => u64::from(any && took <= LONG_EXCHANGE_SECONDS),
        };
        if let Some((server, _)) = &self.parties {
            server.touch();
        }
        self.context.clock.pause(true);
        self.draw_from(Stream::WarmUp(self.done));
        let start = Instant::now();
        for turn in 0..most {
            if any && turn > 0 && start.elapsed().as_secs_f64() > WARM_UP_SECONDS {
                break;
            }
            let names = self.names(u64::MAX / self.workload.queries / 2);
            self.exchange(&names, Purpose::Comparison)?;
        }
        self.context.clock.pause(false);
        Ok(())
    }

    fn repetition(&mut self) -> Result<()> {
        self.draw_from(Stream::Exchange(self.done));
        let names = self.names(self.done);
        let purpose = if self.done == 0 { Purpose::Transcript } else { Purpose::Comparison };
        let start = Instant::now();
        self.exchange(&names, purpose)?;
        self.spent += start.elapsed().as_secs_f64();
        self.done += 1;
        Ok(())
    }

    fn measure_noise(&mut self) -> Result<()> {
        let start = Instant::now();
        let enough = Enough::new(P::ONE_KEY, self.noise_seconds, self.spent);
        self.context.clock.pause(true);
        let mut diagnosed = false;
        // Noise is logged at decryptions: a protocol without them has none.
        while let Some(coverage) = self.context.noise.coverage() {
            // The first diagnosis shows which stages an answer has.
            if diagnosed && enough.is_reached(&coverage, start.elapsed().as_secs_f64()) {
                break;
            }
            if P::ONE_KEY && diagnosed {
                self.renew_client()?;
            }
            diagnosed = true;
            if let Some(request) = self.last.take()
                && let Some((server, client)) = &self.parties
            {
                client.diagnose(server, &request, &mut self.context)?;
                continue;
            }
            self.draw_from(Stream::Exchange(self.done));
            let names = self.names(self.done);
            self.exchange(&names, Purpose::Diagnosis)?;
            self.done += 1;
        }
        self.context.clock.pause(false);
        Ok(())
    }

    fn update(&mut self) -> Result<()> {
        if self.workload.updates == 0 {
            return Ok(());
        }
        let start = Instant::now();
        for turn in 0..self.repetitions {
            if start.elapsed().as_secs_f64() > LONG_PHASE_SECONDS {
                break;
            }
            self.draw_from(Stream::Update(turn));
            let changed: Vec<u64> = self.workload.changed().collect();
            let changes: Vec<_> =
                changed.iter().map(|&index| Ok((index, self.database.complement(index)?))).collect::<Result<_>>()?;
            let Self { context, parties, link, .. } = &mut *self;
            let (server, client) =
                parties.as_mut().ok_or_else(|| Error::Workload("prepare the session first.".into()))?;
            let clock = Arc::clone(&context.clock);
            let mut scratch = Link::new(P::NAME);
            let link = if turn == 0 { link } else { &mut scratch };
            let messages = clock.time("update_server", Group::Update, || server.update(&changes, context))?;
            let messages = link.carry_all(messages, Direction::Download, "update", None)?;
            clock.time("update_client", Group::Update, || client.update(&messages, context))?;
            for (index, record) in changes {
                self.database.change(index, record)?;
            }
            // The last changed records (all other changes precede them) and an unchanged one must be retrieved correctly.
            let other = changed[changed.len() - 1].saturating_add(1).min(self.workload.shape.records - 1);
            let queries = self.workload.queries as usize;
            let asked = std::iter::once(other).chain(changed.iter().rev().take(CHANGES_ASKED).copied());
            let padding = (1 + changed.len().min(CHANGES_ASKED)).next_multiple_of(queries);
            let asked: Vec<u64> = asked.map(|index| self.database.name(index)).collect();
            let asked: Vec<u64> = asked.into_iter().cycle().take(padding).collect();
            self.context.clock.pause(true);
            for names in asked.chunks(queries) {
                self.exchange(names, Purpose::Comparison)?;
            }
            self.context.clock.pause(false);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Measured {
        Measured {
            phases: self.context.clock.phases().to_vec(),
            transcript: self.link.entries().to_vec(),
            payload_sha256: self.link.digest(),
            noise: self.context.noise.summary(),
            correct: self.correct,
            held: self.held,
        }
    }
}

#[cfg(test)]
mod tests;
