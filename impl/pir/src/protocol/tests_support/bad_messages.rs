//! Messages that no honest party sends, to every place where a protocol takes one: a party refuses them, or does something of the right
//! size with them, and serves honest queries afterwards; so do the parties that an accepted one did not come to.

use std::io::Write;
use std::time::{Duration, Instant};

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::Kernel;

use super::context;
use super::watchdog::Watchdog;
use crate::core::check_change;
use crate::core::database::Database;
use crate::core::error::Result;
use crate::core::protocol::{Client, Context, Messages, Protocol, Request, Server};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::wire::{Frame, HEADER_BYTES};
use crate::core::workload::{Shape, Workload};

/// Time for messages of all kinds. After it, each place has as much again for messages that are refused early, and the parser takes the rest.
const TIME: Duration = Duration::from_millis(400);
/// The same where tests run in full.
const LONG_TIME: Duration = Duration::from_secs(20);
/// No message takes longer: it would be a hang.
const LONGEST: Duration = Duration::from_secs(60);
/// Messages of a protocol, and in full.
const MESSAGES: (u64, u64) = (400, 1_000_000);
/// Payload bytes of a bad message that costs little.
const SHORT: usize = 4096;

/// The places that take messages.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// The server, a query.
    Request,
    /// The client, an answer.
    Answer,
    /// The client, what the server publishes.
    Published,
    /// The client, a part of the database that it reads.
    Streamed,
    /// The server, a client's keys.
    Upload,
    /// The client, the changes of an update.
    Update,
}

/// What is done to a message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// Bytes of the frame, or its length, without a new checksum: the wire refuses them.
    Corrupted,
    /// A short payload.
    Cut,
    /// A message that is missing, or there under another name.
    Missing,
    /// A payload that is a little too long or too short, or twice as long.
    Resized,
    /// A message that is there twice.
    Doubled,
    /// A message of another name or protocol by its header.
    Renamed,
    /// Another number of queries, client, request or version.
    Renumbered,
    /// Bytes of the payload, of the right length.
    Altered,
}

/// Changes that cost no copy of a long payload and are refused before anything is computed.
const EARLY: [Change; 3] = [Change::Corrupted, Change::Cut, Change::Missing];
const ALL: [Change; 8] = [
    Change::Corrupted,
    Change::Cut,
    Change::Missing,
    Change::Resized,
    Change::Doubled,
    Change::Renamed,
    Change::Renumbered,
    Change::Altered,
];

/// The messages that came to a place.
#[derive(Debug, Default)]
struct Count {
    /// Messages that its party received.
    party: u64,
    /// Messages of these that it took.
    taken: u64,
    /// Messages that the parser of frames received, which lets none pass.
    parser: u64,
    /// Time that messages took after the time for all kinds.
    early: Duration,
}

/// An honest exchange, of whose messages bad ones are made.
struct Exchange<'a, S: Protocol> {
    params: &'a S::Set,
    shape: Shape,
    database: Database,
    context: Context<'static>,
    server: ServerSession<S>,
    client: ClientSession<S>,
    /// A client in the middle of its offline exchange, which has refused every bad message so far.
    victim: ClientSession<S>,
    /// Parts of the database that it has read.
    read: usize,
    published: Messages,
    /// The database in parts, where clients read it.
    streamed: Vec<Messages>,
    uploaded: Messages,
    request: Request,
    answer: Messages,
    update: Messages,
}

impl<'a, S: Protocol> Exchange<'a, S> {
    fn new(params: &'a S::Set, shape: Shape) -> Self {
        let mut context = context(Kernel::best(), 1);
        let database = Database::seeded([9; 16], shape);
        let mut other = ServerSession::<S>::new(params, &database, &mut context).unwrap();
        let change = (0, vec![0; shape.record_bytes()]);
        let update = other.update(&[change], &mut context).unwrap();
        drop(other);
        let mut server = ServerSession::<S>::new(params, &database, &mut context).unwrap();
        let mut client = ClientSession::<S>::new(params, shape, &mut context).unwrap();
        client.connect(&mut server, &mut Link::new(S::NAME), &mut context).unwrap();
        let published = server.server.publish();
        let mut streamed = Vec::new();
        while let Some((messages, _)) = server.server.stream(streamed.len() as u64) {
            streamed.push(messages);
        }
        let mut first = S::Client::new(params, shape, &mut context).unwrap();
        for messages in std::iter::once(&published).chain(&streamed) {
            first.receive(messages.clone(), &mut context).unwrap();
        }
        let uploaded = first.upload(server.server.owned(), &mut context).unwrap();
        let victim = ClientSession::<S>::new(params, shape, &mut context).unwrap();
        let request = client.ask(&[0], &mut context).unwrap();
        let answer = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        Self {
            params,
            shape,
            database,
            context,
            server,
            client,
            victim,
            read: 0,
            published,
            streamed,
            uploaded,
            request,
            answer,
            update,
        }
    }

