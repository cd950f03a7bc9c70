//! Messages that no honest party sends, to every place where a protocol takes one: a party refuses them, or does something of the right
//! size with them, and serves an honest query afterwards.

use std::time::{Duration, Instant};

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::Kernel;

use super::context;
use crate::core::database::Database;
use crate::core::error::Result;
use crate::core::protocol::{Client, Context, Messages, Protocol, Request, Server};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::wire::{Frame, HEADER_BYTES};
use crate::core::workload::{Shape, Workload};

/// Time for messages of all kinds; when it is used up, as much for those that are refused early, then those that the wire refuses.
const TIME: Duration = Duration::from_millis(400);
/// The same where tests run in full.
const LONG_TIME: Duration = Duration::from_secs(20);
/// No message takes longer: it would be a hang.
const LONGEST: Duration = Duration::from_secs(60);
/// Messages of a protocol, and in full.
const MESSAGES: (u64, u64) = (400, 1_000_000);

/// The places that take messages.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// The server, a query.
    Request,
    /// The client, an answer.
    Answer,
    /// The client, what the server publishes.
    Published,
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
    /// A payload that is a little too long or too short, or twice as long.
    Resized,
    /// A message that is missing, there twice, of another name.
    Misplaced,
    /// A message of another name or protocol by its header.
    Renamed,
    /// Another number of queries, client, request or version.
    Renumbered,
    /// Bytes of the payload, of the right length.
    Altered,
}

/// Changes that cost no copy of a long payload and are refused before anything is computed.
const EARLY: [Change; 3] = [Change::Corrupted, Change::Cut, Change::Misplaced];
const ALL: [Change; 7] = [
    Change::Corrupted,
    Change::Cut,
    Change::Resized,
    Change::Misplaced,
    Change::Renamed,
    Change::Renumbered,
    Change::Altered,
];

/// An honest exchange, of whose messages bad ones are made.
struct Exchange<'a, S: Protocol> {
    params: &'a S::Set,
    shape: Shape,
    context: Context<'static>,
    server: ServerSession<S>,
    client: ClientSession<S>,
    /// A client that has received nothing, for what the server publishes.
    victim: S::Client,
    published: Messages,
    uploaded: Messages,
    request: Request,
    answer: Messages,
    update: Messages,
}

impl<'a, S: Protocol> Exchange<'a, S> {
    fn new(params: &'a S::Set, shape: Shape) -> Self {
        let mut context = context(Kernel::best(), 1);
        let database = Database::seeded([9; 16], shape);
        let fresh = |context: &mut Context| {
            let mut server = ServerSession::<S>::new(params, &database, context).unwrap();
            let mut client = ClientSession::<S>::new(params, shape, context).unwrap();
            client.connect(&mut server, &mut Link::new(S::NAME), context).unwrap();
            (server, client)
        };
        let (mut other, _) = fresh(&mut context);
        let change = (0, vec![0; shape.record_bytes()]);
        let update = other.update(&[change], &mut context).unwrap();
        let (server, mut client) = fresh(&mut context);
        let mut victim = S::Client::new(params, shape, &mut context).unwrap();
        let published = server.server.publish();
        victim.receive(published.clone(), &mut context).unwrap();
        let mut part = 0;
        while let Some((messages, _)) = server.server.stream(part) {
            victim.receive(messages, &mut context).unwrap();
            part += 1;
        }
        let uploaded = victim.upload(server.server.owned(), &mut context).unwrap();
        let victim = S::Client::new(params, shape, &mut context).unwrap();
        let request = client.ask(&[0], &mut context).unwrap();
        let answer = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        Self { params, shape, context, server, client, victim, published, uploaded, request, answer, update }
    }

    /// The messages that honest parties send to a place.
    fn honest(&self, place: Place) -> &Messages {
        match place {
            Place::Request => &self.request.messages,
            Place::Answer => &self.answer,
            Place::Published => &self.published,
            Place::Upload => &self.uploaded,
            Place::Update => &self.update,
        }
    }

    /// Places that this protocol sends something to.
    fn places(&self) -> Vec<Place> {
        let all = [Place::Request, Place::Answer, Place::Published, Place::Upload, Place::Update];
        all.into_iter().filter(|&place| !self.honest(place).is_empty()).collect()
    }

    /// Hands a message over; whether it was taken. What a party that takes it does is of the right size.
    fn send(&mut self, place: Place, messages: Messages, request: Request) -> Result<()> {
        let context = &mut self.context;
        match place {
            Place::Request => {
                let queries = request.queries;
                let answers = self.server.answer(&[request], context)?;
                assert_eq!(answers.len(), 1);
                let sizes = S::describe(self.params, &Workload::new(self.shape, queries, 0).unwrap()).unwrap();
                for (name, frame) in &answers[0] {
                    assert_eq!(frame.payload().len() as u64, sizes.payload_bytes(name), "{queries} queries");
                }
            }
            Place::Answer => {
                let records = self.client.extract(&messages, context)?;
                assert_eq!(records.len(), 1);
                crate::core::check_change(self.shape, 0, &records[0]).unwrap();
                if self.client.queries_left() < u64::MAX {
                    // What a client of many hints reads, right or wrong, goes into them: it believes its server.
                    self.renew();
                    return Ok(());
                }
                self.request = self.client.ask(&[0], context).unwrap();
                let asked = std::slice::from_ref(&self.request);
                self.answer = self.server.answer(asked, context).unwrap().remove(0);
            }
            Place::Published => {
                self.victim.receive(messages, context)?;
                self.victim = S::Client::new(self.params, self.shape, context)?;
            }
            Place::Upload => {
                self.server.server.receive(&messages, context)?;
                self.renew();
            }
            Place::Update => {
                self.client.update(&messages, context)?;
                self.renew();
            }
        }
        Ok(())
    }