    /// The messages that honest parties send to a place: of the parts of a database any one, in its turn or not.
    fn honest(&self, place: Place, rng: &mut impl Rng) -> Messages {
        match place {
            Place::Request => self.request.messages.clone(),
            Place::Answer => self.answer.clone(),
            Place::Published => self.published.clone(),
            Place::Streamed => self.streamed.choose(rng).cloned().unwrap_or_default(),
            Place::Upload => self.uploaded.clone(),
            Place::Update => self.update.clone(),
        }
    }

    /// Places that this protocol sends something to.
    fn places(&self) -> Vec<Place> {
        let all = [Place::Request, Place::Answer, Place::Published, Place::Streamed, Place::Upload, Place::Update];
        let mut rng = ChaCha20Rng::seed_from_u64(0);
        all.into_iter().filter(|&place| !self.honest(place, &mut rng).is_empty()).collect()
    }

    /// Hands a message over, and says whether the party took it. A party that takes one does something of the right size, and others are served.
    fn send(&mut self, place: Place, messages: Messages, request: Request) -> Result<()> {
        match place {
            Place::Request => {
                let queries = request.queries;
                let answers = self.server.answer(&[Request { messages, ..request }], &mut self.context)?;
                assert_eq!(answers.len(), 1);
                let sizes = S::describe(self.params, &Workload::new(self.shape, queries, 0).unwrap()).unwrap();
                let described = sizes.messages.iter().filter(|message| message.phase == "answer");
                let described: Vec<(&str, u64)> =
                    described.map(|message| (message.name.as_str(), message.payload_bytes)).collect();
                let sent = answers[0].iter().map(|(name, frame)| (*name, frame.payload().len() as u64));
                assert_eq!(sent.collect::<Vec<(&str, u64)>>(), described, "{queries} queries");
            }
            Place::Answer => {
                let records = self.client.extract(&messages, &self.context)?;
                assert_eq!(records.len(), 1);
                check_change(self.shape, 0, &records[0]).unwrap();
                if self.client.queries_left() < u64::MAX {
                    // What a client of many hints reads, right or wrong, goes into them: it believes its server.
                    let fresh = self.fresh();
                    self.connect(fresh);
                } else {
                    self.ask();
                }
            }
            Place::Published => {
                self.victim.client.receive(messages, &mut self.context)?;
                self.replace_victim();
            }
            Place::Streamed => {
                self.victim.client.receive(self.published.clone(), &mut self.context).unwrap();
                let number = messages.first().map(|(_, part)| usize::from(part.number()));
                if let Err(error) = self.victim.client.receive(messages, &mut self.context) {
                    // The victim still takes the part whose turn it is.
                    let next = self.read % self.streamed.len();
                    self.victim.client.receive(self.streamed[next].clone(), &mut self.context).unwrap();
                    self.read = next + 1;
                    return Err(error);
                }
                // Parts that are late, doubled or before their turn are refused; the first begins the next window at any time.
                assert!(number == Some(0) || number == Some(self.read), "part {number:?} after {}", self.read);
                self.replace_victim();
            }
            Place::Upload => {
                self.server.server.receive(&messages, &mut self.context)?;
                self.serves();
                self.server.forget();
                let fresh = self.fresh();
                self.connect(fresh);
            }
            Place::Update => {
                self.client.update(&messages, &mut self.context)?;
                // The client believed its server, so it makes the offline exchange again.
                let mut again = self.fresh();
                std::mem::swap(&mut again.client, &mut self.client.client);
                self.connect(again);
                self.serves();
            }
        }
        Ok(())
    }

    /// A client that has received nothing.
    fn fresh(&mut self) -> ClientSession<S> {
        ClientSession::new(self.params, self.shape, &mut self.context).unwrap()
    }

    fn replace_victim(&mut self) {
        self.victim = self.fresh();
        self.read = 0;
    }

    /// Puts a client in the place of the one that asks.
    fn connect(&mut self, mut client: ClientSession<S>) {
        client.connect(&mut self.server, &mut Link::new(S::NAME), &mut self.context).unwrap();
        self.client = client;
        self.ask();
    }

    /// Opens a request.
    fn ask(&mut self) {
        self.request = self.client.ask(&[0], &mut self.context).unwrap();
        let asked = std::slice::from_ref(&self.request);
        self.answer = self.server.answer(asked, &mut self.context).unwrap().remove(0);
    }

    /// The open request is answered right, and so is another one.
    fn serves(&mut self) {
        let first = self.database.record(0).unwrap();
        assert_eq!(self.client.extract(&self.answer, &self.context).unwrap(), [first]);
        let last = self.shape.records - 1;
        let request = self.client.ask(&[last], &mut self.context).unwrap();
        let answer = self.server.answer(&[request], &mut self.context).unwrap().remove(0);
        assert_eq!(self.client.extract(&answer, &self.context).unwrap(), [self.database.record(last).unwrap()]);
        self.ask();
    }

    /// The client that refused bad messages makes the honest exchange, and is served as well.
    fn serves_victim(&mut self) {
        self.victim.connect(&mut self.server, &mut Link::new(S::NAME), &mut self.context).unwrap();
        let last = self.shape.records - 1;
        let request = self.victim.ask(&[last], &mut self.context).unwrap();
        let answer = self.server.answer(&[request], &mut self.context).unwrap().remove(0);
        assert_eq!(self.victim.extract(&answer, &self.context).unwrap(), [self.database.record(last).unwrap()]);
        self.replace_victim();
    }
}

/// A frame with the marks of another one.
fn like(frame: &Frame, protocol: &str, name: &str, payload: &[u8]) -> Frame {
    Frame::of(protocol, name, payload).numbered(frame.number()).at_epoch(frame.epoch())
}

/// Corrupts a frame without a new checksum; the wire must refuse it.
fn corrupt(frame: &Frame, protocol: &str, name: &str, rng: &mut impl Rng) {
    let mut bytes = frame.bytes().to_vec();
    match rng.random_range(0..3) {
        0 => bytes.truncate(rng.random_range(0..bytes.len())),
        1 => bytes.resize(bytes.len() + rng.random_range(1..64), rng.random()),
        _ => {
            for _ in 0..rng.random_range(1..8) {
                let part = if rng.random() { HEADER_BYTES as usize } else { bytes.len() };
                let place = rng.random_range(0..part);
                bytes[place] = rng.random();
            }
        }
    }
    assert!(bytes == frame.bytes() || Frame::parse(&bytes, protocol, name).is_err());
}

/// Makes a bad message of an honest one.
fn changed(change: Change, protocol: &str, messages: &mut Messages, request: &mut Request, rng: &mut impl Rng) {
    let place = rng.random_range(0..messages.len());
    let (name, frame) = messages[place].clone();
    let payload = frame.payload();
    messages[place].1 = match change {
        // The wire refuses it, before a party sees it.
        Change::Corrupted => return,
        Change::Cut => like(&frame, protocol, name, &payload[..rng.random_range(0..payload.len().min(SHORT))]),
        Change::Missing if rng.random() => return drop(messages.remove(place)),
        Change::Missing => {
            let names = ["query", "answer", "seed", "hint", "hint_delta", "keys", "database"];
            let others: Vec<&'static str> = names.into_iter().filter(|other| *other != name).collect();
            messages[place].0 = others[rng.random_range(0..others.len())];
            return;
        }
        Change::Resized => {
            let (length, mut payload) = (payload.len() as i64, payload.to_vec());
            let other = [length - 1, length + 1, length + 8, 2 * length, rng.random_range(0..=length)];
            payload.resize(*other.choose(rng).unwrap() as usize, rng.random());
            like(&frame, protocol, name, &payload)
        }
        Change::Doubled => return messages.push((name, frame)),
        Change::Altered => like(&frame, protocol, name, &altered(payload.to_vec(), rng)),
        Change::Renamed if rng.random() => like(&frame, protocol, "other", payload),
        Change::Renamed => like(&frame, "other", name, payload),
        Change::Renumbered => match rng.random_range(0..4) {
            0 => {
                request.queries = [0, 2, 3, 4096, 4097, u64::MAX][rng.random_range(0..6)];
                return;
            }
            1 => {
                request.session = [0, 2, u64::MAX, rng.random()][rng.random_range(0..4)];
                return;
            }
            2 => frame.numbered(rng.random()),
            _ => frame.at_epoch(rng.random()),
        },
    };
}