    /// Replaces both parties, one of which has changed by the message that it took.
    fn renew(&mut self) {
        *self = Self::new(self.params, self.shape);
    }

    /// The open request is answered right, and so is another one.
    fn serves(&mut self) {
        let context = &mut self.context;
        let database = Database::seeded([9; 16], self.shape);
        assert_eq!(self.client.extract(&self.answer, context).unwrap(), [database.record(0).unwrap()]);
        let last = self.shape.records - 1;
        let request = self.client.ask(&[last], context).unwrap();
        let answer = self.server.answer(&[request], context).unwrap().remove(0);
        assert_eq!(self.client.extract(&answer, context).unwrap(), [database.record(last).unwrap()]);
        self.request = self.client.ask(&[0], context).unwrap();
        self.answer = self.server.answer(std::slice::from_ref(&self.request), context).unwrap().remove(0);
    }
}

/// A frame with the marks of another one.
fn like(frame: &Frame, protocol: &str, name: &str, payload: &[u8]) -> Frame {
    Frame::of(protocol, name, payload).numbered(frame.number()).at_epoch(frame.epoch())
}

/// Corrupts a frame without a new checksum; the wire must refuse it.
fn corrupt(frame: &Frame, protocol: &str, name: &str, rng: &mut impl Rng) {
    // A large payload is copied and hashed for nothing: a part of it is refused as well.
    let mut bytes = frame.bytes()[..frame.bytes().len().min(4096)].to_vec();
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
        Change::Corrupted => return corrupt(&frame, protocol, name, rng),
        Change::Cut => like(&frame, protocol, name, &payload[..rng.random_range(0..payload.len().min(4096))]),
        Change::Resized => {
            let (length, mut payload) = (payload.len() as i64, payload.to_vec());
            let other = [length - 1, length + 1, length + 8, 2 * length, rng.random_range(0..=length)];
            payload.resize(*other.choose(rng).unwrap() as usize, rng.random());
            like(&frame, protocol, name, &payload)
        }
        Change::Altered => like(&frame, protocol, name, &altered(payload.to_vec(), rng)),
        Change::Renamed if rng.random() => like(&frame, protocol, "other", payload),
        Change::Renamed => like(&frame, "other", name, payload),
        Change::Misplaced => {
            match rng.random_range(0..3) {
                0 => drop(messages.remove(place)),
                1 => messages.push((name, frame)),
                _ => {
                    messages[place].0 =
                        ["query", "answer", "seed", "hint", "hint_delta", "keys"][rng.random_range(0..6)]
                }
            }
            return;
        }
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
    let (messages, time) = if super::in_full() { (MESSAGES.1, LONG_TIME) } else { (MESSAGES.0, TIME) };
    let mut exchange = Exchange::<S>::new(params, Shape::new(records, bits).unwrap());
    let places = exchange.places();
    let (mut taken, mut refused, mut spent, mut longest) = (0u64, 0u64, Duration::ZERO, Duration::ZERO);
    let start = Instant::now();
    for number in 0..messages {
        // Each message depends on its number alone.
        let mut rng = ChaCha20Rng::seed_from_u64(number);
        let place = *places.choose(&mut rng).unwrap();
        let changes = if spent < time {
            &ALL[..]
        } else if spent < 2 * time {
            &EARLY[..]
        } else {
            &EARLY[..1]
        };
        let change = *changes.choose(&mut rng).unwrap();
        let _witness = Witness(number, place, change);
        let before = Instant::now();
        let (mut bad, mut request) = (exchange.honest(place).clone(), exchange.request.clone());
        changed(change, S::NAME, &mut bad, &mut request, &mut rng);
        let request = if place == Place::Request { Request { messages: bad.clone(), ..request } } else { request };
        if change == Change::Corrupted || exchange.send(place, bad, request).is_err() {
            refused += 1;
        } else {
            taken += 1;
        }
        let took = before.elapsed();
        longest = longest.max(took);
        assert!(took < LONGEST, "{took:?}");
        spent += took;
        if number % (messages / 8) == 0 {
            exchange.serves();
        }
    }
    exchange.serves();
    println!(
        "{}: {messages} bad messages, {taken} taken, {refused} refused, in {:.1?}; the longest took {longest:.1?}",
        S::NAME,
        start.elapsed()
    );
}