/// A payload of the same length: random, of one byte, or with some bytes changed.
fn altered(mut payload: Vec<u8>, rng: &mut impl Rng) -> Vec<u8> {
    let length = payload.len();
    match rng.random_range(0..4) {
        0 => rng.fill(&mut payload[..]),
        1 => payload.fill([0, 0xff, 0x80, 0x7f][rng.random_range(0..4)]),
        _ => {
            for _ in 0..rng.random_range(1..9) {
                let (from, value) = (rng.random_range(0..=length), rng.random());
                let to = length.min(from + [1, 2, 4, 8][rng.random_range(0..4)]);
                payload[from..to].fill(value);
            }
        }
    }
    payload
}

/// Says which message it was, where one brings a party down.
struct Witness(u64, Place, Change);

impl Drop for Witness {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("message {}, {:?} to {:?}", self.0, self.2, self.1);
        }
    }
}

/// Sends bad messages to every place of a protocol that takes some.
pub fn withstands<S: Protocol>(params: &S::Set, (records, bits): (u64, u64)) {
    let full = super::in_full();
    let (messages, time) = if full { (MESSAGES.1, LONG_TIME) } else { (MESSAGES.0, TIME) };
    let mut exchange = Exchange::<S>::new(params, Shape::new(records, bits).unwrap());
    let places = exchange.places();
    let mut counts: Vec<Count> = places.iter().map(|_| Count::default()).collect();
    let (mut spent, mut longest) = (Duration::ZERO, Duration::ZERO);
    let (start, watchdog) = (Instant::now(), Watchdog::new(LONGEST));
    for number in 0..messages {
        // Each message depends on its number, and on whether there is time for its kind.
        let mut rng = ChaCha20Rng::seed_from_u64(number);
        let turn = (number % places.len() as u64) as usize;
        let (place, count) = (places[turn], &mut counts[turn]);
        let has_time = spent < time;
        let changes = if has_time {
            &ALL[..]
        } else if count.early < time {
            &EARLY[..]
        } else {
            &EARLY[..1]
        };
        let change = *changes.choose(&mut rng).unwrap();
        let _witness = Witness(number, place, change);
        watchdog.step((number, place, change));
        let before = Instant::now();
        let mut bad = exchange.honest(place, &mut rng);
        if change == Change::Corrupted {
            let (name, mut frame) = bad.swap_remove(rng.random_range(0..bad.len()));
            // To copy and hash a long payload takes long: later its first part is sent, in a frame that was right.
            if !has_time && frame.payload().len() > SHORT {
                frame = like(&frame, S::NAME, name, &frame.payload()[..SHORT]);
            }
            corrupt(&frame, S::NAME, name, &mut rng);
            count.parser += 1;
        } else {
            let mut request = exchange.request.clone();
            changed(change, S::NAME, &mut bad, &mut request, &mut rng);
            count.party += 1;
            count.taken += u64::from(exchange.send(place, bad, request).is_ok());
        }
        let took = before.elapsed();
        longest = longest.max(took);
        assert!(took < LONGEST, "{took:?}");
        let clock = if has_time { &mut spent } else { &mut count.early };
        *clock += took;
        if number % (messages / 8) == 0 {
            exchange.serves();
            if full {
                exchange.serves_victim();
            }
        }
    }
    exchange.serves();
    exchange.serves_victim();
    let least = (messages / 1000).max(1);
    for (place, count) in places.iter().zip(&counts) {
        assert!(count.party >= least && count.parser >= least, "{place:?}: {count:?}");
    }
    assert_eq!(counts.iter().map(|count| count.party + count.parser).sum::<u64>(), messages);
    if full {
        // The harness shows what a macro prints of failed tests only.
        let test = std::thread::current().name().unwrap_or_default().to_string();
        let mut report =
            format!("{test}: {messages} bad messages in {:.1?}; the longest took {longest:.1?}", start.elapsed());
        for (place, Count { party, taken, parser, .. }) in places.iter().zip(&counts) {
            report += &format!("; {place:?}: {party} to the party, of which it took {taken}, {parser} to the parser");
        }
        report.push('\n');
        std::io::stderr().write_all(report.as_bytes()).unwrap();
    }
}
